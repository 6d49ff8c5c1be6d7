package import Groundwork

/// One scenario's clients and server, as a driver has set them up.
///
/// A world does what steps say and tells what it sees; it judges nothing. Verbs may be called at once from any number of tasks.
package protocol ScenarioWorld: Sendable {
  /// The scenario's realm of the server.
  var admin: AdminClient { get }

  /// Whether the clients here tell so much: what they do not tell is not judged.
  func tells(_ facet: Facet) -> Bool

  /// The server's policy as it has to be in this world.
  func prepared(_ policy: JSONValue, for scenario: Scenario) -> JSONValue

  /// Makes what has to be there before the first step, when the users are.
  func prepare() async throws(WorldError)

  /// Starts tasks that a step leaves in the background.
  var tasks: TaskStarter { get }

  /// How much virtual time has passed; nil where time is real.
  var elapsed: Duration? { get }

  /// Does what a client or a person at a screen does (`Verb.isClientVerb`, `Verb.isForm`).
  func perform(_ verb: Verb, as process: String) async -> Outcome

  /// Does what happens to a client: relaunch, reboot, kill, offline, clock.
  func change(_ verb: Verb, of process: String) async throws(WorldError)

  /// Lets time pass for everybody.
  func advance(by duration: Duration) async throws(WorldError)

  /// Waits until whatever the steps have begun is done, as far as that can be told.
  func settle() async

  /// Waits a moment of the world's own time.
  func pause() async

  /// What a client believes.
  func client(_ process: String) async throws(WorldError) -> ClientView

  /// What the screen in front of a client shows.
  func form(_ process: String) async throws(WorldError) -> FormView

  /// What the store holds.
  func store() async throws(WorldError) -> StoreView

  /// The newest access or refresh token that a client was given.
  func token(_ kind: TokenKind, of process: String) async throws(WorldError) -> String

  /// What must not be said, beside the users' passwords.
  func secrets() async -> [Secret]

  /// What was said.
  func outputs() async -> [Output]

  /// Whether the project's own files are to be taken for empty, on purpose.
  var filesAreEmpty: Bool { get }

  /// Ends everything and removes what was made.
  func close() async
}

extension ScenarioWorld {
  package func prepare() async throws(WorldError) {}

  package var filesAreEmpty: Bool { false }

  package func tells(_ facet: Facet) -> Bool { true }

  package func prepared(_ policy: JSONValue, for scenario: Scenario) -> JSONValue { policy }
}

/// Something that only some clients tell; a client of this package tells all.
package enum Facet: String, Sendable, CaseIterable {
  /// Why nobody is signed in any more.
  case reason
  /// The errors' own names: `invalidCredentials`.
  case errors
  /// The texts for a person.
  case messages
  /// The server's words about single fields.
  case fields
  /// How long the server asks to wait.
  case retryAfter = "retry-after"
  /// What happened, in order.
  case events
  /// Who is signed in.
  case user
  /// Whether the stored session is the one of the first sign-in.
  case sameSession = "same-session"
  /// How often the session's tokens were replaced.
  case rotations
  /// Revocations that wait to be sent.
  case outbox
}

/// Which token of a pair.
package enum TokenKind: String, Sendable {
  case access, refresh
}

/// Why a world could not do or tell something.
package struct WorldError: Error, Sendable, CustomStringConvertible {
  /// One sentence.
  package var message: String

  /// Makes an error.
  package init(_ message: String) { self.message = message }

  package var description: String { message }
}

package import CheckedYAML
package import Groundwork

/// One scenario: what a server is like, what clients do, and what has to hold at every step and at the end.
package struct Scenario: Sendable {
  /// The file it came from, as given.
  package var file: String
  /// What holds, as a sentence.
  package var name: String
  /// The requirement and rule ids it covers.
  package var covers: [String]
  /// The public bug report behind it, if there is one.
  package var report: String?
  /// The client's dialect and its screens' texts.
  package var profile: Profile
  /// Dialects that it says nothing about, and why.
  package var notApplicable: [String: String] = [:]
  /// How its clients are put together.
  package var client = ClientKind()
  /// What it needs of a driver beyond what its steps tell.
  package var needs: [String]
  /// Whether it is one row of its file.
  package var isRow = false
  /// Whether it alone is to run, while its author works at it.
  package var isAlone = false
  /// Why it is not run at all, if the author says so.
  package var skip: String?
  /// The server's policy, as the admin API takes it.
  package var policy: JSONValue
  /// Who has an account before the first step.
  package var users: [User]
  /// The answers that the server's real ones are replaced by.
  package var scripts: [Script]
  /// What happens, in order.
  package var steps: [Step]
  /// What has to hold at the end.
  package var expect: FinalExpectation

  /// A scenario of which only its description is known, as a report has it.
  init(file: String, name: String, covers: [String], report: String?) {
    self.init(
      file: file, name: name, covers: covers, report: report, profile: .loginForm, needs: [], skip: nil, policy: [:],
      users: [], scripts: [], steps: [],
      expect: FinalExpectation(requests: [:], clients: [:], allowsUnconsumed: false, mark: Mark(line: 1, column: 1)))
  }

  init(
    file: String, name: String, covers: [String], report: String?, profile: Profile, needs: [String], skip: String?,
    policy: JSONValue, users: [User], scripts: [Script], steps: [Step], expect: FinalExpectation
  ) {
    self.file = file
    self.name = name
    self.covers = covers
    self.report = report
    self.profile = profile
    self.needs = needs
    self.skip = skip
    self.policy = policy
    self.users = users
    self.scripts = scripts
    self.steps = steps
    self.expect = expect
  }

  /// How the clients of a scenario are put together, where that is not the usual way.
  package struct ClientKind: Sendable {
    /// What kind of store the client keeps its session in.
    package enum Keeps: String, Sendable, CaseIterable {
      /// The session store: records, intents, locks.
      case session
      /// A plain token store (D1.2), adapted.
      case tokens
      /// A store in D2's two items, taken over by a plain token store (D2.1).
      case twoItems = "two-items"
    }

    package var keeps = Keeps.session
    /// Whose session stands in the two items at the start.
    package var holdsSessionOf: String?
    /// Whether calls are tried again after a passing failure (D3.9).
    package var retries = false
    /// Whether the login form talks to D5's stand-in service.
    package var usesFakeService = false

    package init() {}

    /// Whether anything is not the usual way.
    package var isSpecial: Bool { keeps != .session || retries || usesFakeService }
  }

  /// A document's app: the dialect it speaks and the texts its screens show.
  package enum Profile: String, Sendable, CaseIterable {
    /// D5's login form over the chirp dialect: the default.
    case loginForm
    /// D1 and D3.
    case chirp
    /// D2.
    case envelope
    /// D4's screens; over the chirp dialect until the Supabase one is there.
    case supabase

    /// The dialect on the wire.
    package var dialect: String { self == .envelope ? "envelope" : "chirp" }
  }

  /// An account.
  package struct User: Sendable, Hashable {
    /// The name by which steps call it, which is its username too.
    package var name: String
    /// Its address.
    package var email: String
    /// Its password.
    package var password: String
  }

  /// A script of the admin API, for one operation or endpoint.
  package struct Script: Sendable {
    /// The body for `PUT /__mock/scripts`.
    package var body: JSONValue
    /// Which operation or endpoint, for messages.
    package var target: String
    /// Where it stands.
    package var mark: Mark
  }
}

/// One step: at most one verb, who does it and how often, and what has to hold right after it.
package struct Step: Sendable {
  /// Where it stands.
  package var mark: Mark
  /// Its text in one line, for reports.
  package var title: String
  /// What is done; a step without a verb only checks.
  package var verb: Verb
  /// Which client process does it.
  package var process: String
  /// How many do it at once.
  package var parallel: Int
  /// How often it is done, one after the other.
  package var times: Int
  /// The name under which it runs in the background, if it does.
  package var background: String?
  /// What has to hold after it.
  package var expect: StepExpectation
}

/// What a step can do.
package enum Verb: Sendable {
  // What a client does.
  case login(identifier: String, password: String)
  case register(username: String, email: String, password: String)
  case call(method: String, path: String, body: JSONValue?)
  case token
  case refresh
  case auto
  case logout
  case restore
  case switchUser(identifier: String, password: String)
  // What happens to a client.
  case relaunch
  case reboot
  case kill
  case offline(Bool)
  case clientClock(Duration)
  /// The store fails in this way from here on; nil: no more.
  case storeFault(String?)
  // What happens to the world.
  case advance(Duration)
  case serverClock(Duration)
  case revoke(Revocation)
  case script([Scenario.Script])
  case policy(JSONValue)
  case release(hold: String, count: Int?)
  case wait([String: Int])
  case until(ClientExpectation)
  // What happens to steps in the background.
  case await(String)
  case cancel(String)
  // What a person does at a screen.
  case open(FormScreen)
  case type([(field: String, text: String)])
  case leave(String)
  case returnKey(String)
  case tap(FormButton)
  /// A file of the project has to say so much.
  case project(file: String, has: [String])
  /// Nothing: the step only checks.
  case check

  /// What is revoked at the server.
  package enum Revocation: String, Sendable, CaseIterable {
    /// The newest access token that this client was given.
    case access
    /// The newest refresh token that this client was given.
    case refresh
    /// The session that this client signed in to last.
    case session
    /// Everything.
    case all
  }

  /// A screen that a person can open.
  package enum FormScreen: String, Sendable, CaseIterable {
    /// The app: whatever the root shows.
    case app
    /// The registration screen.
    case register
    /// The sign-in screen.
    case login
  }

  /// A button that a person can tap.
  package enum FormButton: String, Sendable, CaseIterable {
    /// The one of the form in front.
    case submit
    /// The one of the home screen.
    case logout
  }

  /// Whether a person at a screen does it.
  package var isForm: Bool {
    switch self {
    case .open, .type, .leave, .returnKey, .tap: true
    default: false
    }
  }

  /// Whether a client does it and answers with an outcome.
  package var isClientVerb: Bool {
    switch self {
    case .login, .register, .call, .token, .refresh, .auto, .logout, .restore, .switchUser, .tap, .returnKey, .open:
      true
    default: false
    }
  }
}

/// How a verb ended, in the words that every driver knows.
package enum OutcomeKind: String, Sendable, CaseIterable {
  /// It did what it was asked.
  case ok
  /// There is no session, or it has ended.
  case notSignedIn
  /// The server says no, and asking again will not help.
  case refused
  /// No network, no time, or no good answer: asking again may help.
  case transient
  /// The store could not.
  case storage
  /// Somebody gave it up.
  case cancelled
  /// Anything else.
  case other
}

/// What has to hold right after a step. What is nil is not looked at.
package struct StepExpectation: Sendable {
  package var outcome: OutcomeKind?
  package var outcomes: [String: Int]?
  package var status: Int?
  package var error: String?
  package var message: String?
  package var fields: [String: String]?
  package var retryAfter: Duration?
  package var body: JSONValue?
  package var user: String?
  package var client: ClientExpectation?
  package var requests: [String: Int]?
  package var took: Duration?
  package var exitCode: Int?
  package var form: FormExpectation?
  /// Whether the file says anything: a verb without expectations has to end `ok`.
  package var isGiven = false
}

/// What a screen has to show.
package struct FormExpectation: Sendable {
  package var screen: String?
  package var title: String?
  package var buttonTitle: String?
  package var isButtonEnabled: Bool?
  package var hasSpinner: Bool?
  package var isLocked: Bool?
  package var errors: [String: String]?
  package var message: String?
  package var focus: String?
  package var announced: String?
  package var captions: [String]?
  /// Members that the fields' hints have, by field.
  package var hints: JSONValue?
  /// Members that the main button's style has.
  package var style: JSONValue?
}

/// What a client has to believe.
package struct ClientExpectation: Sendable {
  package var state: String?
  package var reason: String?
  package var user: String?
  package var events: [String]?
}

/// What has to hold at the end.
package struct FinalExpectation: Sendable {
  /// Exact counts; an operation that is not named was not called.
  package var requests: [String: Int]
  /// The operations in the order in which they reached the server, if it matters.
  package var order: [String]?
  /// What each client process believes.
  package var clients: [String: ClientExpectation]
  package var store: StoreExpectation?
  package var server: ServerExpectation?
  /// Whether script actions may be left over.
  package var allowsUnconsumed: Bool
  /// Where the block stands.
  package var mark: Mark
}

/// What the store has to hold.
package struct StoreExpectation: Sendable {
  package var isPresent: Bool?
  package var isSameSession: Bool?
  package var rotations: Int?
  package var pendingRevocations: Int?
  package var isPrivate: Bool?
  package var user: String?
}

/// What the server has to know.
package struct ServerExpectation: Sendable {
  package var live: Int?
  package var ended: Int?
  /// The usernames of all accounts.
  package var users: [String]?
}

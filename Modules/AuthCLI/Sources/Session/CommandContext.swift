import AuthModels
import AuthNetworking
import AuthSession
import AuthStorage
import CommandLineTable
import Groundwork

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What one command works with: its command line, its streams, and the session, each made when it is first needed.
struct CommandContext: Sendable {
  let parts: CommandLineParts
  let call: Invocation
  let output: CommandOutput
  /// Opens the store once, however many parts of a command ask.
  let opened: OnceOpened
  /// Made at the first request, one for all.
  let transport: LazyTransport

  init(parts: CommandLineParts, call: Invocation) {
    self.parts = parts
    self.call = call
    output = CommandOutput(console: parts.console, isJSON: call.flag("json"))
    opened = OnceOpened()
    transport = LazyTransport {
      try parts.makeTransport(
        .init(timeout: try call.duration("timeout") ?? .seconds(30), caFile: call.text("ca-file")))
    }
  }

  var console: any Console { parts.console }

  /// The token that the environment puts in the stored session's place, if it does.
  var tokenOverride: String? {
    guard let token = parts.environment["CHIRP_TOKEN"], !token.isEmpty else { return nil }
    return token
  }

  /// Says that requests go on with the environment's token, to whoever changes the stored session.
  func sayOverrideStays() {
    guard tokenOverride != nil else { return }
    output.say("chirp: CHIRP_TOKEN is set: requests use it, and not this session, until it is unset.")
  }

  // MARK: What is told of requests

  /// A transport whose requests and answers are traced on standard error under `--verbose`, secrets hidden by name and by value.
  ///
  /// It stands where requests leave, so that the trace shows each as it is sent, and knows every secret that is in it.
  func traced(_ transport: any HTTPTransport, beside accessToken: String?) -> any HTTPTransport {
    guard call.flag("verbose") else { return transport }
    let mask = SecretMask()
    if let accessToken { mask.learn(accessToken) }
    if let key = call.text("api-key") { mask.learn(key) }
    let log = LoggingInterceptor(detail: .bodies, time: parts.time, masking: { mask.masked($0) }) { [console] in
      console.writeError(Printable.line($0) + "\n")
    }
    return TracingTransport(transport: transport, learner: SecretLearner(mask: mask), log: log)
  }

  /// The line that is shown while the server is waited for, or nil where nothing may move or something else is written.
  func waitingLine(for server: ServerIdentity) -> WaitingLine? {
    let hasPassword = call.flag("password-stdin") || call.text("password-file") != nil
    let asks = ["login", "register"].contains(call.path.first) && console.inputIsTerminal && !hasPassword
    guard console.errorIsTerminal, !output.isJSON, !asks, !call.flag("accessible"), !call.flag("verbose"),
      parts.environment["TERM"] != "dumb"
    else { return nil }
    return WaitingLine(server.baseURL.host() ?? server.text, console: console, time: parts.time, tasks: parts.tasks)
  }

  // MARK: The store

  /// The store that the command line names.
  func store() async throws -> CommandLineParts.OpenedStore {
    if let store = opened.store { return store }
    let store: CommandLineParts.OpenedStore
    if call.text("store") == "memory" {
      store = .init(store: InMemorySessionStore(time: parts.time), location: "memory", keySource: "none")
    } else {
      store = try await parts.openStore(try stateFolder(), try keySource())
    }
    opened.set(store)
    return store
  }

  /// `--state-dir`, `CHIRP_STATE_DIR`, `$XDG_STATE_HOME/chirp`, `~/.local/state/chirp`.
  func stateFolder() throws -> String {
    if let folder = call.text("state-dir") { return folder }
    return try StoreLocation.defaultFolder(environment: parts.environment)
  }

  // MARK: Which session

  /// What a command wants a session for.
  enum Use: Sendable {
    /// To sign in, or up: a server must be named or known.
    case signIn
    /// To work on what is stored.
    case stored
    /// To send requests: `CHIRP_TOKEN`, where it is set, takes the stored session's place.
    case requests
  }

  /// Which session the command means, or nil if none is named and none was signed in to.
  func slotIfKnown(_ use: Use) async throws -> SessionSlot? {
    let account = call.text("account")
    if let text = call.text("server") {
      let server = try ServerIdentity(text)
      if let account { return SessionSlot(server: server.text, account: account) }
      if use == .requests, tokenOverride != nil { return SessionSlot(server: server.text) }
      let last = try await store().store.lastSignedIn()
      return last?.server == server.text ? last : SessionSlot(server: server.text)
    }
    guard var last = try await store().store.lastSignedIn() else { return nil }
    if let account { last.account = account }
    return last
  }

  /// The session that the command works with.
  ///
  /// - Throws: a failure that says how to name the server, if none is known.
  func session(_ use: Use) async throws -> CommandSession {
    guard let slot = try await slotIfKnown(use) else {
      if use == .stored || use == .requests && tokenOverride == nil {
        throw CommandFailure(
          "session.notLoggedIn", "Nobody is signed in, and no server is known.",
          hint: "Sign in: chirp login --server URL", .signInNeeded)
      }
      throw CommandFailure("usage", "No server is known.", hint: "Give --server URL, or set CHIRP_SERVER.", .usage)
    }
    let server = try ServerIdentity(slot.server)
    if use == .requests, let token = tokenOverride {
      output.say("chirp: CHIRP_TOKEN is used in place of the stored session.")
      return try CommandSession(
        context: self, slot: slot, server: server, connection: try await givenConnection(server),
        store: InMemorySessionStore(time: parts.time), accessToken: token)
    }
    let store = try await store().store
    let connection = try await connection(of: slot, server, in: store, use)
    return try CommandSession(
      context: self, slot: slot, server: server, connection: connection, store: store, accessToken: nil)
  }

  /// Refuses options that can mean nothing, before anything is done.
  func checkOptions() throws {
    for option in ["email", "username", "account"] {
      if let text = call.text(option) { try checkName(text, of: option) }
    }
    for option in ["state-dir", "ca-file"] where call.text(option)?.isEmpty == true {
      throw call.usageError("--\(option) is empty.", code: .badValue)
    }
    // What a header field can carry (RFC 6750): anything else is no token, and the value is not repeated.
    if let token = tokenOverride, !token.utf8.allSatisfy({ 0x21...0x7E ~= $0 }) {
      throw call.usageError("CHIRP_TOKEN holds no token: it has a space, a line break or another odd character in it.")
    }
  }

  /// Refuses what cannot be a name at any server; what else makes a good one, the server decides.
  private func checkName(_ text: String, of option: String) throws {
    guard text.contains(where: { !$0.isWhitespace }) else {
      throw call.usageError("--\(option) is empty.", code: .badValue)
    }
    // Bytes that are no UTF-8 have become U+FFFD on their way here.
    guard !text.unicodeScalars.contains("\u{FFFD}") else {
      throw call.usageError("--\(option) is not UTF-8 text.", code: .badValue)
    }
    guard !text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
      throw call.usageError("--\(option) has a control character, such as a line break, in it.", code: .badValue)
    }
  }
}

/// A store that is opened once.
final class OnceOpened: Sendable {
  private let state = Guarded<CommandLineParts.OpenedStore?>(nil)

  var store: CommandLineParts.OpenedStore? { state.withLock { $0 } }

  func set(_ store: CommandLineParts.OpenedStore) {
    state.withLock { $0 = store }
  }
}

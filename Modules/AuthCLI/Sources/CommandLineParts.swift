public import AuthNetworking
public import AuthSession
public import AuthStorage
public import Groundwork

/// What a command line is put together from; the one place where live parts are chosen is `Modules/chirp`.
///
/// Every part is made only when a command needs it: `chirp token` with a good token opens the store and nothing else.
public struct CommandLineParts: Sendable {
  /// A store and what is told of it.
  public struct OpenedStore: Sendable {
    /// The store.
    public var store: any SessionStore
    /// Where it is, for people: a path.
    public var location: String
    /// What guards its key.
    public var keySource: String

    /// Makes it from its parts.
    public init(store: any SessionStore, location: String, keySource: String) {
      self.store = store
      self.location = location
      self.keySource = keySource
    }
  }

  /// What the transport must be able to do.
  public struct TransportWishes: Sendable, Hashable {
    /// How long one request may take.
    public var timeout: Duration
    /// A file of certificate authorities to trust.
    public var caFile: String?

    /// Makes wishes.
    public init(timeout: Duration, caFile: String? = nil) {
      self.timeout = timeout
      self.caFile = caFile
    }
  }

  /// The streams.
  public var console: any Console
  /// The terminal that a form may take over whole; nil where there is none.
  public var screen: (any ScreenPort)?
  /// The environment's variables.
  public var environment: [String: String]
  /// The clocks.
  public var time: any TimeSource
  /// What starts the engine's tasks.
  public var tasks: TaskStarter
  /// The engine's bounds, and what defers signals (S16).
  public var session: SessionOptions
  /// Opens the persistent store in a folder, its key guarded by a source; throws `StoreError`.
  public var openStore: @Sendable (_ folder: String, _ keySource: any KeySource) async throws -> OpenedStore
  /// Makes the transport, at the first request.
  public var makeTransport: @Sendable (TransportWishes) throws -> any HTTPTransport
  /// Reads a file, `limit` bytes at most; throws `ConsoleError`.
  public var readFile: @Sendable (_ path: String, _ limit: Int) async throws -> [UInt8]
  /// Opens a page in the user's browser, best effort.
  public var openBrowser: @Sendable (_ url: String) -> Void
  /// The path of `chirp-secret-service`, which is run where a store's key is in the desktop's key store.
  public var secretServiceHelper: String

  /// Puts the parts together.
  public init(
    console: any Console, screen: (any ScreenPort)? = nil, environment: [String: String],
    time: any TimeSource = SystemClock(),
    tasks: TaskStarter = TaskStarter(), session: SessionOptions = SessionOptions(),
    openStore: @escaping @Sendable (_ folder: String, _ keySource: any KeySource) async throws -> OpenedStore,
    makeTransport: @escaping @Sendable (TransportWishes) throws -> any HTTPTransport,
    readFile: @escaping @Sendable (_ path: String, _ limit: Int) async throws -> [UInt8] = {
      try await LiveConsole.readFile($0, limit: $1)
    },
    openBrowser: @escaping @Sendable (_ url: String) -> Void = { _ in },
    secretServiceHelper: String = "chirp-secret-service"
  ) {
    self.console = console
    self.screen = screen
    self.environment = environment
    self.time = time
    self.tasks = tasks
    self.session = session
    self.openStore = openStore
    self.makeTransport = makeTransport
    self.readFile = readFile
    self.openBrowser = openBrowser
    self.secretServiceHelper = secretServiceHelper
  }
}

public import AuthModels
public import AuthNetworking
public import AuthStorage
public import Groundwork

/// `AuthService` over a Supabase project (D4.1): one client made from the project's URL and its public key (D4.2).
public struct SupabaseAuthService: AuthService {
  /// The engine behind it: for `AuthViewModel`, and for whatever else the app wants of its session.
  public let engine: SessionEngine
  /// The backend: what Supabase has beyond `AuthService`, such as `updateUser`.
  public let backend: SupabaseBackend
  /// The app's own client for the project (`/rest/v1/…`): with the session's token and the public key.
  public let client: APIClient
  private let service: SessionAuthService

  /// Makes the service.
  ///
  /// - Parameters:
  ///   - project: the project's URL, as `https://abc.supabase.co`.
  ///   - anonKey: its public key, the anon or the publishable one.
  ///   - transport: what sends.
  ///   - store: where the session is kept over a restart (D4.4).
  ///   - time: the clocks.
  ///   - tasks: starts the engine's tasks.
  /// - Throws: `SupabaseKeyError` for a service-role key, which never ships in a client; `ServerIdentityError`.
  public init(
    project: String, anonKey: String, transport: any HTTPTransport, store: any SessionStore,
    time: any TimeSource = SystemClock(), tasks: TaskStarter = TaskStarter()
  ) throws {
    let server = try ServerIdentity(project)
    let plain = APIClient(baseURL: server.baseURL, transport: transport, time: time)
    backend = try SupabaseBackend(client: plain, apiKey: anonKey)
    engine = SessionEngine(
      slot: SessionSlot(server: server.text), backend: backend, store: store, time: time, tasks: tasks)
    client = backend.authorized(plain, by: engine)
    service = SessionAuthService(engine: engine)
  }

  public var currentUser: AppUser? {
    get async throws { try await service.currentUser }
  }

  public func signUp(_ registration: Registration) async throws -> AppUser {
    try await service.signUp(registration)
  }

  public func signIn(email: String, password: String) async throws -> AppUser {
    try await service.signIn(email: email, password: password)
  }

  public func signOut() async throws {
    try await service.signOut()
  }
}

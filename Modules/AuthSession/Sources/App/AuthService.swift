public import AuthModels

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What a login form needs: one call (D5; its document names it `AuthService`).
public protocol LoginService: Sendable {
  /// Signs in.
  ///
  /// Bound: of `SessionAuthService`: as `SessionEngine.signIn`, and `SessionEngine.currentUser` where the dialect does not name the user.
  ///
  /// - Throws: an error whose message the form shows; `APIError` of kind `invalidCredentials` for wrong ones.
  func logIn(email: String, password: String) async throws -> AppUser
}

/// What an app needs of any backend (D4.1): swapping the backend is swapping this.
public protocol AuthService: LoginService {
  /// The user behind the current session, or nil if nobody is signed in.
  ///
  /// - Throws: when the store or the server cannot answer, which is not the same as nobody.
  var currentUser: AppUser? { get async throws }

  /// Makes an account and signs in to it.
  ///
  /// Bound: of `SessionAuthService`: as `SessionEngine.signUp`, and `signIn` where the server gives no session along.
  ///
  /// - Throws: `APIError`, for a taken email among others (D4.6).
  func signUp(_ registration: Registration) async throws -> AppUser

  /// Signs in.
  ///
  /// Bound: as `logIn`.
  func signIn(email: String, password: String) async throws -> AppUser

  /// Signs out; whatever the server says, nobody is signed in afterwards (D4.7).
  ///
  /// Bound: of `SessionAuthService`: as `SessionEngine.signOut`.
  func signOut() async throws
}

extension AuthService {
  public func logIn(email: String, password: String) async throws -> AppUser {
    try await signIn(email: email, password: password)
  }
}

/// `AuthService` over the session engine, for every backend.
public struct SessionAuthService: AuthService {
  private let engine: SessionEngine

  /// Makes the service over an engine.
  public init(engine: SessionEngine) {
    self.engine = engine
  }

  public var currentUser: AppUser? {
    get async throws {
      do {
        return AppUser(try await engine.currentUser())
      } catch let error as SessionError where error.code == .notLoggedIn {
        return nil
      }
    }
  }

  public func signUp(_ registration: Registration) async throws -> AppUser {
    switch try await engine.signUp(registration) {
    case .signedIn(let user?): return AppUser(user)
    case .signedIn(nil): return try await user()
    case .registered: return try await signIn(email: registration.email, password: registration.password)
    case .confirmationRequired:
      throw APIError(
        .forbidden, serverCode: "email_not_confirmed", serverMessage: "Confirm your email address, then sign in.")
    }
  }

  public func signIn(email: String, password: String) async throws -> AppUser {
    if let user = try await engine.signIn(Credentials(identifier: email, password: password)) { return AppUser(user) }
    do {
      return try await user()
    } catch is APIError {
      // The session stands and is saved: that the server could not say more of its user just now is no failed sign-in.
      // The id is then one made from the address, until `currentUser` has heard the server's.
      return AppUser(SessionUser(id: email, email: email))
    }
  }

  public func signOut() async throws {
    try await engine.signOut()
  }

  private func user() async throws -> AppUser {
    AppUser(try await engine.currentUser())
  }
}

extension AppUser {
  /// The user as D4 has it. A server's id that is no UUID gives a UUID of its own, always the same one for the same id.
  public init(_ user: SessionUser) {
    self.init(id: UUID(uuidString: user.id) ?? Self.derivedID(user.id), email: user.email ?? "")
  }

  // Two FNV-1a hashes of the id: stable over processes, which `Hasher` is not. It names a user, and protects nothing.
  private static func derivedID(_ text: String) -> UUID {
    func hash(_ seed: UInt64) -> [UInt8] {
      let value = text.utf8.reduce(seed) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
      return (0..<8).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
    var bytes = hash(0xcbf2_9ce4_8422_2325) + hash(0x6c62_272e_07bb_0142)
    // Version 8: a UUID whose making is the maker's own (RFC 9562 §5.8).
    bytes[6] = bytes[6] & 0x0F | 0x80
    bytes[8] = bytes[8] & 0x3F | 0x80
    return UUID(
      uuid: (
        bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], bytes[6], bytes[7], bytes[8], bytes[9], bytes[10],
        bytes[11], bytes[12], bytes[13], bytes[14], bytes[15]
      ))
  }
}

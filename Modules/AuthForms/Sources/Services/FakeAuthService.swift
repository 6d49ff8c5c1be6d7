public import AuthModels
public import AuthSession
public import Groundwork

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The user of the login form (D5.10).
public typealias User = AppUser

/// A service that needs no server: what the login form runs on in previews and first drafts (D5.10).
///
/// It waits one second; "password123" signs anyone in, every other password throws `LoginError.invalidCredentials`.
public struct FakeAuthService: LoginService {
  private let time: any TimeSource

  /// Makes the service on a clock.
  public init(time: any TimeSource = SystemClock()) {
    self.time = time
  }

  /// Signs in after one second.
  ///
  /// - Throws: `LoginError.invalidCredentials`; `CancellationError` as soon as the task is cancelled.
  public func logIn(email: String, password: String) async throws -> User {
    try await wait()
    guard password == "password123" else { throw LoginError.invalidCredentials }
    return User(id: Self.id(of: email), email: email)
  }

  /// How long a server takes.
  func wait() async throws {
    try await time.sleep(for: .seconds(1))
  }

  /// The same email is the same user at every sign-in: its id is drawn from the address (64-bit FNV-1a, from either end).
  private static func id(of email: String) -> UUID {
    func hash(_ bytes: some Sequence<UInt8>) -> UInt64 {
      bytes.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }
    var bytes = [hash(email.utf8), hash(email.utf8.reversed())].flatMap { number in
      stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> $0) }
    }
    bytes[6] = bytes[6] & 0x0F | 0x80
    bytes[8] = bytes[8] & 0x3F | 0x80
    return bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
  }
}

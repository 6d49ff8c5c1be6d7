/// A password as a realm keeps it: one round of salted SHA-256.
///
/// A real server takes a slow hash; here a login must cost next to nothing and the data die with the process. The hash is there
/// so that no dump of a realm, deliberate or not, shows a password that a person may use elsewhere.
struct PasswordHash: Sendable, Hashable {
  private let salt: String
  private let digest: [UInt8]

  init(_ password: String, salt: String) {
    self.salt = salt
    digest = Self.digest(password, salt: salt)
  }

  func matches(_ password: String) -> Bool {
    !digest.isEmpty && digest == Self.digest(password, salt: salt)
  }

  /// Empty if OpenSSL refuses: nothing matches then.
  private static func digest(_ password: String, salt: String) -> [UInt8] {
    SHA256.digest(Array(salt.utf8) + [0] + Array(password.utf8))
  }
}

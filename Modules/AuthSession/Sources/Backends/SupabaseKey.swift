import AuthModels
import AuthNetworking
import Groundwork

/// A Supabase project's public key, the only kind that a client may hold (D4.2).
///
/// A service-role key passes every row-level rule of the project: whoever unpacks an app that holds one owns the whole database. So
/// there is no value of this type for one, and no way to make a client with it.
public struct SupabaseKey: Sendable, Hashable {
  /// The key, as the `apikey` header carries it.
  public let text: String

  /// Takes a public key: `sb_publishable_…`, or a JSON Web Token whose role is `anon`.
  ///
  /// - Throws: `SupabaseKeyError` for a secret key in either form, and for a text that no header can carry.
  public init(_ text: String) throws(SupabaseKeyError) {
    guard !text.isEmpty else { throw SupabaseKeyError(.empty) }
    guard text.utf8.allSatisfy({ 0x21...0x7E ~= $0 }) else { throw SupabaseKeyError(.malformed) }
    guard !text.lowercased().hasPrefix("sb_secret_") else { throw SupabaseKeyError(.secretKey) }
    if let claims = UnverifiedClaims(text), Self.isSecret(claims["role"]) { throw SupabaseKeyError(.serviceRole) }
    self.text = text
  }

  /// One role or several: a single powerful one is enough.
  private static func isSecret(_ role: JSONValue?) -> Bool {
    switch role {
    case .string(let name): ["service_role", "supabase_admin", "postgres"].contains(name.lowercased())
    case .array(let roles): roles.contains(where: isSecret)
    default: false
    }
  }
}

/// Why a text is no key for a client. Holds nothing of the key.
public struct SupabaseKeyError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What is wrong.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// There is no key.
    case empty
    /// It has characters that no key has.
    case malformed
    /// A JSON Web Token for the role `service_role`, or one as powerful.
    case serviceRole
    /// A key that begins with `sb_secret_`.
    case secretKey
    /// The project does not know the key.
    case refused
  }

  /// What is wrong.
  public var code: Code

  init(_ code: Code) { self.code = code }

  /// One or two sentences for whoever put the key there: what it would do, and which key belongs there.
  public var message: String {
    switch code {
    case .empty: "The project's public key is missing. It stands under Settings, API keys: the anon or publishable key."
    case .refused:
      "The project does not take this key. Compare it with the one under Settings, API keys, and the project's URL."
    case .malformed: "The project's key has spaces, line breaks or other characters that no key has."
    case .serviceRole:
      "This is a service-role key. It passes every access rule of the project, so a client must never hold it: use the "
        + "anon key. If it was ever in an app or a repository, replace it."
    case .secretKey:
      "This is a secret key (sb_secret_…). It passes every access rule of the project, so a client must never hold it: "
        + "use the publishable key (sb_publishable_…). If it was ever in an app or a repository, replace it."
    }
  }

  public var description: String { message }
}

extension SupabaseKey: CustomStringConvertible, CustomReflectable {
  /// Names the kind and shows no key: a public one identifies the project.
  public var description: String { text.hasPrefix("sb_") ? "publishable key" : "anon key" }
  public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

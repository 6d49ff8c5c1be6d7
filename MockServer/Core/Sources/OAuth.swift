import Groundwork

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The OAuth 2 dialect's wire format (RFC 6749).
enum OAuth {
  static let pragma = MockRequest.Field("Pragma", "no-cache")

  static func error(_ status: Int, _ code: String, _ description: String) -> MockReply {
    let json = JSONWriter.object { json in
      json.member("error", code)
      json.member("error_description", describable(description))
    }
    return MockReply(status: status, headers: [Chirp.contentType, Chirp.noStore, pragma], body: json.data)
  }

  /// A description has neither quotes nor backslashes, and ASCII alone (RFC 6749 §5.2).
  static func describable(_ text: String) -> String {
    String(
      decoding: text.utf8.map { byte in
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): UInt8(ascii: "'")
        case 0x20...0x7E: byte
        default: UInt8(ascii: "?")
        }
      }, as: UTF8.self)
  }

  /// Its code for what the server says in every dialect.
  static func code(for status: Int, _ code: String) -> String {
    switch code {
    case "rate_limited", "unavailable": "temporarily_unavailable"
    case "server_error", "script_exhausted": "server_error"
    case "invalid_token", "insufficient_scope", "invalid_grant": code
    case "invalid_credentials": "invalid_grant"
    case "forbidden": "insufficient_scope"
    case "missing_token": "invalid_token"
    default: status >= 500 ? "server_error" : "invalid_request"
    }
  }

  /// RFC 6749 §3.3: printable ASCII but for the quote and the backslash.
  static func isScope(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { $0 == 0x21 || 0x23...0x5B ~= $0 || 0x5D...0x7E ~= $0 }
  }

  /// A token answer (§5.1).
  static func tokens(
    _ grant: TokenGrant, scope: [String], refreshToken: String?, idToken: String?
  ) -> MockReply {
    let json = JSONWriter.object { json in
      json.member("access_token", grant.accessToken)
      json.member("token_type", "Bearer")
      json.member("expires_in", Int(grant.expiresIn.components.seconds))
      if let refreshToken { json.member("refresh_token", refreshToken) }
      json.member("scope", scope.joined(separator: " "))
      if let idToken { json.member("id_token", idToken) }
    }
    return MockReply(status: 200, headers: [Chirp.contentType, Chirp.noStore, pragma], body: json.data)
  }
}

/// Why a request of the OAuth 2 dialect is refused.
struct OAuthRefusal: Error {
  var status = 400
  let code: String
  let description: String
  let outcome: MockOutcome
  var challenge: MockRequest.Field?
  var sessionID: String?
  var generation: Int?

  init(_ code: String, _ description: String, _ outcome: MockOutcome, status: Int = 400) {
    self.status = status
    self.code = code
    self.description = description
    self.outcome = outcome
  }

  static func request(_ description: String) -> OAuthRefusal {
    OAuthRefusal("invalid_request", description, .badRequest)
  }

  static func grant(_ description: String, _ outcome: MockOutcome) -> OAuthRefusal {
    OAuthRefusal("invalid_grant", description, outcome)
  }
}

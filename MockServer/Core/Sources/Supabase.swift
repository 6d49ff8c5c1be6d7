import Groundwork

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The Supabase dialect's wire format (D4): snake_case, and its error codes.
enum Supabase {
  static let errorHeader = "x-sb-error-code"
  static let versionHeader = "X-Supabase-Api-Version"
  static let latestVersion = "2024-01-01"

  /// What its keys begin with; a key in the form of a JWT says its role in a claim.
  static let publicKeyPrefix = "sb_publishable_"
  static let secretKeyPrefix = "sb_secret_"

  /// Whether a request's header asks for the newer shape of errors.
  static func wantsNewShape(_ request: MockRequest) -> Bool {
    guard let version = request.header(versionHeader), let date = MockInstant(text: "\(version)T00:00:00Z") else {
      return false
    }
    return date >= firstOfNewShape
  }

  private static let firstOfNewShape = MockInstant(text: "\(latestVersion)T00:00:00Z") ?? MockInstant(microseconds: 0)

  /// Its code for what the server says in every dialect.
  static func code(for status: Int, _ code: String) -> String {
    switch code {
    case "rate_limited": "over_request_rate_limit"
    case "malformed_request":
      switch status {
      case 413: "request_entity_too_large"
      case 408: "request_timeout"
      default: "bad_request"
      }
    default: code
    }
  }

  static func message(for code: String, _ reason: String) -> String {
    code == "rate_limited" ? "Request rate limit reached" : reason
  }

  /// What a server of this dialect would say with a status that a script names.
  static func scripted(
    _ status: Int, _ operation: MockOperation, _ state: RealmState, _ call: RealmState.Call
  ) -> MockReply {
    let (code, message): (String, String) =
      switch (status, operation) {
      case (400, .refresh): ("refresh_token_not_found", "Invalid Refresh Token: Refresh Token Not Found")
      case (400, .login): ("invalid_credentials", "Invalid login credentials")
      case (400, _): ("validation_failed", "The request is not valid")
      case (401, _): ("no_authorization", "This endpoint requires a valid Bearer token")
      case (403, .refresh): ("session_not_found", "Session from session_id claim in JWT does not exist")
      case (403, _):
        ("bad_jwt", "invalid JWT: unable to parse or verify signature, token has invalid claims: token is expired")
      case (404, _): ("user_not_found", "User not found")
      case (409, _):
        ("conflict", "Too many concurrent token refresh requests on the same session or refresh token")
      case (413, _): ("request_entity_too_large", "Request body exceeds maximum allowed size of 1048576 bytes")
      case (422, .register): ("user_already_exists", "User already registered")
      case (422, _): ("validation_failed", "The request is not valid")
      case (429, _): ("over_request_rate_limit", "Request rate limit reached")
      case (504, _): ("request_timeout", "Processing this request timed out, please retry after a moment.")
      case (500..., _):
        ("unexpected_failure", "Unexpected failure, please check server logs for more information")
      default: ("unknown", "A script answered with \(status)")
      }
    return state.supabaseError(call, status, code, message)
  }

  static func appMetadata(of user: UserRecord?, to json: inout JSONWriter) {
    var providers: [String] = []
    if user?.email.isEmpty == false { providers.append("email") }
    if user?.phone.isEmpty == false { providers.append("phone") }
    json.object { json in
      json.member("provider", providers.first ?? "email")
      json.key("providers")
      json.array(providers) { $0.string($1) }
    }
  }

  /// A user as the user endpoint shows it.
  static func user(_ user: UserRecord, to json: inout JSONWriter) {
    json.object { json in
      json.member("id", user.id)
      json.member("aud", "authenticated")
      json.member("role", "authenticated")
      json.member("email", user.email)
      time("email_confirmed_at", user.emailConfirmedAt, to: &json)
      json.member("phone", user.phone)
      time("phone_confirmed_at", user.phoneConfirmedAt, to: &json)
      time("confirmation_sent_at", user.confirmationSentAt, to: &json)
      time("confirmed_at", user.confirmedAt, to: &json)
      if let newEmail = user.newEmail {
        json.member("new_email", newEmail.address)
        time("email_change_sent_at", newEmail.sentAt, to: &json)
      }
      time("last_sign_in_at", user.lastSignInAt, to: &json)
      json.key("app_metadata")
      appMetadata(of: user, to: &json)
      json.key("user_metadata")
      json.value(.object(user.metadata))
      json.key("identities")
      let providers = [("email", user.email), ("phone", user.phone)].filter { !$0.1.isEmpty }
      json.array(providers) { json, provider in identity(provider.0, of: user, to: &json) }
      json.member("created_at", user.createdAt.text)
      json.member("updated_at", user.updatedAt.text)
      time("banned_until", user.bannedUntil, to: &json)
      json.member("is_anonymous", false)
    }
  }

  private static func time(_ name: String, _ instant: MockInstant?, to json: inout JSONWriter) {
    if let instant { json.member(name, instant.text) }
  }

  private static func identity(_ provider: String, of user: UserRecord, to json: inout JSONWriter) {
    json.object { json in
      json.member("identity_id", identityID(provider, of: user.id))
      json.member("id", user.id)
      json.member("user_id", user.id)
      json.key("identity_data")
      json.object { json in
        if !user.email.isEmpty { json.member("email", user.email) }
        json.member("email_verified", user.emailConfirmedAt != nil)
        json.member("phone_verified", user.phoneConfirmedAt != nil)
        json.member("sub", user.id)
      }
      json.member("provider", provider)
      json.member("last_sign_in_at", (user.lastSignInAt ?? user.createdAt).text)
      json.member("created_at", user.createdAt.text)
      json.member("updated_at", user.updatedAt.text)
      if provider == "email" { json.member("email", user.email) }
    }
  }

  /// A UUID that follows from the user's: it needs no place of its own.
  private static func identityID(_ provider: String, of userID: String) -> String {
    let digest = SHA256.digest(Array("\(provider) identity of \(userID)".utf8))
    let numbers = (0..<2).map { half in digest.dropFirst(half * 8).prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    }
    return SeededRandom.uuid(numbers[0], numbers[1])
  }

  /// A session: what sign-up, sign-in, refresh and verification give.
  static func session(_ grant: TokenGrant, of user: UserRecord, expiresAt: MockInstant) -> MockReply {
    let json = JSONWriter.object { json in
      json.member("access_token", grant.accessToken)
      json.member("token_type", "bearer")
      json.member("expires_in", Int(grant.expiresIn.components.seconds))
      json.member("expires_at", Int(expiresAt.seconds))
      json.member("refresh_token", grant.refreshToken)
      json.key("user")
      Supabase.user(user, to: &json)
    }
    return MockReply(status: 200, headers: [Chirp.contentType, Chirp.noStore], body: json.data)
  }
}

import Groundwork

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The chirp dialect's wire format (D1, D3): camelCase, errors as `{"error":true,"reason":…,"code":…}`.
enum Chirp {
  static let contentType = MockRequest.Field("Content-Type", "application/json")
  /// Tokens are never cached (RFC 6749 §5.1).
  static let noStore = MockRequest.Field("Cache-Control", "no-store")

  static func error(
    _ status: Int, _ code: String, _ reason: String, fields: [(String, String)] = [], detail: String? = nil
  ) -> MockReply {
    let json = JSONWriter.object { json in
      json.member("error", true)
      json.member("reason", reason)
      json.member("code", code)
      if let detail { json.member("detail", detail) }
      if !fields.isEmpty {
        json.key("fields")
        json.object { json in
          for (name, text) in fields { json.member(name, text) }
        }
      }
    }
    return MockReply(status: status, headers: [contentType], body: json.data)
  }

  static func json(_ status: Int, _ body: Data) -> MockReply {
    MockReply(status: status, headers: [contentType], body: body)
  }

  static func tokens(_ grant: TokenGrant) -> MockReply {
    let json = JSONWriter.object { json in
      json.member("accessToken", grant.accessToken)
      json.member("refreshToken", grant.refreshToken)
      json.member("expiresIn", Int(grant.expiresIn.components.seconds))
      json.member("tokenType", "Bearer")
    }
    return MockReply(status: 200, headers: [contentType, noStore], body: json.data)
  }

  /// A body that is a JSON object, or the refusal of one that is not.
  static func body(of request: MockRequest) -> Result<[String: JSONValue], BodyRefusal> {
    guard request.body.count <= 1 << 20 else {
      return .failure(BodyRefusal(413, "payload_too_large", "The body is larger than 1 MiB.", .tooLarge))
    }
    guard let type = request.header("Content-Type"), isJSON(type) else {
      return .failure(
        BodyRefusal(
          415, "unsupported_media_type", "The body's content type must be application/json.", .unsupportedMediaType))
    }
    do throws(JSONParser.Failure) {
      guard case .object(let members) = try JSONParser.parse(request.body) else {
        return .failure(BodyRefusal(400, "invalid_json", "The body must be a JSON object.", .badRequest))
      }
      return .success(members)
    } catch {
      return .failure(BodyRefusal(400, "invalid_json", "The body is not JSON: \(error.message).", .badRequest))
    }
  }

  private static func isJSON(_ type: String) -> Bool {
    let parts = type.split(separator: ";", omittingEmptySubsequences: false)
    guard let media = parts.first?.trimmedOfSpaces, media.equalsIgnoringCase("application/json") else { return false }
    return parts.dropFirst().allSatisfy { parameter in
      let pair = parameter.split(separator: "=", maxSplits: 1).map(\.trimmedOfSpaces)
      guard pair.first?.equalsIgnoringCase("charset") == true else { return true }
      return pair.count == 2 && (pair[1].equalsIgnoringCase("utf-8") || pair[1].equalsIgnoringCase("\"utf-8\""))
    }
  }
}

/// Why a body is refused before anyone looks at what it says.
struct BodyRefusal: Error {
  let status: Int
  let code: String
  let reason: String
  let outcome: MockOutcome

  init(_ status: Int, _ code: String, _ reason: String, _ outcome: MockOutcome) {
    self.status = status
    self.code = code
    self.reason = reason
    self.outcome = outcome
  }
}

/// Reads the texts of a body's fields, and collects what is wrong with them.
struct BodyFields {
  let members: [String: JSONValue]
  private(set) var problems: [(String, String)] = []

  init(_ members: [String: JSONValue]) { self.members = members }

  /// The field's text; "" and a noted problem if it is missing, no text, or not as `check` wants it.
  mutating func text(_ name: String, check: (String) -> String? = { _ in nil }) -> String {
    guard let value = members[name], value != .null else {
      problems.append((name, "is missing"))
      return ""
    }
    guard let text = value.string else {
      problems.append((name, "must be a text"))
      return ""
    }
    if let problem = check(text) { problems.append((name, problem)) }
    return text
  }
}

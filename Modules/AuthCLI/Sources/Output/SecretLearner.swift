import AuthModels
import AuthNetworking
import Groundwork

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Traces what leaves and what comes back: the last step before the network.
struct TracingTransport: HTTPTransport {
  let transport: any HTTPTransport
  let learner: SecretLearner
  let log: LoggingInterceptor

  func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
    learner.learn(from: request)
    let context = RequestContext(
      endpoint: "", requiresAuth: false, isIdempotent: false, hasCredentialBody: request.hasCredentialBody)
    do {
      return try await log.intercept(request, context: context) { request in
        let response = try await transport.send(request)
        // Before it is logged.
        learner.learn(from: response.headers, response.body)
        return response
      }
    } catch let error as TransportError {
      throw error
    } catch {
      throw TransportError(.invalidRequest, mayHaveBeenSent: true, message: "The request could not be traced.")
    }
  }
}

/// Shows a mask every secret that passes by, in requests and answers.
struct SecretLearner: Sendable {
  let mask: SecretMask

  func learn(from request: HTTPRequest) {
    learn(from: request.headers, request.body)
    learn(fromQueryOf: request.url.absoluteString)
  }

  func learn(from headers: HTTPFields, _ body: Data?) {
    for field in headers.fields {
      switch field.name.lowercased() {
      case "authorization", "proxy-authorization":
        // The scheme is no secret; what follows it is.
        mask.learn(field.value.drop { $0 != " " }.drop { $0 == " " })
      case "cookie", "set-cookie":
        for pair in field.value.split(separator: ";") {
          if let equals = pair.firstIndex(of: "=") { learn(pair[pair.index(after: equals)...], weak: true) }
        }
      case "location", "content-location", "referer": learn(fromQueryOf: field.value)
      default: if Redaction.isSecret(name: field.name) { learn(field.value, weak: false) }
      }
    }
    guard let body, !body.isEmpty else { return }
    let type = headers["Content-Type"]?.lowercased() ?? ""
    if type.contains("x-www-form-urlencoded") {
      learn(fromPairs: String(decoding: body, as: UTF8.self))
    } else if type.contains("json"), let value = json(body) {
      learn(from: value, isSecret: false, isWeak: true)
    }
  }

  /// What is no JSON is no place to find a secret's name in; the log shows its size alone.
  private func json(_ body: Data) -> JSONValue? {
    do {
      return try JSONDecoder().decode(JSONValue.self, from: body)
    } catch {
      return nil
    }
  }

  private func learn(from value: JSONValue, isSecret: Bool, isWeak: Bool) {
    switch value {
    case .object(let members):
      for (name, member) in members {
        let isNamed = Redaction.isSecret(name: name)
        learn(from: member, isSecret: isSecret || isNamed, isWeak: isNamed ? isWeakName(name) : isWeak)
      }
    case .array(let elements): for element in elements { learn(from: element, isSecret: isSecret, isWeak: isWeak) }
    case .string(let text): if isSecret { learn(text, weak: isWeak) }
    case .number, .bool, .null: break
    }
  }

  private func learn(fromQueryOf url: String) {
    guard let question = url.firstIndex(of: "?") else { return }
    learn(fromPairs: url[url.index(after: question)...].prefix { $0 != "#" })
  }

  private func learn(fromPairs text: some StringProtocol) {
    for pair in text.split(separator: "&") {
      guard let equals = pair.firstIndex(of: "=") else { continue }
      let name = String(pair[..<equals])
      guard Redaction.isSecret(name: name) else { continue }
      let value = String(pair[pair.index(after: equals)...])
      let spaced = value.split(separator: "+", omittingEmptySubsequences: false).joined(separator: " ")
      for text in [value, Self.decoded(value), Self.decoded(spaced)] { learn(text, weak: isWeakName(name)) }
    }
  }

  /// Reads percent-escapes; what is none stays as it is.
  private static func decoded(_ text: String) -> String {
    var bytes: [UInt8] = []
    var rest = text.utf8[...]
    while let byte = rest.popFirst() {
      let digits = String(decoding: rest.prefix(2), as: UTF8.self)
      if byte == UInt8(ascii: "%"), digits.utf8.count == 2, let escaped = UInt8(digits, radix: 16) {
        bytes.append(escaped)
        rest = rest.dropFirst(2)
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Names under which a word may stand that is no secret (`code: "invalid_grant"`, `token_type: "bearer"`): of their values only
  /// long ones are hidden elsewhere, too.
  private func isWeakName(_ name: String) -> Bool {
    let plain = name.lowercased()
    return plain.hasSuffix("type") || ["code", "state", "key", "session", "sid", "auth", "nonce"].contains(plain)
  }

  private func learn(_ text: some StringProtocol, weak: Bool) {
    if !weak || text.utf8.count >= 16 { mask.learn(text) }
  }
}

import Groundwork

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Which web pages may call the dialects from a browser (Fetch Standard §3.2, "CORS protocol").
public struct MockCORS: Sendable, Hashable {
  /// The origins, `https://app.example`; `*` is any.
  public var origins: [String]
  /// Whether a page may send cookies and HTTP credentials along; a bearer token needs it not.
  public var credentials: Bool
  /// How long a browser may remember the answer to a preflight request.
  public var maxAge: Duration

  /// Makes a policy.
  public init(origins: [String], credentials: Bool = false, maxAge: Duration = .seconds(600)) {
    self.origins = origins
    self.credentials = credentials
    self.maxAge = maxAge
  }

  /// What `Access-Control-Allow-Origin` says to an origin; nil: nothing.
  func answer(to origin: String) -> String? {
    if origins.contains(where: { $0.equalsIgnoringCase(origin) }) { return origin }
    guard origins.contains("*") else { return nil }
    // "*" and credentials exclude each other (Fetch Standard §3.2.5): the origin itself says the same.
    return credentials ? origin : "*"
  }
}

extension MockCORS {
  init(json: JSONValue) throws(MockServerError) {
    let fields = try FieldReader(json, at: "cors", knows: ["origins", "credentials", "maxAge"])
    guard let list = try fields.array("origins"), !list.isEmpty else {
      throw fields.failure("\"origins\" is a list of origins, say [\"http://localhost:3000\"], or [\"*\"] for any")
    }
    var origins: [String] = []
    for element in list {
      guard let origin = element.string, Self.isOrigin(origin) else {
        let shown = element.string.map { "\"\($0.prefix(80))\"" } ?? "what stands there"
        throw fields.failure(
          "\(shown) is no origin: a scheme, a host and perhaps a port, say \"http://localhost:3000\"")
      }
      origins.append(origin)
    }
    self.init(origins: origins)
    credentials = try fields.bool("credentials") ?? false
    maxAge = try fields.duration("maxAge") ?? maxAge
  }

  /// `*`, `null`, or scheme, host and port without a path (RFC 6454 §6.1).
  private static func isOrigin(_ text: String) -> Bool {
    if text == "*" || text == "null" { return true }
    guard let mark = text.firstRange(of: "://"), mark.lowerBound > text.startIndex else { return false }
    let host = text[mark.upperBound...]
    return !host.isEmpty && text.utf8.count <= 300
      && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\"") }
      && !host.contains { "/?#@\\,".contains($0) }
  }

  func write(to writer: inout JSONWriter) {
    writer.object { json in
      json.key("origins")
      json.array(origins) { $0.string($1) }
      json.member("credentials", credentials)
      json.member("maxAge", maxAge.text)
    }
  }
}

extension RealmState {
  /// What a script may do with an answer that a page of another origin has asked for: these fields are not among the safe ones.
  private static let exposed = "Retry-After, WWW-Authenticate, X-Request-ID, X-SB-Error-Code, X-Supabase-Api-Version"

  /// The answer to a browser that asks whether a page may send a request; nil for any other request, and without the policy.
  func preflight(_ call: Call) -> Answer? {
    guard call.request.method == "OPTIONS", let cors = policy.cors, let route = call.route,
      let origin = call.request.header("Origin"), call.request.header("Access-Control-Request-Method") != nil
    else { return nil }
    guard cors.answer(to: origin) != nil else {
      let reason = "The policy's \"cors\" names other origins than this one."
      return Answer(reply: render(call, 403, "origin_refused", reason), outcome: .preflight)
    }
    var reply = MockReply(status: 204)
    reply.headers.append(MockRequest.Field("Access-Control-Allow-Methods", route.allow))
    if let names = call.request.header("Access-Control-Request-Headers") {
      reply.headers.append(MockRequest.Field("Access-Control-Allow-Headers", names))
    }
    let seconds = min(max(cors.maxAge.components.seconds, 0), 86400)
    reply.headers.append(MockRequest.Field("Access-Control-Max-Age", String(seconds)))
    return Answer(reply: reply, outcome: .preflight)
  }

  /// Lets the page read the answer, if the policy lets its origin.
  func share(_ reply: inout MockReply, with request: MockRequest) {
    guard let cors = policy.cors else { return }
    reply.headers.append(MockRequest.Field("Vary", "Origin"))
    guard let origin = request.header("Origin"), let allowed = cors.answer(to: origin) else { return }
    reply.headers.append(MockRequest.Field("Access-Control-Allow-Origin", allowed))
    if cors.credentials { reply.headers.append(MockRequest.Field("Access-Control-Allow-Credentials", "true")) }
    reply.headers.append(MockRequest.Field("Access-Control-Expose-Headers", Self.exposed))
  }
}

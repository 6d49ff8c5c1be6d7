import COpenSSL

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The dashboard: one page that asks for nothing but the admin API beside it.
///
/// Its files stand in `MockServer/Dashboard/Page`; `make dashboard` makes the other sources of this folder from them.
enum DashboardPage {
  /// The page as it is sent, style and script inside.
  static let html = assemble()

  /// In the order in which they run.
  static let scripts = [
    pageScript, liveScript, shellScript, clockScript, usersScript, requestsScript, sessionsScript, sequenceScript,
    rulesScript, startScript,
  ]

  static let script = scripts.joined(separator: "\n")
  static let style = pageStyle

  /// What the page may do: run this one script, which may talk to where it came from. No text can become a script: inline
  /// handlers and `eval` are refused, and so is everything that parses text as HTML (Trusted Types).
  static let securityPolicy = [
    "default-src 'none'", "script-src '\(hash(script))'", "style-src '\(hash(style))'", "connect-src 'self'",
    "img-src data:", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
    "require-trusted-types-for 'script'", "trusted-types 'none'",
  ].joined(separator: "; ")

  static let reply = MockReply(
    status: 200,
    headers: [
      MockRequest.Field("Content-Type", "text/html; charset=utf-8"),
      MockRequest.Field("Content-Security-Policy", securityPolicy),
      MockRequest.Field("X-Frame-Options", "DENY"),
      MockRequest.Field("Referrer-Policy", "no-referrer"),
      MockRequest.Field("Cross-Origin-Opener-Policy", "same-origin"),
    ], body: Data(html.utf8))

  /// To the address with the slash, against which the page's own addresses are meant.
  static let redirect = MockReply(status: 308, headers: [MockRequest.Field("Location", "__mock/")])

  private static func assemble() -> String {
    var html = pageMarkup
    for (place, text) in [("<!--style-->", "<style>\(style)</style>"), ("<!--script-->", "<script>\(script)</script>")]
    {
      if let found = html.firstRange(of: place) { html.replaceSubrange(found, with: text) }
    }
    return html
  }

  /// A text's hash as a security policy names it (CSP 3 §6.7.2); one that no text has if OpenSSL refuses.
  private static func hash(_ text: String) -> String {
    let input = Array(text.utf8)
    var output = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
    var size: UInt32 = 0
    guard EVP_Digest(input, input.count, &output, &size, EVP_sha256(), nil) == 1 else { return "sha256-" }
    return "sha256-\(Data(output.prefix(Int(size))).base64EncodedString())"
  }
}

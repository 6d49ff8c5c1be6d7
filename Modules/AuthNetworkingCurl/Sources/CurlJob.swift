internal import AuthModels
internal import AuthNetworking

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// One request in the form that libcurl takes, made on the caller's side so that the one driver thread has little to do.
struct CurlJob: Sendable {
  let method: HTTPMethod
  let url: String
  /// Scheme, host and port, as the URL begins.
  let origin: String
  let host: String
  /// Header fields in libcurl's notation, in which a field without a value ends with a semicolon.
  let fields: [String]
  /// What is sent; nil for no body and no `Content-Length`.
  let body: Data?
  /// Whether the request needs a connection that no other one has used.
  ///
  /// On a kept connection that turns out to be dead, libcurl sends a request again by itself, one with a body too. That is right for a
  /// GET; a refresh token that is spent twice may cost the session (S12).
  let needsFreshConnection: Bool
  /// Whether a caller's own thread may send it: over a kept connection, without TLS.
  ///
  /// TLS is for the driver's thread, in which all signals are blocked: OpenSSL writes in such a way that a connection which the server has
  /// closed raises SIGPIPE.
  var isForAnyThread: Bool { !needsFreshConnection && !isSecure }
  let isSecure: Bool
  let isLoopback: Bool
  let timeout: Duration
  let deadline: Duration

  init(_ request: HTTPRequest, timeout: Duration, deadline: Duration) throws(TransportError) {
    try request.checkFields()
    try request.checkTarget()
    let content = request.body.flatMap { $0.isEmpty ? nil : $0 }
    method = request.method
    host = request.url.host() ?? ""
    isSecure = request.url.scheme?.lowercased() == "https"
    origin = Self.origin(of: request.url, host: host, isSecure: isSecure)
    url = origin + Self.target(of: request.url)
    isLoopback = ConnectionSecurity.isLoopback(host: host)
    needsFreshConnection = request.hasCredentialBody || !request.method.isIdempotent || content != nil
    self.timeout = timeout
    self.deadline = deadline
    // These methods expect a body, and say so also when it is empty (RFC 9110 §8.6).
    body = content ?? ([.post, .put, .patch].contains(request.method) ? Data() : nil)
    var fields = request.headers.fields.map { field in
      let value = field.value.trimmingSpaces
      return value.isEmpty ? "\(field.name);" : "\(field.name): \(value)"
    }
    if body != nil {
      if request.headers["Content-Type"] == nil {
        // Else libcurl says that every body is a form.
        fields.append(content == nil ? "Content-Type:" : "Content-Type: application/octet-stream")
      }
      // Else libcurl holds a large body back for a second, to see whether the server wants it.
      if request.headers["Expect"] == nil { fields.append("Expect:") }
    }
    self.fields = fields
  }

  /// The URL put together from the parts that were checked, so that libcurl cannot read another host out of it.
  private static func origin(of url: URL, host: String, isSecure: Bool) -> String {
    let name = host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
    let port = url.port.map { ":\($0)" } ?? ""
    return "\(isSecure ? "https" : "http")://\(name)\(port)"
  }

  private static func target(of url: URL) -> String {
    let path = url.path()
    let query = url.query().map { "?\($0)" } ?? ""
    return "\(path.isEmpty ? "/" : path)\(query)"
  }
}

extension String {
  /// Without the spaces and tabs around it (RFC 9110 §5.5).
  fileprivate var trimmingSpaces: String {
    func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
    guard let first = utf8.first, let last = utf8.last, isSpace(first) || isSpace(last) else { return self }
    var rest = Substring(self)
    while let byte = rest.utf8.first, isSpace(byte) { rest = rest.dropFirst() }
    while let byte = rest.utf8.last, isSpace(byte) { rest = rest.dropLast() }
    return String(rest)
  }
}

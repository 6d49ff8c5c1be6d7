internal import AuthModels
internal import AuthNetworking

#if canImport(FoundationNetworking)
  internal import Foundation
  internal import FoundationNetworking
#else
  internal import Foundation
#endif

extension URLRequest {
  /// The request for the URL session, its header fields assigned at once: setting each costs 10 µs on Linux.
  init(_ request: HTTPRequest) throws(TransportError) {
    try request.checkFields()
    try request.checkTarget()
    let body = request.body.flatMap { $0.isEmpty ? nil : $0 }
    self.init(url: request.url)
    httpMethod = request.method.rawValue
    var fields: [String: String] = [:]
    for field in request.headers.fields {
      // One name in two spellings would be two fields to a dictionary.
      let name = fields.keys.first { $0.lowercased() == field.name.lowercased() } ?? field.name
      fields[name] = fields[name].map { "\($0), \(field.value)" } ?? field.value
    }
    if body != nil, request.headers["Content-Type"] == nil {
      // Else the platform says that every body is a form.
      fields["Content-Type"] = "application/octet-stream"
    }
    allHTTPHeaderFields = fields
    httpBody = body
    httpShouldHandleCookies = false
    // The time-out is kept by the transport; the platform's own one, between two packets, must not come first.
    timeoutInterval = 86_400
  }
}

extension HTTPResponse {
  /// The head of an answer; nil if it is none of HTTP.
  init?(_ response: URLResponse) {
    guard let response = response as? HTTPURLResponse, 200...599 ~= response.statusCode else { return nil }
    let fields = response.allHeaderFields.compactMap { name, value -> HTTPField? in
      guard let name = name as? String, let value = value as? String else { return nil }
      return HTTPField(name, value)
    }
    let headers = HTTPFields(fields.sorted { $0.name < $1.name })
    // Two lengths, or one that is no number, leave open where the answer ends (RFC 9112 §6.3).
    if let length = headers["Content-Length"] {
      let lengths = Set(length.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) })
      guard lengths.count == 1, lengths.allSatisfy({ UInt64($0) != nil }) else { return nil }
    }
    self.init(status: response.statusCode, headers: headers)
  }
}

extension URLError {
  /// On Linux a failed handshake has no code of its own; libcurl's words tell it from a connection that broke later.
  fileprivate var isHandshakeFailure: Bool {
    ["SSL routines", "SSL_connect", "SSL connect"].contains { localizedDescription.contains($0) }
  }
}

extension TransportError {
  /// What the URL session says, as one of our codes. Nothing of the URL but its host gets into the message.
  init(_ error: any Error, host: String) {
    guard let error = error as? URLError else {
      self = .lost(host: host)
      return
    }
    switch error.code {
    case .cancelled: self = .lost(host: host)
    case .timedOut: self = .timedOut(host: host)
    case .cannotFindHost, .dnsLookupFailed:
      self.init(.cannotConnect, mayHaveBeenSent: false, message: "The host \(host) was not found.")
    case .cannotConnectToHost, .notConnectedToInternet, .internationalRoamingOff, .callIsActive, .dataNotAllowed:
      self.init(.cannotConnect, mayHaveBeenSent: false, message: "No connection to \(host).")
    case .secureConnectionFailed, .serverCertificateHasBadDate, .serverCertificateUntrusted,
      .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid, .clientCertificateRejected,
      .clientCertificateRequired:
      self.init(.tlsFailure, mayHaveBeenSent: false, message: "No secure connection to \(host).")
    // On Linux this is what a status line that is none comes as: the scheme has been checked before.
    case .unsupportedURL, .cannotParseResponse, .cannotDecodeRawData, .cannotDecodeContentData:
      self = .malformed(host: host)
    #if !canImport(Darwin)
      // swift-corelibs-foundation 5496: it compares libcurl's host, which has brackets, with the URL's, which has none.
      case .badURL where host.contains(":"):
        self.init(
          .invalidRequest, mayHaveBeenSent: false,
          message: "URLSession on this system takes no IPv6 address: use a host name, or CurlTransport.")
    #endif
    case .badURL:
      self.init(.invalidRequest, mayHaveBeenSent: false, message: "The URL cannot be used.")
    case .unknown where error.isHandshakeFailure:
      self.init(.tlsFailure, mayHaveBeenSent: false, message: "No secure connection to \(host).")
    default: self = .lost(host: host)
    }
  }
}

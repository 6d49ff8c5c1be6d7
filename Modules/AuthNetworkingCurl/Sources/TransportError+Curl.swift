internal import AuthModels
internal import AuthNetworking
internal import CLibcurl

extension TransportError {
  /// What libcurl says, as one of our codes.
  ///
  /// - Parameters:
  ///   - code: how the exchange ended; never `CURLE_OK`.
  ///   - wasSent: whether any byte of the request has left.
  ///   - detail: libcurl's words for people; used where no request has been sent, so that they hold nothing of it.
  init(_ code: CURLcode, host: String, wasSent: Bool, detail: String) {
    func because(_ text: String) -> String { detail.isEmpty ? "\(text)." : "\(text): \(detail)." }
    switch code {
    case CURLE_OPERATION_TIMEDOUT:
      self = .timedOut(host: host, mayHaveBeenSent: wasSent)
    case CURLE_COULDNT_RESOLVE_HOST:
      self.init(.cannotConnect, mayHaveBeenSent: wasSent, message: "The host \(host) was not found.")
    case CURLE_COULDNT_RESOLVE_PROXY:
      self.init(.cannotConnect, mayHaveBeenSent: wasSent, message: "The proxy on the way to \(host) was not found.")
    case CURLE_COULDNT_CONNECT, CURLE_INTERFACE_FAILED, CURLE_PROXY, CURLE_NO_CONNECTION_AVAILABLE:
      self.init(.cannotConnect, mayHaveBeenSent: wasSent, message: because("No connection to \(host)"))
    case CURLE_SSL_CACERT_BADFILE:
      self.init(
        .tlsFailure, mayHaveBeenSent: wasSent,
        message: "The file of certificate authorities cannot be used for \(host).")
    case CURLE_SSL_CERTPROBLEM:
      self.init(.tlsFailure, mayHaveBeenSent: wasSent, message: "The client certificate cannot be used for \(host).")
    case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CIPHER, CURLE_SSL_ENGINE_NOTFOUND,
      CURLE_SSL_ENGINE_SETFAILED, CURLE_SSL_ENGINE_INITFAILED, CURLE_USE_SSL_FAILED, CURLE_SSL_CRL_BADFILE,
      CURLE_SSL_ISSUER_ERROR, CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_PINNEDPUBKEYNOTMATCH, CURLE_SSL_CLIENTCERT:
      self.init(.tlsFailure, mayHaveBeenSent: wasSent, message: because("No secure connection to \(host)"))
    case CURLE_URL_MALFORMAT, CURLE_BAD_FUNCTION_ARGUMENT, CURLE_UNKNOWN_OPTION, CURLE_NOT_BUILT_IN:
      self.init(.invalidRequest, mayHaveBeenSent: wasSent, message: "The request to \(host) cannot be sent as it is.")
    case CURLE_FILESIZE_EXCEEDED:
      self.init(.responseTooLarge, mayHaveBeenSent: wasSent, message: "The answer of \(host) is too large.")
    // The scheme has been checked before: what is not supported is an answer without a status line.
    case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY, CURLE_BAD_CONTENT_ENCODING, CURLE_WRITE_ERROR,
      CURLE_HTTP_RETURNED_ERROR:
      self.init(
        .malformedResponse, mayHaveBeenSent: wasSent, message: "\(host) answered with something that is not HTTP.")
    case CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_PARTIAL_FILE, CURLE_HTTP2, CURLE_HTTP2_STREAM:
      self = .lost(host: host, mayHaveBeenSent: wasSent)
    default:
      self.init(
        wasSent ? .connectionLost : .cannotConnect, mayHaveBeenSent: wasSent,
        message: wasSent
          ? "The exchange with \(host) broke off, libcurl's code \(code.rawValue)." : because("No request to \(host)"))
    }
  }
}

import CLibssl

@testable import MockServerHTTP

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A client that speaks TLS and trusts one authority, blocking.
final class TLSClient {
  /// How the peer's side ended.
  enum Ending: Equatable {
    /// TLS said so (close_notify).
    case closeNotify
    /// The socket ended and TLS had said nothing.
    case cutOff
    /// RST.
    case reset
    /// Something came that is no TLS, or TLS said that something is wrong.
    case broken
  }

  private let raw: RawClient
  private let context: OpaquePointer
  private let session: OpaquePointer

  /// Connects, and shakes hands as `name`, which the server's certificate must be for.
  init(port: UInt16, trusting authority: String?, name: String = "127.0.0.1") throws {
    raw = try RawClient(port: port)
    guard let context = SSL_CTX_new(TLS_client_method()), let session = SSL_new(context) else {
      throw RawClient.Failure(text: "no TLS")
    }
    self.context = context
    self.session = session
    SSL_set_verify(session, SSL_VERIFY_PEER, nil)
    if let authority {
      // The memory of a string is OpenSSL's only inside the closure.
      authority.withCString { bytes in
        let memory = BIO_new_mem_buf(bytes, -1)
        let certificate = PEM_read_bio_X509(memory, nil, nil, nil)
        X509_STORE_add_cert(SSL_CTX_get_cert_store(context), certificate)
        X509_free(certificate)
        BIO_free(memory)
      }
    }
    let parameters = SSL_get0_param(session)
    if name.first?.isNumber == true {
      X509_VERIFY_PARAM_set1_ip_asc(parameters, name)
    } else {
      X509_VERIFY_PARAM_set1_host(parameters, name, 0)
    }
    SSL_set_fd(session, raw.descriptor)
    let status = SSL_connect(session)
    ERR_clear_error()
    guard status == 1 else { throw RawClient.Failure(text: "handshake") }
  }

  deinit {
    SSL_free(session)
    SSL_CTX_free(context)
    raw.end()
  }

  var version: String { String(cString: SSL_get_version(session)) }

  func write(_ text: String) {
    SSL_write(session, text, Int32(text.utf8.count))
  }

  func readAll() -> (text: String, ending: Ending) {
    let (text, ending, _) = readAllInPieces()
    return (text, ending)
  }

  /// Reads to the end; `pieces` is how many reads brought something.
  func readAllInPieces() -> (text: String, ending: Ending, pieces: Int) {
    var all: [UInt8] = []
    var pieces = 0
    var buffer = [UInt8](repeating: 0, count: 16384)
    while true {
      ERR_clear_error()
      let count = SSL_read(session, &buffer, Int32(buffer.count))
      if count > 0 {
        all += buffer.prefix(Int(count))
        pieces += 1
        continue
      }
      let code = errno
      let text = String(decoding: all, as: UTF8.self)
      switch SSL_get_error(session, count) {
      case SSL_ERROR_ZERO_RETURN: return (text, .closeNotify, pieces)
      case SSL_ERROR_SYSCALL where code == ECONNRESET: return (text, .reset, pieces)
      case SSL_ERROR_SSL where ERR_GET_REASON(ERR_peek_error()) == SSL_R_UNEXPECTED_EOF_WHILE_READING:
        return (text, .cutOff, pieces)
      default: return (text, .broken, pieces)
      }
    }
  }
}

import CLibssl

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What a front proves to its clients that it is: a certificate with its key, for TLS 1.2 and 1.3.
///
/// Safe to share because the OpenSSL contexts are only read once the initialiser has returned, and OpenSSL counts their
/// references with atomics.
public final class TLSIdentity: @unchecked Sendable {
  /// The certificate of the authority that a client has to trust, in PEM; nil for an identity from files.
  public let authority: String?
  private let context: OpaquePointer
  /// A context without a certificate: no client gets through a handshake with it.
  private let hopelessContext: OpaquePointer

  /// An identity for host names and addresses, signed by an authority that is made for it alone.
  ///
  /// Both keys are P-256, both certificates good for a week; the authority's key is thrown away at once, so that nothing
  /// else will ever be signed by it.
  /// - Throws: `FrontError` (`badCertificate`), if OpenSSL cannot make it.
  public static func throwAway(for hosts: [String]) throws(FrontError) -> TLSIdentity {
    let authorityKey = try Certificates.makeKey()
    defer { EVP_PKEY_free(authorityKey) }
    let authority = try Certificates.makeAuthority(key: authorityKey)
    defer { X509_free(authority) }
    let key = try Certificates.makeKey()
    defer { EVP_PKEY_free(key) }
    let leaf = try Certificates.makeLeaf(for: hosts, key: key, issuer: authority, issuerKey: authorityKey)
    defer { X509_free(leaf) }
    let identity = try TLSIdentity(authority: Certificates.pem(of: authority))
    guard SSL_CTX_use_certificate(identity.context, leaf) == 1, SSL_CTX_use_PrivateKey(identity.context, key) == 1
    else {
      throw Certificates.failure("The throw-away certificate cannot be used")
    }
    return identity
  }

  /// An identity from two PEM files: the certificate with those between it and the authority behind it, and its key.
  ///
  /// - Throws: `FrontError` (`badCertificate`): a file that cannot be read or holds something else, or a key that belongs
  ///   to another certificate.
  public convenience init(certificateFile: String, keyFile: String) throws(FrontError) {
    try self.init(authority: nil)
    guard SSL_CTX_use_certificate_chain_file(context, certificateFile) == 1 else {
      throw Certificates.failure("No certificate can be read from \(certificateFile)")
    }
    guard SSL_CTX_use_PrivateKey_file(context, keyFile, SSL_FILETYPE_PEM) == 1 else {
      throw Certificates.failure("\(keyFile) holds no key that belongs to the certificate in \(certificateFile)")
    }
  }

  private init(authority: String?) throws(FrontError) {
    guard let context = Self.makeContext() else { throw Certificates.failure("OpenSSL cannot serve TLS") }
    guard let hopelessContext = Self.makeContext() else {
      SSL_CTX_free(context)
      throw Certificates.failure("OpenSSL cannot serve TLS")
    }
    self.context = context
    self.hopelessContext = hopelessContext
    self.authority = authority
  }

  deinit {
    SSL_CTX_free(context)
    SSL_CTX_free(hopelessContext)
  }

  /// The server's side of one connection; whoever takes it frees it.
  func makeSession(failing: Bool) -> OpaquePointer? {
    SSL_new(failing ? hopelessContext : context)
  }

  private static func makeContext() -> OpaquePointer? {
    guard let context = SSL_CTX_new(TLS_server_method()) else { return nil }
    SSL_CTX_ctrl(context, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(TLS1_2_VERSION), nil)
    // An idle connection gives its buffers back.
    SSL_CTX_ctrl(context, SSL_CTRL_MODE, Int(SSL_MODE_RELEASE_BUFFERS), nil)
    return context
  }
}

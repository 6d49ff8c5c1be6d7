import CLibssl

/// Makes keys and certificates with OpenSSL.
enum Certificates {
  /// A new P-256 key.
  static func makeKey() throws(FrontError) -> OpaquePointer {
    var key: OpaquePointer?
    let context = EVP_PKEY_CTX_new_id(EVP_PKEY_EC, nil)
    defer { EVP_PKEY_CTX_free(context) }
    guard EVP_PKEY_keygen_init(context) == 1, EVP_PKEY_CTX_set_group_name(context, "P-256") == 1,
      EVP_PKEY_keygen(context, &key) == 1, let key
    else { throw failure("No key can be made") }
    return key
  }

  /// A certificate that signs others.
  static func makeAuthority(key: OpaquePointer) throws(FrontError) -> OpaquePointer {
    let certificate = try begin(name: "mock-server throw-away CA", key: key)
    let isMade =
      X509_set_issuer_name(certificate, X509_get_subject_name(certificate)) == 1
      && add(NID_basic_constraints, "critical,CA:TRUE,pathlen:0", to: certificate, issuer: certificate)
      && add(NID_key_usage, "critical,keyCertSign,cRLSign", to: certificate, issuer: certificate)
      && add(NID_subject_key_identifier, "hash", to: certificate, issuer: certificate)
      && X509_sign(certificate, key, EVP_sha256()) > 0
    guard isMade else {
      X509_free(certificate)
      throw failure("The throw-away authority cannot be made")
    }
    return certificate
  }

  /// A server's certificate for host names and addresses.
  static func makeLeaf(
    for hosts: [String], key: OpaquePointer, issuer: OpaquePointer, issuerKey: OpaquePointer
  ) throws(FrontError) -> OpaquePointer {
    let certificate = try begin(name: "mock-server", key: key)
    let names = hosts.map { isAddress($0) ? "IP:\($0)" : "DNS:\($0)" }.joined(separator: ",")
    let isMade =
      X509_set_issuer_name(certificate, X509_get_subject_name(issuer)) == 1
      && add(NID_basic_constraints, "critical,CA:FALSE", to: certificate, issuer: issuer)
      && add(NID_key_usage, "critical,digitalSignature", to: certificate, issuer: issuer)
      && add(NID_ext_key_usage, "serverAuth", to: certificate, issuer: issuer)
      && add(NID_subject_alt_name, names, to: certificate, issuer: issuer)
      && add(NID_subject_key_identifier, "hash", to: certificate, issuer: issuer)
      && add(NID_authority_key_identifier, "keyid", to: certificate, issuer: issuer)
      && X509_sign(certificate, issuerKey, EVP_sha256()) > 0
    guard isMade else {
      X509_free(certificate)
      throw failure("No certificate can be made for \(names)")
    }
    return certificate
  }

  /// A certificate in PEM.
  static func pem(of certificate: OpaquePointer) throws(FrontError) -> String {
    let memory = BIO_new(BIO_s_mem())
    defer { BIO_free(memory) }
    guard PEM_write_bio_X509(memory, certificate) == 1 else { throw failure("The authority cannot be written") }
    var bytes = [UInt8](repeating: 0, count: 16 * 1024)
    let count = BIO_read(memory, &bytes, Int32(bytes.count))
    guard count > 0 else { throw failure("The authority cannot be written") }
    return String(decoding: bytes.prefix(Int(count)), as: UTF8.self)
  }

  /// The error for something that OpenSSL did not do; its own reason stands behind the colon, and its queue is emptied.
  static func failure(_ what: String) -> FrontError {
    var text = [CChar](repeating: 0, count: 256)
    let code = ERR_peek_last_error()
    ERR_error_string_n(code, &text, text.count)
    ERR_clear_error()
    let reason = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return FrontError(.badCertificate, code == 0 ? "\(what)." : "\(what): \(reason).")
  }

  private static func begin(name: String, key: OpaquePointer) throws(FrontError) -> OpaquePointer {
    guard let certificate = X509_new() else { throw failure("No certificate can be made") }
    let week = 7 * 86400
    let isBegun =
      X509_set_version(certificate, 2) == 1
      && ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), UInt64.random(in: 1...UInt64(Int64.max))) == 1
      // An hour back, for clients whose clock is a little behind.
      && X509_gmtime_adj(X509_getm_notBefore(certificate), -3600) != nil
      && X509_gmtime_adj(X509_getm_notAfter(certificate), week) != nil
      && X509_set_pubkey(certificate, key) == 1
      && X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", 0x1001, name, -1, -1, 0) == 1
    guard isBegun else {
      X509_free(certificate)
      throw failure("No certificate can be made")
    }
    return certificate
  }

  private static func add(_ kind: Int32, _ value: String, to certificate: OpaquePointer, issuer: OpaquePointer) -> Bool
  {
    var context = X509V3_CTX()
    X509V3_set_ctx(&context, issuer, certificate, nil, nil, 0)
    guard let entry = X509V3_EXT_conf_nid(nil, &context, kind, value) else { return false }
    defer { X509_EXTENSION_free(entry) }
    return X509_add_ext(certificate, entry, -1) == 1
  }

  private static func isAddress(_ host: String) -> Bool {
    guard let octets = a2i_IPADDRESS(host) else { return false }
    ASN1_OCTET_STRING_free(octets)
    return true
  }
}

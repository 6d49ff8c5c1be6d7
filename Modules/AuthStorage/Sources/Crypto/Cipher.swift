import COpenSSL

/// AES-256-GCM and HMAC-SHA-256, as the store's format uses them.
package enum Cipher {
  static let keyCount = 32
  static let nonceCount = 12
  static let tagCount = 16

  /// What a sealed box is longer than its contents.
  static var overhead: Int { nonceCount + tagCount }

  /// OpenSSL's own configuration file is not read: it costs a millisecond at start and could swap the algorithms.
  private static let isReady: Bool = OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_LOAD_CONFIG), nil) == 1

  static func randomBytes(_ count: Int) throws(StoreError) -> [UInt8] {
    guard isReady else { throw failure("start") }
    var bytes = [UInt8](repeating: 0, count: count)
    guard RAND_bytes(&bytes, Int32(clamping: count)) == 1 else { throw failure("make random bytes") }
    return bytes
  }

  /// nonce ‖ ciphertext ‖ tag, under a fresh nonce of 96 bits.
  package static func seal(
    _ plaintext: [UInt8], key: SecretBytes, authenticating context: [UInt8]
  ) throws(StoreError) -> [UInt8] {
    guard key.count == keyCount else { throw failure("use a key of \(key.count) bytes") }
    let nonce = try randomBytes(nonceCount)
    var box = [UInt8](repeating: 0, count: plaintext.count + overhead)
    box.replaceSubrange(..<nonceCount, with: nonce)
    let done = withContext { cipher in
      guard key.withBytes({ start(cipher, encrypting: true, key: $0, nonce: nonce, context: context) }) else {
        return false
      }
      return box.withUnsafeMutableBytes { box in
        let text = box.baseAddress?.advanced(by: nonceCount).assumingMemoryBound(to: UInt8.self)
        let tag = box.baseAddress?.advanced(by: nonceCount + plaintext.count)
        var length: Int32 = 0
        var rest: Int32 = 0
        return EVP_CipherUpdate(cipher, text, &length, plaintext, Int32(clamping: plaintext.count)) == 1
          && Int(length) == plaintext.count
          && EVP_CipherFinal_ex(cipher, tag?.assumingMemoryBound(to: UInt8.self), &rest) == 1
          && rest == 0 && EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_GET_TAG, Int32(tagCount), tag) == 1
      }
    }
    guard done else { throw failure("seal a record") }
    return box
  }

  /// What `seal` was given; nil if the key, the context or a single bit is another.
  package static func open(
    _ box: [UInt8], key: SecretBytes, authenticating context: [UInt8]
  ) -> [UInt8]? {
    guard key.count == keyCount, isReady, box.count >= overhead else { return nil }
    let nonce = Array(box.prefix(nonceCount))
    var tag = Array(box.suffix(tagCount))
    let text = Array(box[nonceCount..<(box.count - tagCount)])
    var plaintext = [UInt8](repeating: 0, count: text.count)
    let done = withContext { cipher in
      guard key.withBytes({ start(cipher, encrypting: false, key: $0, nonce: nonce, context: context) }) else {
        return false
      }
      var length: Int32 = 0
      var rest: Int32 = 0
      var nothing: UInt8 = 0
      return EVP_CipherUpdate(cipher, &plaintext, &length, text, Int32(clamping: text.count)) == 1
        && Int(length) == text.count && EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_SET_TAG, Int32(tagCount), &tag) == 1
        && EVP_CipherFinal_ex(cipher, &nothing, &rest) == 1 && rest == 0
    }
    guard done else {
      plaintext.wipe()
      return nil
    }
    return plaintext
  }

  /// HMAC-SHA-256, cut to its first 16 bytes: a name that tells nothing without the key.
  static func keyedName(_ message: [UInt8], key: SecretBytes) throws(StoreError) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
    var count: UInt32 = 0
    let done =
      isReady
      && key.withBytes { bytes in
        HMAC(EVP_sha256(), bytes.baseAddress, Int32(clamping: bytes.count), message, message.count, &digest, &count)
          != nil
      }
    guard done, count == 32 else { throw failure("hash a name") }
    return Array(digest.prefix(16))
  }

  /// SHA-256: a checksum against accidents, no protection.
  static func checksum(_ message: [UInt8]) throws(StoreError) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
    var count: UInt32 = 0
    guard isReady, EVP_Digest(message, message.count, &digest, &count, EVP_sha256(), nil) == 1, count == 32 else {
      throw failure("make a checksum")
    }
    return Array(digest.prefix(32))
  }

  private static func withContext(_ body: (OpaquePointer) -> Bool) -> Bool {
    guard let cipher = EVP_CIPHER_CTX_new() else { return false }
    defer { EVP_CIPHER_CTX_free(cipher) }
    return body(cipher)
  }

  private static func start(
    _ cipher: OpaquePointer, encrypting: Bool, key: UnsafeRawBufferPointer, nonce: [UInt8], context: [UInt8]
  ) -> Bool {
    let key = key.baseAddress?.assumingMemoryBound(to: UInt8.self)
    var length: Int32 = 0
    return EVP_CipherInit_ex(cipher, EVP_aes_256_gcm(), nil, key, nonce, encrypting ? 1 : 0) == 1
      && EVP_CipherUpdate(cipher, nil, &length, context, Int32(clamping: context.count)) == 1
  }

  private static func failure(_ what: String) -> StoreError {
    StoreError(.unavailable, "The system's cryptographic library could not \(what).")
  }
}

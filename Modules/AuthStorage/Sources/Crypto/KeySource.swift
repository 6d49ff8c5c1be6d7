/// What a key source is told of the store whose key it guards.
public struct KeySourceContext: Sendable {
  /// The store's folder, canonical.
  public var folder: String
  /// What the wrapped key is bound to: a key that was wrapped for one context opens in no other.
  public var binding: [UInt8]
}

/// A data key as the store keeps it: sealed, with what its source needs to open it again.
public struct WrappedKey: Sendable, Hashable {
  /// The kind of source that sealed it.
  public var source: String
  /// What the source has to remember in the open: a key file's id, a salt, a cost. No secret.
  public var parameters: [UInt8]
  /// The sealed key.
  public var sealed: [UInt8]

  /// Makes a wrapped key from its parts.
  public init(source: String, parameters: [UInt8], sealed: [UInt8]) {
    self.source = source
    self.parameters = parameters
    self.sealed = sealed
  }
}

/// Guards a store's data key: a key file, a passphrase, the desktop's key store.
///
/// The kind in use is written in the store, and a store never changes its source by itself. Both calls come on the
/// store's own thread, one at a time, and may block there.
public protocol KeySource: Sendable {
  /// The kind's name, written in the store: `keyfile`, `passphrase`, `secret-service`.
  var kind: String { get }

  /// Seals a new store's key; makes what the source needs if it is not there yet.
  ///
  /// Called under the store's lock: no other process makes the same thing meanwhile.
  func wrap(_ key: SecretBytes, for context: KeySourceContext) throws(StoreError) -> WrappedKey

  /// Opens a store's key.
  ///
  /// - Throws: `corrupted` if the key does not open, `wrongPassphrase`, `locked`, `cancelled`, `unavailable`,
  ///   `insecurePermissions`, each as it is.
  func unwrap(_ key: WrappedKey, for context: KeySourceContext) throws(StoreError) -> SecretBytes
}

extension KeySource {
  /// Seals `key` under a key of 32 bytes that the source holds, bound to the context, the kind and the parameters.
  public func seal(
    _ key: SecretBytes, under guardKey: SecretBytes, parameters: [UInt8], for context: KeySourceContext
  ) throws(StoreError) -> WrappedKey {
    var plain = key.withBytes { Array($0) }
    defer { plain.wipe() }
    let binding = wrapBinding(parameters: parameters, context: context)
    let sealed = try Cipher.seal(plain, key: guardKey, authenticating: binding)
    return WrappedKey(source: kind, parameters: parameters, sealed: sealed)
  }

  /// Opens what `seal` sealed; nil if the guard key is another one, or anything was changed.
  public func open(_ key: WrappedKey, under guardKey: SecretBytes, for context: KeySourceContext) -> SecretBytes? {
    let binding = wrapBinding(parameters: key.parameters, context: context)
    guard var plain = Cipher.open(key.sealed, key: guardKey, authenticating: binding) else { return nil }
    defer { plain.wipe() }
    return SecretBytes(plain)
  }

  private func wrapBinding(parameters: [UInt8], context: KeySourceContext) -> [UInt8] {
    .lengthPrefixed([Array("chirp-key".utf8), context.binding, Array(kind.utf8), parameters])
  }
}

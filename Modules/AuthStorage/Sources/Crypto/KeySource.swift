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
/// The kind in use is written in the store, and a store never changes its source by itself. All calls come on the
/// store's own thread, one at a time, and may block there; those that make something come under the store's lock, so
/// that no other process makes the same thing meanwhile.
public protocol KeySource: Sendable {
  /// The kind's name, written in the store: `keyfile`, `passphrase`, `secret-service`.
  var kind: String { get }

  /// The source that opens a store sealed by `kind`: this one for its own kind, else nil. A ``KeySourceChoice`` knows
  /// several.
  func source(for kind: String) -> (any KeySource)?

  /// Seals a store's key under the guard that is there; makes the guard if it is not there yet.
  func wrap(_ key: SecretBytes, for context: KeySourceContext) throws(StoreError) -> WrappedKey

  /// Seals a store's key under a new guard, which stands *beside* the old one until ``settle(_:for:)``: a kill in
  /// between leaves the store readable by the one or by the other.
  func rewrap(
    _ key: SecretBytes, replacing old: WrappedKey, for context: KeySourceContext
  ) throws(StoreError) -> WrappedKey

  /// Opens a store's key.
  ///
  /// - Throws: `corrupted` if the key does not open, `wrongPassphrase`, `locked`, `cancelled`, `unavailable`,
  ///   `insecurePermissions`, each as it is.
  func unwrap(_ key: WrappedKey, for context: KeySourceContext) throws(StoreError) -> SecretBytes

  /// Called once the store that is sealed by `key` has been committed: puts the new guard in the old one's place.
  func settle(_ key: WrappedKey, for context: KeySourceContext) throws(StoreError)

  /// Called once the store has been committed to another source: removes what this one kept for it.
  func discard(_ key: WrappedKey, for context: KeySourceContext) throws(StoreError)
}

extension KeySource {
  /// This source for its own kind, nil for any other.
  public func source(for kind: String) -> (any KeySource)? { kind == self.kind ? self : nil }

  /// As `wrap`: for sources that make a new guard each time, or whose guard is not theirs to renew.
  public func rewrap(
    _ key: SecretBytes, replacing old: WrappedKey, for context: KeySourceContext
  ) throws(StoreError) -> WrappedKey {
    try wrap(key, for: context)
  }

  /// Does nothing: for sources that keep nothing outside the store.
  public func settle(_ key: WrappedKey, for context: KeySourceContext) throws(StoreError) {}

  /// Does nothing: for sources that keep nothing outside the store.
  public func discard(_ key: WrappedKey, for context: KeySourceContext) throws(StoreError) {}
}

/// Several sources: new stores are sealed by the first, and a store that is there is opened by the one it names.
///
/// For programs that are told where a store is and not how it is guarded. Nothing changes silently: the store says
/// which source it has, and the source has to open it.
public struct KeySourceChoice: KeySource {
  private let first: any KeySource
  private let others: [any KeySource]

  /// Makes the choice; of two sources of one kind the first counts.
  public init(_ first: any KeySource, _ others: any KeySource...) {
    self.first = first
    self.others = others
  }

  /// The first source's.
  public var kind: String { first.kind }

  public func source(for kind: String) -> (any KeySource)? {
    if let found = first.source(for: kind) { return found }
    for other in others {
      if let found = other.source(for: kind) { return found }
    }
    return nil
  }

  public func wrap(_ key: SecretBytes, for context: KeySourceContext) throws(StoreError) -> WrappedKey {
    try first.wrap(key, for: context)
  }

  public func unwrap(_ key: WrappedKey, for context: KeySourceContext) throws(StoreError) -> SecretBytes {
    guard let source = source(for: key.source) else { throw .otherKeySource(context.folder, key.source, kind) }
    return try source.unwrap(key, for: context)
  }
}

extension StoreError {
  /// The store names a source that the program was not given.
  static func otherKeySource(_ place: String, _ written: String, _ given: String) -> StoreError {
    StoreError(
      .unavailable,
      "The session store \(place) is sealed by the key source `\(printable(written))`, not by `\(given)`.",
      hint: "Use the key source that is written in the store; a store never changes it by itself.")
  }

  /// A text from a file that anyone may have changed, fit for a message.
  static func printable(_ text: String) -> String {
    String(
      text.unicodeScalars.prefix(40).map { $0.isASCII && $0.value > 0x20 && $0.value < 0x7f ? Character($0) : "?" })
  }
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

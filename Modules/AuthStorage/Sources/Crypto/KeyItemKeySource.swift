import Groundwork

/// A place outside the store that keeps small secrets by name: the desktop's key store, or a stand-in for it.
///
/// Calls come on the store's own thread and may block there, each within a deadline of its own.
public protocol KeyItems: Sendable {
  /// Keeps a new secret under `id`, an id that tells nothing.
  func add(_ secret: SecretBytes, id: String) throws(StoreError)
  /// The secret under `id`; nil if there is none.
  ///
  /// - Throws: `locked`, `cancelled` if a person dismissed the prompt, `unavailable`, `corrupted` if it is no secret of
  ///   ours.
  func find(_ id: String) throws(StoreError) -> SecretBytes?
  /// Removes the secret under `id`; removing one that is gone is no error.
  func remove(_ id: String) throws(StoreError)
}

/// Guards the store's key by a random secret that is kept elsewhere, by default in the desktop's Secret Service.
///
/// The store holds the secret's random id alone. `AuthStorageSecretService` has the items for Linux desktops.
public final class KeyItemKeySource: KeySource {
  private struct Known {
    var id: [UInt8]
    var secret: SecretBytes
  }

  private static let version: UInt8 = 1
  private static let idCount = 16
  private let items: any KeyItems
  private let known = Guarded<Known?>(nil)
  public let kind: String

  /// Makes a source over `items`; `kind` is what stores will say of it.
  public init(kind: String = "secret-service", items: any KeyItems) {
    self.kind = kind
    self.items = items
  }

  public func wrap(_ key: SecretBytes, for context: KeySourceContext) throws(StoreError) -> WrappedKey {
    let guardItem: Known
    if let known = known.withLock({ $0 }) {
      guardItem = known
    } else {
      guardItem = try make()
    }
    return try seal(key, under: guardItem.secret, parameters: [Self.version] + guardItem.id, for: context)
  }

  /// Keeps the new secret beside the old one, which ``discard(_:for:)`` removes.
  public func rewrap(
    _ key: SecretBytes, replacing old: WrappedKey, for context: KeySourceContext
  ) throws(StoreError) -> WrappedKey {
    let guardItem = try make()
    return try seal(key, under: guardItem.secret, parameters: [Self.version] + guardItem.id, for: context)
  }

  public func unwrap(_ key: WrappedKey, for context: KeySourceContext) throws(StoreError) -> SecretBytes {
    let id = try id(in: key, context)
    let secret: SecretBytes
    if let known = known.withLock({ $0 }), known.id == id {
      secret = known.secret
    } else {
      guard let found = try items.find(id.hexadecimal) else {
        throw StoreError(
          .unavailable, "The key of the session store in \(context.folder) is not in the key store `\(kind)` any more.",
          hint: "Unlock or restore the key store that held it; without it the stored session cannot be read.")
      }
      secret = found
    }
    guard let opened = open(key, under: secret, for: context) else {
      throw StoreError(
        .corrupted, "The key of the session store in \(context.folder) does not open with the secret in `\(kind)`.")
    }
    known.withLock { $0 = Known(id: id, secret: secret) }
    return opened
  }

  public func discard(_ key: WrappedKey, for context: KeySourceContext) throws(StoreError) {
    let id = try id(in: key, context)
    known.withLock { known in
      if known?.id == id { known = nil }
    }
    try items.remove(id.hexadecimal)
  }

  private func make() throws(StoreError) -> Known {
    let item = Known(
      id: try Cipher.randomBytes(Self.idCount), secret: try SecretBytes(randomCount: Cipher.keyCount))
    try items.add(item.secret, id: item.id.hexadecimal)
    known.withLock { $0 = item }
    return item
  }

  private func id(in key: WrappedKey, _ context: KeySourceContext) throws(StoreError) -> [UInt8] {
    if let version = key.parameters.first, version > Self.version {
      throw StoreError(
        .newerVersion, "The key of the session store in \(context.folder) was put away by a newer version.",
        hint: "Use that version.")
    }
    guard key.parameters.count == 1 + Self.idCount, key.parameters[0] == Self.version else {
      throw StoreError(
        .corrupted, "The session store in \(context.folder) is damaged: it does not name its key in `\(kind)`.")
    }
    return Array(key.parameters.dropFirst())
  }
}

/// The default key source: 32 random bytes in a file of mode 0600.
///
/// It guards a database that leaks alone (a copy of the one file, a disk block, a bug report), not a home folder that
/// leaks whole: who reads the folder has both. The file is `CHIRPKEY` ‖ version (1) ‖ three zero bytes ‖ key id (16) ‖
/// key (32) ‖ SHA-256 of all before it.
public struct KeyFileKeySource: KeySource {
  static let fileName = "key"
  private static let magic = Array("CHIRPKEY".utf8)
  private static let version: UInt8 = 1
  private static let idRange = 12..<28
  private static let keyRange = 28..<60
  private static let count = 92

  private let file: String?

  /// Uses the file at `path`, which must lie in a folder that is there; without one, the file `key` in the store's
  /// folder.
  public init(path: String? = nil) {
    file = path
  }

  public var kind: String { "keyfile" }

  public func wrap(_ key: SecretBytes, for context: KeySourceContext) throws(StoreError) -> WrappedKey {
    let path = path(context)
    let contents: Contents
    if let found = try Contents.read(path) {
      contents = found
    } else {
      contents = try Contents.make(path)
    }
    return try seal(key, under: contents.key, parameters: contents.id, for: context)
  }

  /// Writes the new key file beside the old one, as `key.next`.
  public func rewrap(
    _ key: SecretBytes, replacing old: WrappedKey, for context: KeySourceContext
  ) throws(StoreError) -> WrappedKey {
    // The file of a renewal that was killed before it settled may be the one that opens the store now.
    if old.source == kind { try settle(old, for: context) }
    let contents = try Contents.make(next(context))
    return try seal(key, under: contents.key, parameters: contents.id, for: context)
  }

  public func unwrap(_ key: WrappedKey, for context: KeySourceContext) throws(StoreError) -> SecretBytes {
    let path = path(context)
    // Twice the file itself: another process may move the next one to its place between the two looks.
    var isThere = false
    for candidate in [path, next(context), path] {
      guard let contents = try Contents.read(candidate) else { continue }
      isThere = true
      guard contents.id == key.parameters else { continue }
      guard let opened = open(key, under: contents.key, for: context) else {
        throw StoreError(.corrupted, "The store's key does not open with the key file \(candidate).")
      }
      return opened
    }
    guard isThere else {
      throw StoreError(
        .unavailable, "The store's key file is missing: \(path)",
        hint: "Put it back from where it was moved to; without it the stored session cannot be read.")
    }
    throw StoreError(
      .corrupted, "The key file \(path) is not the one that this store was sealed with.",
      hint: "Put the right key file back, or move the store's database aside and sign in again.")
  }

  public func settle(_ key: WrappedKey, for context: KeySourceContext) throws(StoreError) {
    let next = next(context)
    guard let contents = try Contents.read(next), contents.id == key.parameters else { return }
    try SecureFile.move(next, to: path(context))
  }

  /// Removes the key file, if it stands in the store's folder: another place may serve other stores too.
  public func discard(_ key: WrappedKey, for context: KeySourceContext) throws(StoreError) {
    guard file == nil else { return }
    for path in [path(context), next(context)] {
      guard let contents = try Contents.read(path), contents.id == key.parameters else { continue }
      try SecureFile.remove(path)
    }
  }

  private func path(_ context: KeySourceContext) -> String {
    file ?? "\(context.folder)/\(Self.fileName)"
  }

  private func next(_ context: KeySourceContext) -> String {
    path(context) + ".next"
  }
}

extension KeyFileKeySource {
  /// A key file's contents.
  package struct Contents {
    package var id: [UInt8]
    package var key: SecretBytes

    /// Reads the bytes of a key file; `path` is named in the errors.
    package init(_ bytes: [UInt8], path: String) throws(StoreError) {
      guard bytes.count >= magic.count + 1, bytes.starts(with: magic) else {
        throw StoreError(.corrupted, "The file \(path) is no key file.")
      }
      guard bytes[magic.count] <= version else {
        throw StoreError(
          .newerVersion, "The key file \(path) was written by a newer version of this program.",
          hint: "Use that version.")
      }
      guard bytes.count == count, bytes[magic.count] == version,
        try Cipher.checksum(Array(bytes[..<keyRange.upperBound])) == Array(bytes[keyRange.upperBound...])
      else {
        throw StoreError(.corrupted, "The key file \(path) is damaged.")
      }
      id = Array(bytes[idRange])
      key = SecretBytes(bytes[keyRange])
    }

    package init(id: [UInt8], key: SecretBytes) {
      self.id = id
      self.key = key
    }

    /// The file at `path`; nil if there is none.
    static func read(_ path: String) throws(StoreError) -> Contents? {
      guard var bytes = try SecureFile.read(path, atMost: count + 1) else { return nil }
      defer { bytes.wipe() }
      return try Contents(bytes, path: path)
    }

    /// Makes the file at `path`, whole or not at all.
    static func make(_ path: String) throws(StoreError) -> Contents {
      let contents = Contents(
        id: try Cipher.randomBytes(idRange.count), key: try SecretBytes(randomCount: keyRange.count))
      var bytes = try contents.encoded()
      defer { bytes.wipe() }
      try SecureFile.create(path, contents: bytes)
      return contents
    }

    /// The file's bytes.
    package func encoded() throws(StoreError) -> [UInt8] {
      var bytes = magic + [version, 0, 0, 0] + id
      key.withBytes { bytes.append(contentsOf: $0) }
      bytes += try Cipher.checksum(bytes)
      return bytes
    }
  }
}

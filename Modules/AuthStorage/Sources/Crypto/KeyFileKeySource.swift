/// The default key source: 32 random bytes in a file of mode 0600.
///
/// It guards a database that leaks alone (a copy of the one file, a disk block, a bug report), not a home folder that
/// leaks whole: who reads the folder has both. The file is `CHIRPKEY` ‖ version (1) ‖ three zero bytes ‖ key id (16) ‖
/// key (32) ‖ SHA-256 of all before it.
public struct KeyFileKeySource: KeySource {
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
    if let found = try read(path) {
      contents = found
    } else {
      contents = try make(path)
    }
    return try seal(key, under: contents.key, parameters: contents.id, for: context)
  }

  public func unwrap(_ key: WrappedKey, for context: KeySourceContext) throws(StoreError) -> SecretBytes {
    let path = path(context)
    guard let contents = try read(path) else {
      throw StoreError(
        .unavailable, "The store's key file is missing: \(path)",
        hint: "Put it back from where it was moved to; without it the stored session cannot be read.")
    }
    guard contents.id == key.parameters else {
      throw StoreError(
        .corrupted, "The key file \(path) is not the one that this store was sealed with.",
        hint: "Put the right key file back, or move the store's database aside and sign in again.")
    }
    guard let opened = open(key, under: contents.key, for: context) else {
      throw StoreError(.corrupted, "The store's key does not open with the key file \(path).")
    }
    return opened
  }

  private struct Contents {
    var id: [UInt8]
    var key: SecretBytes
  }

  private func path(_ context: KeySourceContext) -> String {
    file ?? "\(context.folder)/key"
  }

  private func read(_ path: String) throws(StoreError) -> Contents? {
    guard var bytes = try SecureFile.read(path, atMost: Self.count + 1) else { return nil }
    defer { bytes.wipe() }
    guard bytes.count >= Self.magic.count + 1, bytes.starts(with: Self.magic) else {
      throw StoreError(.corrupted, "The file \(path) is no key file.")
    }
    guard bytes[Self.magic.count] <= Self.version else {
      throw StoreError(
        .newerVersion, "The key file \(path) was written by a newer version of this program.",
        hint: "Use that version.")
    }
    guard bytes.count == Self.count, bytes[Self.magic.count] == Self.version,
      try Cipher.checksum(Array(bytes[..<Self.keyRange.upperBound])) == Array(bytes[Self.keyRange.upperBound...])
    else {
      throw StoreError(.corrupted, "The key file \(path) is damaged.")
    }
    return Contents(id: Array(bytes[Self.idRange]), key: SecretBytes(bytes[Self.keyRange]))
  }

  private func make(_ path: String) throws(StoreError) -> Contents {
    let id = try Cipher.randomBytes(Self.idRange.count)
    let key = try SecretBytes(randomCount: Self.keyRange.count)
    var bytes = Self.magic + [Self.version, 0, 0, 0] + id
    key.withBytes { bytes.append(contentsOf: $0) }
    defer { bytes.wipe() }
    var checksum = try Cipher.checksum(bytes)
    bytes += checksum
    checksum.wipe()
    try SecureFile.create(path, contents: bytes)
    return Contents(id: id, key: key)
  }
}

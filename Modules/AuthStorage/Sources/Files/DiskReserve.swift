#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Disk space held back for the save that follows an intent (S16).
///
/// The padded row keeps the database from growing, but every transaction also writes a rollback journal, and that is
/// new disk space each time. So no intent is written unless a file of zeros stands by; when the save meets a full disk,
/// the file is emptied and the save tried once more.
enum DiskReserve {
  static let fileName = "reserve"

  /// Makes the reserve hold at least `count` bytes; a full disk throws `full`.
  static func fill(_ path: String, count: Int) throws(StoreError) {
    if let found = try SecureFile.check(path), found.size >= count { return }
    let descriptor = try SecureFile.openOrMake(path)
    defer { close(descriptor) }
    let failure = allocate(descriptor, count)
    guard failure == 0 else {
      // What was half allocated is given back: it is of use to nobody.
      ftruncate(descriptor, 0)
      throw .system(failure, "The disk has no room for a refresh to be saved safely in \(path)", writing: true)
    }
  }

  /// Gives the space back; false if there was none.
  static func spend(_ path: String) throws(StoreError) -> Bool {
    guard let found = try SecureFile.check(path), found.size > 0, let descriptor = try SecureFile.open(path, O_RDWR)
    else { return false }
    defer { close(descriptor) }
    return ftruncate(descriptor, 0) == 0
  }

  private static func allocate(_ descriptor: Int32, _ count: Int) -> Int32 {
    #if canImport(Darwin)
      let zeros = [UInt8](repeating: 0, count: count)
      let written = zeros.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, count, 0) }
      return written == count ? 0 : (written < 0 ? errno : ENOSPC)
    #else
      return posix_fallocate(descriptor, 0, off_t(count))
    #endif
  }
}

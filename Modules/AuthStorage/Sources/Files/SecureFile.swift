#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Files that hold secrets or guard them: ours alone, mode 0600, one name, never behind a link.
///
/// A file that is looser is refused, not repaired: somebody may have read it already, and its owner has to know.
enum SecureFile {
  /// Which file a path means now: two equal identities are one file.
  struct Identity: Equatable {
    var device: UInt64
    var inode: UInt64
    var size: Int64
  }

  /// What stands at `path`, checked; nil if nothing does. Opens nothing: SQLite's locks on a file die when any
  /// descriptor of it closes.
  static func check(_ path: String) throws(StoreError) -> Identity? {
    var status = stat()
    guard lstat(path, &status) == 0 else {
      let number = errno
      if number == ENOENT { return nil }
      throw .system(number, "The file \(path) cannot be looked at", writing: false)
    }
    return try check(status, path)
  }

  /// Opens a file that must be there and be ours; nil if it is not there.
  static func open(_ path: String, _ flags: Int32) throws(StoreError) -> Int32? {
    let descriptor = retried { systemOpen(path, flags | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0) }
    guard descriptor >= 0 else {
      let number = errno
      if number == ENOENT { return nil }
      throw .system(number, "The file \(path) cannot be opened", writing: flags & O_ACCMODE != O_RDONLY)
    }
    do throws(StoreError) {
      var status = stat()
      guard fstat(descriptor, &status) == 0 else {
        throw StoreError.system(errno, "The file \(path) cannot be looked at", writing: false)
      }
      _ = try check(status, path)
    } catch {
      close(descriptor)
      throw error
    }
    return descriptor
  }

  /// Makes a file that must not be there yet; nil if it is.
  static func make(_ path: String) throws(StoreError) -> Int32? {
    let flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
    let descriptor = retried { systemOpen(path, flags, 0o600) }
    guard descriptor >= 0 else {
      let number = errno
      if number == EEXIST { return nil }
      throw .system(number, "The file \(path) cannot be made", writing: true)
    }
    // A umask can only take bits away; this puts the owner's back.
    guard fchmod(descriptor, 0o600) == 0 else {
      let number = errno
      close(descriptor)
      throw .system(number, "The mode of \(path) cannot be set", writing: true)
    }
    return descriptor
  }

  /// Opens the file, making it if it is not there.
  static func openOrMake(_ path: String) throws(StoreError) -> Int32 {
    for _ in 0..<16 {
      if let descriptor = try open(path, O_RDWR) { return descriptor }
      if let descriptor = try make(path) { return descriptor }
    }
    throw StoreError(.unavailable, "The file \(path) comes and goes while it is being opened.")
  }

  /// Makes a file with its contents, all or nothing: it is written beside its place, synced, and moved there.
  static func create(_ path: String, contents: [UInt8]) throws(StoreError) {
    let draft = path + ".new"
    // Whoever left a draft died before it counted; the caller holds the lock under which drafts are made.
    unlink(draft)
    guard let descriptor = try make(draft) else {
      throw StoreError(.unavailable, "The file \(draft) is in the way.")
    }
    defer { close(descriptor) }
    do throws(StoreError) {
      try write(contents, to: descriptor, path)
      guard fsync(descriptor) == 0, rename(draft, path) == 0 else {
        throw StoreError.system(errno, "The file \(path) cannot be written", writing: true)
      }
    } catch {
      unlink(draft)
      throw error
    }
    try syncFolder(of: path)
  }

  /// The file's bytes, at most `limit` of them; nil if it is not there.
  static func read(_ path: String, atMost limit: Int) throws(StoreError) -> [UInt8]? {
    guard let descriptor = try open(path, O_RDONLY) else { return nil }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: limit)
    var filled = 0
    while filled < limit {
      let count = retried {
        bytes.withUnsafeMutableBytes { systemRead(descriptor, $0.baseAddress?.advanced(by: filled), limit - filled) }
      }
      guard count >= 0 else {
        let number = errno
        bytes.wipe()
        throw .system(number, "The file \(path) cannot be read", writing: false)
      }
      if count == 0 { break }
      filled += count
    }
    bytes.removeLast(limit - filled)
    return bytes
  }

  /// Gives a file another name in its folder, in the place of what has that name; the new name lasts.
  static func move(_ path: String, to place: String) throws(StoreError) {
    guard rename(path, place) == 0 else {
      throw .system(errno, "The file \(path) cannot be moved to \(place)", writing: true)
    }
    try syncFolder(of: place)
  }

  /// Removes a file; one that is gone is no error.
  static func remove(_ path: String) throws(StoreError) {
    guard unlink(path) == 0 || errno == ENOENT else {
      throw .system(errno, "The file \(path) cannot be removed", writing: true)
    }
    try syncFolder(of: path)
  }

  /// Makes the names in a file's folder last.
  static func syncFolder(of path: String) throws(StoreError) {
    let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
    let descriptor = retried { systemOpen(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0) }
    guard descriptor >= 0 else { throw .system(errno, "The folder \(folder) cannot be opened", writing: false) }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw .system(errno, "The folder \(folder) cannot be synced", writing: true) }
  }

  private static func check(_ status: stat, _ path: String) throws(StoreError) -> Identity {
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw StoreError(
        .insecurePermissions, "\(path) is a link or no plain file.", hint: "Look at it with: ls -l \(shellQuoted(path))"
      )
    }
    guard status.st_uid == geteuid() else {
      throw StoreError(
        .insecurePermissions, "\(path) belongs to another user.",
        hint: "Run: sudo chown \(geteuid()) \(shellQuoted(path))")
    }
    guard status.st_nlink <= 1 else {
      throw StoreError(
        .insecurePermissions, "\(path) has a second name (a hard link) by which others may reach it.",
        hint: "Find it with: find / -xdev -samefile \(shellQuoted(path))")
    }
    guard status.st_mode & 0o077 == 0 else {
      throw StoreError(
        .insecurePermissions, "\(path) is open to other users (mode \(octal(status.st_mode & 0o777))).",
        hint: "Run: chmod 600 \(shellQuoted(path))")
    }
    return Identity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino), size: Int64(status.st_size))
  }

  private static func write(_ bytes: [UInt8], to descriptor: Int32, _ path: String) throws(StoreError) {
    var written = 0
    while written < bytes.count {
      let count = retried {
        bytes.withUnsafeBytes { systemWrite(descriptor, $0.baseAddress?.advanced(by: written), bytes.count - written) }
      }
      guard count > 0 else { throw .system(errno, "The file \(path) cannot be written", writing: true) }
      written += count
    }
  }
}

/// A mode as people write it.
func octal(_ mode: mode_t) -> String {
  let digits = String(mode, radix: 8)
  return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
}

/// Calls again as long as a signal interrupts.
func retried<Result: SignedInteger>(_ call: () -> Result) -> Result {
  while true {
    let result = call()
    if result >= 0 || errno != EINTR { return result }
  }
}

// The calls of the C library whose names `SecureFile` has taken for its own.
private func systemOpen(_ path: String, _ flags: Int32, _ mode: mode_t) -> Int32 {
  open(path, flags, mode)
}
private func systemRead(_ descriptor: Int32, _ bytes: UnsafeMutableRawPointer?, _ count: Int) -> Int {
  read(descriptor, bytes, count)
}
private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
  write(descriptor, bytes, count)
}

import Groundwork

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// An advisory lock on a file of its own, by `flock`: the system gives it back when its holder dies, however it dies.
///
/// Lock files are never deleted. If they were, a process could hold the lock on a file that has no name any more while
/// the next one makes a new file and locks that: two holders. An empty file a slot is the price.
final class FileLock: RefreshLock {
  private let descriptor: Guarded<Int32?>

  private init(_ descriptor: Int32) {
    self.descriptor = Guarded(descriptor)
  }

  deinit { giveBack() }

  /// Takes the lock if it is free, without waiting; nil if another holds it. Makes the file if it is not there.
  static func take(_ path: String) throws(StoreError) -> FileLock? {
    for _ in 0..<16 {
      let descriptor = try SecureFile.openOrMake(path)
      guard retried({ systemFlock(descriptor, LOCK_EX | LOCK_NB) }) == 0 else {
        let number = errno
        close(descriptor)
        if number == EWOULDBLOCK { return nil }
        throw .system(number, "The lock \(path) cannot be taken", writing: true)
      }
      // Somebody may have deleted the file between its opening and its locking: then others lock another file.
      if sameFile(descriptor, path) { return FileLock(descriptor) }
      close(descriptor)
    }
    throw StoreError(.unavailable, "The lock file \(path) comes and goes while it is being locked.")
  }

  func release() async { giveBack() }

  /// Gives the lock back at once.
  func giveBack() {
    let held = descriptor.withLock { descriptor -> Int32? in
      let held = descriptor
      descriptor = nil
      return held
    }
    guard let held else { return }
    // A child that was forked without exec may have a copy of the descriptor: closing ours alone would not unlock.
    _ = retried { systemFlock(held, LOCK_UN) }
    close(held)
  }

  /// The process that holds the lock, where the system tells; for people, since it may be another one already.
  static func holder(of path: String) -> pid_t? {
    var named = stat()
    // Read by hand: the file has no size, and may be missing.
    guard lstat(path, &named) == 0, let file = fopen("/proc/locks", "re") else { return nil }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 256)
    while fgets(&line, Int32(clamping: line.count), file) != nil {
      // `1: FLOCK  ADVISORY  WRITE 4242 08:01:131 0 EOF`
      let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
      let words = text.split(separator: " ")
      guard words.count > 5, words[1] == "FLOCK", let inode = words[5].split(separator: ":").last else { continue }
      if UInt64(inode) == UInt64(named.st_ino) { return pid_t(words[4]) }
    }
    return nil
  }

  private static func sameFile(_ descriptor: Int32, _ path: String) -> Bool {
    var opened = stat()
    var named = stat()
    return fstat(descriptor, &opened) == 0 && lstat(path, &named) == 0 && opened.st_ino == named.st_ino
      && opened.st_dev == named.st_dev
  }
}

private func systemFlock(_ descriptor: Int32, _ operation: Int32) -> Int32 {
  flock(descriptor, operation)
}

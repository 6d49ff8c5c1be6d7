#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// What tells a file from an earlier one at its path; two that are equal hold the same bytes, as far as a file system tells.
struct FileIdentity: Equatable, Sendable {
  private var numbers: [Int] = []

  /// Whether there is a file.
  var exists: Bool { !numbers.isEmpty }

  /// Looks at what a path leads to now.
  init(_ path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else { return }
    #if canImport(Darwin)
      let (changed, modified) = (status.st_ctimespec, status.st_mtimespec)
    #else
      let (changed, modified) = (status.st_ctim, status.st_mtim)
    #endif
    numbers = [
      Int(truncatingIfNeeded: status.st_dev), Int(truncatingIfNeeded: status.st_ino), Int(status.st_size),
      modified.tv_sec, modified.tv_nsec, changed.tv_sec, changed.tv_nsec,
    ]
  }
}

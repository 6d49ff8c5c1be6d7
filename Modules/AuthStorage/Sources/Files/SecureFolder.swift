#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The store's folder: ours alone, mode 0700, not behind a link.
enum SecureFolder {
  /// Checks the folder and gives its canonical path; nil if it is not there.
  static func check(_ path: String) throws(StoreError) -> String? {
    var status = stat()
    guard lstat(path, &status) == 0 else {
      let number = errno
      if number == ENOENT { return nil }
      throw .system(number, "The folder \(path) cannot be looked at", writing: false)
    }
    guard status.st_mode & S_IFMT == S_IFDIR else {
      throw StoreError(
        .insecurePermissions, "\(path) is a link or no folder.", hint: "Look at it with: ls -ld \(shellQuoted(path))")
    }
    guard status.st_uid == geteuid() else {
      throw StoreError(
        .insecurePermissions, "The folder \(path) belongs to another user.",
        hint: "Run: sudo chown \(geteuid()) \(shellQuoted(path))")
    }
    guard status.st_mode & 0o077 == 0 else {
      throw StoreError(
        .insecurePermissions, "The folder \(path) is open to other users (mode \(octal(status.st_mode & 0o777))).",
        hint: "Run: chmod 700 \(shellQuoted(path))")
    }
    guard let resolved = realpath(path, nil) else {
      throw .system(errno, "The folder \(path) cannot be found", writing: false)
    }
    defer { free(resolved) }
    return String(cString: resolved)
  }

  /// Makes the folder, and its parents, with mode 0700 each, as the XDG base directory specification asks.
  ///
  /// A folder that another process makes meanwhile is as good; the check that follows judges it.
  static func make(_ path: String) throws(StoreError) {
    var made = path.hasPrefix("/") ? "" : "."
    for part in path.split(separator: "/") {
      made += "/\(part)"
      guard mkdir(made, 0o700) == 0 else {
        let number = errno
        if number == EEXIST { continue }
        // A parent on a read-only or automounted file system answers so although it is there.
        var status = stat()
        if stat(made, &status) == 0 { continue }
        throw .system(number, "The folder \(made) cannot be made", writing: true)
      }
      // A strict umask may have taken the owner's own bits away.
      guard chmod(made, 0o700) == 0 else {
        throw .system(errno, "The mode of \(made) cannot be set", writing: true)
      }
    }
  }
}

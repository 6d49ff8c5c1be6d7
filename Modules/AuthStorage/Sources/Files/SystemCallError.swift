#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

extension StoreError {
  /// What a failed system call means for a store; `writing` tells a refused write from a refused read.
  static func system(_ number: Int32, _ what: String, writing: Bool) -> StoreError {
    let reason = String(cString: strerror(number))
    let message = "\(what): \(reason)."
    switch number {
    case ENOSPC, EDQUOT, EFBIG:
      return StoreError(.full, message, hint: "Free some space, then try again.")
    case EROFS:
      return StoreError(.readOnly, message, hint: "Use a folder on a file system that can be written.")
    case EACCES, EPERM:
      return writing
        ? StoreError(.readOnly, message, hint: "Make the folder writable for yourself.")
        : StoreError(.unavailable, message, hint: "Make the file readable for yourself, and for nobody else.")
    case ELOOP:
      return StoreError(.insecurePermissions, message, hint: "Put a real file or folder where the link is.")
    default:
      return StoreError(.unavailable, message)
    }
  }
}

/// A path as a shell wants it, for hints that can be pasted.
func shellQuoted(_ path: String) -> String {
  let safe = path.utf8.allSatisfy { byte in
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: "/._-+,=@".utf8.contains(byte)
    }
  }
  guard !safe || path.isEmpty else { return path }
  return "'" + path.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
}

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Writes a line to standard output at once: a trap must not take the last lines along.
func say(_ line: String) {
  let bytes = Array("\(line)\n".utf8)
  var rest = bytes[...]
  while !rest.isEmpty {
    let count = rest.withUnsafeBytes { write(STDOUT_FILENO, $0.baseAddress, $0.count) }
    guard count > 0 else { return }
    rest = rest.dropFirst(count)
  }
}

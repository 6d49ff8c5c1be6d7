#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Standard error, and this build's name.
enum Output {
  /// Writes a line to standard error.
  static func complain(_ line: String) {
    let bytes = Array("\(line)\n".utf8)
    _ = bytes.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
  }

  /// Names this build: a hash (FNV-1a) of the program's own file. A seed means the same only in the same build.
  static func buildID() -> String {
    #if canImport(Darwin)
      let path = CommandLine.arguments.first ?? ""
    #else
      let path = "/proc/self/exe"
    #endif
    guard let file = fopen(path, "rb") else { return "unknown" }
    defer { fclose(file) }
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = fread(&buffer, 1, buffer.count, file)
      guard count > 0 else { break }
      for byte in buffer[..<count] { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    }
    return String(hash, radix: 16)
  }

  /// Writes a file; false if that fails.
  static func save(_ text: String, to path: String) -> Bool {
    guard let file = fopen(path, "wb") else { return false }
    let isWritten = fputs(text, file) >= 0
    return fclose(file) == 0 && isWritten
  }
}

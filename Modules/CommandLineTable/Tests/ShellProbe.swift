import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Programs of this machine that a test asks, where they are installed.
enum ShellProbe {
  /// Whether a program is installed.
  static func has(_ program: some StringProtocol) -> Bool {
    ["/bin", "/usr/bin", "/usr/local/bin"].contains { access("\($0)/\(program)", X_OK) == 0 }
  }

  /// What a shell prints for a script on its standard input, or nil where there is no such shell.
  static func output(of shell: String, _ script: String) throws -> (text: String, status: Int32)? {
    let program = shell.prefix { $0 != " " }
    guard has(program) else { return nil }
    var path = Array("/tmp/completion-XXXXXX".utf8CString)
    let descriptor = mkstemp(&path)
    let file = String(decoding: path.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    defer { unlink(file) }
    let bytes = Array(script.utf8)
    #expect(write(descriptor, bytes, bytes.count) == bytes.count)
    close(descriptor)
    let pipe = try #require(popen("\(shell) \(file) 2>&1", "r"))
    var text = ""
    var buffer = [CChar](repeating: 0, count: 4096)
    while fgets(&buffer, Int32(buffer.count), pipe) != nil {
      text += String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
    return (text, pclose(pipe))
  }
}

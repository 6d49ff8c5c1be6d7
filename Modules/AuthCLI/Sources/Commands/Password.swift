import CommandLineTable

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension CommandContext {
  /// The password that the command line points to, or nil if it is to be asked for.
  ///
  /// It is one line: its end is taken off, nothing else is.
  func givenPassword() async throws -> String? {
    switch (call.flag("password-stdin"), call.text("password-file")) {
    case (true, .some): throw call.usageError("--password-stdin and --password-file exclude each other.")
    case (false, nil): return nil
    case (true, nil):
      if console.inputIsTerminal {
        guard let typed = try await console.ask("Password: ", hidden: true) else { throw CommandFailure.cancelled }
        return typed
      }
      return try password(in: try await console.readInput(limit: 64 * 1024), from: "standard input")
    case (false, let file?):
      return try password(in: try await readFile(file, option: "password-file", limit: 64 * 1024), from: file)
    }
  }

  /// Reads a file that the command line names.
  func readFile(_ path: String, option: String, limit: Int) async throws -> [UInt8] {
    guard !path.isEmpty else { throw call.usageError("--\(option): the file's name is missing.", code: .badValue) }
    do {
      return try await parts.readFile(path, limit)
    } catch ConsoleError.failed(let reason) {
      throw call.usageError("--\(option): \(reason)")
    }
  }

  private func password(in bytes: [UInt8], from source: String) throws -> String {
    try line(in: bytes, from: source, named: "password")
  }

  /// The one line that a file or standard input holds; its end is taken off, nothing else is.
  func line(in bytes: [UInt8], from source: String, named name: String = "secret") throws -> String {
    var bytes = bytes[...]
    if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
    if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
    guard !bytes.isEmpty else { throw call.usageError("There is no \(name) in \(source).") }
    guard !bytes.contains(UInt8(ascii: "\n")) else {
      throw call.usageError("There is more than one line in \(source); a \(name) is one line.")
    }
    guard let text = String(bytes: bytes, encoding: .utf8) else {
      throw call.usageError("The \(name) in \(source) is not UTF-8 text.")
    }
    return text
  }
}

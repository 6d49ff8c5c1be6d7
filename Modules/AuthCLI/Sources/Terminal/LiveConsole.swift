import Groundwork

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif
#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The process's own streams. Prompts go to standard error, or to the terminal itself where standard error is redirected.
public struct LiveConsole: Console {
  private let echo: TerminalEcho

  /// Makes the console.
  ///
  /// - Parameter echo: shared with whoever handles signals, so that a signal finds the echo turned on again.
  public init(echo: TerminalEcho) {
    self.echo = echo
  }

  public var inputIsTerminal: Bool { isatty(STDIN_FILENO) == 1 }
  public var outputIsTerminal: Bool { isatty(STDOUT_FILENO) == 1 }
  public var errorIsTerminal: Bool { isatty(STDERR_FILENO) == 1 }

  public func write(_ bytes: [UInt8]) async throws(ConsoleError) {
    try await DetachedThread.run { () -> Result<Void, ConsoleError> in Self.write(bytes, to: STDOUT_FILENO) }
  }

  public func writeError(_ text: String) {
    // Standard error is the last resort: nothing is left that could be told of its failure.
    _ = Self.write(Array(text.utf8), to: STDERR_FILENO)
  }

  public func ask(_ prompt: String, hidden: Bool) async throws(ConsoleError) -> String? {
    let echo = echo
    let usesError = errorIsTerminal
    return try await DetachedThread.run { () -> Result<String?, ConsoleError> in
      Self.ask(prompt, hidden: hidden, echo: echo, onError: usesError)
    }
  }

  public func readInput(limit: Int) async throws(ConsoleError) -> [UInt8] {
    try await DetachedThread.run { () -> Result<[UInt8], ConsoleError> in
      Self.read(from: STDIN_FILENO, limit: limit)
    }
  }

  /// Reads a file, `limit` bytes at most.
  public static func readFile(_ path: String, limit: Int) async throws(ConsoleError) -> [UInt8] {
    try await DetachedThread.run { () -> Result<[UInt8], ConsoleError> in
      let descriptor = open(path, O_RDONLY | O_CLOEXEC)
      guard descriptor >= 0 else { return .failure(.failed("\(path) cannot be read: \(reason()).")) }
      defer { close(descriptor) }
      return read(from: descriptor, limit: limit)
    }
  }

  private static func ask(
    _ prompt: String, hidden: Bool, echo: TerminalEcho, onError: Bool
  ) -> Result<String?, ConsoleError> {
    let screen = onError ? STDERR_FILENO : open("/dev/tty", O_WRONLY | O_CLOEXEC | O_NOCTTY)
    defer { if !onError, screen >= 0 { close(screen) } }
    if hidden, !echo.hide(STDIN_FILENO, screen: screen, prompt: prompt) {
      return .failure(.failed("This terminal cannot hide what is typed: use --password-stdin or --password-file."))
    }
    defer { if hidden { echo.restore() } }
    let shown = write(Array(prompt.utf8), to: screen)
    if case .failure(let error) = shown { return .failure(error) }
    var line: [UInt8] = []
    var byte: UInt8 = 0
    while true {
      let count = systemRead(STDIN_FILENO, &byte, 1)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { return .failure(.failed("The terminal cannot be read: \(reason()).")) }
      if count == 0 || byte == UInt8(ascii: "\n") {
        // The Return that nobody saw, or the Ctrl-D that sends none.
        if hidden || count == 0 { _ = write([UInt8(ascii: "\n")], to: screen) }
        if count == 0, line.isEmpty { return .success(nil) }
        guard let text = String(bytes: line, encoding: .utf8) else { return .failure(.notText) }
        return .success(Printable.withoutPasteMarkers(text))
      }
      line.append(byte)
      guard line.count <= 4096 else { return .failure(.tooLarge(4096)) }
    }
  }

  private static func read(from descriptor: Int32, limit: Int) -> Result<[UInt8], ConsoleError> {
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 64 * 1024)
    while true {
      let count = systemRead(descriptor, &chunk, chunk.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { return .failure(.failed("The input cannot be read: \(reason()).")) }
      if count == 0 { return .success(bytes) }
      bytes += chunk[..<count]
      guard bytes.count <= limit else { return .failure(.tooLarge(limit)) }
    }
  }

  private static func write(_ bytes: [UInt8], to descriptor: Int32) -> Result<Void, ConsoleError> {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { systemWrite(descriptor, $0.baseAddress, $0.count) }
      if count >= 0 {
        rest = rest.dropFirst(count)
        continue
      }
      switch errno {
      case EINTR: continue
      case EAGAIN:
        var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        _ = poll(&wait, 1, -1)
      case EPIPE: return .failure(.brokenPipe)
      default: return .failure(.failed("The output cannot be written: \(reason())."))
      }
    }
    return .success(())
  }

  private static func reason() -> String { String(cString: strerror(errno)) }
}

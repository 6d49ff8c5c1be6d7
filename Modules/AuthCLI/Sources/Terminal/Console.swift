/// Where a command reads and writes: the process's three streams, or a test's.
///
/// Reading, and writing data, may take long; an implementation never blocks the cooperative pool over it.
public protocol Console: Sendable {
  /// Whether a person types on standard input.
  var inputIsTerminal: Bool { get }
  /// Whether standard output is read by a person.
  var outputIsTerminal: Bool { get }
  /// Whether standard error is read by a person.
  var errorIsTerminal: Bool { get }

  /// Writes all bytes to standard output: data, and nothing else.
  func write(_ bytes: [UInt8]) async throws(ConsoleError)
  /// Writes a few lines to standard error: everything that is no data. What cannot be written is lost.
  func writeError(_ text: String)
  /// Asks for one line on the terminal.
  ///
  /// - Parameter hidden: whether what is typed stays off the screen: always, or the call throws.
  /// - Returns: the line without its end; nil when the user ended the input (Ctrl-D).
  func ask(_ prompt: String, hidden: Bool) async throws(ConsoleError) -> String?
  /// Reads standard input to its end.
  func readInput(limit: Int) async throws(ConsoleError) -> [UInt8]
}

/// Why reading or writing did not work.
public enum ConsoleError: Error, Sendable, Hashable {
  /// Whoever read standard output is gone.
  case brokenPipe
  /// The system's reason, in one sentence.
  case failed(String)
  /// The input is larger than the limit, in bytes.
  case tooLarge(Int)
  /// The input is no UTF-8.
  case notText
}

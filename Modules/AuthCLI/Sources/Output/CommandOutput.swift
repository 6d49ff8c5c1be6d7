import Groundwork

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Data to standard output, everything else to standard error.
struct CommandOutput: Sendable {
  let console: any Console
  /// Whether data and errors are JSON.
  let isJSON: Bool

  /// Writes data: the object under `--json`, else the lines.
  func data(_ json: @autoclosure () -> JSONValue, _ lines: @autoclosure () -> [String]) async throws {
    let text = isJSON ? try Self.encode(json()) : lines().map { Printable.line($0) + "\n" }.joined()
    try await console.write(Array(text.utf8))
  }

  /// Writes an object under `--json`, and otherwise says something on standard error.
  func done(_ json: @autoclosure () -> JSONValue, _ sentence: @autoclosure () -> String) async throws {
    guard isJSON else { return say(sentence()) }
    try await console.write(Array(Self.encode(json()).utf8))
  }

  /// Says something on standard error: a line of words, or under `--json` an object, so that every line there is one.
  func say(_ sentence: String) {
    tell(.object(["notice": .string(sentence)]), Printable.line(sentence) + "\n")
  }

  /// Tells a failure on standard error.
  func fail(_ failure: CommandFailure, colored: Bool) {
    let words = colored ? "\u{1B}[31m\(failure.text)\u{1B}[0m" : failure.text
    tell(failure.json, words)
  }

  private func tell(_ json: @autoclosure () -> JSONValue, _ words: String) {
    guard isJSON else { return console.writeError(words) }
    do {
      console.writeError(try Self.encode(json()))
    } catch {
      console.writeError(words)
    }
  }

  /// One line of JSON, its members in order of their names.
  static func encode(_ value: JSONValue) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(value), as: UTF8.self) + "\n"
  }
}

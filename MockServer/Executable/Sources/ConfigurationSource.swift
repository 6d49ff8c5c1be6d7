import CheckedYAML
import MockServerCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The files that a server is configured by, and the options that stand above them.
struct ConfigurationSource: Sendable {
  /// Why there is no configuration: one line for each mistake.
  struct Failure: Error {
    var lines: [String]
  }

  /// The configuration file, if there is one.
  var file: String?
  /// Files of scripts, which are added to those of the configuration file.
  var scriptFiles: [String] = []
  /// What the command line says in so many words.
  var overrides: @Sendable (inout MockServerConfiguration) -> Void = { _ in }

  /// All files, for whoever watches them.
  var files: [String] { (file.map { [$0] } ?? []) + scriptFiles }

  /// Reads everything.
  func read() throws(Failure) -> MockServerConfiguration {
    var lines: [String] = []
    var configuration = MockServerConfiguration()
    if let file {
      do throws(ConfigurationReader.Mistakes) {
        configuration = try ConfigurationReader.configuration(
          Self.text(of: file), file: file, overrides: overrides)
      } catch {
        lines += error.diagnostics.map(\.description)
      }
    } else {
      overrides(&configuration)
    }
    for scriptFile in scriptFiles {
      do throws(ConfigurationReader.Mistakes) {
        for script in try ConfigurationReader.scripts(Self.text(of: scriptFile), file: scriptFile) {
          // The later file has the last word.
          configuration.scripts.removeAll { $0.target == script.target }
          configuration.scripts.append(script)
        }
      } catch {
        lines += error.diagnostics.map(\.description)
      }
    }
    guard lines.isEmpty else { throw Failure(lines: lines) }
    do throws(MockServerError) {
      try configuration.check()
    } catch {
      throw Failure(lines: ["mock-server: \(error.message)"])
    }
    return configuration
  }

  /// Everything that is wrong with one file, of whichever kind it is.
  static func mistakes(in file: String) -> [Diagnostic] {
    do throws(ConfigurationReader.Mistakes) {
      let text = try text(of: file)
      if try ConfigurationReader.holdsScripts(text, file: file) {
        _ = try ConfigurationReader.scripts(text, file: file)
      } else {
        _ = try ConfigurationReader.configuration(text, file: file)
      }
      return []
    } catch {
      return error.diagnostics
    }
  }

  private static let largestFile = 16 << 20

  private static func text(of file: String) throws(ConfigurationReader.Mistakes) -> String {
    func failure(_ message: String, line: Int = 1, column: Int = 1) -> ConfigurationReader.Mistakes {
      .init(diagnostics: [Diagnostic(file: file, mark: Mark(line: line, column: column), message: message)])
    }
    let descriptor = open(file, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw failure("the file cannot be read: \(String(cString: strerror(errno)))") }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 64 * 1024)
    while true {
      let count = systemRead(descriptor, &buffer)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw failure("the file cannot be read: \(String(cString: strerror(errno)))") }
      if count == 0 { break }
      bytes += buffer[..<count]
      guard bytes.count <= largestFile else { throw failure("the file is larger than 16 MiB") }
    }
    let text = String(decoding: bytes, as: UTF8.self)
    guard text.utf8.elementsEqual(bytes) else {
      let place = Self.firstBadByte(of: bytes)
      throw failure("a byte here is not UTF-8", line: place.line, column: place.column)
    }
    return text
  }

  /// Where the first byte stands that is no UTF-8: the longest prefix that is decides.
  private static func firstBadByte(of bytes: [UInt8]) -> Mark {
    var mark = Mark(line: 1, column: 1)
    var decoder = UTF8()
    var iterator = bytes.makeIterator()
    while case .scalarValue(let scalar) = decoder.decode(&iterator) {
      if scalar == "\n" {
        mark = Mark(line: mark.line + 1, column: 1)
      } else {
        mark.column += 1
      }
    }
    return mark
  }
}

/// `read(2)`, under a name that nothing here has.
private func systemRead(_ descriptor: Int32, _ buffer: inout [UInt8]) -> Int {
  read(descriptor, &buffer, buffer.count)
}

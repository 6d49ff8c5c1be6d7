import CheckedYAML
import CommandLineTable

/// `mock-server check`: what is wrong with files of configuration and scripts.
enum CheckCommand {
  /// Tells every mistake on standard error, and on standard output how many files are all right.
  ///
  /// - Returns: 0 if every file is, else 1.
  static func run(_ call: Invocation) -> Int32 {
    let files = call.arguments("FILE")
    var isSound = true
    for file in files {
      for mistake in ConfigurationSource.mistakes(in: file) {
        isSound = false
        Terminal.complain(mistake.description)
      }
    }
    guard isSound else { return 1 }
    return Terminal.print(files.count == 1 ? "1 file, nothing wrong" : "\(files.count) files, nothing wrong") ? 0 : 1
  }
}

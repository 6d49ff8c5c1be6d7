import Foundation
import Testing

/// Short runs of what `make soak-store` and `make fuzz` do at length: real processes, real kills.
@Suite struct TortureTests {
  /// Runs `storage-torture`, which the build puts beside the test bundle; gives its exit code and its last line.
  private static func run(_ arguments: [String]) throws -> (code: Int32, output: String) {
    var place = URL(fileURLWithPath: try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
    for argument in CommandLine.arguments where argument.hasSuffix(".xctest") { place = URL(fileURLWithPath: argument) }
    let process = Process()
    process.executableURL = place.deletingLastPathComponent().appendingPathComponent("storage-torture")
    let memory = "/dev/shm"
    process.arguments =
      arguments + (FileManager.default.isWritableFile(atPath: memory) ? ["--folder", memory] : [])
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return (process.terminationStatus, text)
  }

  @Test(
    "processes that are killed while they save, clear, count and change keys lose nothing they were promised (S13, S15)"
  )
  func kills() throws {
    let outcome = try Self.run(["kill", "--kills", "12", "--workers", "3", "--seed", "7"])
    #expect(outcome.code == 0, "\(outcome.output)")
    #expect(outcome.output.contains("12 kills of 3 processes"))
  }

  @Test("damaged bytes and files are refused, or are the true ones: no trap, no wrong secret, nobody signed out (S21)")
  func damage() throws {
    let outcome = try Self.run(["fuzz", "--inputs", "500", "--files", "60", "--seed", "7"])
    #expect(outcome.code == 0, "\(outcome.output)")
    #expect(outcome.output.split(separator: "\n").count == 7)
  }

  @Test("what must never be is told with exit 1 and the line that plays it again")
  func replay() throws {
    #expect(try Self.run(["fuzz", "nothing"]).code == 2)
    let outcome = try Self.run(["fuzz", "database", "--first", "11", "--files", "1", "--seed", "7"])
    #expect(outcome.code == 0 && outcome.output.contains("database: 1 inputs"))
  }
}

import CommandLineTable
import Groundwork

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

let program = Program(
  Command(
    "storage-torture", "Tries to make the session store lose, mix up or leak a session.",
    options: [
      .value("seed", "N", kind: .integer(0...Int.max), default: "1", "Where the random numbers begin."),
      .value("folder", "DIR", kind: .folder, "Where to work; a temporary folder unless told otherwise."),
    ],
    commands: [
      Command(
        "kill", "SIGKILL at random moments, while processes save, load, clear and change keys.",
        options: [
          .value("kills", "N", kind: .integer(1...1_000_000), default: "500", "How many."),
          .value("workers", "N", kind: .integer(1...64), default: "4", "How many processes."),
          .flag("fill-disk", "Fill the disk under --folder again and again; it has to be a small one."),
        ]),
      Command(
        "fuzz", "Damaged bytes for every decoder, damaged files for the store.",
        discussion: "Decoders: record, outbox, header, sealed, keyfile, passphrase; files: database. All unless named.",
        options: [
          .value("inputs", "N", kind: .integer(1...1_000_000_000), default: "1000000", "How many for each decoder."),
          .value("files", "N", kind: .integer(1...1_000_000_000), default: "20000", "How many database files."),
          .value("first", "N", kind: .integer(0...Int.max), default: "0", "The first input, to replay one."),
        ],
        positionals: [
          Positional(
            "TARGET",
            kind: .choice(["record", "outbox", "header", "sealed", "keyfile", "passphrase", "database"]),
            required: false, repeated: true, "Which to run.")
        ]),
    ]),
  version: "1",
  exitCodes: [.init(0, "nothing was found"), .init(1, "something that must never be"), .init(2, "usage")])

/// Lends a folder of this run's own, and removes it.
func withFolder(_ given: String?, _ body: (String) async throws -> Void) async throws {
  let parent = given ?? FileManager.default.temporaryDirectory.path
  let folder = parent + "/chirp-torture-\(UUID().uuidString)"
  try FileManager.default.createDirectory(
    atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
  do {
    try await body(folder)
  } catch {
    print("What was there stays in \(folder).")
    throw error
  }
  try FileManager.default.removeItem(atPath: folder)
}

func run(_ arguments: [String]) async throws {
  // What this program starts itself as; not for people.
  if arguments.count == 7, arguments[0] == "work", let index = Int(arguments[1]), let seed = UInt64(arguments[4]),
    let number = UInt64(arguments[5])
  {
    var worker = try Worker(
      index: index, folder: arguments[2], diary: arguments[3], seed: seed, number: number,
      held: arguments[6] == "-" ? nil : arguments[6])
    return await worker.run()
  }
  if arguments.count == 6, arguments[0] == "feed", let seed = UInt64(arguments[2]), let first = UInt64(arguments[3]),
    let count = UInt64(arguments[4])
  {
    return try await Feeding(
      name: arguments[1], seed: seed, inputs: first..<(first + count), folder: arguments[5]
    ).run()
  }
  switch try program.parse(arguments) {
  case .print(let text): print(text)
  case .run(let call):
    try await withFolder(call.text("folder")) { folder in
      if call.path == ["kill"] {
        var kills = try KillRun(call, folder: folder)
        try await kills.start()
      } else if call.path == ["fuzz"] {
        try FuzzRun(call, folder: folder).startChildren()
      }
    }
  }
}

do {
  try await run(Array(CommandLine.arguments.dropFirst()))
} catch let error as UsageError {
  print("\(error)")
  exit(error.exitCode)
} catch {
  print("storage-torture: \(error)")
  exit(1)
}

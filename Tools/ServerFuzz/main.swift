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

StandardStreams.open()

let program = Program(
  Command(
    "server-fuzz",
    "Sends damaged requests through the mock server's parser into its core: nothing may trap, all must be answered once.",
    options: [
      .value("requests", "N", kind: .integer(1...100_000_000), default: "1000000", "How many."),
      .value("seed", "N", kind: .integer(0...Int.max), default: "1", "Where the random numbers begin."),
      .flag("verbose", "Print the bytes before they are sent: the last line before a trap is what it was."),
    ]),
  version: "1", exitCodes: [.init(0, "nothing was found"), .init(1, "something that must never be"), .init(2, "usage")])

do {
  switch try program.parse(Array(CommandLine.arguments.dropFirst())) {
  case .print(let text): say(text)
  case .run(let call):
    let seed = UInt64(try call.integer("seed") ?? 1)
    let run = FuzzRun(count: try call.integer("requests") ?? 1_000_000, seed: seed, isVerbose: call.flag("verbose"))
    let begun = SystemClock().sinceBoot
    let wrong = run.start()
    for line in wrong.prefix(50) { say(line) }
    say("seed \(seed): \(wrong.count) findings in \(Int((SystemClock().sinceBoot - begun).inSeconds)) s")
    exit(wrong.isEmpty ? 0 : 1)
  }
} catch {
  say("\(error)")
  exit(2)
}

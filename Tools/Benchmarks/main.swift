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
    "bench", "Measures the product, each figure beside its baseline in the same run.",
    discussion: "Benchmarks: " + Benchmark.all.map { "\($0.name) (\($0.summary))" }.joined(separator: "; ") + ".",
    options: [
      .value("json", "FILE", kind: .file, "Writes every sample to FILE; - is standard output, in place of the table."),
      .value(
        "svg", "FILE", kind: .file, "Draws the figures as bars, each beside its baseline, and the growth as curves."),
      .value("readme", "FILE", kind: .file, "Rewrites the table between the bench marks of FILE."),
      .value("rounds", "N", kind: .integer(1...1000), default: "21", "How many rounds are measured."),
      .value(
        "probe", "PATH", kind: .choice(Probe.all.map(\.name)),
        "Runs one path of the product and measures nothing; make bench-check counts its instructions."),
      .value("count", "N", kind: .integer(1...1_000_000), default: "1000", "How often --probe runs it."),
      .flag("check", "Exits with 1 if a target is missed."),
    ],
    positionals: [
      Positional(
        "NAME", kind: .choice(Benchmark.all.map(\.name)), required: false, repeated: true,
        "Which to run; unless told otherwise, all but endurance, which takes minutes.")
    ]),
  version: "1",
  exitCodes: [
    .init(0, "measured"), .init(1, "a benchmark failed, or a target was missed with --check"), .init(2, "usage"),
  ])

do {
  switch try program.parse(Array(CommandLine.arguments.dropFirst())) {
  case .print(let text):
    print(text)
  case .run(let call):
    try await Run(call).start()
  }
} catch let error as UsageError {
  note("\(error)")
  exit(error.exitCode)
} catch {
  note("bench: \(error)")
  exit(1)
}

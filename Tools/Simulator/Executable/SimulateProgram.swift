import CommandLineTable
import Groundwork
import SimulatorKit

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The program: reads the command line, runs schedules, and prints what they show.
enum SimulateProgram {
  /// Runs what the command line says, and returns the exit code.
  static func run() -> Int32 {
    do throws(UsageError) {
      let arguments = Array(CommandLine.arguments.dropFirst())
      switch try table.parse(arguments, environment: ProcessInfo.processInfo.environment) {
      case .print(let text):
        print(text)
        return 0
      case .run(let call):
        return try run(call)
      }
    } catch {
      Output.complain(error.description)
      return error.exitCode
    }
  }

  private static func run(_ call: Invocation) throws(UsageError) -> Int32 {
    let subject: SubjectKind = try call.choice("subject") ?? .engine
    let setup = Setup(
      subject: subject, processes: try call.integer("processes"), policy: try call.choice("policy"),
      lockExcludes: call.text("lock").map { $0 == "holds" })
    if let seed = try call.integer("replay") {
      var choices: [UInt16]?
      if let text = call.text("choices") {
        guard let parsed = ChoiceList.parse(text) else {
          throw call.usageError("--choices takes what a violation prints: numbers between points.")
        }
        choices = parsed
      }
      return Replay(
        setup: setup, seed: UInt64(seed), choices: choices, isWhole: call.flag("whole"), kind: call.text("kind"),
        svg: call.text("svg")
      ).run()
    }
    for name in ["choices", "svg", "whole", "kind"] where call.source(of: name) == .commandLine {
      throw call.usageError("--\(name) goes with --replay SEED.")
    }
    if let files = call.text("tables") {
      do throws(SavedReportsError) {
        try SavedReports(files.split(separator: ",").map(String.init)).printTables()
      } catch {
        throw call.usageError("--tables: \(error.description)")
      }
      return 0
    }
    let text = call.text("seeds") ?? "1..2000"
    guard let seeds = range(text) else {
      throw call.usageError("--seeds takes a range, as in 1..2000, not \"\(text)\".")
    }
    let workers = try call.integer("workers") ?? ProcessInfo.processInfo.activeProcessorCount
    return CampaignCommand(
      setup: setup, seeds: seeds, workers: workers, isJSON: call.flag("json"), shrinks: !call.flag("no-shrink")
    ).run()
  }

  private static func range(_ text: String) -> ClosedRange<UInt64>? {
    guard let dots = text.firstRange(of: "..") else { return nil }
    guard let low = UInt64(text[..<dots.lowerBound]), let high = UInt64(text[dots.upperBound...]), low <= high,
      high < UInt64(Int.max)
    else { return nil }
    return low...high
  }

  /// Commands, options and help.
  static let table = Program(
    Command(
      "simulate", "Runs the session engine under every interleaving that a seed makes.",
      discussion: """
        Each seed is a schedule: which job runs next, how long each message takes and whether it gets lost, who signs out, which \
        process is killed where. Twelve invariants are checked at every step. Documentation/simulator.md says how to read a trace.
        """,
      options: [
        .value("seeds", "A..B", default: "1..2000", "The seeds to run."),
        .value(
          "replay", "SEED", kind: .integer(0 ... .max), "Run one seed and print its trace; a violation is shrunk first."
        ),
        .choice("subject", SubjectKind.allCases.map(\.rawValue), default: "engine", "The design under test."),
        .value("processes", "N", kind: .integer(1...8), "How many processes share the store; 1 to 3 unless given."),
        .choice("policy", RotationKind.allCases.map(\.rawValue), "The server's rotation; either unless given."),
        .choice("lock", ["holds", "nobody"], "Whether the refresh lock keeps others out; either unless given."),
        .flag("json", "Print one JSON object."),
        .value(
          "tables", "FILES", "Add up reports that --json wrote, commas between, and print them as Markdown tables."),
        .flag("no-shrink", "Do not look for the simplest schedule of each violation."),
        .value("workers", "N", kind: .integer(1...64), "How many threads; one a core unless given."),
        .value("choices", "LIST", "With --replay: these choices instead of the seed's own."),
        .value("kind", "TEXT", "With --replay: the violation to look for, if the seed has several."),
        .flag("whole", "With --replay: print the schedule as it is, not shrunk."),
        .value("svg", "FILE", kind: .file, "With --replay: write the diagram there, as SVG."),
      ],
      examples: [
        .init("simulate --seeds 1..20000", "twenty thousand schedules"),
        .init("simulate --replay 4711 --svg trace.svg", "one of them, with its diagram"),
        .init("simulate --subject naive", "what the documents' own design does wrong"),
      ]),
    version: Program.packageVersion,
    exitCodes: [
      .init(0, "no violation; with --subject naive: every known fault was found"),
      .init(1, "a violation; with --subject naive: a known fault was not found"),
      .init(2, "the command line is wrong"),
    ])
}

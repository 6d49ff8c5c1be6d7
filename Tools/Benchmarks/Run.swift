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

/// One run of the program: the benchmarks that were named, one after another, and the reports that were asked for.
struct Run {
  private let benchmarks: [Benchmark]
  private let rounds: Int
  private let json: String?
  private let svg: String?
  private let probe: Probe?
  private let count: Int
  private let readme: String?
  private let check: Bool

  init(_ call: Invocation) throws {
    let names = call.arguments("NAME")
    benchmarks = Benchmark.all.filter { names.isEmpty ? $0.isPartOfAll : names.contains($0.name) }
    rounds = try call.integer("rounds") ?? 21
    json = call.text("json")
    svg = call.text("svg")
    let probed = call.text("probe")
    probe = Probe.all.first { $0.name == probed }
    count = try call.integer("count") ?? 1000
    readme = call.text("readme")
    check = call.flag("check")
  }

  func start() async throws {
    if let probe { return try await probe.run(count) }
    #if DEBUG
      note("bench: this is a debug build; its figures say little. Use make bench.")
    #endif
    let scratch = try ScratchFolder()
    defer { scratch.remove() }
    let context = Benchmark.Context(programs: try Self.programFolder(), scratch: scratch, rounds: rounds)
    var report = Report()
    for benchmark in benchmarks {
      note("bench: \(benchmark.name): \(benchmark.summary) …")
      report.figures += try await benchmark.run(context)
      report.curves += try await benchmark.curves(context)
    }
    if let json, json != "-" {
      try Data((try report.json() + "\n").utf8).write(to: URL(fileURLWithPath: json))
    }
    if let svg {
      try Data(report.page.utf8).write(to: URL(fileURLWithPath: svg))
      note("bench: figures and growth as a picture: \(svg)")
    }
    print(json == "-" ? try report.json() : report.table)
    if let readme { try report.rewrite(readme: readme) }
    let missed = report.figures.flatMap { figure in figure.missed.map { "\(figure.name): \($0)" } }
    if check, !missed.isEmpty { throw BenchError("targets missed: \(missed.joined(separator: "; ")).") }
  }

  /// The folder of this program, where the others are built too.
  private static func programFolder() throws(BenchError) -> String {
    #if canImport(Glibc)
      var bytes = [CChar](repeating: 0, count: 4096)
      let count = readlink("/proc/self/exe", &bytes, bytes.count)
      guard count > 0 else { throw BenchError("This program's own place cannot be read from /proc/self/exe.") }
      let path = String(decoding: bytes[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
    #else
      let path = CommandLine.arguments.first ?? ""
    #endif
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return String(path[..<slash])
  }
}

import AuthModels
import AuthSession
import AuthStorage
import Groundwork

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension Benchmark {
  /// How time and memory grow: callers on one session, sessions in one process, processes on one store.
  static let growth = Benchmark(
    name: "growth", summary: "more callers, more sessions in a process, more processes on a store",
    run: { _ in [] },
    curves: { context in
      // Sessions first: a hundred thousand callers leave the allocator with more than all sessions need.
      try await sessions(context) + [try await processes(context), try await callers()]
    })

  /// So many callers at once on an expired token, the refresh answered at once.
  private static func callers() async throws -> Curve {
    let time = ShiftedClock()
    let server = try BenchServer(realm: "callers")
    let engine = try await server.engine(store: InMemorySessionStore(time: time), time: time)
    var points: [Curve.Point] = []
    for count in [1, 10, 100, 1_000, 10_000, 100_000] {
      var samples: [Double] = []
      for _ in 0..<5 {
        time.advance(by: .seconds(24 * 3600))
        let before = try await server.refreshCount()
        samples.append(try await storm(of: count) { try await engine.validAccessToken() })
        let refreshes = try await server.refreshCount() - before
        guard refreshes == 1 else { throw BenchError("\(count) callers cost \(refreshes) refreshes.") }
      }
      points.append(.init(size: Double(count), value: Figure.median(samples)))
    }
    return Curve(
      name: "Callers on an expired token: until all have the new one", sizeName: "callers", unit: .seconds,
      points: points)
  }

  /// So many sessions, each with an engine of its own, over one store on disk.
  private static func sessions(_ context: Context) async throws -> [Curve] {
    var signIns: [Curve.Point] = []
    var memory: [Curve.Point] = []
    var tokens: [Curve.Point] = []
    let server = try BenchServer(realm: "sessions")
    let store = SQLiteSessionStore(folder: context.scratch.path("sessions"), time: clock)
    var engines: [SessionEngine] = []
    for count in [1, 10, 100, 1_000] {
      let added = count - engines.count
      let taken = try await seconds {
        while engines.count < count {
          engines.append(try await server.engine(store: store, time: clock, account: "anna+\(engines.count)"))
        }
      }
      signIns.append(.init(size: Double(count), value: taken / Double(added)))
      memory.append(.init(size: Double(count), value: Double(try ProcessUse().memory)))
      var samples: [Double] = []
      for _ in 0..<5 {
        let turns = 100_000
        samples.append(
          try await seconds {
            for turn in 0..<turns { _ = try await engines[turn % count].validAccessToken() }
          } / Double(turns))
      }
      tokens.append(.init(size: Double(count), value: Figure.median(samples)))
    }
    return [
      Curve(
        name: "Sessions in one process: a sign-in, stored", sizeName: "sessions", unit: .seconds, points: signIns),
      Curve(
        name: "Sessions in one process: its resident memory, the mock server's part included", sizeName: "sessions",
        unit: .bytes,
        points: memory),
      Curve(
        name: "Sessions in one process: `validAccessToken()`, in turn", sizeName: "sessions", unit: .seconds,
        points: tokens),
    ]
  }

  /// So many `chirp token` processes started at once on an expired token of one store.
  private static func processes(_ context: Context) async throws -> Curve {
    let chirp = "\(context.programs)/chirp"
    var points: [Curve.Point] = []
    for count in [1, 10, 50, 100] {
      // The tokens of the first sign-in live for a second, all later ones for a quarter of an hour.
      let server = try RunningProgram(
        "\(context.programs)/mock-server", ["serve", "--port", "0", "--seed-user", "--access-ttl", "1s"])
      defer { server.terminate() }
      guard let line = server.firstLine(), let url = readyURL(line) else {
        throw BenchError("mock-server said no ready line. Build it: make bench.")
      }
      let environment = [
        "CHIRP_STATE_DIR=\(context.scratch.path("state-\(count)"))", "CHIRP_SERVER=\(url)", "PATH=/usr/bin:/bin",
      ]
      let login = try RunningProgram(
        chirp, ["login", "--email", "anna@example.com", "--password-stdin"], environment: environment,
        input: "password123\n")
      guard login.ended().code == 0 else { throw BenchError("chirp login failed.") }
      let admin = try AdminClient(url)
      try await admin.put("policy", ["accessTTL": "15m"])
      try await clock.sleep(for: .milliseconds(1_200))
      let begun = clock.sinceBoot
      let programs = try (0..<count).map { _ in try RunningProgram(chirp, ["token"], environment: environment) }
      for program in programs {
        let code = program.ended().code
        guard code == 0 else { throw BenchError("One of \(count) chirp token ended with \(code).") }
      }
      let taken = (clock.sinceBoot - begun).inSeconds
      let refreshes = try await admin.count("operation=refresh")
      guard refreshes == 1 else { throw BenchError("\(count) processes cost \(refreshes) refreshes.") }
      points.append(.init(size: Double(count), value: taken))
    }
    return Curve(
      name: "`chirp token` processes at once, one store, expired token: until all have ended, one refresh",
      sizeName: "processes",
      unit: .seconds, points: points)
  }
}

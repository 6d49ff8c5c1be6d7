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
  /// `validAccessToken()` with a token that is good: the call before every request.
  static let hotPath = Benchmark(name: "hot-path", summary: "validAccessToken() while the token is good") { context in
    let server = try BenchServer(realm: "hot")
    let store = SQLiteSessionStore(folder: context.scratch.path("hot"), time: clock)
    let engine = try await server.engine(store: store, time: clock)
    let bundle = try await server.logIn(clock)
    let overMemory = DocumentDesign(store: try MemoryItem(bundle), time: clock) { bundle in bundle }
    let overSQLite = DocumentDesign(
      store: try SQLiteItem(bundle, path: context.scratch.path("hot.sqlite")), time: clock
    ) { bundle in bundle }

    let samples = try await interleaved(
      rounds: context.rounds,
      [
        { try await perCall(100_000) { try await engine.validAccessToken() } },
        { try await perCall(5_000) { try await overMemory.validAccessToken() } },
        { try await perCall(2_000) { try await overSQLite.validAccessToken() } },
      ])
    let name = "`validAccessToken()`, token good, store on disk"
    return [
      Figure(
        name: name, unit: .seconds, samples: samples[0], baselineName: "D3's design, item in memory",
        baseline: samples[1], targets: [.atMost(100e-9), .factor(50)]),
      Figure(
        name: name, unit: .seconds, samples: samples[0], baselineName: "D3's design, item in bare SQLite",
        baseline: samples[2], targets: [.factor(50)]),
    ]
  }

  /// Ten thousand callers on an expired token, while a refresh takes a tenth of a second.
  static let storm = Benchmark(name: "storm", summary: "10,000 callers on an expired token") { context in
    let callers = 10_000
    let answer = Duration.milliseconds(100)
    let time = ShiftedClock()

    let ours = try BenchServer(realm: "storm")
    let engine = try await ours.engine(store: InMemorySessionStore(time: time), time: time)
    let theirs = try BenchServer(realm: "document")
    ours.transport.delayRefreshes(by: answer)
    theirs.transport.delayRefreshes(by: answer)
    let document = DocumentDesign(store: try MemoryItem(try await theirs.logIn(time)), time: time) { bundle in
      try await theirs.refresh(bundle, time)
    }

    let rounds = max(3, context.rounds / 3)
    var counts: [Double] = []
    let samples = try await interleaved(
      rounds: rounds,
      [
        {
          time.advance(by: .seconds(24 * 3600))
          let before = try await ours.refreshCount()
          let taken = try await storm(of: callers) { try await engine.validAccessToken() }
          counts.append(try await ours.refreshCount() - before)
          return taken
        },
        {
          time.advance(by: .seconds(24 * 3600))
          return try await storm(of: callers) { try await document.validAccessToken() }
        },
      ])

    // Without single flight every caller refreshes; the server has to allow that, or the session would be over.
    let naive = try BenchServer(realm: "naive")
    try await naive.keepRefreshTokens()
    naive.transport.delayRefreshes(by: answer)
    let bundle = try await naive.logIn(time)
    _ = try await storm(of: callers) { try await naive.refresh(bundle, time).accessToken }
    let naiveCount = try await naive.refreshCount()

    return [
      Figure(
        name: "10,000 callers, expired token: refreshes", unit: .count, samples: [counts.max() ?? -1],
        baselineName: "no single flight", baseline: [naiveCount], targets: [.exactly(1)]),
      Figure(
        name: "10,000 callers, expired token, refresh of 100 ms: until all have it", unit: .seconds,
        samples: samples[0],
        baselineName: "D3's design, item in memory", baseline: samples[1],
        targets: [.atMost(1.1 * answer.inSeconds + 0.05)]),
    ]
  }

  /// What one call takes, in seconds.
  private static func perCall(_ calls: Int, _ body: () async throws -> String) async throws -> Double {
    var bytes = 0
    let taken = try await seconds {
      for _ in 0..<calls { bytes &+= try await body().utf8.count }
    }
    guard bytes > 0 else { throw BenchError("The tokens are empty.") }
    return taken / Double(calls)
  }

  /// What it takes until every one of so many callers has its token, in seconds.
  static func storm(
    of callers: Int, _ body: @escaping @Sendable () async throws -> String
  ) async throws -> Double {
    try await seconds {
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<callers { group.addTask { _ = try await body() } }
        try await group.waitForAll()
      }
    }
  }
}

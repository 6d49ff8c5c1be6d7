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
  /// Ten thousand sessions from sign-in to sign-out, each with an engine of its own over one store on disk: what is left of them?
  ///
  /// Every life writes to the disk many times; `TMPDIR=/dev/shm` makes it a matter of a minute, and leaves the same behind.
  static let endurance = Benchmark(
    name: "endurance", summary: "what 10,000 sign-ins, refreshes and sign-outs leave behind", isPartOfAll: false
  ) { context in
    // Tables and the allocator's arenas reach their size within the first ten thousand.
    let (warmUp, lives) = (10_000, 10_000)
    // The server forgets, so that what grows is not its memory of the past.
    let server = try BenchServer(realm: "endurance", remembering: 100)
    let store = SQLiteSessionStore(folder: context.scratch.path("endurance"), time: clock)
    var engines: [WeakEngine] = []
    try await live(warmUp, at: server, store: store, &engines)
    try await settle(&engines)
    let before = try ProcessUse()
    let taken = try await seconds {
      try await live(lives, at: server, store: store, &engines)
      try await settle(&engines)
    }
    let after = try ProcessUse()
    note("bench: endurance: before \(before); after \(after); \(Figure.text(taken / Double(lives), .seconds)) a life")
    let slots = try await store.slots()
    var stored = 0
    for slot in slots where try await store.read(slot).record != nil { stored += 1 }
    let pending = try await store.pendingRevocations().count
    let refreshes = try await server.refreshCount()
    let title = "\(Figure.text(Double(lives), .count)) lives of a session leave"
    return [
      Figure(
        name: "\(title): refreshes at the server", unit: .count, samples: [refreshes - Double(warmUp)],
        baselineName: "lives", baseline: [Double(lives)], targets: [.exactly(Double(lives))]),
      Figure(
        name: "\(title): engines, and the tasks that hold them", unit: .count, samples: [Double(engines.count)],
        baselineName: "–", baseline: [], targets: [.exactly(0)]),
      Figure(
        name: "\(title): open files", unit: .count, samples: [Double(after.files)], baselineName: "before",
        baseline: [Double(before.files)], targets: [.atMost(Double(before.files))]),
      Figure(
        name: "\(title): threads", unit: .count, samples: [Double(after.threads)], baselineName: "before",
        baseline: [Double(before.threads)], targets: [.atMost(Double(before.threads) + 1)]),
      Figure(
        name: "\(title): sessions and revocations in the store", unit: .count, samples: [Double(stored + pending)],
        baselineName: "–", baseline: [], targets: [.exactly(0)]),
      Figure(
        name: "\(title): bytes of memory a life", unit: .count,
        samples: [max(0, Double(after.memory - before.memory)) / Double(lives)],
        baselineName: "–", baseline: [], targets: [.atMost(64)]),
    ]
  }

  /// Does not keep the engine: what does, is left behind.
  private struct WeakEngine {
    weak var engine: SessionEngine?
  }

  private static func live(
    _ lives: Int, at server: BenchServer, store: SQLiteSessionStore, _ engines: inout [WeakEngine]
  ) async throws {
    for life in 1...lives {
      try await live(at: server, store: store, &engines)
      if life % 2_500 == 0 { note("bench: endurance: \(life) of \(lives): \(try ProcessUse())") }
    }
  }

  private static func live(
    at server: BenchServer, store: SQLiteSessionStore, _ engines: inout [WeakEngine]
  ) async throws {
    let engine = try await server.engine(store: store, time: clock)
    try await engine.refresh()
    guard try await engine.signOut().revoked else { throw BenchError("The server did not revoke a session.") }
    engines.append(WeakEngine(engine: engine))
    if engines.count >= 100 { engines.removeAll { $0.engine == nil } }
  }

  /// Gives tasks that are just ending the time to do so, 5 s at most.
  private static func settle(_ engines: inout [WeakEngine]) async throws {
    let end = clock.sinceBoot + .seconds(5)
    repeat {
      engines.removeAll { $0.engine == nil }
      try await clock.sleep(for: .milliseconds(20))
    } while !engines.isEmpty && clock.sinceBoot < end
  }
}

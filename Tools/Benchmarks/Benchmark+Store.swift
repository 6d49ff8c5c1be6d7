import AuthModels
import AuthStorage
import Groundwork

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension Benchmark {
  /// Saving a rotated pair, and loading it: the encrypted store beside SQLite alone with the same pragmas and bytes.
  static let storeSpeed = Benchmark(name: "store", summary: "saving and loading a session") { context in
    let store = SQLiteSessionStore(folder: context.scratch.path("store"), time: clock)
    let slot = SessionSlot(server: "https://auth.example.com")
    let bare = try BareSQLite(context.scratch.path("bare.sqlite"))
    let record = sampleRecord(slot)
    let bytes = try Array(JSONEncoder().encode(record))
    let writes = 10
    let reads = 200

    let saves = try await interleaved(
      rounds: context.rounds,
      [
        {
          try await seconds {
            for turn in 0..<writes {
              var next = record
              next.accessToken += "\(turn)"
              let rotated = next
              _ = try await store.update(slot) { change in change.state.record = rotated }
            }
          } / Double(writes)
        },
        {
          try await seconds {
            for turn in 0..<writes {
              // SQLite writes nothing if nothing has changed.
              var next = bytes
              next[next.count / 2] = UInt8(turn)
              try bare.save(next)
            }
          } / Double(writes)
        },
      ])
    let loads = try await interleaved(
      rounds: context.rounds,
      [
        {
          try await seconds {
            for _ in 0..<reads {
              guard try await store.read(slot).record != nil else { throw BenchError("The store lost its session.") }
            }
          } / Double(reads)
        },
        {
          try await seconds {
            for _ in 0..<reads where try bare.load().count != bytes.count {
              throw BenchError("SQLite lost its row.")
            }
          } / Double(reads)
        },
      ])
    return [
      Figure(
        name: "save a rotated pair (encrypted, committed)", unit: .seconds, samples: saves[0],
        baselineName: "bare SQLite, same pragmas and bytes", baseline: saves[1]),
      Figure(
        name: "load a session (read, decrypted, decoded)", unit: .seconds, samples: loads[0],
        baselineName: "bare SQLite, same bytes", baseline: loads[1]),
    ]
  }

  /// A session with tokens of the usual size.
  static func sampleRecord(_ slot: SessionSlot) -> SessionRecord {
    SessionRecord(
      sessionID: UUID(), slot: slot, profile: "chirp", accessToken: String(repeating: "a", count: 300),
      refreshToken: String(repeating: "r", count: 43), tokenType: "Bearer", scope: nil, issuedAt: clock.wallClock,
      lifetime: 3600, bootID: clock.bootID, sinceBootAtIssue: clock.sinceBoot.inSeconds, serverSkew: 0,
      user: SessionUser(id: UUID().uuidString, email: "anna@example.com", username: "anna"))
  }
}

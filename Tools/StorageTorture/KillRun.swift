import AuthStorage
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

/// Kills workers at random moments and looks, after each, whether the store holds what was promised.
struct KillRun {
  private let kills: Int
  private let workers: Int
  private let seed: UInt64
  private let folder: String
  /// Not on the disk that is filled: a promise must not be lost for want of paper.
  private let diaries: String
  /// Whether the file system under the store is filled and emptied meanwhile; it has to be a small one.
  private let fillsDisk: Bool
  private var dice: Dice
  private var lives: [Life] = []
  private var counted: Set<UInt64> = []
  private var tally = Tally()
  private let time = SystemClock()

  private struct Life {
    var process: ChildProcess
    var diary: String
    var offset: UInt64 = 0
    /// What was promised last, and what may have come since.
    var held: String?
    var begun: String?
    var hasBegun = false
    var number: UInt64 = 0
  }

  private struct Tally {
    var acknowledged = 0
    var failed: [String: Int] = [:]
    var rekeyed = 0
    var inFlight = 0
    var longestWait: Duration = .zero
  }

  init(_ call: Invocation, folder: String) throws {
    kills = try call.integer("kills") ?? 500
    workers = try call.integer("workers") ?? 4
    seed = UInt64(try call.integer("seed") ?? 1)
    fillsDisk = call.flag("fill-disk")
    self.folder = folder
    diaries = FileManager.default.temporaryDirectory.path + "/chirp-diaries-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: diaries, withIntermediateDirectories: true)
    dice = Dice(seed: seed)
  }

  mutating func start() async throws {
    let begun = time.sinceBoot
    // The store is there before the disk is filled: that none can be made on a full one is another test's.
    let store = SQLiteSessionStore(folder: folder + "/store", time: time)
    let lock = try await store.acquireRefreshLock(Worker.shared, bound: .zero)
    await lock.release()
    for index in 0..<workers { lives.append(try birth(index, after: nil)) }
    for round in 1...kills {
      if fillsDisk { try shakeDisk() }
      try await time.sleep(for: .milliseconds(1 + dice.below(60)))
      let index = dice.below(workers)
      lives[index].process.kill()
      try readDiary(index)
      try await check(index, round)
      lives[index] = try birth(index, after: lives[index])
    }
    for index in lives.indices {
      lives[index].process.kill()
      try readDiary(index)
      try await check(index, kills)
    }
    if fillsDisk { try emptyDisk() }
    try await checkEnd()
    try FileManager.default.removeItem(atPath: diaries)
    let seconds = (time.sinceBoot - begun).components.seconds
    let failures = tally.failed.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
    print(
      "\(kills) kills of \(workers) processes in \(seconds) s: \(tally.acknowledged) calls were acknowledged, none lost; "
        + "\(tally.rekeyed) changes of keys; \(tally.inFlight) kills fell into a write; "
        + "refused: \(failures.isEmpty ? "none" : failures); longest wait for the store \(tally.longestWait.text).")
  }

  private mutating func birth(_ index: Int, after former: Life?) throws -> Life {
    let diary = "\(diaries)/\(index)"
    let number = (former?.number ?? 0) + 1_000_000
    let process = try ChildProcess([
      "work", "\(index)", folder + "/store", diary, "\(dice.next())", "\(number)", former?.held ?? "-",
    ])
    return Life(process: process, diary: diary, offset: former?.offset ?? 0, held: former?.held, number: number)
  }

  /// Takes in what a dead worker wrote since it was born.
  private mutating func readDiary(_ index: Int) throws {
    guard let file = fopen(lives[index].diary, "r") else { return }
    defer { fclose(file) }
    fseek(file, Int(lives[index].offset), SEEK_SET)
    var line: UnsafeMutablePointer<CChar>?
    var capacity = 0
    defer { free(line) }
    var isCounting = false
    while case let count = getline(&line, &capacity, file), count > 0, let text = line {
      lives[index].offset += UInt64(count)
      let words = String(cString: text).split(whereSeparator: { $0 == " " || $0 == "\n" }).map(String.init)
      switch words.first {
      case "begin" where words[1] == "save" || words[1] == "clear":
        lives[index].begun = words[2] == "-" ? nil : words[2]
        lives[index].hasBegun = true
      case "begin": isCounting = words[1] == "count"
      case "done" where words.count == 3 || words[1] == "guard": tally.rekeyed += 1
      case "done":
        lives[index].held = words[1] == "-" ? nil : words[1]
        lives[index].hasBegun = false
        tally.acknowledged += 1
      case "counted":
        isCounting = false
        tally.acknowledged += 1
        guard let value = UInt64(words[1]), counted.insert(value).inserted else {
          throw TortureError("worker \(index): the count \(words[1]) was given twice: an update was lost")
        }
      case "failed":
        lives[index].hasBegun = false
        isCounting = false
        let allowed = fillsDisk ? ["full", "locked", "busy"] : ["locked", "busy"]
        guard allowed.contains(words[2]) else { throw TortureError("worker \(index): \(words.joined(separator: " "))") }
        tally.failed[words[2], default: 0] += 1
      default: throw TortureError("worker \(index): \(words.joined(separator: " "))")
      }
    }
    if lives[index].hasBegun || isCounting { tally.inFlight += 1 }
  }

  /// The store, opened anew, holds what the dead worker was promised, or the whole of what it had begun.
  private mutating func check(_ index: Int, _ round: Int) async throws {
    let store = SQLiteSessionStore(folder: folder + "/store", time: time)
    let found = try await store.read(Worker.slot(index)).record?.accessToken
    let life = lives[index]
    guard found == life.held || life.hasBegun && found == life.begun else {
      throw TortureError(
        "kill \(round): worker \(index) was promised \(life.held ?? "nothing"), had begun "
          + "\(life.hasBegun ? life.begun ?? "a clear" : "nothing"), and the store holds \(found ?? "nothing")")
    }
    lives[index].held = found
    let count = try await store.read(Worker.shared).record.flatMap { UInt64($0.accessToken) } ?? 0
    guard count >= counted.max() ?? 0 else {
      throw TortureError("kill \(round): \(counted.max() ?? 0) was acknowledged, and the store holds \(count)")
    }
    let start = time.sinceBoot
    do throws(StoreError) {
      // No lock stays with the dead: a write gets through.
      _ = try await store.update(SessionSlot(server: "https://driver.example.com:443")) { change in
        change.state = SlotState(lastSignOut: SignOutNote(.byUser, at: Date(timeIntervalSince1970: Double(round))))
      }
    } catch {
      guard fillsDisk, error.code == .full else { throw error }
      tally.failed["full", default: 0] += 1
    }
    tally.longestWait = max(tally.longestWait, time.sinceBoot - start)
  }

  private func checkEnd() async throws {
    let store = SQLiteSessionStore(folder: folder + "/store", time: time)
    let lock = try await store.acquireRefreshLock(Worker.shared, bound: .zero)
    await lock.release()
    let diagnosis = await StoreDoctor(folder: folder + "/store", time: time).examine()
    guard diagnosis.isHealthy else {
      throw TortureError("the doctor finds: \(diagnosis.problems.map(\.message).joined(separator: " "))")
    }
    // One more change of both keys, and everything still opens.
    try await store.renewGuard()
    try await store.renewDataKey()
    for index in 0..<workers {
      let found = try await SQLiteSessionStore(folder: folder + "/store", time: time).read(Worker.slot(index))
      guard found.record?.accessToken == lives[index].held else { throw TortureError("a session was lost at the end") }
    }
  }

  /// Fills the disk to its last byte, or gives the space back.
  private mutating func shakeDisk() throws {
    guard dice.chance(50) else { return try emptyDisk() }
    let descriptor = open(folder + "/filling", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    var block = [UInt8](repeating: 0, count: 4096)
    var total = 0
    while case let count = write(descriptor, &block, block.count), count > 0 {
      total += count
      guard total < 64 << 20 else { throw TortureError("--fill-disk needs a file system of less than 64 MiB") }
    }
  }

  private func emptyDisk() throws {
    guard unlink(folder + "/filling") == 0 || errno == ENOENT else {
      throw TortureError("\(folder)/filling cannot be removed")
    }
  }
}

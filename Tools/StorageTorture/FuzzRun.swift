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

/// Feeds damaged bytes to every decoder, and damaged files to the store.
///
/// The inputs are made in a process of its own: a trap ends that one, and this one tells which input it was.
struct FuzzRun {
  private let inputs: UInt64
  private let files: UInt64
  private let seed: UInt64
  private let first: UInt64
  private let targets: [String]
  private let folder: String

  init(_ call: Invocation, folder: String) throws {
    first = UInt64(try call.integer("first") ?? 0)
    inputs = UInt64(try call.integer("inputs") ?? 1_000_000)
    files = UInt64(try call.integer("files") ?? 20_000)
    seed = UInt64(try call.integer("seed") ?? 1)
    targets = call.arguments("TARGET")
    self.folder = folder
  }

  /// Runs each target in a child, and tells how it ended.
  func startChildren() throws {
    let names = try FuzzTarget.decoders().map(\.name) + ["database"]
    for name in names where targets.isEmpty || targets.contains(name) {
      let count = name == "database" ? files : inputs
      let child = try ChildProcess([
        "feed", name, "\(seed)", "\(first)", "\(count)", folder,
      ])
      let code = child.wait()
      guard code == 0 else {
        let input = progress(name)
        throw TortureError(
          "\(name): ended with \(code) at input \(input). Replay: storage-torture fuzz \(name) --seed \(seed) "
            + "--first \(input) --\(name == "database" ? "files" : "inputs") 1")
      }
    }
  }

  private func progress(_ name: String) -> UInt64 {
    var number: UInt64 = 0
    let descriptor = open("\(folder)/progress-\(name)", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return 0 }
    defer { close(descriptor) }
    return pread(descriptor, &number, 8, 0) == 8 ? number : 0
  }
}

/// What a child does: one target, input after input.
struct Feeding {
  let name: String
  let seed: UInt64
  let inputs: Range<UInt64>
  let folder: String

  func run() async throws {
    let descriptor = open("\(folder)/progress-\(name)", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw TortureError("\(folder) cannot be written") }
    defer { close(descriptor) }
    let begun = SystemClock().sinceBoot
    let taken =
      name == "database" ? try await feedFiles(descriptor) : try feedDecoder(descriptor)
    let seconds = (SystemClock().sinceBoot - begun).inSeconds
    print(
      "\(name): \(inputs.count) inputs in \(Int(seconds)) s, \(taken) taken as whole, the others refused; "
        + "no trap, no wrong secret, nobody signed out.")
  }

  private func feedDecoder(_ progress: Int32) throws -> Int {
    guard let target = try FuzzTarget.decoders().first(where: { $0.name == name }) else {
      throw TortureError("there is no decoder \(name)")
    }
    var taken = 0
    for input in inputs {
      var number = input
      pwrite(progress, &number, 8, 0)
      var dice = Dice(seed: seed, input: input)
      let whole = target.corpus[dice.below(target.corpus.count)]
      var damaged = whole
      if dice.chance(2) { damaged = (0..<dice.below(200)).map { _ in UInt8(truncatingIfNeeded: dice.next()) } }
      damaged.damage(&dice)
      if try target.feed(damaged, whole) { taken += 1 }
    }
    return taken
  }

  private func feedFiles(_ progress: Int32) async throws -> Int {
    let store = try await DamagedStore(folder: folder + "/store")
    var taken = 0
    for input in inputs {
      var number = input
      pwrite(progress, &number, 8, 0)
      var dice = Dice(seed: seed, input: input)
      if try await store.feed(&dice) { taken += 1 }
    }
    return taken
  }
}

internal import Groundwork

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// The machine that a built program believes to run on.
struct ProgramMachine: Sendable {
  /// How much time has passed beyond the real.
  var advanced: Duration = .zero
  /// How far the wall clock alone was moved.
  var wallJump: Duration = .zero
  /// How often the machine was started.
  var boots = 1
}

/// What can be done around a program from outside, without a hook in it: its clocks moved, its network cut.
struct CLISurroundings: Sendable {
  /// The library that moves a program's clocks (`E2ETests/ClockShift`), built beside the programs.
  var clockShift: String?
  /// Whether a program can be run in a network namespace of its own, in which there is no network.
  var cutsNetworks: Bool

  private static let unshare = "/usr/bin/unshare"

  /// Looks for what this machine has.
  ///
  /// - Parameter programs: the folder with the built programs.
  static func found(programs: String) async -> CLISurroundings {
    let library = "\(programs)/libclockshift.so"
    let isThere = FileManager.default.fileExists(atPath: library)
    return CLISurroundings(clockShift: isThere ? library : nil, cutsNetworks: await canCutNetworks)
  }

  private static var canCutNetworks: Bool {
    get async {
      guard FileManager.default.isExecutableFile(atPath: unshare) else { return false }
      do throws(WorldError) {
        let trial = try ChildProcess(
          unshare, ["-rn", "/bin/true"], environment: [:], input: "/dev/null", output: "/dev/null", errors: "/dev/null")
        if case .exited(0) = await trial.end() { return true }
        return false
      } catch {
        return false
      }
    }
  }

  /// Why a scenario cannot run on this machine, or nil if it can.
  func lacks(_ scenario: Scenario) -> String? {
    let features = scenario.features
    let clocks: [Feature] = [.advance, .clientClock, .reboot]
    if clockShift == nil, let first = clocks.first(where: features.contains) {
      return "\(first.rawValue): libclockshift.so is not built; build the whole package first (swift build)"
    }
    if !cutsNetworks, features.contains(.offline) {
      return "offline: this machine lets nobody make a network namespace (unshare -rn)"
    }
    return nil
  }

  /// The program and arguments that run a program, with or without a network.
  func command(_ program: String, _ arguments: [String], isOffline: Bool) -> (program: String, arguments: [String]) {
    isOffline ? (Self.unshare, ["-rn", program] + arguments) : (program, arguments)
  }

  /// The environment in which a program runs on such a machine.
  ///
  /// - Parameter folder: where a boot id may be kept.
  func environment(
    _ base: [String: String], on machine: ProgramMachine, folder: String
  ) throws(WorldError) -> [String: String] {
    guard let clockShift, machine.advanced > .zero || machine.wallJump != .zero || machine.boots > 1 else {
      return base
    }
    var environment = base
    environment["LD_PRELOAD"] = clockShift
    environment["CLOCKSHIFT_BOOT"] = "\(Self.nanoseconds(machine.advanced))"
    environment["CLOCKSHIFT_WALL"] = "\(Self.nanoseconds(machine.advanced + machine.wallJump))"
    if machine.boots > 1 {
      let file = "\(folder)/boot-id-\(machine.boots)"
      let digits = String(machine.boots)
      let id = "00000000-0000-4000-8000-" + String(repeating: "0", count: max(0, 12 - digits.count)) + digits
      guard FileManager.default.createFile(atPath: file, contents: Data("\(id)\n".utf8)) else {
        throw WorldError("the file of a boot id cannot be written")
      }
      environment["CLOCKSHIFT_BOOT_ID"] = file
    }
    return environment
  }

  /// Nine years and less fit by far.
  private static func nanoseconds(_ duration: Duration) -> Int64 {
    let (seconds, attoseconds) = duration.components
    return min(max(seconds, -300_000_000), 300_000_000) * 1_000_000_000 + attoseconds / 1_000_000_000
  }
}

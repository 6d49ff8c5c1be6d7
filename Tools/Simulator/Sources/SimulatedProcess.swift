import Groundwork

/// One life of a process: a lane of jobs, the machine's clock, and seams that stop working when it is killed.
final class SimulatedProcess: Sendable {
  private struct State: Sendable {
    var isAlive = true
    var points = [Int](repeating: 0, count: KillPoint.allCases.count)
    var subject: (any Subject)?
  }

  /// Unique among all lives of all processes.
  let id: LaneID
  /// Its lane in diagrams: A, B, C.
  let column: Int
  let name: String
  let executor: LaneExecutor
  let clock: ProcessClock
  /// The machine's start in which it began.
  let boot: Int
  private let state = Guarded(State())

  init(id: LaneID, column: Int, life: Int, machine: Machine) {
    self.id = id
    self.column = column
    name = SimulatedProcess.name(column) + (life == 1 ? "" : "\(life)")
    executor = LaneExecutor(lane: id, scheduler: machine.scheduler)
    clock = ProcessClock(machine: machine, lane: id)
    boot = machine.boots
  }

  static func name(_ column: Int) -> String {
    String(UnicodeScalar(UInt8(65 + min(max(column, 0), 25))))
  }

  var isAlive: Bool { state.withLock { $0.isAlive } }
  var tasks: TaskStarter { executor.tasks }

  var subject: (any Subject)? {
    get { state.withLock { $0.subject } }
    set {
      // The old one ends outside the lock: what it gives back comes here again.
      let old = state.withLock { state in
        defer { state.subject = newValue }
        return state.subject
      }
      withExtendedLifetime(old) {}
    }
  }

  func die() { state.withLock { $0.isAlive = false } }

  /// It has come to a point at which it may be killed, or leaves it.
  func enter(_ point: KillPoint) { change(point, 1) }
  func leave(_ point: KillPoint) { change(point, -1) }

  private func change(_ point: KillPoint, _ difference: Int) {
    let index = KillPoint.allCases.firstIndex(of: point) ?? 0
    state.withLock { $0.points[index] = max(0, $0.points[index] + difference) }
  }

  /// Where its tasks stand.
  var points: [KillPoint] {
    let counts = state.withLock { $0.points }
    let points = KillPoint.allCases.indices.filter { counts[$0] > 0 }.map { KillPoint.allCases[$0] }
    return points.isEmpty ? [.idle] : points
  }
}

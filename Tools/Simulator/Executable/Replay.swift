import Groundwork
import SimulatorKit

/// `simulate --replay`: one schedule, shrunk if it shows a violation, as a diagram. The same in each run of the same build.
struct Replay {
  let setup: Setup
  let seed: UInt64
  let choices: [UInt16]?
  let isWhole: Bool
  let kind: String?
  let svg: String?

  func run() -> Int32 {
    let ending: Schedule.Ending =
      kind.map { .at(kind: $0) } ?? (setup.subject == .engine ? .atFirst : .atEnd)
    let first = Schedule(setup, seed: seed, choices: choices, ending: ending).run()
    var shown = first.choices
    let violation = first.violations.first { kind == nil || $0.kind == kind }
    if let violation, !isWhole {
      let shrunk = Campaign.shrink(
        setup,
        Campaign.Finding(violation: violation, seed: seed, schedules: 1, choices: first.choices, count: 1))
      shown = shrunk.choices
    }
    let traced = Schedule(
      setup, seed: seed, choices: shown, isTraced: true, ending: violation.map { .at(kind: $0.kind) } ?? .atEnd
    ).run()
    print("seed \(seed), build \(Output.buildID())")
    print("choices \(ChoiceList.text(shown))")
    print(traced.diagram.text)
    if let violation {
      let found = traced.violations.first { $0.kind == violation.kind } ?? violation
      print("\n(\(found.invariant)) \(Invariant.sentence(found.invariant))")
      print("Violated: \(found.kind). \(found.text)")
    }
    if let svg, !Output.save(traced.diagram.svg, to: svg) {
      Output.complain("simulate: \(svg) cannot be written.")
      return 1
    }
    print("\(violation == nil ? 1 : 0) passed, \(violation == nil ? 0 : 1) failed")
    return violation == nil ? 0 : 1
  }
}

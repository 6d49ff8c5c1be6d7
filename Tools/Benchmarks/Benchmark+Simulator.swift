import Groundwork
import SimulatorKit

extension Benchmark {
  /// One schedule of the session engine: real engine, real mock core, every wait skipped.
  static let simulator = Benchmark(name: "simulator", summary: "a simulated schedule of the session engine") {
    context in
    let count: UInt64 = 1000
    var (samples, virtual): ([Double], [Double]) = ([], [])
    for round in 0..<UInt64(context.rounds) {
      let begun = clock.sinceBoot
      let first = round * count + 1
      let report = Campaign(Setup(), seeds: first...(first + count - 1), workers: 2).run()
      guard report.failed == 0 else {
        throw BenchError("A schedule violates an invariant: simulate --seeds \(first)..\(first + count - 1)")
      }
      samples.append((clock.sinceBoot - begun).inSeconds / Double(count))
      virtual.append(report.elapsed.inSeconds / Double(count))
    }
    return [
      // 20,000 in a minute.
      Figure(
        name: "a simulated schedule, two at a time", unit: .seconds, samples: samples,
        baselineName: "its waits, if they were waited", baseline: virtual, targets: [.atMost(3e-3)])
    ]
  }
}

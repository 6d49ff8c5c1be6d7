import Groundwork

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The clock of all measurements.
let clock = SystemClock()

/// Writes a line to standard error, which is for everything that is no result.
func note(_ message: String) {
  var line = Array((message + "\n").utf8)
  _ = write(2, &line, line.count)
}

/// How long `body` takes, in seconds.
func seconds(_ body: () async throws -> Void) async rethrows -> Double {
  let begun = clock.sinceBoot
  try await body()
  return (clock.sinceBoot - begun).inSeconds
}

/// Measures contenders in turn, round by round, so that a machine that slows down slows all of them.
///
/// Each contender returns what it took, in seconds an operation. The first round only warms up. Every second round goes through them
/// backwards, so that none always follows the same other.
func interleaved(
  rounds: Int, _ contenders: [() async throws -> Double]
) async throws -> [[Double]] {
  var samples = [[Double]](repeating: [], count: contenders.count)
  for round in 0...rounds {
    let order = Array(contenders.indices)
    for index in round % 2 == 0 ? order : order.reversed() {
      let taken = try await contenders[index]()
      if round > 0 { samples[index].append(taken) }
    }
  }
  return samples
}

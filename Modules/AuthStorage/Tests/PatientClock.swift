import Foundation
import Groundwork

/// A clock that waits as long as it is told to and never says that time has passed: no bound is ever over on it.
///
/// For tests of what happens once a wait ends, on a machine that may be busy with other things for seconds.
struct PatientClock: TimeSource {
  let wallClock = Date(timeIntervalSince1970: 1_800_000_000)
  let sinceBoot = Duration.seconds(1000)
  let bootID = "test-boot"

  func sleep(for duration: Duration) async throws {
    try await SystemClock().sleep(for: duration)
  }
}

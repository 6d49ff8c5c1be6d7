internal import Groundwork

/// The drivers of a run, by the names of the command line.
package struct Drivers: Sendable {
  /// The drivers in the order in which they were named.
  package var all: [any ScenarioDriver]
  /// The drivers of this package, by name.
  package static let names = ["inprocess", "http", "cli"]
  private var endings: [@Sendable () async -> Void]

  /// Makes drivers; what they share over a run, such as a server, starts now.
  ///
  /// - Parameter seed: for `inprocess`, see there.
  /// - Throws: what a driver misses, such as a program that has not been built.
  package static func make(_ names: [String], seed: UInt64? = nil) async throws(WorldError) -> Drivers {
    var drivers = Drivers(all: [], endings: [])
    for name in names where !drivers.all.contains(where: { $0.name == name }) {
      switch name {
      case "inprocess": drivers.all.append(InProcessDriver(seed: seed))
      case "http":
        let driver = try HTTPDriver()
        drivers.all.append(driver)
        drivers.endings.append { await driver.stop() }
      case "cli":
        let driver = try await CLIDriver()
        drivers.all.append(driver)
        drivers.endings.append { await driver.stop() }
      case _ where name.hasPrefix("exec:"):
        let command = name.dropFirst("exec:".count)
        guard !command.allSatisfy(\.isWhitespace) else {
          throw WorldError("exec: needs the command that starts the client, as in exec:./client.py")
        }
        let driver = try await ExecDriver(command: String(command))
        drivers.all.append(driver)
        drivers.endings.append { await driver.stop() }
      default:
        let hint = nearestName(to: name, among: Self.names).map { "; did you mean \"\($0)\"?" } ?? ""
        let known = Self.names.joined(separator: ", ")
        throw WorldError("there is no driver \"\(name)\"\(hint). Known: \(known), exec:COMMAND")
      }
    }
    return drivers
  }

  /// Ends what the drivers have started.
  package func close() async {
    for ending in endings { await ending() }
  }
}

package import CheckedYAML
internal import Groundwork

/// The checked-in list of what each driver cannot do or see, with reasons.
package struct DriverLimits: Sendable {
  /// Reasons by driver and feature.
  package var reasons: [String: [Feature: String]]

  /// Reads the list.
  ///
  /// - Throws: what is wrong with it, with its place.
  package init(_ text: String, file: String) throws(Diagnostic) {
    let root = try YAMLReader.read(text, file: file)
    let shape = Shape.table(
      .object(
        ObjectShape("a driver", Feature.allCases.map { FieldShape($0.rawValue, .text, "why the driver cannot do it") }))
    )
    if let first = shape.check(root, file: file).first { throw first }
    reasons = [:]
    for driver in root.entries {
      for feature in driver.value.entries {
        guard let name = Feature(rawValue: feature.key) else { continue }
        reasons[driver.key, default: [:]][name] = feature.value.text
      }
    }
  }

  /// The list of this package.
  package static func checkedIn() throws(Diagnostic) -> DriverLimits {
    try DriverLimits(String(decoding: PackageResources.drivers_yaml, as: UTF8.self), file: "drivers.yaml")
  }

  /// Why a driver cannot run a scenario, or nil if it can.
  package func reason(driver: String, scenario: Scenario) -> String? {
    let lacking = reasons[driver] ?? [:]
    let met = scenario.features.filter { lacking[$0] != nil }.map(\.rawValue).sorted()
    guard let first = met.first, let feature = Feature(rawValue: first), let reason = lacking[feature] else {
      return nil
    }
    return "\(first): \(reason)"
  }
}

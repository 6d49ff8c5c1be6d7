internal import CheckedYAML
internal import Groundwork

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// The JSON Schema of scenario files.
package enum ScenarioSchema {
  /// The schema's text.
  package static func text() throws(WorldError) -> String {
    var schema = ScenarioFormat.scenario.jsonSchema.object ?? [:]
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = "A scenario"
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
    do {
      return String(decoding: try encoder.encode(JSONValue.object(schema)), as: UTF8.self)
    } catch {
      throw WorldError("the schema cannot be written: \(error)")
    }
  }
}

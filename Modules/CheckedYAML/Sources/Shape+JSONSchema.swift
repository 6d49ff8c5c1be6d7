public import Groundwork

extension Shape {
  /// The shape as JSON Schema (draft 2020-12), for editors.
  public var jsonSchema: JSONValue {
    switch self {
    case .text: ["type": ["string", "number", "boolean"]]
    case .choice(let words): ["enum": .array(words.map { .string($0) })]
    case .integer(let range):
      range.upperBound == .max
        ? ["type": "integer", "minimum": .number(Double(range.lowerBound))]
        : [
          "type": "integer", "minimum": .number(Double(range.lowerBound)), "maximum": .number(Double(range.upperBound)),
        ]
    case .flag: ["type": "boolean"]
    case .duration: ["type": ["string", "number"], "pattern": #"^[0-9]+(\.[0-9]+)?(ms|s|m|h|d)?$"#]
    case .signedDuration: ["type": ["string", "number"], "pattern": #"^[+-][0-9]+(\.[0-9]+)?(ms|s|m|h|d)?$"#]
    case .nothing: ["type": "null"]
    case .json: true
    case .list(let element): ["type": "array", "items": element.jsonSchema]
    case .table(let value): ["type": "object", "additionalProperties": value.jsonSchema]
    case .object(let object): object.jsonSchema
    case .either(let shapes): ["anyOf": .array(shapes.map(\.jsonSchema))]
    }
  }
}

extension ObjectShape {
  fileprivate var jsonSchema: JSONValue {
    var properties: [String: JSONValue] = [:]
    for field in fields {
      var schema = field.shape.jsonSchema.object ?? [:]
      schema["description"] = .string(field.summary)
      properties[field.name] = .object(schema)
    }
    let required = fields.filter(\.isRequired).map { JSONValue.string($0.name) }
    var schema: [String: JSONValue] = [
      "type": "object", "additionalProperties": false, "properties": .object(properties),
    ]
    if !required.isEmpty { schema["required"] = .array(required) }
    if needsOne { schema["anyOf"] = .array(exclusive.map { ["required": [.string($0)]] }) }
    return .object(schema)
  }
}

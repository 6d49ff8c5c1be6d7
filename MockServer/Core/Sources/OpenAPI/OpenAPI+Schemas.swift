import Groundwork

// Pieces of JSON Schema (draft 2020-12), and the components of the document.
extension OpenAPI {
  static func reference(_ name: String) -> JSONValue { ["$ref": .string("#/components/schemas/\(name)")] }

  static let text: JSONValue = ["type": "string"]
  static let whole: JSONValue = ["type": "integer"]
  static let flag: JSONValue = ["type": "boolean"]
  static let anything: JSONValue = [:]

  static func words(_ words: [String]) -> JSONValue { ["type": "string", "enum": .array(words.map { .string($0) })] }

  static func list(_ items: JSONValue) -> JSONValue { ["type": "array", "items": items] }

  static func orNull(_ schema: JSONValue) -> JSONValue { ["anyOf": [schema, ["type": "null"]]] }

  static func integer(_ range: ClosedRange<Int>) -> JSONValue {
    var members: [String: JSONValue] = ["type": "integer", "minimum": .number(Double(range.lowerBound))]
    // What a double does not hold exactly is no bound that anyone could keep.
    if range.upperBound < 1 << 53 { members["maximum"] = .number(Double(range.upperBound)) }
    return .object(members)
  }

  /// An object of a request: an unknown name is refused.
  static func closed(_ properties: [String: JSONValue], required: [String] = []) -> JSONValue {
    object(properties, required: required, isClosed: true)
  }

  /// An object; of an answer, or of a body whose unknown names are ignored.
  static func object(
    _ properties: [String: JSONValue], required: [String] = [], isClosed: Bool = false
  ) -> JSONValue {
    var members: [String: JSONValue] = ["type": "object", "properties": .object(properties)]
    if !required.isEmpty { members["required"] = .array(required.map { .string($0) }) }
    if isClosed { members["additionalProperties"] = false }
    return .object(members)
  }

  /// An object of an answer, whose members are all there.
  static func answer(_ properties: [String: JSONValue], optional: [String: JSONValue] = [:]) -> JSONValue {
    object(properties.merging(optional) { first, _ in first }, required: properties.keys.sorted())
  }

  static func query(_ name: String, _ schema: JSONValue, _ description: String, required: Bool = false) -> JSONValue {
    [
      "name": .string(name), "in": "query", "required": .bool(required), "schema": schema,
      "description": .string(description),
    ]
  }

  static let operations = words(MockOperation.allCases.map(\.rawValue))
  static let outcomes = words(MockOutcome.allCases.map(\.rawValue))

  static let duration: JSONValue = [
    "description": "250ms, 30s, 15m, 2h, 30d; a bare number is seconds",
    "anyOf": [["type": "string", "pattern": #"^[0-9]+(\.[0-9]+)?(ms|s|m|h|d)?$"#], ["type": "number", "minimum": 0]],
  ]
  static let signedDuration: JSONValue = [
    "description": "a duration, with a minus before it or not",
    "anyOf": [["type": "string", "pattern": #"^-?[0-9]+(\.[0-9]+)?(ms|s|m|h|d)?$"#], ["type": "number"]],
  ]

  static let filter: [String: JSONValue] = [
    "operation": operations, "method": text, "path": text, "status": integer(0...999), "outcome": outcomes,
  ]

  /// What the others refer to.
  static var schemas: [String: JSONValue] {
    [
      "AdminError": answer(["error": ["const": true], "reason": text, "code": text]),
      "ChirpError": object(
        ["error": ["const": true], "reason": text, "code": text, "detail": text, "fields": ["type": "object"]],
        required: ["error", "reason"]),
      "EnvelopeError": answer(["error": answer(["message": text])]),
      "SupabaseError": object(
        [
          "code": ["type": ["integer", "string"]], "error_code": text, "msg": text, "message": text, "error": text,
          "error_description": text,
        ]),
      "OAuthError": object(["error": text, "error_description": text, "error_uri": text]),
      "User": answer(["id": text, "username": text, "email": text, "createdAt": text]),
      "Tokens": answer([
        "accessToken": text, "refreshToken": text, "expiresIn": whole, "tokenType": ["const": "Bearer"],
      ]),
      "SupabaseUser": object(
        ["id": text, "aud": text, "role": text, "email": text, "phone": text, "identities": list(["type": "object"])],
        required: ["id", "aud", "role"]),
      "SupabaseSession": object(
        [
          "access_token": text, "token_type": ["const": "bearer"], "expires_in": whole, "expires_at": whole,
          "refresh_token": text, "user": reference("SupabaseUser"),
        ], required: ["access_token", "token_type", "expires_in", "expires_at", "refresh_token", "user"]),
      "Policy": object(policy),
      "Script": script, "Action": action,
      "JournalEntry": answer(
        [
          "seq": integer(1...Int.max), "at": text, "realm": text,
          "dialect": words(MockDialect.allCases.map(\.rawValue)),
          "operation": operations, "method": text, "path": text, "status": integer(0...999), "outcome": outcomes,
          "attempt": integer(1...Int.max), "requestID": text,
        ],
        optional: [
          "sessionID": text, "generation": whole, "fault": words(MockBreak.allCases.map(\.rawValue)), "malformed": text,
          "nearMiss": answer(["script": text, "reason": text]),
        ]),
      "Nearest": answer(["seq": whole, "reason": text]),
    ]
  }

  /// The policy's members, each that `MockPolicy` takes: those that are not described here take anything.
  static var policy: [String: JSONValue] {
    let described: [String: JSONValue] = [
      "accessTTL": duration, "refreshTTL": duration, "rotation": words(MockRotation.allCases.map(\.rawValue)),
      "grace": duration, "tokens": words(MockTokenKind.names), "clockSkew": signedDuration, "autoconfirm": flag,
      "supabaseErrors": words(MockSupabaseErrors.allCases.map(\.rawValue)),
      "idTokenFlaw": orNull(words(MockIDTokenFlaw.allCases.map(\.rawValue))),
      "rateLimit": orNull(
        closed(
          ["limit": integer(0...1_000_000_000), "per": duration, "operations": list(operations)],
          required: ["limit", "per"])),
      "cors": orNull(
        closed(["origins": list(text), "credentials": flag, "maxAge": duration], required: ["origins"])),
    ]
    return Dictionary(
      MockPolicy.keys.map { ($0, described[$0] ?? anything) }, uniquingKeysWith: { first, _ in first })
  }

  private static var script: JSONValue {
    let common: [String: JSONValue] = [
      "actions": list(reference("Action")), "then": words(MockScript.Then.allCases.map(\.rawValue)),
    ]
    return [
      "oneOf": [
        closed(common.merging(["operation": operations]) { first, _ in first }, required: ["operation", "actions"]),
        closed(
          common.merging(["endpoint": ["type": "string", "pattern": #"^[^ ]+ /[^ ]*$"#]]) { first, _ in first },
          required: ["endpoint", "actions"]),
      ]
    ]
  }

  private static var action: JSONValue {
    closed([
      "status": integer(200...599), "body": anything,
      "headers": ["type": "object", "additionalProperties": text],
      "delay": [
        "anyOf": [
          duration,
          closed(
            ["distribution": ["const": "uniform"], "min": duration, "max": duration],
            required: ["distribution", "min", "max"]),
          closed(
            [
              "distribution": ["const": "lognormal"], "median": duration,
              "sigma": ["type": "number", "minimum": 0, "maximum": 10],
            ], required: ["distribution", "median", "sigma"]),
        ]
      ],
      "hold": text, "break": words(MockBreak.allCases.map(\.rawValue)),
      "phase": words(MockPhase.allCases.map(\.rawValue)), "after": integer(0...(1 << 30)),
      "revoke": words(MockRevokeTarget.allCases.map(\.rawValue)), "times": integer(1...1_000_000_000),
    ])
  }
}

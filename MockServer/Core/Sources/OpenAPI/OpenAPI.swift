import Groundwork

/// The OpenAPI 3.1 document of everything that the server answers, made from the tables that it answers by.
///
/// A path or a method cannot be missing from it, nor be in it without being served: the tables say which there are, and what is known about
/// them is looked up by method and path. Schemas say what is refused for sure, and no more: what an address may look like is not said in
/// JSON Schema.
enum OpenAPI {
  /// What is known about one call.
  struct Operation {
    var summary: String
    var parameters: [JSONValue] = []
    /// The body's schema and content type.
    var body: (schema: JSONValue, type: String)?
    /// Whether a request without a body is refused.
    var needsBody = true
    /// Statuses with their schemas; nil: no body.
    var answers: [(status: Int, schema: JSONValue?)] = []
    /// The content type of answers.
    var type = "application/json"
    /// The schema of every other answer.
    var failure: JSONValue?
    var security: [JSONValue] = []
  }

  /// The document, for a realm: its paths are below the realm's prefix.
  static func document(realm: String) -> JSONWriter {
    var paths: [String: [String: JSONValue]] = [:]
    for (path, methods) in AdminAPI.calls {
      for method in methods {
        paths[path, default: [:]][method.lowercased()] = json(
          admin(method, path), method: method, path: path, tag: "admin")
      }
    }
    for (path, route) in Route.all {
      paths[path, default: [:]][route.method.lowercased()] = json(
        dialect(route, path), method: route.method, path: path, tag: route.dialect.rawValue)
    }
    for (path, routes) in Route.withNames {
      for route in routes {
        var described = json(dialect(route, path), method: route.method, path: path, tag: route.dialect.rawValue)
        if case .object(var members) = described {
          members["parameters"] = .array(
            (members["parameters"]?.array ?? [])
              + names(in: path).map {
                ["name": .string($0), "in": "path", "required": true, "schema": ["type": "string"]]
              })
          described = .object(members)
        }
        paths[path, default: [:]][route.method.lowercased()] = described
      }
    }
    let document: [String: JSONValue] = [
      "openapi": "3.1.0",
      "info": [
        "title": "mock-server", "version": "1",
        "description": "A mock auth server: its dialects, and the admin API under /__mock/ (loopback only).",
      ],
      "servers": [["url": .string(realm == "default" ? "/" : "/r/\(realm)")]],
      "paths": .object(paths.mapValues { .object($0) }),
      "components": [
        "schemas": .object(schemas),
        "securitySchemes": [
          "bearer": ["type": "http", "scheme": "bearer"],
          "apikey": ["type": "apiKey", "in": "header", "name": "apikey"],
        ],
      ],
    ]
    var writer = JSONWriter()
    writer.value(.object(document))
    return writer
  }

  /// The names in braces of a path.
  private static func names(in path: String) -> [String] {
    path.split(separator: "/").filter { $0.hasPrefix("{") }.map { String($0.dropFirst().dropLast()) }
  }

  private static func json(_ operation: Operation, method: String, path: String, tag: String) -> JSONValue {
    var members: [String: JSONValue] = [
      "operationId": .string(identifier(method, path)), "summary": .string(operation.summary), "tags": [.string(tag)],
      "responses": responses(operation),
    ]
    if !operation.parameters.isEmpty { members["parameters"] = .array(operation.parameters) }
    if let (schema, type) = operation.body {
      members["requestBody"] = ["required": .bool(operation.needsBody), "content": .object([type: ["schema": schema]])]
    }
    if !operation.security.isEmpty { members["security"] = .array(operation.security) }
    return .object(members)
  }

  private static func responses(_ operation: Operation) -> JSONValue {
    var responses: [String: JSONValue] = [:]
    for (status, schema) in operation.answers {
      responses[String(status)] = response("The answer", schema, operation.type)
    }
    responses["default"] = response("Any other answer", operation.failure, "application/json")
    return .object(responses)
  }

  private static func response(_ description: String, _ schema: JSONValue?, _ type: String) -> JSONValue {
    guard let schema else { return ["description": .string(description)] }
    return ["description": .string(description), "content": .object([type: ["schema": schema]])]
  }

  /// `POST /__mock/journal/order` is `postMockJournalOrder`.
  private static func identifier(_ method: String, _ path: String) -> String {
    let words = path.split { !$0.isLetter && !$0.isNumber }
    return method.lowercased() + words.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
  }
}

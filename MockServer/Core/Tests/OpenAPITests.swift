import Groundwork
import Testing

@testable import MockServerCore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

@Suite("The OpenAPI document")
struct OpenAPITests {
  let test = TestServer()

  private func document(_ realm: String = "") throws -> JSONValue {
    let reply = try test.admin("GET", "openapi.json", realm: realm)
    #expect(reply.status == 200 && reply.header("Content-Type") == "application/json")
    return try reply.json()
  }

  /// Every method and path of the document.
  private func described(_ document: JSONValue) -> Set<String> {
    var calls: Set<String> = []
    for (path, item) in document["paths"]?.object ?? [:] {
      for method in (item.object ?? [:]).keys { calls.insert("\(method.uppercased()) \(path)") }
    }
    return calls
  }

  @Test("every route of the server is in the document, and every call of the document is a route of the server")
  func tables() throws {
    let calls = described(try document())
    var routes: Set<String> = []
    for (path, methods) in AdminAPI.calls { routes.formUnion(methods.map { "\($0) \(path)" }) }
    for (path, route) in Route.all { routes.insert("\(route.method) \(path)") }
    for (path, named) in Route.withNames { routes.formUnion(named.map { "\($0.method) \(path)" }) }
    #expect(calls == routes)
    #expect(calls.count > 40)
  }

  @Test("the server answers every call of the document, and with 405 every method that is not in it")
  func served() throws {
    let calls = described(try document())
    for call in calls.sorted() where call != "GET /__mock/events" {
      let parts = call.split(separator: " ")
      let target = String(parts[1]).replacing("{id}", with: "5f0c954d-3b1c-4c2f-9f27-1d2a53a3c1aa")
      let answers = test.send(String(parts[0]), target)
      #expect(answers.one.map { $0.reply.status != 405 } == true, "\(call)")
      // 404 would be an endpoint that is not there; a user that is not there says so in its own words.
      if answers.one?.reply.status == 404 {
        #expect(parts[1].contains("{"), "\(call): \(answers.one?.reply.text ?? "")")
      }
      let others = ["GET", "POST", "PUT", "DELETE", "PATCH"].filter { !calls.contains("\($0) \(parts[1])") }
      for method in others {
        #expect(test.send(method, target).one?.reply.status == 405, "\(method) \(parts[1])")
      }
    }
  }

  @Test("every reference leads somewhere, every operation has a name of its own, and every policy key is described")
  func references() throws {
    let document = try document()
    var names: [String] = []
    func visit(_ value: JSONValue) {
      switch value {
      case .object(let members):
        if let reference = members["$ref"]?.string {
          let name = reference.replacing("#/components/schemas/", with: "")
          #expect(document["components"]?["schemas"]?[name] != nil, "\(reference)")
        }
        if let name = members["operationId"]?.string { names.append(name) }
        for member in members.values { visit(member) }
      case .array(let elements):
        for element in elements { visit(element) }
      default: break
      }
    }
    visit(document)
    #expect(Set(names).count == names.count && names.count == described(document).count)
    let policy = document["components"]?["schemas"]?["Policy"]?["properties"]?.object ?? [:]
    #expect(policy.keys.sorted() == MockPolicy.keys.sorted())
    for (key, schema) in policy { #expect(schema.object?.isEmpty == false, "\(key)") }
  }

  @Test("every admin call says what it answers: none is in the document by its name alone")
  func admin() throws {
    let paths = try #require(document()["paths"]?.object)
    for (path, methods) in AdminAPI.calls {
      for method in methods {
        let operation = paths[path]?[method.lowercased()]
        #expect(operation?["summary"] != .string("\(method) \(path)"), "\(method) \(path)")
        #expect((operation?["responses"]?.object ?? [:]).count > 1, "\(method) \(path)")
      }
    }
  }

  @Test("a realm's document is about the realm")
  func realm() throws {
    #expect(try document()["servers"]?.array?.first?["url"] == "/")
    #expect(try document("/r/a")["servers"]?.array?.first?["url"] == "/r/a")
    #expect(try document()["openapi"] == "3.1.0")
  }
}

import Groundwork
import Testing

@testable import MockServerCore

@Suite("Web pages of other origins")
struct CORSTests {
  private let page = MockRequest.Field("Origin", "http://localhost:3000")
  private let stranger = MockRequest.Field("Origin", "https://evil.example")
  private let asks = [
    MockRequest.Field("Access-Control-Request-Method", "POST"),
    MockRequest.Field("Access-Control-Request-Headers", "authorization, content-type"),
  ]

  private func server(_ cors: String?) throws -> TestServer {
    let test = TestServer()
    if let cors { #expect(try test.admin("PUT", "policy", #"{"cors":\#(cors)}"#).status == 200) }
    return test
  }

  @Test("by default no answer is shared, and a preflight is no endpoint's method")
  func off() throws {
    let test = try server(nil)
    let me = try test.ask("GET", "/me", headers: [page])
    #expect(!me.headers.contains { $0.name.hasPrefix("Access-Control") || $0.name == "Vary" })
    #expect(try test.ask("OPTIONS", "/auth/login", headers: [page] + asks).status == 405)
    #expect(test.realm.policy.cors == nil)
  }

  @Test("a listed origin is answered by name, another is not, and both vary by origin")
  func listed() throws {
    let test = try server(#"{"origins":["http://localhost:3000"],"maxAge":"1m"}"#)
    let preflight = try test.ask("OPTIONS", "/auth/login", headers: [page] + asks)
    #expect(preflight.status == 204 && preflight.body.isEmpty)
    #expect(preflight.header("Access-Control-Allow-Origin") == "http://localhost:3000")
    #expect(preflight.header("Access-Control-Allow-Methods") == "POST")
    #expect(preflight.header("Access-Control-Allow-Headers") == "authorization, content-type")
    #expect(preflight.header("Access-Control-Max-Age") == "60")
    #expect(preflight.header("Access-Control-Allow-Credentials") == nil)
    let refused = try test.ask("OPTIONS", "/auth/login", headers: [stranger] + asks)
    #expect(refused.status == 403 && refused.header("Access-Control-Allow-Origin") == nil)
    let me = try test.ask("GET", "/me", headers: [page])
    #expect(me.status == 401 && me.header("Access-Control-Allow-Origin") == "http://localhost:3000")
    #expect(me.header("Access-Control-Expose-Headers")?.contains("X-Request-ID") == true)
    #expect(me.header("Vary") == "Origin")
    let other = try test.ask("GET", "/me", headers: [stranger])
    #expect(other.header("Access-Control-Allow-Origin") == nil && other.header("Vary") == "Origin")
    #expect(try test.ask("GET", "/me").header("Access-Control-Allow-Origin") == nil)
  }

  @Test("any origin is a star, and with credentials the origin itself")
  func any() throws {
    let star = try server(#"{"origins":["*"]}"#)
    #expect(try star.ask("GET", "/me", headers: [stranger]).header("Access-Control-Allow-Origin") == "*")
    let test = try server(#"{"origins":["*"],"credentials":true}"#)
    let me = try test.ask("GET", "/me", headers: [stranger])
    #expect(me.header("Access-Control-Allow-Origin") == "https://evil.example")
    #expect(me.header("Access-Control-Allow-Credentials") == "true")
  }

  @Test("scripted answers and errors are shared too; a preflight spends no action")
  func scripted() throws {
    let test = try server(#"{"origins":["*"]}"#)
    test.realm.script(MockScript(.endpoint(method: "OPTIONS", path: "/me"), [.status(503)]))
    test.realm.script(.me, .status(503))
    #expect(try test.ask("OPTIONS", "/me", headers: [page] + asks).status == 204)
    let me = try test.ask("GET", "/me", headers: [page])
    #expect(me.status == 503 && me.header("Access-Control-Allow-Origin") == "*")
    #expect(try test.ask("GET", "/nothing", headers: [page]).header("Access-Control-Allow-Origin") == "*")
    #expect(test.realm.journal().map(\.outcome) == [.preflight, .scripted, .notFound])
    // An OPTIONS request that is no preflight stays what it was.
    #expect(try test.ask("OPTIONS", "/me", headers: [page]).status == 503)
    #expect(try test.ask("OPTIONS", "/auth/login", headers: asks).status == 405)
  }

  @Test("the admin API takes no part, whatever the policy says")
  func admin() throws {
    let test = try server(#"{"origins":["*"],"credentials":true}"#)
    for path in ["/__mock/state", "/__mock/policy", "/r/x/__mock/state"] {
      let preflight = try test.ask("OPTIONS", path, headers: [page] + asks)
      #expect(preflight.status == 403 && preflight.header("Access-Control-Allow-Origin") == nil)
      let call = try test.ask("GET", path, headers: [page])
      #expect(call.status == 403 && !call.headers.contains { $0.name.hasPrefix("Access-Control") })
    }
  }

  @Test("the policy is read back as it was set, taken away by null, and mistakes are refused")
  func policy() throws {
    let test = try server(#"{"origins":["null","https://a.example"],"credentials":true,"maxAge":"2h"}"#)
    #expect(
      try test.admin("GET", "state").text.contains(
        #""cors":{"origins":["null","https://a.example"],"credentials":true,"maxAge":"2h"}"#))
    for bad in [
      #"{"origins":[]}"#, "{}", #"{"origins":["localhost:3000"]}"#, #"{"origins":["https://a.example/"]}"#,
      #"{"origins":["https://"]}"#, #"{"origins":[1]}"#, #"{"origins":["*"],"credentials":"yes"}"#,
      #"{"origin":["*"]}"#, #"{"origins":["https://a,b"]}"#,
    ] {
      #expect(try test.admin("PUT", "policy", #"{"cors":\#(bad)}"#).status == 400, "\(bad)")
    }
    #expect(test.realm.policy.cors?.origins == ["null", "https://a.example"])
    _ = try test.admin("PUT", "policy", #"{"cors":null}"#)
    #expect(test.realm.policy.cors == nil)
  }
}

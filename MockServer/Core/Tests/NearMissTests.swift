import Groundwork
import Testing

@testable import MockServerCore

@Suite("What did not match shows the nearest script, and why")
struct NearMissTests {
  let test = TestServer()

  /// Sets a script, sends a request, and gives the near miss that the journal has.
  private func miss(_ script: MockScript, _ method: String, _ target: String) throws -> String? {
    test.realm.removeScripts()
    test.realm.script(script)
    _ = try test.ask(method, target)
    return test.realm.journal().last?.nearMiss.map { "\($0.script): \($0.reason)" }
  }

  private func endpoint(_ method: String, _ path: String) -> MockScript {
    MockScript(.endpoint(method: method, path: path), [.status(503)])
  }

  @Test("the method, the path, the realm, the query, the dialect, and a script that is used up")
  func reasons() throws {
    #expect(try miss(endpoint("POST", "/me"), "GET", "/me") == "POST /me: the method is GET")
    #expect(
      try miss(endpoint("POST", "/auth/refesh"), "POST", "/auth/refresh")
        == "POST /auth/refesh: the path is /auth/refresh")
    #expect(
      try miss(endpoint("POST", "/auth/refresh"), "POST", "/auth/refesh")
        == "POST /auth/refresh: the path is /auth/refesh")
    #expect(
      try miss(endpoint("GET", "/r/default/me"), "GET", "/me")
        == "GET /r/default/me: a script's path is without the realm: /me")
    #expect(
      try miss(endpoint("GET", "/feed?limit=2"), "GET", "/feed?limit=2")
        == "GET /feed?limit=2: a script's path is without the query: /feed")
    #expect(
      try miss(endpoint("GET", "/me"), "GET", "/envelope/me")
        == "GET /me: the path is /envelope/me, in another dialect; a script for the operation takes both")
    #expect(
      try miss(MockScript(.operation(.me), [.status(503)]), "PUT", "/me") == "me: the method is PUT, not GET, HEAD")
    #expect(
      try miss(MockScript(.operation(.refresh), [.status(503)]), "POST", "/auth/refrsh")
        == "refresh: there is no endpoint /auth/refrsh; the nearest of this operation is /auth/refresh")
  }

  @Test("a script that is used up says so, with its count")
  func usedUp() throws {
    test.realm.script(.me, .status(503, times: 2), .status(500))
    for _ in 0..<4 { _ = try test.ask("GET", "/me") }
    #expect(
      test.realm.journal().map(\.nearMiss) == [
        nil, nil, nil, MockNearMiss(script: "me", reason: "its 3 actions are used up"),
      ])
  }

  @Test("what has nothing to do with a script is no near miss, and without scripts there is none")
  func unrelated() throws {
    #expect(try miss(MockScript(.operation(.me), [.status(503)]), "GET", "/feed") == nil)
    #expect(try miss(endpoint("POST", "/auth/login"), "GET", "/feed") == nil)
    test.realm.removeScripts()
    _ = try test.ask("GET", "/mee")
    #expect(test.realm.journal().last?.nearMiss == nil)
  }

  @Test("of several scripts the nearest is told, and only that one remembers the request")
  func nearest() throws {
    test.realm.script(endpoint("GET", "/mee"))
    test.realm.script(endpoint("POST", "/me"))
    _ = try test.ask("GET", "/me")
    #expect(test.realm.journal().last?.nearMiss?.script == "POST /me")
    let scripts = try test.admin("GET", "scripts").json()["scripts"]?.array ?? []
    #expect(scripts.map { $0["endpoint"] } == ["GET /mee", "POST /me"])
    #expect(scripts.map { $0["nearest"]?["seq"] } == [nil, 1])
    #expect(scripts.map { $0["remaining"] } == [1, 1])
  }

  @Test("journal and scripts tell it over the admin API, and no token with it")
  func admin() throws {
    let pair = try test.login()
    test.realm.script(endpoint("GET", "/me/x"))
    _ = try test.ask("GET", "/me/\(pair.access)")
    test.realm.script(endpoint("POST", "/me"))
    _ = try test.ask("GET", "/me", bearer: pair.access)
    let journal = try test.admin("GET", "journal").text
    #expect(journal.contains(#""nearMiss":{"script":"POST /me","reason":"the method is GET"}"#))
    let texts = [journal, try test.admin("GET", "scripts").text, try test.admin("GET", "state").text]
    for text in texts { #expect(!text.contains(pair.access)) }
  }

  @Test("a listed script can be set again as it stands")
  func roundTrip() throws {
    let script = #"""
      {"operation":"refresh","actions":[{"status":503,"body":{"a":[1,null,true]},"headers":{"X-A":"b"},"delay":"250ms",
      "hold":"h","times":3},{"delay":{"distribution":"uniform","min":"1s","max":"2s"},"break":"truncate","after":7,
      "revoke":"session"},{"delay":{"distribution":"lognormal","median":"1s","sigma":0.5},"phase":"after-commit"},{}],
      "then":"fail"}
      """#
    #expect(try test.admin("PUT", "scripts", script).status == 204)
    let listed = try #require(test.admin("GET", "scripts").json()["scripts"]?.array?.first)
    let before = try #require(test.realm.scripts.first?.script)
    var members = try #require(listed.object)
    for name in ["used", "remaining"] { #expect(members.removeValue(forKey: name) != nil) }
    #expect(try MockScript(json: .object(members)) == before)
  }
}

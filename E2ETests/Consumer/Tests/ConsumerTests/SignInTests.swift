import Foundation
import MockServerTesting
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The client under test: a few lines of URLSession, as somebody might have them.
private func signIn(_ email: String, _ password: String, at baseURL: String) async throws -> Int {
  var request = URLRequest(url: try #require(URL(string: "\(baseURL)/auth/login")))
  request.httpMethod = "POST"
  request.setValue("application/json", forHTTPHeaderField: "Content-Type")
  request.httpBody = try JSONEncoder().encode(["email": email, "password": password])
  let (_, response) = try await URLSession.shared.data(for: request)
  return (response as? HTTPURLResponse)?.statusCode ?? 0
}

@Suite(.mockRealm)
struct SignInTests {
  @Test("a user of the realm can sign in, once")
  func signsIn() async throws {
    let realm = try MockRealm.current()
    try await realm.addUser("anna", email: "anna@example.com", password: "password123")
    #expect(try await signIn("anna@example.com", "password123", at: realm.baseURL) == 200)
    #expect(try await realm.count(of: "login") == 1)
  }

  @Test("another test's users are unknown here", arguments: 1...3)
  func isolated(number: Int) async throws {
    let realm = try MockRealm.current()
    #expect(try await signIn("anna@example.com", "password123", at: realm.baseURL) == 401)
    #expect(try await realm.count(of: "login") == 1)
  }

  @Test("a scripted answer comes once")
  func scripted() async throws {
    let realm = try MockRealm.current()
    try await realm.admin("PUT", "scripts", #"{"operation": "login", "actions": [{"status": 503}]}"#)
    #expect(try await signIn("anna@example.com", "password123", at: realm.baseURL) == 503)
    #expect(try await signIn("anna@example.com", "password123", at: realm.baseURL) == 401)
  }

  /// Run with CONSUMER_FAILS=1 to see what a failure looks like: the issue brings the realm's requests with it.
  @Test("a failure shows the requests", .enabled(if: ProcessInfo.processInfo.environment["CONSUMER_FAILS"] != nil))
  func fails() async throws {
    let realm = try MockRealm.current()
    #expect(try await signIn("nobody@example.com", "password123", at: realm.baseURL) == 200)
  }
}

import MockServerTesting
import Testing

@Suite("A realm for a test")
struct MockRealmTests {
  @Test("each test has a realm of its own", .mockRealm, arguments: 1...4)
  func ownRealm(number: Int) async throws {
    let realm = try MockRealm.current()
    try await realm.addUser("anna", email: "anna@example.com", password: "password123")
    #expect(try await realm.count(of: "login") == 0)
    #expect(realm.sequence == "no request reached the realm \(realm.name)")
    #expect(realm.baseURL.hasSuffix("/r/\(realm.name)"))
  }

  @Test("without the trait there is none, and the error says what to do")
  func none() {
    #expect(throws: MockRealmError.self) { try MockRealm.current() }
  }

  @Test("an issue brings the requests of its realm", .mockRealm)
  func issue() async throws {
    let realm = try MockRealm.current()
    let refusal = await #expect(throws: MockRealmError.self) {
      try await realm.admin("POST", "clock", #"{"advnace": "1s"}"#)
    }
    #expect(refusal?.description.contains("advnace") == true)
    withKnownIssue {
      Issue.record("on purpose")
    } matching: { issue in
      issue.comments.contains { $0.rawValue.contains("on purpose") }
    }
  }
}

import AuthModels
import AuthNetworking
import MockServerCore
import MockServerInProcess
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

@Suite("What the page on the mock server shows")
struct DocumentationTests {
  // documentation:begin
  @Test func aLostAnswerIsSurvived() async throws {
    let anna = MockSeedUser(username: "anna", email: "anna@example.com", password: "password123")
    let server = MockAuthServer(
      configuration: MockServerConfiguration(policy: MockPolicy(rotation: .grace), users: [anna]))
    let url = try #require(URL(string: "https://mock.test"))
    let client = APIClient(baseURL: url, transport: InProcessTransport(server: server))
    let first = try await client.send(API.login(email: "anna@example.com", password: "password123"))
    let token = try #require(first.refreshToken)

    server.realm().script(.refresh, .loseAnswer)
    await #expect(throws: (any Error).self) { try await client.send(API.refresh(refreshToken: token)) }
    let second = try await client.send(API.refresh(refreshToken: token))  // within the grace window
    #expect(second.accessToken != first.accessToken)
    #expect(server.realm().journal().map(\.outcome) == [.issued, .rotated, .repeated])
  }
  // documentation:end

  @Test("the page shows that test, letter by letter")
  func page() throws {
    let here = URL(filePath: #filePath)
    let source = try String(decoding: Data(contentsOf: here), as: UTF8.self)
    let page = try String(
      decoding: Data(contentsOf: here.appending(path: "../../../../Documentation/mock-server.md").standardizedFileURL),
      as: UTF8.self)
    let begin = try #require(source.firstRange(of: "  // documentation:begin\n"))
    let end = try #require(source.firstRange(of: "  // documentation:end\n"))
    let shown = source[begin.upperBound..<end.lowerBound].split(separator: "\n", omittingEmptySubsequences: false)
      .map { $0.hasPrefix("  ") ? String($0.dropFirst(2)) : String($0) }.joined(separator: "\n")
    #expect(page.contains("```swift\n\(shown)```"))
  }
}

import Groundwork
import MockServerCore
import MockServerHTTP
public import Testing

/// Gives a test, or each test of a suite, a realm of the mock server, and each issue of the test the realm's requests as a sequence.
public struct MockRealmTrait: TestTrait, SuiteTrait, TestScoping {
  /// A suite's tests have it each.
  public var isRecursive: Bool { true }

  public func scopeProvider(for test: Test, testCase: Test.Case?) -> MockRealmTrait? {
    // A suite has no requests of its own.
    testCase == nil ? nil : self
  }

  public func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    let realm = try SharedServer.shared.realm()
    let isTold = Guarded(false)
    let telling = IssueHandlingTrait.compactMapIssues { issue in
      let isFirst = isTold.withLock { isTold in
        defer { isTold = true }
        return !isTold
      }
      guard isFirst else { return issue }
      var issue = issue
      issue.comments.append("the requests of realm \(realm.name):\n\(realm.sequence)")
      return issue
    }
    try await telling.provideScope(for: test, testCase: testCase) {
      try await MockRealm.$ofThisTest.withValue(realm) { try await function() }
    }
  }
}

extension Trait where Self == MockRealmTrait {
  /// A realm of the mock server for this test alone: `MockRealm.current()`.
  public static var mockRealm: MockRealmTrait { MockRealmTrait() }
}

/// The one server of a test process.
private final class SharedServer: Sendable {
  static let shared = SharedServer()

  private struct State {
    var running: (server: MockAuthServer, front: HTTPFront, url: String)?
    var realms = 0
  }

  private let state = Guarded(State())

  /// A realm that nobody has had.
  func realm() throws -> MockRealm {
    try state.withLock { state in
      let running: (server: MockAuthServer, front: HTTPFront, url: String)
      if let already = state.running {
        running = already
      } else {
        let loop = try EventLoop()
        let server = MockAuthServer(scheduler: loop)
        let front = HTTPFront(handler: server, loop: loop)
        running = (server, front, try front.start().url)
        state.running = running
      }
      state.realms += 1
      let name = "test-\(state.realms)"
      return MockRealm(name: name, baseURL: "\(running.url)/r/\(name)", server: running.server)
    }
  }
}

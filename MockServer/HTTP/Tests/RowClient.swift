import Groundwork

@testable import MockServerCore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Brings a realm to where a row begins, without a socket.
enum RowClient {
  /// Sends a request to a realm; a header without a value is left out.
  static func send(
    _ realm: MockRealm, _ method: String, _ target: String, _ body: String? = nil, headers: [String: String] = [:]
  ) -> MockReply? {
    var fields = [MockRequest.Field("Host", "localhost")]
    if body != nil, headers["Content-Type"] == nil {
      fields.append(MockRequest.Field("Content-Type", "application/json"))
    }
    for (name, value) in headers.sorted(by: { $0.key < $1.key }) where !value.isEmpty {
      fields.append(MockRequest.Field(name, value))
    }
    let parts = target.split(separator: "?", maxSplits: 1)
    let request = MockRequest(method: method, target: target, headers: fields, body: Data((body ?? "").utf8))
    let answer = Guarded<MockReply?>(nil)
    realm.receive(request, path: String(parts.first ?? "/"), query: parts.count == 2 ? parts[1] : "") { delivery in
      answer.withLock { $0 = delivery.reply }
    }
    return answer.withLock { $0 }
  }
}

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The last requests with their answers, for a person who looks closer: a ring, so that memory stays flat.
///
/// They are kept as they came, which costs a request next to nothing, and are masked when somebody looks.
struct ExchangeRing: Sendable {
  /// Either side of an exchange; a large body is not kept.
  struct Side: Sendable {
    var status: Int?
    let headers: [MockRequest.Field]
    let body: Data?
    let bodySize: Int

    init(status: Int? = nil, headers: [MockRequest.Field], body: Data) {
      self.status = status
      self.headers = headers
      self.body = body.count <= ExchangeRing.maximumBody ? body : nil
      bodySize = body.count
    }
  }

  struct Kept: Sendable {
    let seq: Int
    let target: String
    let request: Side
    let reply: Side
  }

  static let capacity = 256
  static let maximumBody = 16 << 10
  private var kept: [Kept?] = []

  subscript(seq: Int) -> Kept? {
    guard seq > 0, !kept.isEmpty, let found = kept[seq % Self.capacity], found.seq == seq else { return nil }
    return found
  }

  mutating func keep(_ request: MockRequest, _ reply: MockReply, under seq: Int) {
    if kept.isEmpty { kept = Array(repeating: nil, count: Self.capacity) }
    kept[seq % Self.capacity] = Kept(
      seq: seq, target: request.target, request: Side(headers: request.headers, body: request.body),
      reply: Side(status: reply.status, headers: reply.headers, body: reply.body))
  }
}

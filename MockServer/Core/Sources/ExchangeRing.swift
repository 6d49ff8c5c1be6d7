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
    guard seq > 0, !kept.isEmpty, let found = kept[seq % kept.count], found.seq == seq else { return nil }
    return found
  }

  mutating func keep(_ request: MockRequest, _ reply: MockReply, under seq: Int) {
    if seq >= kept.count, kept.count < Self.capacity {
      // Thousands of realms see a handful of requests each: the ring grows with them. Until it is full, a number is its place.
      var size = max(kept.count, 8)
      while size <= seq, size < Self.capacity { size *= 2 }
      kept += Array(repeating: nil, count: size - kept.count)
    }
    let place = seq % kept.count
    // One that was kept back for long has lost its place to a newer one.
    if let newer = kept[place], newer.seq > seq { return }
    kept[place] = Kept(
      seq: seq, target: request.target, request: Side(headers: request.headers, body: request.body),
      reply: Side(status: reply.status, headers: reply.headers, body: reply.body))
  }
}

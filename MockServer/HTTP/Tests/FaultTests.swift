import Groundwork
import MockServerCore
import Testing

@testable import MockServerHTTP

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

@Suite("Faults on the wire are what their names say")
struct FaultTests {
  /// Asks once, and gives everything that came and how it ended.
  private func ask(
    _ body: String, _ fault: WireFault, request: String = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
  ) async throws -> (text: String, ending: RawClient.Ending) {
    let handler = ClosureHandler { _, deliver in deliver(.text(body, fault: fault)) }
    return try await withFront(handler) { port in
      try await onThread {
        let client = try RawClient(port: port)
        defer { client.end() }
        client.write(request)
        let (bytes, ending) = client.readAll()
        return (String(decoding: bytes, as: UTF8.self), ending)
      }
    }
  }

  @Test("close is FIN before anything was sent")
  func close() async throws {
    let (text, ending) = try await ask("hello", .close(afterBodyBytes: nil))
    #expect(text.isEmpty && ending == .fin)
  }

  @Test("close stays FIN when the peer has more under way")
  func closeWhilePeerWrites() async throws {
    let more = String(repeating: "GET / HTTP/1.1\r\nHost: a\r\n\r\n", count: 20_000)
    let (text, ending) = try await ask("hello", .close(afterBodyBytes: nil), request: more)
    #expect(text.isEmpty && ending == .fin)
  }

  @Test("close after so many bytes ends there with FIN")
  func closeInBody() async throws {
    let (text, ending) = try await ask("hello world", .close(afterBodyBytes: 5))
    #expect(text.hasSuffix("\r\n\r\nhello") && ending == .fin)
  }

  @Test("reset is RST, and nothing before it")
  func reset() async throws {
    let (text, ending) = try await ask("hello", .reset(afterBodyBytes: nil))
    #expect(text.isEmpty && ending == .reset)
  }

  @Test("reset after so many bytes delivers them, then RST", arguments: [0, 5, 100_000])
  func resetInBody(count: Int) async throws {
    let body = String(repeating: "x", count: 300_000)
    let (text, ending) = try await ask(body, .reset(afterBodyBytes: count))
    #expect(text.contains("Content-Length: 300000\r\n"))
    #expect(text.hasSuffix("\r\n\r\n" + String(repeating: "x", count: count)))
    #expect(ending == .reset)
  }

  @Test("a reset waits until the peer has what was written before it")
  func resetAfterSlowBytes() async throws {
    let handler = ClosureHandler { _, deliver in
      deliver(.text(String(repeating: "x", count: 900_000), fault: .reset(afterBodyBytes: 800_000)))
    }
    try await withFront(handler) { port in
      try await onThread {
        // So little room that most of it waits in the server's kernel when the reset is due.
        let client = try RawClient(port: port, receiveBuffer: 4096)
        defer { client.end() }
        client.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        let (bytes, ending) = client.readAll()
        #expect(bytes.count > 800_000 && ending == .reset)
      }
    }
  }

  @Test("truncate promises the whole body and ends short of it")
  func truncate() async throws {
    let (text, ending) = try await ask("hello world", .truncate(afterBodyBytes: 3))
    #expect(text.contains("Content-Length: 11\r\n") && text.hasSuffix("\r\n\r\nhel"))
    #expect(ending == .fin)
  }

  @Test("odd counts cut nothing and trap nowhere", arguments: [-1, 11, 12, .max, .min])
  func oddCounts(count: Int) async throws {
    let (text, ending) = try await ask("hello world", .truncate(afterBodyBytes: count))
    #expect(text.hasSuffix(count > 0 ? "\r\n\r\nhello world" : "\r\n\r\n"))
    #expect(ending == .fin)
  }

  @Test("garbage is no HTTP, then FIN; so is tls without TLS", arguments: [WireFault.garbage, .tls])
  func garbage(fault: WireFault) async throws {
    let (text, ending) = try await ask("hello", fault)
    #expect(!text.isEmpty && !text.contains("HTTP/") && !text.contains("hello"))
    #expect(ending == .fin)
  }

  @Test("drip brings the whole body, a byte at a time, and the connection goes on")
  func drip() async throws {
    let handler = ClosureHandler { request, deliver in
      deliver(request.target == "/" ? .text("slowly", fault: .drip(interval: .milliseconds(3))) : .echo(of: request))
    }
    try await withFront(handler) { port in
      try await onThread {
        let client = try RawClient(port: port)
        defer { client.end() }
        client.write("GET / HTTP/1.1\r\nHost: a\r\n\r\nGET /next HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(client.read(until: "\r\n\r\n").contains("Content-Length: 6"))
        var pieces: [Int] = []
        var body = ""
        while body.count < 6 {
          let (bytes, ending) = client.readSome()
          guard ending == nil else { break }
          pieces.append(bytes.count)
          body += String(decoding: bytes, as: UTF8.self)
          if body.count > 6 { break }
        }
        #expect(body.hasPrefix("slowly"))
        // A busy machine may join two bytes; it may not bring all at once.
        #expect(pieces.count > 1)
        if body.count == 6 { #expect(try client.readAnswer().body == "GET /next 0") }
      }
    }
  }

  @Test("the next connection is refused when the core says so, and the one after is served")
  func connectionFaults() async throws {
    for fault in ConnectionFault.allCases {
      let faults = Guarded([fault])
      var options = HTTPFront.Options()
      options.connectionFault = { faults.withLock { $0.popLast() } }
      let handler = ClosureHandler.echo()
      try await withFront(handler, options: options) { port in
        try await onThread {
          let refused = try RawClient(port: port)
          defer { refused.end() }
          let (bytes, ending) = refused.readAll()
          #expect(bytes.isEmpty && ending == .reset)
          let served = try RawClient(port: port)
          defer { served.end() }
          served.write("GET /served HTTP/1.1\r\nHost: a\r\n\r\n")
          #expect(try served.readAnswer().body == "GET /served 0")
        }
        #expect(handler.seen.map(\.target) == ["/served"])
      }
    }
  }
}

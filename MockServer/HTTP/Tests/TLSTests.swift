import Groundwork
import MockServerCore
import Testing

@testable import MockServerHTTP

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

@Suite("The HTTP front over TLS")
struct TLSTests {
  private static let request = "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"

  private func options() throws -> (HTTPFront.Options, authority: String) {
    var options = HTTPFront.Options()
    let identity = try TLSIdentity.throwAway(for: ["localhost", "127.0.0.1", "::1"])
    options.tls = identity
    return (options, try #require(identity.authority))
  }

  /// Asks once over TLS, and gives everything that came and how it ended.
  private func ask(
    _ body: String, _ fault: WireFault?, request: String = TLSTests.request
  ) async throws -> (text: String, ending: TLSClient.Ending) {
    let (options, authority) = try options()
    let handler = ClosureHandler { _, deliver in deliver(.text(body, fault: fault)) }
    return try await withFront(handler, options: options) { port in
      try await onThread {
        let client = try TLSClient(port: port, trusting: authority)
        client.write(request)
        return client.readAll()
      }
    }
  }

  @Test("an answer comes whole, and TLS says that it was the last")
  func answer() async throws {
    let body = String(repeating: "x", count: 3_000_000)
    let (text, ending) = try await ask(body, nil)
    #expect(text.hasPrefix("HTTP/1.1 200 OK\r\n") && text.hasSuffix("\r\n\r\n\(body)"))
    #expect(ending == .closeNotify)
  }

  @Test("pipelined requests are answered in order")
  func pipelining() async throws {
    let two = "GET /1 HTTP/1.1\r\nHost: a\r\n\r\n" + Self.request
    let (text, ending) = try await ask("hello", nil, request: two)
    #expect(text.components(separatedBy: "hello").count == 3 && ending == .closeNotify)
  }

  @Test("faults are what their names say under TLS too")
  func faults() async throws {
    #expect(try await ask("hello", .close(afterBodyBytes: nil)) == ("", .closeNotify))
    #expect(try await ask("hello", .reset(afterBodyBytes: nil)) == ("", .reset))
    let cut = try await ask("hello world", .truncate(afterBodyBytes: 5))
    #expect(cut.text.contains("Content-Length: 11\r\n") && cut.text.hasSuffix("\r\n\r\nhello"))
    let reset = try await ask("hello world", .reset(afterBodyBytes: 5))
    #expect(reset.text.hasSuffix("\r\n\r\nhello") && reset.ending == .reset)
    let garbage = try await ask("hello", .garbage)
    #expect(!garbage.text.isEmpty && !garbage.text.contains("HTTP/") && garbage.ending == .closeNotify)
    let drip = try await ask("hello", .drip(interval: .milliseconds(1)))
    #expect(drip.text.hasSuffix("\r\n\r\nhello") && drip.ending == .closeNotify)
  }

  @Test("tls puts plaintext where TLS is expected")
  func plaintext() async throws {
    let (text, ending) = try await ask("hello", .tls)
    #expect(text.isEmpty && ending == .broken)
  }

  @Test("a client that trusts another authority, or expects another name, does not get through")
  func distrust() async throws {
    let (options, authority) = try options()
    let handler = ClosureHandler.echo()
    let other = try TLSIdentity.throwAway(for: ["127.0.0.1"]).authority
    try await withFront(handler, options: options) { port in
      try await onThread {
        #expect(throws: RawClient.Failure.self) { try TLSClient(port: port, trusting: nil) }
        #expect(throws: RawClient.Failure.self) { try TLSClient(port: port, trusting: other) }
        #expect(throws: RawClient.Failure.self) {
          try TLSClient(port: port, trusting: authority, name: "example.com")
        }
        let client = try TLSClient(port: port, trusting: authority, name: "localhost")
        #expect(client.version == "TLSv1.3")
      }
      #expect(handler.seen.isEmpty)
    }
  }

  @Test("a handshake fails when the core says so, and the next one works")
  func failingHandshake() async throws {
    var (options, authority) = try options()
    let faults = Guarded([ConnectionFault.failHandshake])
    options.connectionFault = { faults.withLock { $0.popLast() } }
    try await withFront(ClosureHandler.echo(), options: options) { [authority] port in
      try await onThread {
        #expect(throws: RawClient.Failure.self) { try TLSClient(port: port, trusting: authority) }
        let client = try TLSClient(port: port, trusting: authority)
        client.write(Self.request)
        #expect(client.readAll().text.hasSuffix("GET / 0"))
      }
    }
  }

  @Test("plain HTTP to a TLS port gets no answer and reaches no handler")
  func plainHTTP() async throws {
    let (options, _) = try options()
    let handler = ClosureHandler.echo()
    try await withFront(handler, options: options) { port in
      try await onThread {
        let client = try RawClient(port: port)
        defer { client.end() }
        client.write(Self.request)
        let (bytes, ending) = client.readAll()
        #expect(!String(decoding: bytes, as: UTF8.self).contains("HTTP/") && ending != .timedOut)
      }
    }
    #expect(handler.seen.isEmpty)
  }

  @Test("files that hold no certificate or no key are refused by name")
  func badFiles() throws {
    let error = #expect(throws: FrontError.self) {
      try TLSIdentity(certificateFile: "/nowhere/cert.pem", keyFile: "/nowhere/key.pem")
    }
    #expect(error?.code == .badCertificate && error?.message.contains("/nowhere/cert.pem") == true)
  }

  @Test("the address says https")
  func address() {
    #expect(HTTPFront.Address(host: "::1", port: 443, isTLS: true).url == "https://[::1]:443")
  }
}

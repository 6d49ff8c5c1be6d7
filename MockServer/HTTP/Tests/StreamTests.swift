import Groundwork
import MockServerCore
import Testing

@testable import MockServerHTTP

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

@Suite("Event streams")
struct StreamTests {
  /// A handler whose every answer is the stream.
  private func handler(_ stream: AsyncStream<Data>) -> ClosureHandler {
    ClosureHandler { request, deliver in
      guard request.target == "/events" else { return deliver(.echo(of: request)) }
      deliver(
        MockDelivery(
          reply: MockReply(status: 200, headers: [.init("Content-Type", "text/event-stream")]), stream: stream))
    }
  }

  @Test("events go out as they come, in chunks, and the connection goes on behind them")
  func events() async throws {
    let (stream, source) = AsyncStream.makeStream(of: Data.self)
    try await withFront(handler(stream)) { port in
      try await onThread {
        let client = try RawClient(port: port)
        defer { client.end() }
        client.write("GET /events HTTP/1.1\r\nHost: a\r\n\r\nGET /next HTTP/1.1\r\nHost: a\r\n\r\n")
        let head = client.read(until: "\r\n\r\n")
        #expect(head.contains("Transfer-Encoding: chunked") && !head.contains("Content-Length"))
        source.yield(Data("data: one\n\n".utf8))
        #expect(client.read(until: "\n\n\r\n") == "b\r\ndata: one\n\n\r\n")
        source.yield(Data())
        source.yield(Data("data: two\n\n".utf8))
        #expect(client.read(until: "\n\n\r\n") == "b\r\ndata: two\n\n\r\n")
        source.finish()
        #expect(client.read(until: "0\r\n\r\n") == "0\r\n\r\n")
        #expect(try client.readAnswer().body == "GET /next 0")
      }
    }
  }

  @Test("an HTTP/1.0 client gets the stream without chunks, until the connection ends")
  func http10() async throws {
    let (stream, source) = AsyncStream.makeStream(of: Data.self)
    try await withFront(handler(stream)) { port in
      source.yield(Data("data: one\n\n".utf8))
      source.finish()
      let text = try await onThread {
        let client = try RawClient(port: port)
        defer { client.end() }
        client.write("GET /events HTTP/1.0\r\n\r\n")
        return String(decoding: client.readAll().bytes, as: UTF8.self)
      }
      #expect(text.hasSuffix("\r\n\r\ndata: one\n\n") && text.contains("Connection: close"))
    }
  }

  /// Yields when the source of a stream has been told that nobody reads it any more.
  private func termination(of source: AsyncStream<Data>.Continuation) -> AsyncStream<Void> {
    let (ended, signal) = AsyncStream.makeStream(of: Void.self)
    source.onTermination = { _ in
      signal.yield()
      signal.finish()
    }
    return ended
  }

  @Test("the stream ends when its reader leaves", .timeLimit(.minutes(1)))
  func readerLeaves() async throws {
    let (stream, source) = AsyncStream.makeStream(of: Data.self)
    let ended = termination(of: source)
    try await withFront(handler(stream)) { port in
      try await onThread {
        let client = try RawClient(port: port)
        client.write("GET /events HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(client.read(until: "\r\n\r\n").hasPrefix("HTTP/1.1 200"))
        client.end()
      }
      for await _ in ended {}
    }
  }

  @Test("a reader that is too slow is let go with RST instead of filling the memory", .timeLimit(.minutes(1)))
  func slowReader() async throws {
    let (stream, source) = AsyncStream.makeStream(of: Data.self)
    let ended = termination(of: source)
    var options = HTTPFront.Options()
    options.streamBacklog = 100_000
    try await withFront(handler(stream), options: options) { port in
      let client = try await onThread {
        let client = try RawClient(port: port, receiveBuffer: 4096)
        client.write("GET /events HTTP/1.1\r\nHost: a\r\n\r\n")
        _ = client.read(until: "\r\n\r\n")
        return client
      }
      for _ in 0..<2000 { source.yield(Data(repeating: 0x61, count: 10_000)) }
      // It has read nothing; the server ends it all the same.
      for await _ in ended {}
      let ending = try await onThread { client.readAll().ending }
      #expect(ending == .reset)
      client.end()
    }
  }

  @Test("stop ends a stream and its source", .timeLimit(.minutes(1)))
  func stop() async throws {
    let (stream, source) = AsyncStream.makeStream(of: Data.self)
    let ended = termination(of: source)
    let front = HTTPFront(handler: handler(stream))
    let port = try front.start().port
    let client = try await onThread {
      let client = try RawClient(port: port)
      client.write("GET /events HTTP/1.1\r\nHost: a\r\n\r\n")
      _ = client.read(until: "\r\n\r\n")
      return client
    }
    await front.stop()
    for await _ in ended {}
    let ending = try await onThread { client.readAll().ending }
    #expect(ending != .timedOut)
    client.end()
  }
}

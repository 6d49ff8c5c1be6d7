import Groundwork
import MockServerCore
import Testing

@testable import MockServerHTTP

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

@Suite("The HTTP front over real sockets")
struct FrontTests {
  @Test("a connection serves one request after another, and each gets its answer")
  func keepAlive() async throws {
    try await withFront(ClosureHandler.echo()) { port in
      try await onThread {
        let client = try RawClient(port: port)
        defer { client.end() }
        for number in 0..<3 {
          client.write("POST /a\(number) HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nxy")
          let answer = try client.readAnswer()
          #expect(answer.status == 200 && answer.body == "POST /a\(number) 2")
          #expect(answer.field("Connection") == nil)
          #expect(answer.head.hasPrefix("HTTP/1.1 200 OK\r\n"))
        }
      }
    }
  }

  @Test("pipelined requests are answered in order, also when their answers take time")
  func pipelining() async throws {
    let loop = try EventLoop()
    let handler = ClosureHandler { request, deliver in
      // The first takes longest: order is the connection's, not the answers'.
      loop.schedule(after: .milliseconds(request.target == "/0" ? 20 : 0)) { deliver(.echo(of: request)) }
    }
    let front = HTTPFront(handler: handler, loop: loop)
    let port = try front.start().port
    try await onThread {
      let client = try RawClient(port: port)
      defer { client.end() }
      client.write((0..<50).map { "GET /\($0) HTTP/1.1\r\nHost: a\r\n\r\n" }.joined())
      for number in 0..<50 {
        #expect(try client.readAnswer().body == "GET /\(number) 0")
      }
    }
    await front.stop()
  }

  @Test("what a peer pipelines while it waits is bounded")
  func pipeliningIsBounded() async throws {
    let holder = Holder()
    let handler = ClosureHandler { _, deliver in holder.hold(deliver) }
    try await withFront(handler) { port in
      let written = try await onThread {
        let client = try RawClient(port: port)
        defer { client.end() }
        // The socket's own buffers take a few megabytes; a front that reads on takes all of this.
        client.giveUpWriting(afterMilliseconds: 300)
        let request = Array("GET / HTTP/1.1\r\nHost: a\r\n\r\n".utf8)
        let block = Array(repeatElement(request, count: 4000).joined())
        var written = 0
        for _ in 0..<1000 {
          guard client.write(block) else { break }
          written += block.count
        }
        return written
      }
      #expect(written < 60_000_000)
      #expect(handler.seen.count == 1)
    }
  }

  @Test("HTTP/1.0 and Connection: close end the connection after the answer; keep-alive keeps it")
  func closing() async throws {
    try await withFront(ClosureHandler.echo()) { port in
      try await onThread {
        for head in ["GET / HTTP/1.0\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"] {
          let client = try RawClient(port: port)
          defer { client.end() }
          client.write(head)
          let answer = try client.readAnswer()
          #expect(answer.status == 200 && answer.field("Connection") == "close")
          #expect(client.readAll().ending == .fin)
        }
        let client = try RawClient(port: port)
        defer { client.end() }
        for _ in 0..<2 {
          client.write("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
          #expect(try client.readAnswer().field("Connection") == "keep-alive")
        }
      }
    }
  }

  @Test("HEAD, 204 and 304 have no body, and the connection stays in step")
  func bodiless() async throws {
    let handler = ClosureHandler { request, deliver in
      deliver(.text("body", status: Int(request.target.dropFirst()) ?? 200))
    }
    try await withFront(handler) { port in
      try await onThread {
        let client = try RawClient(port: port)
        defer { client.end() }
        client.write("HEAD /200 HTTP/1.1\r\nHost: a\r\n\r\nGET /204 HTTP/1.1\r\nHost: a\r\n\r\n")
        client.write("GET /304 HTTP/1.1\r\nHost: a\r\n\r\nGET /201 HTTP/1.1\r\nHost: a\r\n\r\n")
        let head = try client.readAnswer(hasBody: false)
        #expect(head.status == 200 && head.length == 4)
        let none = try client.readAnswer()
        #expect(none.status == 204 && none.length == nil)
        let same = try client.readAnswer()
        #expect(same.status == 304 && same.length == nil)
        let last = try client.readAnswer()
        #expect(last.status == 201 && last.body == "body")
      }
    }
  }

  @Test("Expect: 100-continue gets 100, then the answer")
  func continues() async throws {
    try await withFront(ClosureHandler.echo()) { port in
      try await onThread {
        let client = try RawClient(port: port)
        defer { client.end() }
        client.write("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n")
        #expect(client.read(until: "\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n")
        client.write("abc")
        #expect(try client.readAnswer().body == "POST / 3")
      }
    }
  }

  @Test(
    "a malformed request reaches the handler, is answered as it says, and ends the connection with FIN",
    arguments: [
      ("GET / HTTP/1.1\r\n\r\n", 400), ("GET / HTTP/1.1\nHost: a\n\n", 400), ("GET / HTTP/3.0\r\n", 505),
      ("GET /\(String(repeating: "a", count: 70_000)) HTTP/1.1\r\nHost: a\r\n\r\n", 414),
      ("GET / HTTP/1.1\r\nHost: a\r\nX: \(String(repeating: "a", count: 200_000))\r\n\r\n", 431),
      ("GET / HTTP/1.1\r\nHost: a\r\n\((0..<101).map { "H\($0): 1\r\n" }.joined())\r\n", 431),
      ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3000000\r\n\r\n\(String(repeating: "b", count: 3_000_000))", 413),
      (
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n300000\r\n\(String(repeating: "b", count: 0x300000))",
        413
      ),
      ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
      (
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n\(String(repeating: "0", count: 5_000_000))",
        400
      ),
      ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: br, chunked\r\n\r\n", 501),
      ("POST / HTTP/1.1\r\nHost: a\r\nExpect: more\r\nContent-Length: 1\r\n\r\nx", 417),
    ])
  func malformed(text: String, status: Int) async throws {
    let handler = ClosureHandler.echo()
    var options = HTTPFront.Options()
    options.lingerTimeout = .seconds(60)
    try await withFront(handler, options: options) { port in
      try await onThread {
        let client = try RawClient(port: port)
        defer { client.end() }
        // The whole request goes out, though it was refused long before its end: no reset takes the answer away.
        #expect(client.write(text))
        let answer = try client.readAnswer()
        #expect(answer.status == status && answer.field("Connection") == "close")
        client.endWriting()
        #expect(client.readAll().ending == .fin)
      }
      #expect(handler.seen.map(\.malformation?.status) == [status])
    }
  }

  @Test("half a request and then FIN is malformed, and journalled as such")
  func halfRequest() async throws {
    let handler = ClosureHandler.echo()
    try await withFront(handler) { port in
      try await onThread {
        let client = try RawClient(port: port)
        defer { client.end() }
        client.write("POST /half HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc")
        client.endWriting()
        #expect(try client.readAnswer().status == 400)
        #expect(client.readAll().ending == .fin)
      }
      #expect(handler.seen.first?.target == "/half")
    }
  }

  @Test("a peer that has ended its side still gets every answer it asked for")
  func halfClose() async throws {
    let holder = Holder()
    let handler = ClosureHandler { request, deliver in
      if request.target == "/held" { holder.hold(deliver) } else { deliver(.echo(of: request)) }
    }
    try await withFront(handler) { port in
      async let bytes = onThread {
        let client = try RawClient(port: port)
        defer { client.end() }
        client.write("GET /held HTTP/1.1\r\nHost: a\r\n\r\nGET /b HTTP/1.1\r\nHost: a\r\n\r\n")
        client.endWriting()
        return client.readAll()
      }
      await holder.wait(for: 1)
      for deliver in holder.takeAll() { deliver(.text("first")) }
      let (all, ending) = try await bytes
      let text = String(decoding: all, as: UTF8.self)
      #expect(text.contains("first") && text.hasSuffix("GET /b 0"))
      #expect(ending == .fin)
    }
  }

  @Test("a request that never becomes complete is given up with 408")
  func requestTimeout() async throws {
    var options = HTTPFront.Options()
    options.requestTimeout = .milliseconds(50)
    let handler = ClosureHandler.echo()
    try await withFront(handler, options: options) { port in
      try await onThread {
        let client = try RawClient(port: port)
        defer { client.end() }
        client.write("GET / HTTP/1.1\r\nHost: a\r\nX")
        #expect(try client.readAnswer().status == 408)
        #expect(client.readAll().ending == .fin)
      }
      #expect(handler.seen.map(\.malformation?.status) == [408])
    }
  }

  @Test("a connection that stands idle is ended without a word")
  func idleTimeout() async throws {
    var options = HTTPFront.Options()
    options.idleTimeout = .milliseconds(50)
    let handler = ClosureHandler.echo()
    try await withFront(handler, options: options) { port in
      let (bytes, ending) = try await onThread {
        let client = try RawClient(port: port)
        defer { client.end() }
        return client.readAll()
      }
      #expect(bytes.isEmpty && ending == .fin)
      #expect(handler.seen.isEmpty)
    }
  }

  @Test("a hundred connections at once all get their own answers")
  func manyConnections() async throws {
    let holder = Holder()
    let handler = ClosureHandler { request, deliver in
      holder.hold { _ in deliver(.echo(of: request)) }
    }
    try await withFront(handler) { port in
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<100 {
          group.addTask {
            try await onThread {
              let client = try RawClient(port: port)
              defer { client.end() }
              client.write("GET /\(number) HTTP/1.1\r\nHost: a\r\n\r\n")
              #expect(try client.readAnswer().body == "GET /\(number) 0")
            }
          }
        }
        // All hundred are with the handler at once; then they are answered from this thread.
        await holder.wait(for: 100)
        for deliver in holder.takeAll() { deliver(.text("")) }
        try await group.waitForAll()
      }
      #expect(handler.seen.count == 100)
    }
  }

  @Test("a large answer reaches a slow reader whole")
  func largeAnswer() async throws {
    let handler = ClosureHandler { _, deliver in deliver(.text(String(repeating: "x", count: 8_000_000))) }
    try await withFront(handler) { port in
      try await onThread {
        let client = try RawClient(port: port, receiveBuffer: 4096)
        defer { client.end() }
        client.write("GET / HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        #expect(try client.readAnswer().body.utf8.count == 8_000_000)
        #expect(try client.readAnswer().body.utf8.count == 8_000_000)
        #expect(client.readAll().ending == .fin)
      }
    }
  }

  @Test("what a reply brings cannot smuggle another field or answer in")
  func hostileReplies() async throws {
    let handler = ClosureHandler { _, deliver in
      deliver(
        MockDelivery(
          reply: MockReply(
            status: 200, headers: [.init("X", "a\r\nSet-Cookie: b\u{0}"), .init("Bad Name", "c"), .init("", "d")])))
    }
    try await withFront(handler) { port in
      try await onThread {
        let client = try RawClient(port: port)
        defer { client.end() }
        client.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        let answer = try client.readAnswer()
        #expect(answer.field("X") == "a  Set-Cookie: b ")
        #expect(answer.field("Set-Cookie") == nil && !answer.head.contains("Bad"))
      }
    }
  }

  @Test("a length that a script made wrong goes out as it is, and the connection ends behind it")
  func scriptedLength() async throws {
    let handler = ClosureHandler { _, deliver in
      deliver(
        MockDelivery(reply: MockReply(status: 200, headers: [.init("content-length", "99")], body: Data("abc".utf8))))
    }
    try await withFront(handler) { port in
      try await onThread {
        let client = try RawClient(port: port)
        defer { client.end() }
        client.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        let (bytes, ending) = client.readAll()
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(text.contains("content-length: 99") && text.hasSuffix("\r\n\r\nabc"))
        #expect(!text.contains("Content-Length"))
        #expect(ending == .fin)
      }
    }
  }

  @Test("the handler learns that a peer is on this machine")
  func loopback() async throws {
    let handler = ClosureHandler.echo()
    try await withFront(handler) { port in
      try await onThread {
        let client = try RawClient(port: port)
        defer { client.end() }
        client.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        _ = try client.readAnswer()
      }
      #expect(handler.seen.map(\.isLoopback) == [true])
    }
  }

  @Test("an answer that comes twice, or late, meets nobody else's request")
  func lateAnswers() async throws {
    let holder = Holder()
    let handler = ClosureHandler { request, deliver in
      if request.target == "/twice" {
        deliver(.text("once"))
        deliver(.text("twice"))
      }
      holder.hold(deliver)
    }
    try await withFront(handler) { port in
      let client = try await onThread {
        let client = try RawClient(port: port)
        client.write("GET /twice HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try client.readAnswer().body == "once")
        client.write("GET /next HTTP/1.1\r\nHost: a\r\n\r\n")
        return client
      }
      // Both are with the handler; the first has had its answer.
      await holder.wait(for: 2)
      for (deliver, text) in zip(holder.takeAll(), ["late", "in time"]) { deliver(.text(text)) }
      let answer = try await onThread { try client.readAnswer() }
      #expect(answer.body == "in time")
      client.end()
    }
  }
}

import Groundwork
import MockServerCore
import Testing

@testable import MockServerHTTP

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif
#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

@Suite("Starting and stopping the front")
struct LifeTests {
  @Test("a port in use is said so, with its number and what to do")
  func portInUse() async throws {
    try await withFront(ClosureHandler.echo()) { port in
      let second = HTTPFront(handler: ClosureHandler.echo(), port: port)
      let error = #expect(throws: FrontError.self) { try second.start() }
      #expect(error?.code == .portInUse)
      #expect(error?.message.contains("\(port)") == true)
      #expect(error?.message.contains("choose another port") == true)
    }
  }

  @Test(
    "a host that is no address of this machine is refused", arguments: ["192.0.2.1", "not an address", "\u{1B}[2J", ""])
  func badHost(host: String) {
    guard !host.isEmpty else {
      // No host at all is every address, as for 0.0.0.0.
      return #expect(HTTPFront.Address(host: "", port: 1).url == "http://127.0.0.1:1")
    }
    let error = #expect(throws: FrontError.self) { try HTTPFront(handler: ClosureHandler.echo(), host: host).start() }
    #expect(error?.code == .badHost)
    #expect(error?.message.contains("\u{1B}") == false)
  }

  @Test("the URL is one that a client on this machine can use")
  func urls() {
    #expect(HTTPFront.Address(host: "127.0.0.1", port: 80).url == "http://127.0.0.1:80")
    #expect(HTTPFront.Address(host: "::1", port: 80).url == "http://[::1]:80")
    #expect(HTTPFront.Address(host: "0.0.0.0", port: 80).url == "http://127.0.0.1:80")
    #expect(HTTPFront.Address(host: "::", port: 80).url == "http://[::1]:80")
  }

  @Test("a stopped port is free at once, also for connections that were open")
  func restart() async throws {
    let first = HTTPFront(handler: ClosureHandler.echo())
    let port = try first.start().port
    let client = try await onThread {
      let client = try RawClient(port: port)
      client.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
      _ = try client.readAnswer()
      return client
    }
    await first.stop()
    let ending = try await onThread { client.readAll().ending }
    #expect(ending == .fin)
    client.end()
    let second = HTTPFront(handler: ClosureHandler.echo(), port: port)
    #expect(try second.start().port == port)
    await second.stop()
  }

  @Test("stop ends requests that are in flight, and a late answer is dropped")
  func stopInFlight() async throws {
    let holder = Holder()
    let front = HTTPFront(handler: ClosureHandler { _, deliver in holder.hold(deliver) })
    let port = try front.start().port
    let clients = try await onThread {
      try (0..<10).map { _ in
        let client = try RawClient(port: port)
        client.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        return client
      }
    }
    await holder.wait(for: 10)
    async let again: Void = front.stop()
    await front.stop()
    await again
    for deliver in holder.takeAll() { deliver(.text("late")) }
    for client in clients {
      let (bytes, ending) = try await onThread { client.readAll() }
      #expect(bytes.isEmpty && ending != .timedOut)
      client.end()
    }
    await #expect(throws: RawClient.Failure.self) { try await onThread { try RawClient(port: port).end() } }
  }

  @Test("stop lets an answer go out that has begun")
  func stopWhileSending() async throws {
    let (answered, source) = AsyncStream.makeStream(of: Void.self)
    var options = HTTPFront.Options()
    // However slow the machine is: the answer ends the wait, not the time.
    options.stopTimeout = .seconds(60)
    let front = HTTPFront(
      handler: ClosureHandler { _, deliver in
        deliver(.text(String(repeating: "x", count: 8_000_000)))
        source.yield()
      }, options: options)
    let port = try front.start().port
    async let answer = onThread {
      let client = try RawClient(port: port, receiveBuffer: 65536)
      defer { client.end() }
      client.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
      return try client.readAnswer()
    }
    for await _ in answered { break }
    await front.stop()
    #expect(try await answer.body.count == 8_000_000)
  }

  @Test("a front starts once; stopping what does not run returns")
  func once() async throws {
    let front = HTTPFront(handler: ClosureHandler.echo())
    await front.stop()
    try front.start()
    #expect(throws: FrontError.self) { try front.start() }
    await front.stop()
    await front.stop()
    #expect(throws: FrontError.self) { try front.start() }
  }

  @Test("a front that nobody keeps stops by itself")
  func forgotten() async throws {
    var front: HTTPFront? = HTTPFront(handler: ClosureHandler.echo())
    let port = try #require(try front?.start().port)
    let client = try await onThread {
      let client = try RawClient(port: port)
      client.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
      _ = try client.readAnswer()
      return client
    }
    front = nil
    let ending = try await onThread { client.readAll().ending }
    #expect(ending == .fin)
    client.end()
  }

  @Test("a stopped front lets go of its handler, also while the handler holds answers of its own")
  func noCycle() async throws {
    weak var forgotten: Holder?
    do {
      let holder = Holder()
      forgotten = holder
      let handler = ClosureHandler { _, deliver in holder.hold(deliver) }
      var options = HTTPFront.Options()
      options.connectionFault = {
        _ = holder
        return nil
      }
      try await withFront(handler, options: options) { port in
        let client = try await onThread {
          let client = try RawClient(port: port)
          client.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
          return client
        }
        await holder.wait(for: 1)
        client.end()
      }
    }
    #expect(forgotten == nil)
  }

  @Test("two fronts share nothing")
  func two() async throws {
    let left = ClosureHandler.echo()
    let right = ClosureHandler { _, deliver in deliver(.text("right")) }
    try await withFront(left) { leftPort in
      try await withFront(right) { rightPort in
        try await onThread {
          for (port, body) in [(leftPort, "GET / 0"), (rightPort, "right")] {
            let client = try RawClient(port: port)
            defer { client.end() }
            client.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try client.readAnswer().body == body)
          }
        }
      }
    }
    #expect(left.seen.count == 1 && right.seen.count == 1)
  }

  @Test("starting and stopping leaves no descriptor open")
  func descriptors() async throws {
    func openDescriptors() -> Int {
      // Other tests open and close their own meanwhile: the leak of a hundred rounds stands out all the same.
      (0..<4096).count { fcntl($0, F_GETFD) >= 0 }
    }
    let before = openDescriptors()
    for _ in 0..<200 {
      try await withFront(ClosureHandler.echo()) { port in
        try await onThread {
          let client = try RawClient(port: port)
          client.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
          _ = try client.readAnswer()
          client.end()
        }
      }
    }
    #expect(openDescriptors() < before + 200)
  }

  @Test("timers fire in order of their time, wherever they were set; none fires after the stop")
  func timers() async throws {
    let loop = try EventLoop()
    let order = Guarded([Int]())
    let front = HTTPFront(handler: ClosureHandler.echo(), loop: loop)
    // Set before the start: they wait for it.
    loop.schedule(after: .milliseconds(30)) { order.withLock { $0.append(30) } }
    loop.schedule(after: .seconds(Int64.max)) { order.withLock { $0.append(-1) } }
    loop.schedule(after: .seconds(-5)) { order.withLock { $0.append(0) } }
    try front.start()
    await withCheckedContinuation { continuation in
      loop.schedule(after: .milliseconds(60)) {
        order.withLock { $0.append(60) }
        continuation.resume()
      }
    }
    await front.stop()
    loop.schedule(after: .zero) { order.withLock { $0.append(-2) } }
    #expect(order.withLock { $0 } == [0, 30, 60])
  }
}

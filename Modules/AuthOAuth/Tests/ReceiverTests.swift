import AuthTestSupport
import Groundwork
import Testing

@testable import AuthOAuth

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

@Suite("The browser's way back: a listener on this machine (RFC 8252 §7.3)")
struct ReceiverTests {
  /// What a browser sends to a port of this machine, and the answer's first line and body.
  private func send(_ text: String, to port: UInt16) async throws -> String {
    try await DetachedThread.run { () -> Result<String, any Error> in
      let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      defer { close(descriptor) }
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_port = port.bigEndian
      address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
      let connected = withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
      }
      guard connected == 0 else { return .failure(Refused()) }
      let bytes = Array(text.utf8)
      _ = bytes.withUnsafeBytes { systemSend(descriptor, $0.baseAddress, $0.count) }
      var answer: [UInt8] = []
      var chunk = [UInt8](repeating: 0, count: 4096)
      while true {
        let count = recv(descriptor, &chunk, chunk.count, 0)
        guard count > 0 else { return .success(String(decoding: answer, as: UTF8.self)) }
        answer += chunk[..<count]
      }
    }
  }

  private struct Refused: Error {}

  private func get(_ target: String, _ port: UInt16, host: String? = nil) -> String {
    "GET \(target) HTTP/1.1\r\nHost: \(host ?? "127.0.0.1:\(port)")\r\nAccept: text/html\r\n\r\n"
  }

  private func port(of receiver: LoopbackReceiver) throws -> UInt16 {
    let text = receiver.redirectURI.split(separator: ":").last?.prefix { $0 != "/" } ?? ""
    return try #require(UInt16(text))
  }

  @Test("the redirect is given on whole, the browser sees a page, and the port closes")
  func redirect() async throws {
    let receiver = try LoopbackReceiver()
    let port = try port(of: receiver)
    #expect(receiver.redirectURI == "http://127.0.0.1:\(port)/callback")
    async let waiting = receiver.redirect(within: .seconds(60)) { address throws(OAuthError) in address }
    let page = try await send(get("/callback?code=c&state=s%20", port), to: port)
    #expect(page.hasPrefix("HTTP/1.1 200 OK\r\n") && page.contains("Signed in"))
    #expect(page.contains("Content-Security-Policy: default-src 'none'") && page.contains("Cache-Control: no-store"))
    #expect(try await waiting == "\(receiver.redirectURI)?code=c&state=s%20")
  }

  @Test("whatever else knocks gets an error and ends nothing: an icon, another port's name, another method, nonsense")
  func others() async throws {
    let receiver = try LoopbackReceiver()
    let port = try port(of: receiver)
    let asked = Guarded<[String]>([])
    async let waiting = receiver.redirect(within: .seconds(60)) { address throws(OAuthError) in
      asked.withLock { $0.append(address) }
      return address
    }
    #expect(try await send(get("/favicon.ico", port), to: port).hasPrefix("HTTP/1.1 404 "))
    #expect(try await send(get("/callback/?code=c", port), to: port).hasPrefix("HTTP/1.1 404 "))
    #expect(try await send(get("/callback?code=c", port, host: "127.0.0.1:1"), to: port).hasPrefix("HTTP/1.1 421 "))
    #expect(
      try await send(get("/callback?code=c", port, host: "evil.example:\(port)"), to: port).hasPrefix("HTTP/1.1 421 "))
    #expect(
      try await send(get("/callback?code=c", port, host: "localhost:\(port)"), to: port).hasPrefix("HTTP/1.1 421 "))
    let post = "POST /callback?code=c HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nContent-Length: 0\r\n\r\n"
    #expect(try await send(post, to: port).hasPrefix("HTTP/1.1 405 "))
    for nonsense in [
      "\r\n\r\n", "GET /callback?code=c HTTP/1.1\r\n\r\n", "GET http://x/ HTTP/1.1\r\nHost: x\r\n\r\n",
      "\u{0}\u{1}\r\n\r\n",
      "GET /callback HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nHost: 127.0.0.1:\(port)\r\n\r\n",
      "GET /" + String(repeating: "a", count: 20_000),
    ] {
      #expect(try await send(nonsense, to: port) == "", "\(nonsense.prefix(30))")
    }
    #expect(asked.withLock { $0 } == [])
    _ = try await send(get("/callback?code=good", port), to: port)
    #expect(try await waiting.hasSuffix("?code=good"))
  }

  @Test("connections that say nothing keep nobody waiting")
  func silent() async throws {
    let receiver = try LoopbackReceiver()
    let port = try port(of: receiver)
    async let waiting = receiver.redirect(within: .seconds(60)) { address throws(OAuthError) in address }
    var silent: [Int32] = []
    defer { for descriptor in silent { close(descriptor) } }
    for _ in 0..<5 {
      let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_port = port.bigEndian
      address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
      let connected = withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
      }
      #expect(connected == 0)
      silent.append(descriptor)
    }
    _ = try await send(get("/callback?code=c", port), to: port)
    #expect(try await waiting.hasSuffix("?code=c"))
  }

  @Test("an answer that is refused is told in the browser, safely, and thrown")
  func refused() async throws {
    let receiver = try LoopbackReceiver()
    let port = try port(of: receiver)
    let waiting = TaskStarter().start { () -> (any Error)? in
      do {
        let _: String = try await receiver.redirect(within: .seconds(60)) { _ throws(OAuthError) in
          throw OAuthError(.denied, "No <script>alert(1)</script> & \"no\"")
        }
        return nil
      } catch {
        return error
      }
    }
    let page = try await send(get("/callback?error=x", port), to: port)
    #expect(page.hasPrefix("HTTP/1.1 400 ") && page.contains("Not signed in"))
    #expect(page.contains("&lt;script&gt;") && !page.contains("<script>"))
    #expect(await waiting.value as? OAuthError == OAuthError(.denied, "No <script>alert(1)</script> & \"no\""))
  }

  @Test("it waits no longer than told, and not at all once it is cancelled, before or while it waits")
  func ends() async throws {
    let receiver = try LoopbackReceiver()
    let error = await #expect(throws: OAuthError.self) {
      try await receiver.redirect(within: .milliseconds(5)) { address throws(OAuthError) in address }
    }
    #expect(error?.code == .timedOut)
    let second = try LoopbackReceiver()
    let started = TaskStarter().start { () -> Bool in
      do {
        _ = try await second.redirect(within: .seconds(600)) { address throws(OAuthError) in address }
        return false
      } catch {
        return error is CancellationError
      }
    }
    started.cancel()
    #expect(await started.value)
  }

  @Test("a port that is taken is told with its number")
  func taken() throws {
    let first = try LoopbackReceiver()
    let port = try port(of: first)
    let error = #expect(throws: OAuthError.self) { try LoopbackReceiver(port: port) }
    #expect(error?.code == .noListener && error?.message.contains("\(port)") == true)
    withExtendedLifetime(first) {}
  }
}

/// `send(2)`, under a name that no method here has.
private func systemSend(_ descriptor: Int32, _ buffer: UnsafeRawPointer?, _ count: Int) -> Int {
  send(descriptor, buffer, count, 0)
}

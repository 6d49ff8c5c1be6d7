import AuthModels
import AuthNetworking
import AuthTestSupport
import CLibcurl
import Foundation
import Groundwork
import MockServerCore
import MockServerHTTP
import Testing

@testable import AuthNetworkingCurl

@Suite("CurlTransport")
struct CurlTransportTests {
  @Test(
    "every promise of a transport, and every answer that URLSession does not stand",
    arguments: TransportContract.checks + TransportContract.checksBeyondURLSession)
  func contract(check: ContractCheck<TransportContract.Subject>) async throws {
    try await check.run(
      .init { limits in
        CurlTransport(
          options: .init(
            maximumResponseBytes: limits.maximumResponseBytes, timeout: limits.timeout,
            connectionsPerHost: limits.connectionsPerHost, maximumRedirects: limits.maximumRedirects))
      })
  }

  @Test("header fields arrive in order, one by one, folded lines joined, Latin-1 kept; packed answers are unpacked")
  func fields() async throws {
    let server = try RawServer { connection in
      guard let request = connection.readRequest() else { return }
      #expect(request.field("Accept-Encoding")?.contains("gzip") == true)
      // `printf hello | gzip -n`
      let packed: [UInt8] = [
        0x1F, 0x8B, 0x08, 0, 0, 0, 0, 0, 0, 0x03, 0xCB, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0, 0x86, 0xA6, 0x10, 0x36, 0x05,
        0, 0, 0,
      ]
      connection.write(
        Array("HTTP/1.1 200 OK\r\nB: 1\r\nA: 2\r\nB: 3\r\nFolded: x\r\n  y\r\nUmlaut: ".utf8) + [0xE4]
          + Array("\r\nContent-Encoding: gzip\r\nContent-Length: \(packed.count)\r\n\r\n".utf8) + packed)
    }
    defer { server.stop() }
    let response = try await CurlTransport().send(HTTPRequest(method: .get, url: server.url("/")))
    #expect(
      response.headers.fields.prefix(5) == [
        HTTPField("B", "1"), HTTPField("A", "2"), HTTPField("B", "3"), HTTPField("Folded", "x y"),
        HTTPField("Umlaut", "ä"),
      ])
    #expect(String(decoding: response.body, as: UTF8.self) == "hello")
  }

  @Test("a small packed answer that unpacks beyond the limit is too large")
  func bomb() async throws {
    let packed = try await Self.gzip(String(repeating: "a", count: 200_000))
    #expect(packed.count < 2000)
    let server = try RawServer { connection in
      guard connection.readRequest() != nil else { return }
      connection.write(
        Array("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(packed.count)\r\n\r\n".utf8) + packed)
    }
    defer { server.stop() }
    let transport = CurlTransport(options: .init(maximumResponseBytes: 100_000))
    let error = await #expect(throws: TransportError.self) {
      try await transport.send(HTTPRequest(method: .get, url: server.url("/")))
    }
    #expect(error?.code == .responseTooLarge)
  }

  @Test("a connection that never comes about ends after the time to connect, and nothing was sent")
  func connectTimeout() async throws {
    // A TLS handshake that the other side never answers is part of connecting.
    let server = try RawServer { $0.waitForClose() }
    defer { server.stop() }
    let transport = CurlTransport(options: .init(connectTimeout: .milliseconds(200)))
    let error = await #expect(throws: TransportError.self) {
      try await transport.send(HTTPRequest(method: .get, url: server.url("/", scheme: "https")))
    }
    #expect(error?.code == .timedOut)
    #expect(error?.mayHaveBeenSent == false)
  }

  @Test("the time-out also ends a call that waits for a connection in vain, and nothing of it was sent")
  func queued() async throws {
    let server = try RawServer { connection in
      _ = connection.readRequest()
      connection.waitForClose()
    }
    defer { server.stop() }
    let transport = CurlTransport(options: .init(connectionsPerHost: 1))
    let url = try server.url("/x")
    let first = Task { try await transport.send(HTTPRequest(method: .get, url: url)) }
    await server.requests(atLeast: 1)
    let error = await #expect(throws: TransportError.self) {
      try await transport.send(HTTPRequest(method: .get, url: url, timeout: .milliseconds(200)))
    }
    #expect(error?.code == .timedOut)
    #expect(error?.mayHaveBeenSent == false)
    first.cancel()
    _ = await first.result
    #expect(server.requests.count == 1)
  }

  @Test(
    "a call that its caller has begun over a kept connection goes on without him: answered late, cancelled, beside others"
  )
  func handedOver() async throws {
    let gate = ThreadBell()
    let server = try RawServer { connection in
      while let request = connection.readRequest() {
        if request.line.hasPrefix("GET /late ") { gate.wait() }
        if request.line.hasPrefix("GET /never ") { return connection.waitForClose() }
        guard connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok") else { return }
      }
    }
    defer { server.stop() }
    let transport = CurlTransport()
    let now = HTTPRequest(method: .get, url: try server.url("/now"))
    let late = HTTPRequest(method: .get, url: try server.url("/late"))
    let never = HTTPRequest(method: .get, url: try server.url("/never"))
    for _ in 0..<20 {
      // The second finds the connection of the first, and nothing on its way: so does every call after a pause.
      for _ in 0..<10 { #expect(try await transport.send(now).status == 200) }
      let seen = server.requests.count
      let answered = Task { try await transport.send(late) }
      let cancelled = Task { try await transport.send(never) }
      await server.requests(atLeast: seen + 2)
      #expect(try await transport.send(now).status == 200)
      cancelled.cancel()
      let error = await #expect(throws: TransportError.self) { try await cancelled.value }
      #expect(error?.code == .cancelled)
      gate.ring()
      #expect(try await answered.value.status == 200)
    }
  }

  @Test("the file of authorities is trusted, and nobody else; without it the server is refused")
  func authorities() async throws {
    let identity = try TLSIdentity.throwAway(for: ["localhost", "127.0.0.1"])
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("ca-\(UUID().uuidString).pem")
    try Data(try #require(identity.authority).utf8).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    var options = HTTPFront.Options()
    options.tls = identity
    let front = HTTPFront(handler: MockAuthServer(configuration: .init()), options: options)
    let address = try front.start()
    let url = try #require(URL(string: address.url + "/me"))
    let trusting = CurlTransport(options: .init(certificateAuthorities: file.path))
    for _ in 0..<3 {
      #expect(try await trusting.send(HTTPRequest(method: .get, url: url)).status == 401)
    }
    for path in [nil, "/no/such/file"] {
      let error = await #expect(throws: TransportError.self) {
        try await CurlTransport(options: .init(certificateAuthorities: path)).send(HTTPRequest(method: .get, url: url))
      }
      #expect(error?.code == .tlsFailure)
      #expect(error?.mayHaveBeenSent == false)
    }
    await front.stop()
  }

  @Test("a server that asks for it gets the client certificate; without one there is no answer")
  func clientCertificate() async throws {
    let files = try CertificateFiles()
    defer { files.remove() }
    let server = try OpenSSLServer(files)
    defer { server.stop() }
    let url = try #require(URL(string: "https://localhost:\(server.port)/"))
    var options = CurlTransport.Options(certificateAuthorities: files.certificate)
    let error = await #expect(throws: TransportError.self) {
      try await CurlTransport(options: options).send(HTTPRequest(method: .get, url: url))
    }
    // With TLS 1.3 the server refuses after the client has begun to send.
    #expect(error?.code == .tlsFailure || error?.code == .connectionLost)
    options.clientCertificate = .init(certificateFile: files.certificate, keyFile: files.key)
    #expect(try await CurlTransport(options: options).send(HTTPRequest(method: .get, url: url)).status == 200)
    options.clientCertificate = .init(certificateFile: files.certificate, keyFile: "/no/such/key")
    let noKey = await #expect(throws: TransportError.self) {
      try await CurlTransport(options: options).send(HTTPRequest(method: .get, url: url))
    }
    #expect(noKey?.code == .tlsFailure)
    #expect(noKey?.mayHaveBeenSent == false)
  }

  @Test("every code of libcurl becomes an error that never denies what was sent")
  func codes() {
    for raw in 1..<CURL_LAST.rawValue {
      for wasSent in [true, false] {
        let error = TransportError(CURLcode(rawValue: raw), host: "h", wasSent: wasSent, detail: "")
        #expect(error.mayHaveBeenSent == wasSent)
        #expect(error.code != .cancelled)
        #expect(!error.message.isEmpty)
      }
    }
  }

  @Test("durations become milliseconds without a trap, and never libcurl's zero, which is for ever")
  func milliseconds() {
    #expect(Duration.zero.wholeMilliseconds == 1)
    #expect(Duration.seconds(-5).wholeMilliseconds == 1)
    #expect(Duration.milliseconds(1500).wholeMilliseconds == 1500)
    #expect(Duration.microseconds(1001).wholeMilliseconds == 2)
    #expect(Duration(secondsComponent: .max, attosecondsComponent: 0).wholeMilliseconds == Int(Int32.max))
    #expect(Duration(secondsComponent: .min, attosecondsComponent: 0).wholeMilliseconds == 1)
  }

  private static func gzip(_ text: String) async throws -> [UInt8] {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/gzip")
    process.arguments = ["-9n"]
    let (input, output) = (Pipe(), Pipe())
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    try input.fileHandleForWriting.write(contentsOf: Data(text.utf8))
    try input.fileHandleForWriting.close()
    return [UInt8](try output.fileHandleForReading.readToEnd() ?? Data())
  }
}

import AuthModels
import AuthNetworking
import AuthTestSupport
import Foundation
import Groundwork
import Testing

@testable import AuthNetworkingURLSession

@Suite("URLSessionTransport: what is its own")
struct URLSessionTransportTests {
  @Test(
    "every promise of a transport, but for the answers that Foundation does not stand",
    arguments: TransportContract.checks
  )
  func contract(check: ContractCheck<TransportContract.Subject>) async throws {
    try await check.run(
      .init { limits in
        URLSessionTransport(
          options: .init(
            maximumResponseBytes: limits.maximumResponseBytes, timeout: limits.timeout,
            connectionsPerHost: limits.connectionsPerHost, maximumRedirects: limits.maximumRedirects))
      })
  }

  @Test("an IPv6 address is connected to, or refused with the way out where the system takes none")
  func sixthVersion() async throws {
    let url = try #require(URL(string: "http://[::1]:1/"))
    let error = await #expect(throws: TransportError.self) {
      try await URLSessionTransport().send(HTTPRequest(method: .get, url: url))
    }
    #expect(error?.code == .cannotConnect || error?.message.contains("CurlTransport") == true)
    #expect(error?.mayHaveBeenSent == false)
  }

  @Test("a credential for loopback does not leave the machine by way of a proxy (S24)")
  func proxy() async throws {
    let server = try RawServer(answering: { _ in answer("200 OK") })
    defer { server.stop() }
    let request = HTTPRequest(method: .get, url: try server.url("/"), headers: ["Authorization": "Bearer secret"])
    func transport(_ environment: [String: String]) -> URLSessionTransport {
      URLSessionTransport(options: .init(), time: SystemClock(), tasks: TaskStarter(), environment: environment)
    }
    for name in ["http_proxy", "all_proxy", "ALL_PROXY"] {
      for exceptions in [nil, "example.com", "127.0.0.2"] {
        let error = await #expect(throws: TransportError.self) {
          try await transport([name: "http://proxy.example:3128", "no_proxy": exceptions ?? ""]).send(request)
        }
        #expect(error?.code == .insecureConnection)
        #expect(error?.mayHaveBeenSent == false)
      }
      for exceptions in ["127.0.0.1", "a.example, 127.0.0.1", "*", "127.0.0.0/8"] {
        #expect(
          try await transport([name: "http://proxy.example:3128", "no_proxy": exceptions]).send(request).status == 200)
      }
    }
    #expect(try await transport(["https_proxy": "http://proxy.example:3128"]).send(request).status == 200)
  }

  @Test("the time-out ends the wait: timedOut, and it may have been sent")
  func timeOut() async throws {
    let server = try RawServer { connection in
      _ = connection.readRequest()
      connection.waitForClose()
    }
    defer { server.stop() }
    let clock = ManualClock()
    let transport = URLSessionTransport(time: clock)
    async let outcome = transport.send(
      HTTPRequest(method: .post, url: try server.url("/x"), body: Data("x".utf8), timeout: .seconds(15)))
    await server.requests(atLeast: 1)
    await clock.sleepers(atLeast: 1)
    clock.advance(by: .seconds(15))
    do {
      _ = try await outcome
      Issue.record("an answer where none was given")
    } catch let error as TransportError {
      #expect(error.code == .timedOut)
      #expect(error.mayHaveBeenSent)
    }
  }

  @Test("the time-out is for the whole, redirects included")
  func timeOutOverRedirects() async throws {
    let clock = ManualClock()
    let server = try RawServer(answering: { _ in
      clock.advance(by: .seconds(4))
      return answer("302 Found", "", headers: ["Location: /again"])
    })
    defer { server.stop() }
    let error = await #expect(throws: TransportError.self) {
      try await URLSessionTransport(time: clock).send(
        HTTPRequest(method: .get, url: try server.url("/x"), timeout: .seconds(10)))
    }
    #expect(error?.code == .timedOut)
    #expect(server.requests.count == 3)
  }

  /// On Linux the platform traps on an answer about a redirect that comes after a cancellation: this would end the test program.
  @Test("cancelling a redirect at any moment, or finding it too large, ends no process")
  func cancelRedirects() async throws {
    let body = String(repeating: "x", count: 200_000)
    let server = try RawServer(answering: { _ in answer("302 Found", body, headers: ["Location: http://127.0.0.1:1/"])
    })
    defer { server.stop() }
    let small = URLSessionTransport(options: .init(maximumResponseBytes: 1000))
    let large = URLSessionTransport()
    for round in 0..<200 {
      let seen = server.requests.count
      let task = Task {
        try await (round % 4 == 0 ? small : large).send(HTTPRequest(method: .get, url: try server.url("/\(round)")))
      }
      while server.requests.count == seen, round % 4 != 0 { await Task.yield() }
      for _ in 0..<(round % 50) { await Task.yield() }
      if round % 4 != 0 { task.cancel() }
      switch await task.result {
      case .success(let response): #expect(response.status == 302)
      case .failure(let error):
        let code = (error as? TransportError)?.code
        #expect(round % 4 == 0 ? code == .responseTooLarge : code == .cancelled)
      }
    }
  }
}

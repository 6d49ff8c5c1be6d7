import AuthModels
import AuthNetworking
import Groundwork
import MockServerCore
import MockServerInProcess
import Testing
import VirtualTime

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

@Suite("The mock server in process, behind a transport")
struct InProcessTransportTests {
  @Test("a login and an authed call go through, with the headers that the wire would have")
  func flow() async throws {
    try await withVirtualTime { clock, tasks in
      let rig = Rig(clock, tasks)
      let tokens = try await rig.login()
      let me = try await rig.transport.send(rig.request("/me?x=%20", bearer: tokens.access))
      #expect(me.status == 200)
      #expect(String(decoding: me.body, as: UTF8.self).contains(#""email":"anna@example.com""#))
      #expect(me.headers["content-length"] == String(me.body.count))
      #expect(me.headers["Date"] == "Tue, 01 Jan 2030 00:00:00 GMT")
      var head = try rig.request("/me", bearer: tokens.access)
      head.method = .head
      let empty = try await rig.transport.send(head)
      #expect(empty.status == 200)
      #expect(empty.body.isEmpty)
      #expect(empty.headers["Content-Length"] == String(me.body.count))
      #expect(try await rig.transport.send(rig.request("/r/other/me", bearer: tokens.access)).status == 401)
      #expect(rig.server.realm("other").count(.me) == 1)
      #expect(try await rig.transport.send(rig.request("")).status == 404)
    }
  }

  typealias Fault = (action: MockAction, code: TransportError.Code?)

  @Test(
    "faults become the errors of a real transport; all of them may have been sent",
    arguments: [
      (.breaks(.close), .connectionLost), (.breaks(.reset), .connectionLost), (.breaks(.garbage), .malformedResponse),
      (.breaks(.tls), .tlsFailure), (.loseAnswer, .connectionLost),
      (.breaks(.truncate, phase: .afterCommit), .connectionLost),
      (MockAction(phase: .midBody, after: 5), .connectionLost), (MockAction(phase: .midBody, after: 1_000_000), nil),
      (.breaks(.huge), .responseTooLarge), (.breaks(.malformed, phase: .afterCommit), nil),
      (.breaks(.drip, phase: .afterCommit), nil),
    ] as [Fault])
  func faults(fault: Fault) async throws {
    try await withVirtualTime { clock, tasks in
      let rig = Rig(clock, tasks)
      let tokens = try await rig.login()
      rig.realm.script(.me, fault.action)
      let error = await rig.failure(of: try rig.request("/me", bearer: tokens.access))
      #expect(error?.code == fault.code)
      #expect(error?.mayHaveBeenSent != false)
      #expect(error.map { !"\($0)".contains(tokens.access) } != false)
      #expect(rig.realm.count(.me) == 1)
    }
  }

  @Test("plaintext into a TLS stream is garbage without TLS")
  func tlsWithoutTLS() async throws {
    try await withVirtualTime { clock, tasks in
      let rig = Rig(clock, tasks)
      rig.realm.script(.me, .breaks(.tls))
      let request = try rig.request("/me", scheme: "http")
      #expect(await rig.failure(of: request)?.code == .malformedResponse)
    }
  }

  @Test("a dripping answer takes a tenth of a second a byte, and can be too slow")
  func drip() async throws {
    try await withVirtualTime { clock, tasks in
      let rig = Rig(clock, tasks)
      let tokens = try await rig.login()
      rig.realm.script(.me, .breaks(.drip, phase: .afterCommit), .breaks(.drip, phase: .afterCommit))
      let response = try await rig.transport.send(rig.request("/me", bearer: tokens.access, timeout: .seconds(60)))
      #expect(clock.elapsed == .milliseconds(100) * response.body.count)
      let error = await rig.failure(of: try rig.request("/me", bearer: tokens.access, timeout: .seconds(2)))
      #expect(error?.code == .timedOut)
    }
  }

  @Test("without a network nothing is sent, and an answer on its way is lost")
  func offline() async throws {
    try await withVirtualTime { clock, tasks in
      let rig = Rig(clock, tasks)
      let tokens = try await rig.login()
      rig.transport.isOffline = true
      let error = await rig.failure(of: try rig.request("/me", bearer: tokens.access))
      #expect(error?.code == .cannotConnect)
      #expect(error?.mayHaveBeenSent == false)
      #expect(rig.realm.count(.me) == 0)
      rig.transport.isOffline = false
      rig.realm.script(.me, .delay(.fixed(.seconds(5))))
      tasks.start {
        do { try await clock.sleep(for: .seconds(1)) } catch { Issue.record("\(error)") }
        rig.transport.isOffline = true
      }
      let lost = await rig.failure(of: try rig.request("/me", bearer: tokens.access))
      #expect(lost?.code == .connectionLost)
      #expect(lost?.mayHaveBeenSent == true)
      #expect(rig.realm.count(.me, .ok) == 1)
    }
  }

  @Test("connection faults strike one request each")
  func connections() async throws {
    try await withVirtualTime { clock, tasks in
      let rig = Rig(clock, tasks)
      rig.server.failConnections(.refuse, count: 1)
      rig.server.failConnections(.failHandshake, count: 1)
      let refused = await rig.failure(of: try rig.request("/me"))
      #expect(refused?.code == .cannotConnect)
      #expect(refused?.mayHaveBeenSent == false)
      let handshake = await rig.failure(of: try rig.request("/me"))
      #expect(handshake?.code == .tlsFailure)
      #expect(handshake?.mayHaveBeenSent == false)
      #expect(try await rig.failure(of: rig.request("/me")) == nil)
      #expect(rig.realm.count(.me) == 1)
    }
  }

  @Test("a time-out is over for the client at its instant; the server completes the request")
  func timeout() async throws {
    try await withVirtualTime { clock, tasks in
      let rig = Rig(clock, tasks)
      let tokens = try await rig.login()
      rig.realm.script(.refresh, .delay(.fixed(.seconds(30))))
      let error = await rig.failure(of: try rig.refreshRequest(tokens.refresh, timeout: .seconds(10)))
      #expect(error?.code == .timedOut)
      #expect(error?.mayHaveBeenSent == true)
      #expect(clock.elapsed == .seconds(10))
      #expect(rig.realm.count(.refresh, .rotated) == 1)
      let reused = try await rig.transport.send(rig.refreshRequest(tokens.refresh))
      #expect(String(decoding: reused.body, as: UTF8.self).contains("reused"))
    }
  }

  @Test("an answer in time leaves no sleeper behind")
  func noLeftovers() async throws {
    try await withVirtualTime { clock, tasks in
      let rig = Rig(clock, tasks)
      rig.realm.script(.me, .delay(.fixed(.seconds(1))))
      _ = try await rig.transport.send(rig.request("/me"))
      #expect(clock.elapsed == .seconds(1))
      try await clock.sleep(for: .milliseconds(1))
      #expect(clock.sleeperCount == 0)
    }
  }

  @Test("cancellation ends the wait at once; the server completes the request")
  func cancellation() async throws {
    try await withVirtualTime { clock, tasks in
      let rig = Rig(clock, tasks)
      let tokens = try await rig.login()
      rig.realm.script(.refresh, .hold("x"))
      let request = try rig.refreshRequest(tokens.refresh)
      let waiting = tasks.start { await rig.failure(of: request) }
      #expect(await rig.realm.waitForCount(MockJournalFilter(operation: .refresh), atLeast: 1) == 1)
      waiting.cancel()
      let error = await waiting.value
      #expect(error?.code == .cancelled)
      #expect(error?.mayHaveBeenSent == true)
      #expect(rig.realm.count(.refresh, .rotated) == 1)
      #expect(rig.realm.release(hold: "x") == 1)

      let early = tasks.start {
        withUnsafeCurrentTask { $0?.cancel() }
        return await rig.failure(of: request)
      }
      let unsent = await early.value
      #expect(unsent?.code == .cancelled)
      #expect(unsent?.mayHaveBeenSent == false)
      #expect(rig.realm.count(.refresh) == 1)
    }
  }

  @Test(
    "delays of the server pass on the client's timeline, tokens age with it, and a wrong wall clock does not matter")
  func oneTime() async throws {
    try await withVirtualTime { clock, tasks in
      let rig = Rig(clock, tasks, policy: MockPolicy(accessTTL: .seconds(60)))
      let tokens = try await rig.login()
      rig.realm.script(.me, .delay(.fixed(.seconds(59))))
      #expect(try await rig.transport.send(rig.request("/me", bearer: tokens.access)).status == 200)
      #expect(clock.elapsed == .seconds(59))
      try await clock.sleep(for: .seconds(1))
      #expect(try await rig.transport.send(rig.request("/me", bearer: tokens.access)).status == 401)
      clock.jumpWallClock(by: .seconds(86400 * 365))
      let fresh = try await rig.login()
      let me = try await rig.transport.send(rig.request("/me", bearer: fresh.access))
      #expect(me.headers["Date"] == "Tue, 01 Jan 2030 00:01:00 GMT")
    }
  }

  @Test("a gate loses requests before, and answers after, the operation")
  func gate() async throws {
    try await withVirtualTime { clock, tasks in
      let plan = Guarded<(request: MessageFate, answer: MessageFate)>((.arrives, .arrives))
      let gate = MessageGate(
        request: { _ in
          do { try await clock.sleep(for: .seconds(1)) } catch { return .lost }
          return plan.withLock { $0.request }
        },
        answer: { _, _ in
          do { try await clock.sleep(for: .seconds(2)) } catch { return .lost }
          return plan.withLock { $0.answer }
        })
      let rig = Rig(clock, tasks, gate: gate)
      let tokens = try await rig.login()
      #expect(clock.elapsed == .seconds(3))
      let request = try rig.refreshRequest(tokens.refresh)
      plan.withLock { $0.request = .lost }
      let before = await rig.failure(of: request)
      #expect(before?.code == .connectionLost)
      #expect(before?.mayHaveBeenSent == true)
      #expect(rig.realm.count(.refresh) == 0)
      plan.withLock { $0 = (.arrives, .lost) }
      #expect(await rig.failure(of: request)?.code == .connectionLost)
      #expect(rig.realm.count(.refresh, .rotated) == 1)
    }
  }

  @Test("a hundred parallel calls are answered once each")
  func parallel() async throws {
    try await withVirtualTime { clock, tasks in
      let rig = Rig(clock, tasks)
      let tokens = try await rig.login()
      rig.realm.script(
        MockScript(
          .operation(.me), [.delay(.uniform(min: .milliseconds(1), max: .seconds(2)))], then: .repeat))
      let request = try rig.request("/me", bearer: tokens.access)
      let statuses = await withTaskGroup(of: Int?.self) { group in
        for _ in 0..<100 {
          group.addTask {
            do { return try await rig.transport.send(request).status } catch { return nil }
          }
        }
        return await group.reduce(into: []) { $0.append($1) }
      }
      #expect(statuses == Array(repeating: 200, count: 100))
      #expect(clock.elapsed < .seconds(2))
      #expect(rig.realm.count(.me, .ok) == 100)
    }
  }

  @Test(
    "requests that cannot be sent are refused before they are",
    arguments: ["ftp://mock.test/me", "/me", "https:///me", "mailto:a@b.example"])
  func invalid(url: String) async throws {
    let server = MockAuthServer()
    let transport = InProcessTransport(server: server)
    let request = HTTPRequest(method: .get, url: try #require(URL(string: url)))
    await #expect(throws: TransportError.self) { try await transport.send(request) }
    #expect(server.realm().journal().isEmpty)
  }

  @Test("an event stream is refused rather than waited for")
  func stream() async throws {
    let transport = InProcessTransport(server: MockAuthServer())
    let request = HTTPRequest(method: .get, url: try #require(URL(string: "http://localhost/__mock/events")))
    await #expect(throws: TransportError.self) { try await transport.send(request) }
  }
}

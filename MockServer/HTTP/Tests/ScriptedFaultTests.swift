import Groundwork
import MockServerCore
import Testing

@testable import MockServerHTTP

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

@Suite("Every scripted fault, at the socket, plain and under TLS")
struct ScriptedFaultTests {
  private static let both = [false, true]

  /// Scripts the next `me` over the wire, asks for it, and gives what came.
  private func me(_ action: String, tls: Bool) async throws -> (answer: WireAnswer, entry: MockJournalEntry?) {
    try await ScriptedServer.run(tls: tls) { server in
      try await onThread {
        let token = try server.tokens().accessToken
        try server.script(#"{"operation":"me","actions":[\#(action)]}"#)
        let answer = try server.ask("GET", "/me", token: token)
        return (answer, server.realm.journal().last)
      }
    }
  }

  @Test("close is an end without a byte", arguments: both)
  func close(tls: Bool) async throws {
    let (answer, entry) = try await me(#"{"break":"close"}"#, tls: tls)
    #expect(answer.text.isEmpty && answer.ending == .finished)
    #expect(entry?.outcome == .lost && entry?.fault == .close)
  }

  @Test("reset is RST without a byte", arguments: both)
  func reset(tls: Bool) async throws {
    let (answer, entry) = try await me(#"{"break":"reset"}"#, tls: tls)
    #expect(answer.text.isEmpty && answer.ending == .reset)
    #expect(entry?.fault == .reset)
  }

  @Test("truncate promises more than it brings", arguments: both)
  func truncate(tls: Bool) async throws {
    let (answer, _) = try await me(#"{"break":"truncate","phase":"after-commit","after":10}"#, tls: tls)
    #expect(answer.status == 200 && answer.body.utf8.count == 10 && answer.ending == .finished)
    #expect((answer.length ?? 0) > 10)
  }

  @Test("mid-body lets so many bytes of the real answer through, then FIN or RST", arguments: both)
  func midBody(tls: Bool) async throws {
    for (kind, ending) in [("close", WireAnswer.Ending.finished), ("reset", .reset)] {
      let (answer, entry) = try await me(#"{"phase":"mid-body","after":7,"break":"\#(kind)"}"#, tls: tls)
      #expect(answer.body.utf8.count == 7 && answer.body.hasPrefix("{\"id\":") && answer.ending == ending)
      #expect(entry?.outcome == .ok && entry?.status == 200)
    }
  }

  @Test("malformed is a whole answer with half of its JSON, wrong-type is JSON of other types", arguments: both)
  func bodies(tls: Bool) async throws {
    let half = try await me(#"{"break":"malformed","phase":"after-commit"}"#, tls: tls).answer
    #expect(half.status == 200 && half.length == half.body.utf8.count && half.ending == .finished)
    #expect(throws: (any Error).self) { try JSONDecoder().decode(JSONValue.self, from: Data(half.body.utf8)) }
    let wrong = try await me(#"{"break":"wrong-type","phase":"after-commit"}"#, tls: tls).answer
    let json = try JSONDecoder().decode(JSONValue.self, from: Data(wrong.body.utf8))
    #expect(json["username"] == 4 && json["email"] == 16)
  }

  @Test("huge is 64 MiB of JSON, and all of it arrives", arguments: both)
  func huge(tls: Bool) async throws {
    let (answer, _) = try await me(#"{"break":"huge"}"#, tls: tls)
    #expect(answer.body.utf8.count > 64 << 20 && answer.body.utf8.count == answer.length)
    #expect(answer.body.hasSuffix("xxx\"}") && answer.ending == .finished)
  }

  @Test("garbage is bytes that are no HTTP, inside TLS if there is TLS", arguments: both)
  func garbage(tls: Bool) async throws {
    let (answer, _) = try await me(#"{"break":"garbage"}"#, tls: tls)
    #expect(!answer.text.isEmpty && !answer.text.contains("HTTP/") && answer.ending == .finished)
  }

  @Test("tls is plaintext where TLS is expected; without TLS it is garbage", arguments: both)
  func plaintext(tls: Bool) async throws {
    let (answer, entry) = try await me(#"{"break":"tls"}"#, tls: tls)
    #expect(entry?.fault == .tls)
    if tls {
      #expect(answer.text.isEmpty && answer.ending == .broken)
    } else {
      #expect(!answer.text.isEmpty && !answer.text.contains("HTTP/") && answer.ending == .finished)
    }
  }

  @Test("drip brings a byte at a time", arguments: both)
  func drip(tls: Bool) async throws {
    let (answer, _) = try await me(#"{"body":"drops","break":"drip"}"#, tls: tls)
    #expect(answer.body == "drops" && answer.ending == .finished)
    // Head, then five bytes 100 ms apart: a busy machine may join some of them, never all.
    #expect(answer.pieces >= 3, "\(answer.pieces)")
  }

  @Test("a rotation is committed and its answer lost, in each way in which an answer can be lost", arguments: both)
  func lostRotation(tls: Bool) async throws {
    try await ScriptedServer.run(tls: tls) { server in
      try await onThread {
        server.realm.policy.rotation = .strict
        for kind in ["close", "reset", "garbage", "tls"] {
          let refresh = #"{"refreshToken":"\#(try server.tokens().refreshToken)"}"#
          try server.script(#"{"operation":"refresh","actions":[{"phase":"after-commit","break":"\#(kind)"}]}"#)
          let lost = try server.ask("POST", "/auth/refresh", refresh)
          #expect(lost.status == nil && server.realm.journal().last?.outcome == .rotated, "\(kind)")
          // It was done: the same token once more is reuse.
          let again = try server.ask("POST", "/auth/refresh", refresh)
          #expect(again.status == 401 && server.realm.journal().last?.outcome == .reuseDetected, "\(kind)")
        }
      }
    }
  }

  @Test("the next connections fail at the handshake, or are refused, exactly as many as was said", arguments: both)
  func connections(tls: Bool) async throws {
    try await ScriptedServer.run(tls: tls) { server in
      try await onThread { () throws in
        for what in ["failHandshakes", "refuse"] {
          #expect(try server.ask("POST", "/__mock/connections", #"{"\#(what)":3}"#).status == 204)
          for _ in 0..<3 {
            if tls {
              #expect(throws: RawClient.Failure.self, "\(what)") { try server.connect() }
            } else {
              // Nothing is written: a write would take the error that the read is to see.
              #expect(try server.connect().readAll().ending == .reset, "\(what)")
            }
          }
          #expect(try server.ask("GET", "/me").status == 401, "\(what)")
        }
        // What failed before any request is in nobody's journal.
        #expect(server.realm.journal().map(\.status) == [401, 401])
      }
    }
  }

  @Test("the 38th of 100 parallel requests gets the fault, and no other; the 101st finds the script used up")
  func parallel() async throws {
    try await ScriptedServer.run(tls: false) { server in
      let token = try server.tokens().accessToken
      try await onThread {
        try server.script(
          #"{"operation":"me","actions":[{"times":37},{"status":503},{"times":60},{"break":"reset","times":2}],"then":"fail"}"#
        )
      }
      let answers = try await withThrowingTaskGroup(of: WireAnswer.self) { group in
        for _ in 0..<100 { group.addTask { try await onThread { try server.ask("GET", "/me", token: token) } } }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(answers.count { $0.status == 200 } == 97)
      #expect(answers.count { $0.status == 503 } == 1)
      #expect(answers.count { $0.ending == .reset && $0.text.isEmpty } == 2)
      let entries = server.realm.journal()
      #expect(entries.count == 100 && entries[37].status == 503)
      #expect(entries.suffix(2).allSatisfy { $0.fault == .reset })
      let next = try await onThread { try server.ask("GET", "/me", token: token) }
      #expect(next.status == 500 && next.body.contains("script_exhausted"))
    }
  }

  @Test("a held answer waits at the socket until it is released over the admin API", arguments: both)
  func hold(tls: Bool) async throws {
    try await ScriptedServer.run(tls: tls) { server in
      try await onThread {
        let token = try server.tokens().accessToken
        try server.script(#"{"operation":"me","actions":[{"hold":"h","times":2}]}"#)
        let (first, second) = (try server.connect(), try server.connect())
        for client in [first, second] { client.send(ScriptedServer.request("GET", "/me", token: token)) }
        let both = try server.ask("GET", "/__mock/journal/count?operation=me&wait=2&timeout=20s")
        #expect(both.body == #"{"count":2}"#)
        #expect(try server.ask("GET", "/__mock/state").body.contains(#""held":{"h":2}"#))
        #expect(try server.ask("POST", "/__mock/release", #"{"hold":"h","count":1}"#).body == #"{"released":1}"#)
        #expect(first.readAll().status == 200)
        #expect(try server.ask("GET", "/__mock/state").body.contains(#""held":{"h":1}"#))
        #expect(try server.ask("POST", "/__mock/release", #"{"hold":"h"}"#).body == #"{"released":1}"#)
        #expect(second.readAll().status == 200)
      }
    }
  }
}

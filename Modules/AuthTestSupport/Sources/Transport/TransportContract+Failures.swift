internal import AuthModels
internal import AuthNetworking
internal import Groundwork

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

extension TransportContract {
  /// An answer that is none, and what may be made of it.
  private struct Broken: Sendable {
    var name: String
    var bytes: String
    var codes: Set<TransportError.Code>

    init(_ name: String, _ bytes: String, _ codes: Set<TransportError.Code>) {
      self.name = name
      self.bytes = bytes
      self.codes = codes
    }
  }

  private static var broken: [Broken] {
    let ok = "HTTP/1.1 200 OK\r\n"
    let either: Set<TransportError.Code> = [.connectionLost, .malformedResponse]
    return [
      Broken("closed without a word", "", [.connectionLost]),
      Broken("garbage", "\u{1}\u{2}lorem ipsum\r\n\r\n", either),
      Broken("half a status line", "HTTP/1.1 20", either),
      Broken("1xx alone", "HTTP/1.1 100 Continue\r\n\r\n", either),
      Broken("two lengths", ok + "Content-Length: 1\r\nContent-Length: 2\r\n\r\nxy", [.malformedResponse]),
      Broken("a field without a name", ok + ": b\r\n\r\n", either),
      Broken("status zero", "HTTP/1.1 000 No\r\nContent-Length: 0\r\n\r\n", either),
      Broken("status 999999", "HTTP/1.1 999999 No\r\nContent-Length: 0\r\n\r\n", either),
      Broken("status 700", "HTTP/1.1 700 No\r\nContent-Length: 0\r\n\r\n", [.malformedResponse]),
      Broken("truncated body", ok + "Content-Length: 100\r\n\r\nshort", [.connectionLost]),
      Broken("truncated chunk", ok + "Transfer-Encoding: chunked\r\n\r\n64\r\nshort", [.connectionLost]),
      Broken("bad chunk size", ok + "Transfer-Encoding: chunked\r\n\r\nzz\r\nshort", either),
      Broken(
        "length too large for any number", ok + "Content-Length: 99999999999999999999999\r\n\r\nx",
        either.union([.responseTooLarge])),
      Broken("negative length", ok + "Content-Length: -5\r\n\r\nx", either),
      Broken("bad gzip", ok + "Content-Encoding: gzip\r\nContent-Length: 5\r\n\r\nhello", either),
    ]
  }

  /// Answers once with these bytes and closes; no whole answer may come of it, whatever the method.
  private static func checkBroken(_ answer: Broken, _ subject: Subject) async throws {
    let server = try RawServer { connection in
      _ = connection.readRequest()
      connection.write(answer.bytes)
    }
    try await withServer(server) { server in
      for method in [HTTPMethod.get, .post] {
        let place = "\(answer.name), \(method.rawValue)"
        let error = try await subject.failure(
          HTTPRequest(method: method, url: server.url("/x"), body: method == .post ? Data("x".utf8) : nil), place)
        try require(answer.codes.contains(error.code), "\(place): \(error.code)")
        try require(error.mayHaveBeenSent, "\(place): it was sent")
      }
    }
  }

  static var strictChecks: [ContractCheck<Subject>] {
    [
      .init("interim answers are passed over") { subject in
        let server = try RawServer(answering: { _ in
          "HTTP/1.1 103 Early Hints\r\nX-Early: 1\r\n\r\n" + answer("200 OK", "late", headers: ["X-Late: 1"])
        })
        try await withServer(server) { server in
          let response = try await subject.send(HTTPRequest(method: .get, url: server.url("/x")))
          try require(response.status == 200 && response.headers["X-Late"] == "1", "\(response)")
          try requireText(response, "late", "after 103")
        }
      },
      .init("a connection that ends inside the header section is no answer") { subject in
        for bytes in [
          "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Le", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n",
          "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r", "HTTP/1.1 503 Down",
        ] {
          try await checkBroken(
            Broken("\(bytes.utf8.count) bytes", bytes, [.connectionLost, .malformedResponse]), subject)
        }
      },
      .init("trailer fields after a chunked body are dropped and change nothing") { subject in
        let server = try RawServer(answering: { _ in
          "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Late\r\nX-Kind: a\r\n\r\n"
            + "5\r\nhello\r\n0\r\nX-Late: b\r\nX-Kind: evil\r\nContent-Length: 3\r\n\r\n"
        })
        try await withServer(server) { server in
          let transport = subject.make(Limits())
          for _ in 0..<2 {
            let response = try await transport.send(HTTPRequest(method: .get, url: server.url("/")))
            try requireText(response, "hello", "trailers")
            try require(response.headers["X-Kind"] == "a", "\(response.headers)")
            try require(response.headers["X-Late"] == nil, "\(response.headers)")
          }
        }
      },
      .init("a length near the end of the numbers is too large, and nothing else") { subject in
        for length in ["9223372036854775807", "9223372036854775296", "9223372036854775808", "18446744073709551615"] {
          let answer = Broken(length, "HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\n\r\nx", [.responseTooLarge])
          try await checkBroken(answer, subject)
        }
      },
    ]
  }

  static var failureChecks: [ContractCheck<Subject>] {
    [
      .init("nobody listens: cannotConnect, nothing was sent, and the message holds no secret") { subject in
        let server = try RawServer(answering: { _ in nil })
        server.stop()
        let error = try await subject.failure(
          HTTPRequest(
            method: .post, url: server.url("/x?token=secret"), body: Data("secret".utf8), hasCredentialBody: true),
          "nobody listens")
        try require(error.code == .cannotConnect && !error.mayHaveBeenSent, "\(error.code)")
        try require(!"\(error)".contains("secret"), "\(error)")
      },
      .init("a host that does not exist: cannotConnect, and nothing was sent") { subject in
        guard let url = URL(string: "http://does-not-exist.invalid/x") else { throw ContractFailure("no URL") }
        let error = try await subject.failure(HTTPRequest(method: .get, url: url), "no such host")
        try require(error.code == .cannotConnect && !error.mayHaveBeenSent, "\(error.code)")
      },
      .init("no https at the other end: tlsFailure, and nothing was sent") { subject in
        let server = try RawServer { connection in connection.write("HTTP/1.1 400 Bad\r\n\r\n") }
        try await withServer(server) { server in
          let error = try await subject.failure(
            HTTPRequest(method: .get, url: server.url("/", scheme: "https")), "no https")
          try require(error.code == .tlsFailure && !error.mayHaveBeenSent, "\(error.code)")
        }
      },
      .init("what is no whole answer is an error, never a trap and never half an answer") { subject in
        for answer in broken { try await checkBroken(answer, subject) }
      },
      .init("a reset before the answer: connectionLost") { subject in
        let server = try RawServer { connection in
          _ = connection.readRequest()
          connection.reset()
        }
        try await withServer(server) { server in
          let error = try await subject.failure(
            HTTPRequest(method: .post, url: server.url("/x"), body: Data("x".utf8)), "reset")
          try require(error.code == .connectionLost && error.mayHaveBeenSent, "\(error.code)")
        }
      },
      .init("a kept connection that dies: what is not idempotent is sent once, the rest gets its answer (S12)") {
        subject in
        for method in ["POST", "PATCH", "PUT", "DELETE", "GET"] {
          for isCredential in [true, false] { try await checkDeadConnection(method, isCredential, subject) }
        }
      },
      .init("more than the limit: responseTooLarge, announced or not; exactly the limit is taken") { subject in
        for head in ["Content-Length: 1000000000", "Connection: close"] {
          let server = try RawServer { connection in
            guard connection.readRequest() != nil else { return }
            connection.write("HTTP/1.1 200 OK\r\n\(head)\r\n\r\n")
            let part = [UInt8](repeating: 0x61, count: 65_536)
            // 32 MiB at most: how soon the transport hangs up depends on how busy the machine is.
            for _ in 0..<512 where !connection.write(part) { return }
          }
          try await withServer(server) { server in
            let error = try await subject.failure(
              HTTPRequest(method: .get, url: server.url("/x")), head, limits: .init(maximumResponseBytes: 100_000))
            try require(error.code == .responseTooLarge, "\(head): \(error.code)")
          }
        }
        let server = try RawServer(answering: { request in
          answer("200 OK", String(repeating: "a", count: request.line.contains("/more") ? 1001 : 1000))
        })
        try await withServer(server) { server in
          let limits = Limits(maximumResponseBytes: 1000)
          let whole = try await subject.make(limits).send(HTTPRequest(method: .get, url: server.url("/x")))
          try require(whole.body.count == 1000, "\(whole.body.count) bytes")
          let error = try await subject.failure(
            HTTPRequest(method: .get, url: server.url("/more")), "one byte more", limits: limits)
          try require(error.code == .responseTooLarge, "one byte more: \(error.code)")
        }
      },
      .init("a header section without an end is too large") { subject in
        let server = try RawServer { connection in
          guard connection.readRequest() != nil else { return }
          connection.write("HTTP/1.1 200 OK\r\n")
          let part = Array("X-More: \(String(repeating: "a", count: 1000))\r\n".utf8)
          for _ in 0..<20_000 where !connection.write(part) { return }
        }
        try await withServer(server) { server in
          let error = try await subject.failure(HTTPRequest(method: .get, url: server.url("/")), "endless head")
          try require([.responseTooLarge, .malformedResponse, .connectionLost].contains(error.code), "\(error.code)")
        }
      },
      .init("the time-out ends the wait: timedOut, and it may have been sent") { subject in
        let server = try RawServer { connection in
          _ = connection.readRequest()
          connection.waitForClose()
        }
        try await withServer(server) { server in
          let error = try await subject.failure(
            HTTPRequest(method: .post, url: server.url("/x"), body: Data("x".utf8), timeout: .milliseconds(400)),
            "no answer")
          try require(error.code == .timedOut, "\(error.code)")
          // On a busy machine the time may run out before anything has left.
          try require(error.mayHaveBeenSent || server.requests.isEmpty, "it was sent")
        }
      },
    ]
  }

  private static func checkDeadConnection(_ method: String, _ isCredential: Bool, _ subject: Subject) async throws {
    // Answers the first request of a connection, and drops the connection at the second.
    let server = try RawServer { connection in
      guard connection.readRequest() != nil else { return }
      connection.write(answer("200 OK", "first"))
      _ = connection.readRequest()
    }
    try await withServer(server) { server in
      let place = "\(method)\(isCredential ? " with a credential" : "")"
      let transport = subject.make(Limits())
      _ = try await transport.send(HTTPRequest(method: .get, url: server.url("/warm")))
      let request = HTTPRequest(
        method: HTTPMethod(rawValue: method), url: try server.url("/x"),
        body: method == "GET" ? nil : Data("token".utf8), hasCredentialBody: isCredential)
      for _ in 0..<2 {
        let response = try await transport.send(request)
        try require(response.status == 200, "\(place): \(response.status)")
      }
      let sent = server.requests.filter { $0.line.contains("/x") }.count
      let isRight = method == "GET" && !isCredential ? sent >= 2 : sent == 2
      try require(isRight, "\(place): sent \(sent) times for 2 calls")
    }
  }
}

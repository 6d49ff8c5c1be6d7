internal import AuthModels
internal import AuthNetworking
internal import Groundwork

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

extension TransportContract {
  static var exchangeChecks: [ContractCheck<Subject>] {
    [
      .init("method, target, header fields and body arrive byte for byte") { subject in
        for method in ["POST", "PUT", "PATCH", "DELETE"] {
          let server = try RawServer(answering: { _ in answer("200 OK", "hello", headers: ["X-Kind: a"]) })
          try await withServer(server) { server in
            let body = Data((0..<5000).map { UInt8($0 % 256) })
            let response = try await subject.send(
              HTTPRequest(
                method: HTTPMethod(rawValue: method), url: server.url("/a%20b/c%2Fd?x=1%262&y=%C3%A4"),
                headers: ["Authorization": "Bearer t", "Content-Type": "application/json", "X-Mine": "yes"], body: body
              ))
            try require(response.status == 200 && response.headers["x-kind"] == "a", "\(method): \(response)")
            try requireText(response, "hello", method)
            try require(server.requests.count == 1, "\(method): \(server.requests.count) requests")
            let request = server.requests[0]
            try require(request.line == "\(method) /a%20b/c%2Fd?x=1%262&y=%C3%A4 HTTP/1.1", request.line)
            for (name, value) in [
              ("Authorization", "Bearer t"), ("Content-Type", "application/json"), ("X-Mine", "yes"),
              ("Host", "127.0.0.1:\(server.port)"),
            ] {
              try require(request.field(name) == value, "\(method): \(name) is \(request.field(name) ?? "not there")")
            }
            try require(request.body == body, "\(method): the body differs")
          }
        }
      },
      .init("a POST without a body says so with Content-Length: 0") { subject in
        let server = try RawServer(answering: { _ in answer("204 No Content") })
        try await withServer(server) { server in
          for body in [nil, Data()] {
            let response = try await subject.send(HTTPRequest(method: .post, url: server.url("/x"), body: body))
            try require(response.status == 204 && response.body.isEmpty, "\(response)")
            try require(server.requests.last?.field("Content-Length") == "0", server.requests.last?.head ?? "")
          }
        }
      },
      .init("a body is never called a form behind the caller's back, and a large one is not held back") { subject in
        let server = try RawServer(answering: { _ in answer("200 OK") })
        try await withServer(server) { server in
          _ = try await subject.send(
            HTTPRequest(method: .post, url: server.url("/x"), body: Data(repeating: 0x61, count: 2_000_000)))
          let request = server.requests.last
          try require(request?.field("Content-Type") == "application/octet-stream", request?.head ?? "")
          try require(request?.field("Expect") == nil, request?.head ?? "")
          try require(request?.body.count == 2_000_000, "\(request?.body.count ?? 0) bytes")
        }
      },
      .init("a body where HTTP gives it no meaning is refused, not dropped; so is a user in the URL") { subject in
        let server = try RawServer(answering: { _ in answer("200 OK") })
        try await withServer(server) { server in
          for method in ["GET", "HEAD", "TRACE"] {
            let error = try await subject.failure(
              HTTPRequest(method: HTTPMethod(rawValue: method), url: server.url("/x"), body: Data("x".utf8)), method)
            try require(error.code == .invalidRequest && !error.mayHaveBeenSent, "\(method): \(error.code)")
          }
          for text in [
            "http://u:p@127.0.0.1:\(server.port)/", "http://u@127.0.0.1:\(server.port)/", "file:///etc/passwd",
          ] {
            guard let url = URL(string: text) else { throw ContractFailure("no URL: \(text)") }
            let error = try await subject.failure(HTTPRequest(method: .get, url: url), text)
            try require(error.code == .invalidRequest && !error.mayHaveBeenSent, "\(text): \(error.code)")
          }
          try require(server.connectionCount == 0, "something was sent")
        }
      },
      .init("HEAD gives the head and no body") { subject in
        let server = try RawServer(answering: { _ in "HTTP/1.1 200 OK\r\nContent-Length: 500\r\nETag: q\r\n\r\n" })
        try await withServer(server) { server in
          let response = try await subject.send(HTTPRequest(method: .head, url: server.url("/x")))
          try require(response.status == 200 && response.headers["ETag"] == "q" && response.body.isEmpty, "\(response)")
        }
      },
      .init("an answer of any status is an answer, its body included") { subject in
        for status in [
          "200 OK", "201 Created", "400 Bad", "403 No", "404 Gone", "407 Proxy", "418 Tea", "429 Slow", "503 Down",
        ] {
          let server = try RawServer(answering: { _ in answer(status, "{\"a\":1}") })
          try await withServer(server) { server in
            let response = try await subject.send(HTTPRequest(method: .get, url: server.url("/x")))
            try require("\(response.status)" == status.prefix(3), "\(status): \(response.status)")
            try requireText(response, "{\"a\":1}", status)
          }
        }
      },
      .init("a 401 with any challenge comes through, and the resend with a body neither traps nor hangs") { subject in
        for challenge in [
          nil, "Bearer error=\"invalid_token\", error_description=\"expired\"", "Basic realm=\"x\"",
          "Digest realm=\"x\", nonce=\"y\", qop=\"auth\"", "Negotiate", "Bearer", "", "Basic", ",,,=",
        ] {
          try await checkChallenge(challenge, subject)
        }
      },
      .init("cookies are neither kept nor sent, and an answer that may be cached is asked for again") { subject in
        let server = try RawServer(answering: { _ in
          answer("200 OK", "", headers: ["Set-Cookie: a=b; Path=/", "Cache-Control: max-age=3600"])
        })
        try await withServer(server) { server in
          let transport = subject.make(Limits())
          for _ in 0..<2 { _ = try await transport.send(HTTPRequest(method: .get, url: server.url("/"))) }
          try require(server.requests.count == 2, "\(server.requests.count) requests")
          try require(server.requests.allSatisfy { $0.field("Cookie") == nil }, "a cookie was sent")
        }
      },
      .init("a field's value that breaks the line never leaves, nor does what sets the framing") { subject in
        let server = try RawServer(answering: { _ in answer("200 OK") })
        try await withServer(server) { server in
          let bad: [HTTPFields] = [
            ["X-A": "b\r\nX-C: d"], ["X-A": "b\nc"], ["X-A": "\0"], ["X A": "b"], ["": "b"], ["X:A": "b"],
            ["Content-Length": "3"], ["Transfer-Encoding": "chunked"], ["Host": "other"],
          ]
          for headers in bad {
            let error = try await subject.failure(
              HTTPRequest(method: .get, url: server.url("/"), headers: headers), "\(headers)")
            try require(error.code == .invalidRequest && !error.mayHaveBeenSent, "\(headers): \(error.code)")
          }
          try require(server.connectionCount == 0, "something was sent")
        }
      },
      .init("chunked answers are put together") { subject in
        let server = try RawServer(answering: { _ in
          "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n"
        })
        try await withServer(server) { server in
          try requireText(
            try await subject.send(HTTPRequest(method: .get, url: server.url("/"))), "hello world", "chunked")
        }
      },
      .init("an answer without a length ends with its connection") { subject in
        let server = try RawServer { connection in
          guard connection.readRequest() != nil else { return }
          connection.write("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nto the end")
        }
        try await withServer(server) { server in
          try requireText(
            try await subject.send(HTTPRequest(method: .get, url: server.url("/"))), "to the end", "without length")
        }
      },
    ]
  }

  private static func checkChallenge(_ challenge: String?, _ subject: Subject) async throws {
    let place = "WWW-Authenticate: \(challenge ?? "none")"
    let server = try RawServer(answering: { request in
      request.field("Authorization") == "Bearer new"
        ? answer("200 OK", "{}")
        : answer("401 Unauthorized", "{\"no\":1}", headers: challenge.map { ["WWW-Authenticate: \($0)"] } ?? [])
    })
    try await withServer(server) { server in
      let transport = subject.make(Limits())
      for method in [HTTPMethod.put, .post] {
        var request = HTTPRequest(
          method: method, url: try server.url("/x"), headers: ["Authorization": "Bearer old"],
          body: Data("{\"text\":1}".utf8))
        let refused = try await transport.send(request)
        try require(refused.status == 401, "\(place): \(refused.status)")
        try requireText(refused, "{\"no\":1}", place)
        request.headers["Authorization"] = "Bearer new"
        let accepted = try await transport.send(request)
        try require(accepted.status == 200, "\(place): \(accepted.status) with the new token")
      }
      try require(server.requests.count == 4, "\(place): \(server.requests.count) requests")
      try require(server.requests.allSatisfy { $0.body == Data("{\"text\":1}".utf8) }, "\(place): a body differs")
    }
  }
}

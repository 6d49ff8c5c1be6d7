internal import AuthModels
internal import AuthNetworking
internal import Groundwork

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

extension TransportContract {
  private static let statuses = ["301 Moved", "302 Found", "303 See", "307 Temporary", "308 Permanent"]

  private static func redirecting(
    _ status: String = "302 Found", to location: @escaping @Sendable () -> String
  ) throws -> RawServer {
    try RawServer(answering: { request in
      request.line.contains("/start")
        ? answer(status, "moved", headers: ["Location: \(location())"]) : answer("200 OK", "arrived")
    })
  }

  static var redirectChecks: [ContractCheck<Subject>] {
    [
      .init("a redirect to another port is returned, and its target hears nothing (S24)") { subject in
        let other = try RawServer(answering: { _ in answer("200 OK", "stolen") })
        try await withServer(other) { other in
          let target = "\(try other.url("/take"))"
          for status in statuses {
            try await withServer(redirecting(status, to: { target })) { server in
              for headers in [["Authorization": "Bearer secret"], ["Cookie": "a=b"], [:]] as [HTTPFields] {
                let response = try await subject.send(
                  HTTPRequest(method: .get, url: server.url("/start"), headers: headers))
                try require("\(response.status)" == status.prefix(3), "\(status): \(response.status)")
                try require(response.headers["Location"] == target, "\(status): \(response.headers)")
                try requireText(response, "moved", status)
              }
            }
          }
          try require(other.connectionCount == 0, "the target was asked")
        }
      },
      .init("a redirect to another host name for the same machine, or another scheme, is returned (S24)") { subject in
        for (start, end) in [
          ("http://localhost:", "/x"), ("https://127.0.0.1:", "/x"), ("//localhost:", "/x"),
          ("http://u:p@127.0.0.1:", "/x"), ("ftp://127.0.0.1:", "/"),
        ] {
          let port = Guarded<UInt16>(0)
          try await withServer(redirecting(to: { "\(start)\(port.withLock { $0 })\(end)" })) { server in
            port.withLock { $0 = server.port }
            let response = try await subject.send(
              HTTPRequest(method: .get, url: server.url("/start"), headers: ["Authorization": "Bearer secret"]))
            try require(response.status == 302, "\(start): \(response.status)")
            try require(server.requests.count == 1, "\(start): \(server.requests.count) requests")
          }
        }
      },
      .init("a redirect on the same server is followed, the token goes along") { subject in
        try await withServer(redirecting(to: { "/end?x=1" })) { server in
          let response = try await subject.send(
            HTTPRequest(method: .get, url: server.url("/start"), headers: ["Authorization": "Bearer secret"]))
          try require(response.status == 200, "\(response.status)")
          try requireText(response, "arrived", "after a redirect")
          let lines = server.requests.map(\.line)
          try require(lines == ["GET /start HTTP/1.1", "GET /end?x=1 HTTP/1.1"], "\(lines)")
          try require(server.requests.allSatisfy { $0.field("Authorization") == "Bearer secret" }, "the token is lost")
        }
      },
      .init("a body with a credential is never redirected (S24)") { subject in
        for status in statuses {
          try await withServer(redirecting(status, to: { "/end" })) { server in
            let response = try await subject.send(
              HTTPRequest(
                method: .post, url: server.url("/start"), body: Data("password".utf8), hasCredentialBody: true))
            try require("\(response.status)" == status.prefix(3), "\(status): \(response.status)")
            try require(server.requests.count == 1, "\(status): \(server.requests.count) requests")
          }
        }
      },
      .init("301, 302 and 303 turn a POST into a GET without its body; 307 and 308 keep both") { subject in
        for status in statuses {
          let keeps = status.hasPrefix("307") || status.hasPrefix("308")
          try await withServer(redirecting(status, to: { "/end" })) { server in
            let response = try await subject.send(
              HTTPRequest(
                method: .post, url: server.url("/start"), headers: ["Content-Type": "text/plain"],
                body: Data("text".utf8)))
            try require(response.status == 200, "\(status): \(response.status)")
            let last = server.requests.last
            try require(last?.line == "\(keeps ? "POST" : "GET") /end HTTP/1.1", "\(status): \(last?.line ?? "")")
            try require(last?.body == Data((keeps ? "text" : "").utf8), "\(status): the body")
          }
        }
      },
      .init("a redirect in a circle ends at the limit") { subject in
        let server = try RawServer(answering: { _ in answer("302 Found", "", headers: ["Location: /again"]) })
        try await withServer(server) { server in
          let error = try await subject.failure(HTTPRequest(method: .get, url: server.url("/start")), "circle")
          try require(error.code == .redirectRefused, "\(error.code)")
          try require(server.requests.count == 6, "\(server.requests.count) requests")
        }
      },
      .init("a 3xx without a usable Location is an answer like any other; so are 300 and 304") { subject in
        for location in ["http://", "::::", "\u{7F}"] {
          let server = try RawServer(answering: { _ in answer("302 Found", "x", headers: ["Location: \(location)"]) })
          try await withServer(server) { server in
            do {
              let response = try await subject.send(HTTPRequest(method: .get, url: server.url("/start")))
              try require(response.status == 302, "\(location): \(response.status)")
            } catch let error as TransportError {
              // A relative reference leads to itself; a control byte makes the head none of HTTP.
              try require([.redirectRefused, .malformedResponse].contains(error.code), "\(location): \(error.code)")
            }
          }
        }
        for status in ["300 Choices", "304 Not Modified"] {
          let server = try RawServer(answering: { _ in "HTTP/1.1 \(status)\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n"
          })
          try await withServer(server) { server in
            let response = try await subject.send(HTTPRequest(method: .get, url: server.url("/")))
            try require("\(response.status)" == status.prefix(3), "\(status): \(response.status)")
            try require(server.requests.count == 1, "\(status): \(server.requests.count) requests")
          }
        }
      },
    ]
  }
}

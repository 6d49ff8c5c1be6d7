internal import AuthModels
internal import AuthNetworking
internal import Groundwork

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

extension TransportContract {
  static var stormChecks: [ContractCheck<Subject>] {
    [
      .init("500 requests at once all get their own answer, over a bounded number of connections") { subject in
        let server = try RawServer(answering: { answer("200 OK", $0.line) })
        try await withServer(server) { server in
          let transport = subject.make(Limits())
          try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<500 {
              group.addTask {
                let response = try await transport.send(HTTPRequest(method: .get, url: server.url("/n/\(index)")))
                try requireText(response, "GET /n/\(index) HTTP/1.1", "request \(index)")
              }
            }
            try await group.waitForAll()
          }
          try require(server.requests.count == 500, "\(server.requests.count) requests")
          // Six, and those whose end the server has not noticed yet.
          try require(server.mostOpenAtOnce <= 12, "\(server.mostOpenAtOnce) connections at once")
        }
      },
      .init("cancelling ends the wait at once and hangs up") { subject in
        for isCredential in [true, false] {
          let gone = AsyncStream<Void>.makeStream()
          let server = try RawServer { connection in
            _ = connection.readRequest()
            connection.waitForClose()
            gone.continuation.yield()
          }
          try await withServer(server) { server in
            let transport = subject.make(Limits())
            let request = HTTPRequest(
              method: .post, url: try server.url("/x"), body: Data("x".utf8), hasCredentialBody: isCredential)
            let task = TaskStarter().start { await Self.outcome(transport, request) }
            await server.requests(atLeast: 1)
            task.cancel()
            let outcome = await task.value
            try require(outcome == .failure(.cancelled(mayHaveBeenSent: true)), "\(outcome)")
            for await _ in gone.stream { break }
          }
        }
      },
      .init("a task that is cancelled beforehand sends nothing") { subject in
        let server = try RawServer(answering: { _ in answer("200 OK") })
        try await withServer(server) { server in
          let transport = subject.make(Limits())
          let request = HTTPRequest(method: .get, url: try server.url("/x"))
          let task = TaskStarter().start {
            withUnsafeCurrentTask { $0?.cancel() }
            return await Self.outcome(transport, request)
          }
          let outcome = await task.value
          try require(outcome == .failure(.cancelled(mayHaveBeenSent: false)), "\(outcome)")
          try require(server.connectionCount == 0, "something was sent")
        }
      },
      .init("cancelling at any moment gives an answer or `cancelled`, and never hangs") { subject in
        let server = try RawServer(answering: { _ in answer("200 OK", "x") })
        try await withServer(server) { server in
          let transport = subject.make(Limits())
          for round in 0..<120 {
            let request = HTTPRequest(
              method: round % 3 == 0 ? .post : .get, url: try server.url("/\(round)"),
              body: round % 3 == 0 ? Data("x".utf8) : nil)
            let task = TaskStarter().start { await Self.outcome(transport, request) }
            for _ in 0..<(round % 40) { await Task.yield() }
            task.cancel()
            switch await task.value {
            case .success(let response): try require(response.status == 200, "round \(round): \(response.status)")
            case .failure(let error): try require(error.code == .cancelled, "round \(round): \(error.code)")
            }
          }
          let after = try await transport.send(HTTPRequest(method: .get, url: server.url("/after")))
          try require(after.status == 200, "afterwards: \(after.status)")
        }
      },
      .init("a storm of 200 cancellations, most of them still waiting for a connection, leaves a working transport") {
        subject in
        let server = try RawServer { connection in
          while let request = connection.readRequest() {
            guard request.line.contains("/after") else { return connection.waitForClose() }
            connection.write(answer("200 OK", "x"))
          }
        }
        try await withServer(server) { server in
          let transport = subject.make(Limits())
          let request = HTTPRequest(method: .get, url: try server.url("/held"))
          let tasks = (0..<200).map { _ in TaskStarter().start { await Self.outcome(transport, request) } }
          await server.requests(atLeast: 6)
          for task in tasks { task.cancel() }
          for task in tasks {
            guard case .failure(let error) = await task.value, error.code == .cancelled else {
              throw ContractFailure("a call that was cancelled got \(await task.value)")
            }
          }
          for _ in 0..<20 {
            let after = try await transport.send(HTTPRequest(method: .get, url: server.url("/after")))
            try require(after.status == 200, "afterwards: \(after.status)")
          }
        }
      },
      .init("a server that drops every kept connection, as at a restart, costs no idempotent call its answer") {
        subject in
        let server = try RawServer(answering: { _ in answer("200 OK", "x") })
        try await withServer(server) { server in
          let transport = subject.make(Limits())
          for round in 0..<5 {
            try await withThrowingTaskGroup(of: Void.self) { group in
              for index in 0..<20 {
                group.addTask {
                  let response = try await transport.send(
                    HTTPRequest(method: .get, url: server.url("/\(round)/\(index)")))
                  try require(response.status == 200, "round \(round): \(response.status)")
                }
              }
              try await group.waitForAll()
            }
            server.dropConnections()
          }
        }
      },
      .init("the transport may go while its call is on its way: the call gets its answer") { subject in
        let server = try RawServer(answering: { _ in answer("200 OK", "x") })
        try await withServer(server) { server in
          for _ in 0..<20 {
            // Nobody holds the transport but the call itself.
            let response = try await subject.make(Limits()).send(HTTPRequest(method: .get, url: server.url("/")))
            try require(response.status == 200, "\(response.status)")
          }
        }
      },
    ]
  }

  private static func outcome(
    _ transport: any HTTPTransport, _ request: HTTPRequest
  ) async -> Result<HTTPResponse, TransportError> {
    do {
      return .success(try await transport.send(request))
    } catch {
      return .failure(error)
    }
  }
}

import CommandLineTable
import Groundwork
import Testing

@testable import mock_server

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

@Suite("mock-server as a process")
struct ServeTests {
  /// The port that a ready line names.
  private static func port(_ line: String?) throws -> UInt16 {
    let ready = try JSONDecoder().decode(JSONValue.self, from: Data((line ?? "").utf8))
    return UInt16(clamping: try #require(ready["port"]?.integer))
  }

  @Test(
    "the ready line says where it is, it serves, and TERM or INT ends it with 0", arguments: [SIGTERM, SIGINT, SIGHUP])
  func serve(stop: Int32) async throws {
    try await onThread {
      let server = try ServerProcess(["serve", "--port", "0", "--seed-user"])
      let line = server.readLine()
      let ready = try JSONDecoder().decode(JSONValue.self, from: Data((line ?? "").utf8))
      let port = try Self.port(line)
      #expect(ready["event"] == "ready")
      #expect(ready["url"] == .string("http://127.0.0.1:\(port)"))
      #expect(ready["admin"] == .string("http://127.0.0.1:\(port)/__mock"))
      #expect(ready["pid"]?.integer == Int(server.pid))
      let body = #"{"email":"anna@example.com","password":"password123"}"#
      let answer = try ask(
        port,
        "POST /auth/login?token=geheim HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nConnection: close\r\n"
          + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
      #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n") && answer.contains("accessToken"))
      _ = try ask(port, "GET / HTTP/1.1\nHost: a\n\n")
      server.signal(stop)
      #expect(server.wait() == 0)
      #expect(server.readLine() == nil)
      let log = server.readErrors()
      #expect(log.contains("Listening on http://127.0.0.1:\(port)"))
      #expect(log.contains("POST /auth/login 200 "))
      #expect(log.contains("malformed: a line ends with LF alone"))
      for secret in ["password123", "geheim", "at_", "rt_"] { #expect(!log.contains(secret)) }
    }
  }

  @Test("--quiet logs nothing")
  func quiet() async throws {
    try await onThread {
      let server = try ServerProcess(["serve", "--port=0", "--quiet"])
      let port = try Self.port(server.readLine())
      #expect(try ask(port, "GET /me HTTP/1.0\r\n\r\n").hasPrefix("HTTP/1.1 401"))
      server.signal(SIGTERM)
      #expect(server.wait() == 0)
      #expect(server.readErrors().isEmpty)
    }
  }

  @Test("a log that nobody reads does not hold up the server")
  func unreadLog() async throws {
    try await onThread {
      let server = try ServerProcess(["serve", "--port=0"])
      let port = try Self.port(server.readLine())
      let path = String(repeating: "a", count: 190)
      let requests = String(repeating: "GET /\(path) HTTP/1.1\r\nHost: a\r\n\r\n", count: 300)
      // More than the pipe of standard error holds.
      for _ in 0..<3 {
        let answers = try ask(port, requests + "GET /last HTTP/1.0\r\n\r\n")
        #expect(answers.components(separatedBy: "HTTP/1.1 404").count == 302)
      }
      server.signal(SIGTERM)
      #expect(server.wait() == 0)
    }
  }

  @Test("a second signal ends it at once, whatever is still going out")
  func secondSignal() async throws {
    try await onThread {
      let server = try ServerProcess(["serve", "--port=0", "-q"])
      let port = try Self.port(server.readLine())
      let script = #"{"operation":"me","actions":[{"break":"huge"}]}"#
      let answer = try ask(
        port,
        "PUT /__mock/scripts HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
          + "Content-Length: \(script.utf8.count)\r\n\r\n\(script)")
      #expect(answer.hasPrefix("HTTP/1.1 204"))
      // An answer that nobody reads on: the first signal lets it go out, for a second at most.
      let reader = try beginAsking(port, "GET /me HTTP/1.1\r\nHost: a\r\n\r\n")
      server.signal(SIGINT)
      server.signal(SIGTERM)
      #expect(server.wait() == 128 + SIGTERM)
      close(reader)
    }
  }

  @Test("a port in use ends with 1 and says what to do")
  func portInUse() async throws {
    try await onThread {
      let first = try ServerProcess(["serve", "--port=0", "--quiet"])
      let port = try Self.port(first.readLine())
      let second = try ServerProcess(["serve", "--port=\(port)"])
      #expect(second.wait() == 1)
      #expect(second.readLine() == nil)
      let message = second.readErrors()
      #expect(message.contains("Port \(port)") && message.contains("choose another port"))
      first.signal(SIGTERM)
      #expect(first.wait() == 0)
    }
  }

  @Test(
    "a wrong command line ends with 2 and says what is wrong",
    arguments: [
      ([], "Say which command"), (["sevre"], "Did you mean serve?"),
      (["serve", "--prot", "1"], "Did you mean --port?"),
      (["serve", "--port", "65536"], "--port: '65536'"), (["serve", "--rotation", "graze"], "did you mean grace?"),
      (["serve", "--access-ttl", "soon"], "30s"), (["serve", "8080"], "an argument too many"),
      (["serve", "--key=a", "--tls"], "belong together"), (["serve", "--cert=a", "--key=b"], "need --tls"),
      (["serve", "--watch"], "--watch needs --config or --scripts"), (["check"], "FILE"),
      (["serve", "--tokens", "jwt-hs265"], "did you mean jwt-hs256?"),
      (["serve", "--seed", "-1"], "--seed: '-1'"),
    ])
  func wrongLines(line: [String], part: String) async throws {
    try await onThread {
      let server = try ServerProcess(line)
      #expect(server.wait() == 2)
      #expect(server.readLine() == nil)
      #expect(server.readErrors().contains(part))
    }
  }

  @Test("options reach the server")
  func options() async throws {
    try await onThread {
      let server = try ServerProcess([
        "serve", "--port=0", "-q", "--access-ttl=7s", "--refresh-ttl", "2h", "--rotation", "grace", "--grace=3s",
        "--clock=virtual", "--seed=1", "--tokens=jwt-es256",
      ])
      let port = try Self.port(server.readLine())
      let state = try ask(port, "GET /__mock/state HTTP/1.0\r\n\r\n")
      for part in [
        #""accessTTL":"7s""#, #""refreshTTL":"2h""#, #""rotation":"grace""#, #""grace":"3s""#, #""virtual""#,
        #""tokens":"jwt-es256""#,
      ] {
        #expect(state.contains(part), "\(part)")
      }
      server.signal(SIGTERM)
      #expect(server.wait() == 0)
    }
  }

  @Test("--tls serves by a throw-away authority, whose certificate lies where the ready line says while it runs")
  func tls() async throws {
    try await onThread {
      let server = try ServerProcess(["serve", "--port=0", "--tls", "-q"])
      let line = server.readLine() ?? ""
      let ready = try JSONDecoder().decode(JSONValue.self, from: Data(line.utf8))
      let port = try Self.port(line)
      #expect(ready["url"] == .string("https://127.0.0.1:\(port)"))
      let file = try #require(ready["caFile"]?.string)
      let certificate = try String(decoding: Data(contentsOf: URL(filePath: file)), as: UTF8.self)
      #expect(certificate.hasPrefix("-----BEGIN CERTIFICATE-----") && !certificate.contains("KEY"))
      server.signal(SIGTERM)
      #expect(server.wait() == 0)
      #expect(access(file, F_OK) != 0)
    }
  }

  @Test("a ready line that cannot be written ends it with 1, also where standard output is closed")
  func lostReadyLine() async throws {
    try await onThread {
      for script in ["exec \"$@\" >/dev/full", "exec \"$@\" >&-", "exec \"$@\" <&- >&-"] {
        let server = try ServerProcess(["serve", "--port=0", "-q"], under: script)
        #expect(server.wait() == 1, "\(script)")
        #expect(server.readErrors().contains("standard output cannot be written"), "\(script)")
      }
    }
  }

  @Test("--until-stdin-closes ends it with 0 when standard input ends, and nothing else does")
  func untilInputEnds() async throws {
    try await onThread {
      let server = try ServerProcess(
        ["serve", "--port=0", "-q", "--until-stdin-closes"], under: "exec \"$@\" < /dev/null")
      #expect(server.readLine() != nil)
      #expect(server.wait() == 0)
      let other = try ServerProcess(["serve", "--port=0", "-q"], under: "exec \"$@\" < /dev/null")
      let port = try Self.port(other.readLine())
      #expect(try ask(port, "GET /me HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").hasPrefix("HTTP/1.1 401"))
      other.signal(SIGTERM)
      #expect(other.wait() == 0)
    }
  }

  @Test("a certificate that is none ends with 1 and names the file")
  func badCertificate() async throws {
    try await onThread {
      let server = try ServerProcess(["serve", "--port=0", "--tls", "--cert=/nowhere/c.pem", "--key=/nowhere/k.pem"])
      #expect(server.wait() == 1)
      #expect(server.readErrors().contains("/nowhere/c.pem"))
    }
  }

  @Test("the table is sound, and help shows every option of interfaces")
  func table() {
    #expect(MockServerProgram.table.problems() == [])
    let page = MockServerProgram.table.help(for: ["serve"])
    for name in [
      "host", "port", "tls", "cert", "key", "config", "access-ttl", "refresh-ttl", "rotation", "grace", "tokens",
      "clock",
      "seed", "watch", "allow-remote-admin", "quiet",
    ] {
      #expect(page.contains("--\(name)"), "\(name)")
    }
  }
}

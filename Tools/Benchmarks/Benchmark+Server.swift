import Groundwork

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

extension Benchmark {
  /// What `mock-server` holds, idle and under load, and how fast it is beside nginx.
  static let server = Benchmark(
    name: "server", summary: "mock-server: memory, idle connections, realms, and requests beside nginx"
  ) { context in
    raiseFileLimit()
    var figures = try memoryFigures(context)
    if let wrk = installed("wrk") {
      figures += try await loadFigures(context, wrk: wrk)
    } else {
      note(
        "bench: server: wrk is not installed, so nothing is asked a million times: apt-get install -y wrk nginx-light")
    }
    return figures
  }

  // MARK: Memory

  private static func memoryFigures(_ context: Context) throws(BenchError) -> [Figure] {
    var (idle, connections, realms): ([Double], [Double], [Double]) = ([], [], [])
    let (connectionCount, realmCount) = (min(10_000, openFileLimit - 100), 5000)
    for _ in 0..<min(context.rounds, 3) {
      let server = try ServerUnderTest(context)
      let atRest = try server.memory()
      idle.append(atRest)

      var sockets: [RawSocket] = []
      for _ in 0..<connectionCount { sockets.append(try RawSocket(port: server.port)) }
      // Each has been used once, as a client's kept connection has.
      for socket in sockets { _ = try socket.ask("GET", "/me") }
      connections.append(max(try server.memory() - atRest, 0) / Double(connectionCount))
      sockets = []

      let other = try ServerUnderTest(context)
      let before = try other.memory()
      let socket = try RawSocket(port: other.port)
      for number in 0..<realmCount {
        let login = try socket.ask(
          "POST", "/r/t\(number)/auth/login", #"{"email":"anna@example.com","password":"password123"}"#)
        guard login.status == 200 else {
          throw BenchError("A realm of mock-server answers \(login.status) to a login.")
        }
      }
      realms.append(max(try other.memory() - before, 0) / Double(realmCount))
    }
    return [
      Figure(
        name: "`mock-server`, idle", unit: .bytes, samples: idle, baselineName: "", baseline: [],
        targets: [.atMost(15 * 1024 * 1024)]),
      Figure(
        name: "`mock-server`, each of \(connectionCount) idle connections", unit: .bytes, samples: connections,
        baselineName: "", baseline: [], targets: [.atMost(4096)]),
      Figure(
        name: "`mock-server`, each of \(realmCount) realms with a user and a session", unit: .bytes, samples: realms,
        baselineName: "", baseline: []),
    ]
  }

  // MARK: Load

  private static func loadFigures(_ context: Context, wrk: String) async throws -> [Figure] {
    let server = try ServerUnderTest(context)
    let token = try server.token()
    var figures: [Figure] = []
    if let nginx = installed("nginx") {
      let port = try RawSocket.freePort()
      let other = try await startNginx(nginx, port: port, body: try server.me(token), in: context.scratch)
      defer { other.terminate() }
      let samples = try await interleaved(
        rounds: min(context.rounds, 7),
        [
          { 1 / (try load(wrk, port: server.port, token: token, seconds: 2).perSecond) },
          { 1 / (try load(wrk, port: port, token: token, seconds: 2).perSecond) },
        ])
      figures.append(
        Figure(
          name: "`mock-server`: authed `GET /me`, 32 connections, per request", unit: .seconds, samples: samples[0],
          baselineName: "nginx, one worker, a fixed body", baseline: samples[1], targets: [.factor(0.7)]))
    } else {
      note("bench: server: nginx is not installed, so there is nothing to compare with: apt-get install -y nginx-light")
    }
    // The journal's ring and the allocator have their size after the first two hundred thousand.
    try load(server, wrk: wrk, token: token, atLeast: 200_000)
    let before = try server.memory()
    try load(server, wrk: wrk, token: token, atLeast: 1_000_000)
    figures.append(
      Figure(
        name: "`mock-server`: growth over 1,000,000 requests", unit: .bytes,
        samples: [max(try server.memory() - before, 0)],
        baselineName: "", baseline: [], targets: [.atMost(1024 * 1024)]))
    return figures
  }

  private static func load(_ server: ServerUnderTest, wrk: String, token: String, atLeast count: Double)
    throws(BenchError)
  {
    var done = 0.0
    while done < count { done += try load(wrk, port: server.port, token: token, seconds: 5).count }
  }

  /// Lets 32 connections ask for so long.
  private static func load(
    _ wrk: String, port: UInt16, token: String, seconds: Int
  ) throws(BenchError) -> (count: Double, perSecond: Double) {
    let program = try RunningProgram(
      wrk,
      ["-t1", "-c32", "-d\(seconds)", "-H", "Authorization: Bearer \(token)", "http://127.0.0.1:\(port)/me"])
    let (code, output) = program.ended()
    let words = output.split { $0.isWhitespace }.map(String.init)
    guard code == 0, let requests = words.firstIndex(of: "requests"), requests > 0,
      let count = Double(words[requests - 1]), let rate = words.firstIndex(of: "Requests/sec:"),
      rate + 1 < words.count, let perSecond = Double(words[rate + 1]), perSecond > 0
    else { throw BenchError("wrk at port \(port) ended with \(code): \(output)") }
    if let failed = words.firstIndex(of: "Non-2xx") {
      throw BenchError("wrk at port \(port): answers that are none: \(words[failed...].joined(separator: " "))")
    }
    return (count, perSecond)
  }

  private static func startNginx(
    _ path: String, port: UInt16, body: String, in scratch: ScratchFolder
  ) async throws -> RunningProgram {
    let folder = scratch.path("nginx")
    let configuration = """
      worker_processes 1; daemon off; pid \(folder)/pid; error_log \(folder)/errors;
      events { worker_connections 1024; }
      http {
        access_log off; keepalive_requests 100000000;
        client_body_temp_path \(folder)/body; proxy_temp_path \(folder)/proxy; fastcgi_temp_path \(folder)/fastcgi;
        uwsgi_temp_path \(folder)/uwsgi; scgi_temp_path \(folder)/scgi;
        server { listen 127.0.0.1:\(port); location = /me { default_type application/json; return 200 '\(body)'; } }
      }

      """
    do {
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      try Data(configuration.utf8).write(to: URL(fileURLWithPath: "\(folder)/nginx.conf"))
    } catch {
      throw BenchError("\(folder)/nginx.conf cannot be written: \(error).")
    }
    let program = try RunningProgram(path, ["-c", "\(folder)/nginx.conf", "-p", folder])
    for attempt in 1... {
      do throws(BenchError) {
        guard try RawSocket(port: port).ask("GET", "/me").status == 200 else {
          throw BenchError("nginx serves no body.")
        }
        break
      } catch {
        guard attempt < 200 else { throw BenchError("nginx does not start; it says why in \(folder)/errors.") }
        try await clock.sleep(for: .milliseconds(10))
      }
    }
    return program
  }

  // MARK: The system

  private static func installed(_ name: String) -> String? {
    ["/usr/local/bin", "/usr/bin", "/usr/sbin", "/usr/local/sbin", "/opt/homebrew/bin"].map { "\($0)/\(name)" }
      .first { access($0, X_OK) == 0 }
  }

  private static var openFileLimit: Int {
    var limit = rlimit()
    #if canImport(Glibc)
      getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    #else
      getrlimit(RLIMIT_NOFILE, &limit)
    #endif
    return Int(clamping: limit.rlim_cur)
  }

  /// As many files as the system lets this process have: a server that it starts inherits that.
  private static func raiseFileLimit() {
    var limit = rlimit()
    #if canImport(Glibc)
      getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
      limit.rlim_cur = min(limit.rlim_max, 65536)
      setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    #else
      getrlimit(RLIMIT_NOFILE, &limit)
      limit.rlim_cur = min(limit.rlim_max, 10240)
      setrlimit(RLIMIT_NOFILE, &limit)
    #endif
  }
}

/// A `mock-server` of this benchmark's own, with the user anna.
private final class ServerUnderTest {
  let port: UInt16
  private let program: RunningProgram

  init(_ context: Benchmark.Context) throws(BenchError) {
    program = try RunningProgram("\(context.programs)/mock-server", ["serve", "--port", "0", "--seed-user", "--quiet"])
    guard let line = program.firstLine(),
      let number = line.split(separator: "\"port\":").last?.prefix(while: \.isNumber),
      let port = UInt16(number)
    else { throw BenchError("mock-server said no ready line. Build it: make bench.") }
    self.port = port
  }

  deinit { program.terminate() }

  /// Resident bytes.
  func memory() throws(BenchError) -> Double {
    do {
      let status = String(
        decoding: try Data(contentsOf: URL(fileURLWithPath: "/proc/\(program.pid)/status")), as: UTF8.self)
      let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
      return (Double((line ?? "").filter(\.isNumber)) ?? 0) * 1024
    } catch {
      throw BenchError("/proc/\(program.pid)/status cannot be read: \(error).")
    }
  }

  func token() throws(BenchError) -> String {
    let login = try RawSocket(port: port).ask(
      "POST", "/auth/login", #"{"email":"anna@example.com","password":"password123"}"#)
    guard login.status == 200, let token = login.body.split(separator: "\"").first(where: { $0.hasPrefix("at_") })
    else {
      throw BenchError("mock-server answers \(login.status) to a login.")
    }
    return String(token)
  }

  /// What it answers to an authed request.
  func me(_ token: String) throws(BenchError) -> String {
    try RawSocket(port: port).ask("GET", "/me", token: token).body
  }
}

import CommandLineTable
import Groundwork
import MockServerCore
import MockServerHTTP

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// `mock-server serve`: from the command line to the server, and to its end.
struct ServeCommand {
  let host: String
  let port: UInt16
  let configuration: MockServerConfiguration
  let isQuiet: Bool

  /// Reads the options; refuses those whose feature is not there, so that nobody believes it is on.
  init(_ call: Invocation) throws(UsageError) {
    for name in ["tls", "cert", "key", "config", "watch"] where call.source(of: name) != nil {
      throw call.usageError("--\(name) is not available yet.")
    }
    if call.text("tokens") == "jwt" { throw call.usageError("--tokens jwt is not available yet.") }
    host = call.text("host") ?? "127.0.0.1"
    port = UInt16(clamping: try call.integer("port") ?? 8080)
    isQuiet = call.flag("quiet")
    var policy = MockPolicy()
    policy.accessTTL = try call.duration("access-ttl") ?? policy.accessTTL
    policy.refreshTTL = try call.duration("refresh-ttl") ?? policy.refreshTTL
    policy.rotation = try call.choice("rotation") ?? policy.rotation
    policy.grace = try call.duration("grace") ?? policy.grace
    configuration = MockServerConfiguration(
      policy: policy, clock: try call.choice("clock") ?? .real,
      seed: try call.integer("seed").map { UInt64(clamping: $0) },
      allowRemoteAdmin: call.flag("allow-remote-admin"),
      users: call.flag("seed-user")
        ? [MockSeedUser(username: "anna", email: "anna@example.com", password: "password123")] : [])
  }

  /// Serves until a signal comes.
  ///
  /// - Returns: the exit code, if the server could not start; after a start the process ends inside.
  func run() -> Int32 {
    // Before any thread is started: each inherits the mask, so that the signals wait for `sigwait` alone.
    let signals = StopSignals()
    let front: HTTPFront
    let address: HTTPFront.Address
    do throws(FrontError) {
      let loop = try EventLoop()
      let server = MockAuthServer(configuration: configuration, scheduler: loop)
      var options = HTTPFront.Options()
      options.connectionFault = { server.takeConnectionFault() }
      let handler: any MockRequestHandler = isQuiet ? server : RequestLog(server, time: SystemClock())
      front = HTTPFront(handler: handler, host: host, port: port, options: options, loop: loop)
      address = try front.start()
    } catch {
      Terminal.complain("mock-server: \(error.message)")
      return 1
    }
    Terminal.print(Self.readyLine(address))
    if !isQuiet {
      Terminal.complain(
        "Listening on \(address.url). Users and sessions: \(address.url)/__mock/state. Ctrl-C stops it.")
    }
    signals.wait()
    TaskStarter().start {
      await front.stop()
      exit(0)
    }
    // The stop is bounded; whoever does not want to wait for it signals again.
    let second = signals.wait()
    _exit(128 + second)
  }

  /// The line that tells a parent process where the server is. The URL holds no character that JSON escapes.
  static func readyLine(_ address: HTTPFront.Address) -> String {
    """
    {"event":"ready","url":"\(address.url)","port":\(address.port),"pid":\(getpid()),\
    "admin":"\(address.url)/__mock"}
    """
  }
}

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
  private let isTLS: Bool
  private let stopsWithInput: Bool
  private let certificate: (file: String, key: String)?

  /// Reads the options; refuses those whose feature is not there, so that nobody believes it is on.
  init(_ call: Invocation) throws(UsageError) {
    for name in ["config", "watch"] where call.source(of: name) != nil {
      throw call.usageError("--\(name) is not available yet.")
    }
    host = call.text("host") ?? "127.0.0.1"
    port = UInt16(clamping: try call.integer("port") ?? 8080)
    isQuiet = call.flag("quiet")
    isTLS = call.flag("tls")
    stopsWithInput = call.flag("until-stdin-closes")
    switch (call.text("cert"), call.text("key")) {
    case (let file?, let key?): certificate = (file, key)
    case (nil, nil): certificate = nil
    default: throw call.usageError("--cert and --key belong together.")
    }
    if certificate != nil, !isTLS { throw call.usageError("--cert and --key need --tls.") }
    var policy = MockPolicy()
    policy.accessTTL = try call.duration("access-ttl") ?? policy.accessTTL
    policy.refreshTTL = try call.duration("refresh-ttl") ?? policy.refreshTTL
    policy.rotation = try call.choice("rotation") ?? policy.rotation
    policy.tokens = call.text("tokens").flatMap(MockTokenKind.init(name:)) ?? policy.tokens
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
    let authority: AuthorityFile?
    do throws(FrontError) {
      let loop = try EventLoop()
      let server = MockAuthServer(configuration: configuration, scheduler: loop)
      var options = HTTPFront.Options()
      options.connectionFault = { server.takeConnectionFault() }
      options.tls = try identity()
      let handler: any MockRequestHandler = isQuiet ? server : RequestLog(server, time: SystemClock())
      front = HTTPFront(handler: handler, host: host, port: port, options: options, loop: loop)
      address = try front.start()
      authority = options.tls?.authority.flatMap(AuthorityFile.init)
      if authority == nil, options.tls?.authority != nil {
        Terminal.complain("mock-server: cannot write the authority's certificate: \(String(cString: strerror(errno))).")
        return 1
      }
    } catch {
      Terminal.complain("mock-server: \(error.message)")
      return 1
    }
    guard Terminal.print(Self.readyLine(address, authority: authority?.path)) else {
      authority?.remove()
      return 1
    }
    if stopsWithInput, !InputWatch.start() {
      Terminal.complain("mock-server: no thread to watch standard input with: \(String(cString: strerror(errno))).")
      authority?.remove()
      return 1
    }
    if !isQuiet {
      Terminal.complain(
        "Listening on \(address.url). Users and sessions: \(address.url)/__mock/state. Ctrl-C stops it.")
    }
    signals.wait()
    TaskStarter().start {
      await front.stop()
      authority?.remove()
      // Nothing is buffered, and other threads still run: no destructor of a library shall run under them.
      _exit(0)
    }
    // The stop is bounded; whoever does not want to wait for it signals again.
    let second = signals.wait()
    authority?.remove()
    _exit(128 + second)
  }

  /// What the server proves to be: nil without TLS.
  private func identity() throws(FrontError) -> TLSIdentity? {
    guard isTLS else { return nil }
    if let certificate {
      return try TLSIdentity(certificateFile: certificate.file, keyFile: certificate.key)
    }
    let own = ["localhost", "127.0.0.1", "::1"]
    let isExtra = !own.contains(host) && host != "0.0.0.0" && host != "::"
    return try TLSIdentity.throwAway(for: isExtra ? own + [host] : own)
  }

  /// The line that tells a parent process where the server is.
  ///
  /// The URL holds no character that JSON escapes; the path of the authority's certificate may.
  static func readyLine(_ address: HTTPFront.Address, authority: String?) -> String {
    let file = authority.map { ",\"caFile\":\"\(escaped($0))\"" } ?? ""
    return """
      {"event":"ready","url":"\(address.url)","port":\(address.port),"pid":\(getpid()),\
      "admin":"\(address.url)/__mock"\(file)}
      """
  }

  private static func escaped(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"", "\\": result += "\\\(scalar)"
      case "\u{0}"..."\u{1F}": result += "\\u00\(scalar.value < 16 ? "0" : "")\(String(scalar.value, radix: 16))"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}

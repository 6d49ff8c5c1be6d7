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
  /// What the server begins with.
  let configuration: MockServerConfiguration
  private let source: ConfigurationSource
  private let watches: Bool
  let isQuiet: Bool
  private let isTLS: Bool
  private let stopsWithInput: Bool
  private let certificate: (file: String, key: String)?

  /// Files that say nothing that a server could begin with.
  struct UnreadableConfiguration: Error {
    var lines: [String]
  }

  /// Reads the options and the files.
  ///
  /// - Throws: `UsageError`, or `UnreadableConfiguration`.
  init(_ call: Invocation) throws {
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
    source = try Self.source(call)
    watches = call.flag("watch")
    if watches, source.files.isEmpty { throw call.usageError("--watch needs --config or --scripts.") }
    do throws(ConfigurationSource.Failure) {
      configuration = try source.read()
    } catch {
      throw UnreadableConfiguration(lines: error.lines)
    }
  }

  /// The files, and above them what the command line says in so many words: a default does not stand above a file.
  private static func source(_ call: Invocation) throws(UsageError) -> ConfigurationSource {
    func said(_ name: String) -> Bool { call.source(of: name) == .commandLine }
    let accessTTL = said("access-ttl") ? try call.duration("access-ttl") : nil
    let refreshTTL = said("refresh-ttl") ? try call.duration("refresh-ttl") : nil
    let rotation: MockRotation? = said("rotation") ? try call.choice("rotation") : nil
    let grace = said("grace") ? try call.duration("grace") : nil
    let tokens = said("tokens") ? call.text("tokens").flatMap(MockTokenKind.init(name:)) : nil
    let clock: MockClockMode? = said("clock") ? try call.choice("clock") : nil
    let seed = try call.integer("seed").map { UInt64(clamping: $0) }
    let allowRemoteAdmin = call.flag("allow-remote-admin")
    let seedUser = call.flag("seed-user")
    return ConfigurationSource(file: call.text("config"), scriptFiles: call.texts("scripts")) { configuration in
      configuration.policy.accessTTL = accessTTL ?? configuration.policy.accessTTL
      configuration.policy.refreshTTL = refreshTTL ?? configuration.policy.refreshTTL
      configuration.policy.rotation = rotation ?? configuration.policy.rotation
      configuration.policy.grace = grace ?? configuration.policy.grace
      configuration.policy.tokens = tokens ?? configuration.policy.tokens
      configuration.clock = clock ?? configuration.clock
      configuration.seed = seed ?? configuration.seed
      configuration.allowRemoteAdmin = allowRemoteAdmin
      let anna = MockSeedUser(username: "anna", email: "anna@example.com", password: "password123")
      if seedUser, !configuration.users.contains(where: { $0.email == anna.email || $0.username == anna.username }) {
        configuration.users.append(anna)
      }
    }
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
      if watches { watchFiles(on: loop, for: server) }
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

  /// Reads the files again whenever they change. What is wrong is told, and nothing of it is taken.
  private func watchFiles(on loop: EventLoop, for server: MockAuthServer) {
    let (source, isQuiet) = (source, isQuiet)
    let names = source.files.joined(separator: ", ")
    loop.watch(files: source.files) {
      do throws(ConfigurationSource.Failure) {
        server.reconfigure(try source.read())
        if !isQuiet { Terminal.complain("mock-server: \(names): read again.") }
      } catch {
        for line in error.lines { Terminal.complain(line) }
        Terminal.complain("mock-server: \(names): not taken; what was there before holds.")
      }
    }
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

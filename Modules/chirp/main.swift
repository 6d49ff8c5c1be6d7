import AuthCLI
import AuthSession
import AuthStorage
import Groundwork

#if os(Linux)
  import AuthNetworkingCurl
#else
  import AuthModels
  import AuthNetworkingURLSession
#endif

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

// Before anything opens a file: it must not get the number of a standard stream.
StandardStreams.open()

// The one place where live parts are put together. Signals come first: every thread started from here on has them blocked.
let echo = TerminalEcho()
let screen = LiveScreen()
let signals = SignalWatch(echo: echo, screen: screen)
let clock = SystemClock()
var options = SessionOptions()
options.refreshShield = signals.shield

let program = ChirpCommandLine(
  parts: CommandLineParts(
    console: LiveConsole(echo: echo), screen: screen, environment: ProcessEnvironment.variables, time: clock,
    session: options,
    openStore: { folder, source in
      .init(
        store: SQLiteSessionStore(folder: folder, time: clock, keySource: source), location: folder,
        keySource: source.kind)
    },
    makeTransport: { wishes in
      #if os(Linux)
        CurlTransport(
          options: .init(timeout: wishes.timeout, certificateAuthorities: wishes.caFile), time: clock)
      #else
        guard wishes.caFile == nil else {
          throw TransportError(
            .invalidRequest, mayHaveBeenSent: false,
            message: "--ca-file is not there on this system: add the authority to the keychain instead.")
        }
        return URLSessionTransport(options: .init(timeout: wishes.timeout), time: clock)
      #endif
    },
    openBrowser: { Browser.open($0, environment: ProcessEnvironment.variables) },
    secretServiceHelper: ProcessEnvironment.sibling("chirp-secret-service")))
// Without the libraries' farewells: everything is written, and their threads may still be at work.
_exit(await program.run(Array(CommandLine.arguments.dropFirst())))

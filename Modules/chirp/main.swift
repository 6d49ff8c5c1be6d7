import AuthCLI
import AuthNetworkingURLSession
import AuthSession
import AuthStorage
import Groundwork

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

// The one place where live parts are put together. Signals come first: every thread started from here on has them blocked.
let echo = TerminalEcho()
let signals = SignalWatch(echo: echo)
let clock = SystemClock()
var options = SessionOptions()
options.refreshShield = signals.shield

let program = ChirpCommandLine(
  parts: CommandLineParts(
    console: LiveConsole(echo: echo), environment: ProcessEnvironment.variables, time: clock, session: options,
    openStore: { folder in
      let source = KeyFileKeySource()
      return .init(
        store: SQLiteSessionStore(folder: folder, time: clock, keySource: source), location: folder,
        keySource: source.kind)
    },
    makeTransport: { wishes in
      URLSessionTransport(options: .init(timeout: wishes.timeout), time: clock)
    }))
// Without the libraries' farewells: everything is written, and their threads may still be at work.
_exit(await program.run(Array(CommandLine.arguments.dropFirst())))

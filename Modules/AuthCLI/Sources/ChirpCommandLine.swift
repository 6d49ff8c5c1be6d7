import AuthModels
import AuthSession
import CommandLineTable
import Groundwork

/// `chirp`, from its arguments to its exit code; everything live comes from outside, so it runs in a test as it runs in a process.
public struct ChirpCommandLine: Sendable {
  private let parts: CommandLineParts

  /// Makes the program from its parts.
  public init(parts: CommandLineParts) {
    self.parts = parts
  }

  /// Runs one command line.
  ///
  /// - Parameter arguments: without the program's name.
  /// - Returns: the exit code; every failure has been told by then.
  public func run(_ arguments: [String]) async -> Int32 {
    let call: Invocation
    do {
      switch try ChirpProgram.table.parse(arguments, environment: parts.environment) {
      case .print(let text):
        try await parts.console.write(Array((text.hasSuffix("\n") ? text : text + "\n").utf8))
        return ExitCode.success.rawValue
      case .run(let understood): call = understood
      }
    } catch {
      let wantsJSON = arguments.prefix { $0 != "--" }.contains("--json")
      return tell(error, on: CommandOutput(console: parts.console, isJSON: wantsJSON), colored: false)
    }
    let context = CommandContext(parts: parts, call: call)
    do {
      try context.checkOptions()
      return try await run(call, context).rawValue
    } catch {
      let failure = await context.explained(CommandFailure(error))
      return tell(failure, on: context.output, colored: isColored(call))
    }
  }

  private func run(_ call: Invocation, _ context: CommandContext) async throws -> ExitCode {
    var session: CommandSession?
    var code = ExitCode.success
    switch call.path {
    case ["overview"]: try await context.overview()
    case ["login"]: session = try await context.login()
    case ["register"]: session = try await context.register()
    case ["whoami"]: session = try await context.whoami()
    case ["status"]: code = try await context.status()
    case ["token"]: try await context.token()
    case ["refresh"]: session = try await context.refresh()
    case ["api"]: (session, code) = try await context.api()
    case ["feed"]: session = try await context.feed()
    case ["logout"]: try await context.logout()
    case ["accounts", "list"]: try await context.listAccounts()
    case ["accounts", "switch"]: try await context.switchAccount()
    case ["accounts", "remove"]: try await context.removeAccount()
    case ["store", "info"]: try await context.storeInfo()
    case ["store", "rekey"]: try await context.rekeyStore()
    case ["store", "migrate"]: code = try await context.migrateStore()
    case ["doctor"]: code = try await context.doctor()
    default: throw call.usageError("\(call.commandName) is not there yet.", code: .unknownCommand)
    }
    // S20: a networked command tells the server, after its own output, of sign-outs that it has not heard of.
    if let session, session.usesStore { await session.engine.flushRevocations() }
    return code
  }

  private func tell(_ error: any Error, on output: CommandOutput, colored: Bool) -> Int32 {
    let failure = CommandFailure(error)
    // Whoever closed the pipe has seen enough: nothing is said of it.
    if failure.exitCode != .success { output.fail(failure, colored: colored) }
    return failure.exitCode.rawValue
  }

  private func isColored(_ call: Invocation) -> Bool {
    parts.console.errorIsTerminal && !call.flag("no-color") && (parts.environment["NO_COLOR"] ?? "").isEmpty
      && parts.environment["TERM"] != "dumb"
  }
}

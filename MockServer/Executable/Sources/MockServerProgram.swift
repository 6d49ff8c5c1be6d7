import CommandLineTable

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The program: reads the command line, and runs the command.
enum MockServerProgram {
  /// Runs what the command line says, and returns the exit code.
  static func run() -> Int32 {
    do {
      let arguments = Array(CommandLine.arguments.dropFirst())
      switch try table.parse(arguments, environment: ProcessInfo.processInfo.environment) {
      case .print(let text):
        return Terminal.print(text) ? 0 : 1
      case .run(let call):
        return try run(call)
      }
    } catch let error as UsageError {
      Terminal.complain(error.description)
      return error.exitCode
    } catch let error as ServeCommand.UnreadableConfiguration {
      for line in error.lines { Terminal.complain(line) }
      return 1
    } catch {
      Terminal.complain("mock-server: \(error)")
      return 1
    }
  }

  private static func run(_ call: Invocation) throws -> Int32 {
    switch call.path {
    case ["check"]: return CheckCommand.run(call)
    default:
      return try ServeCommand(call).run()
    }
  }

  /// Commands, options and help.
  static let table = Program(
    Command(
      "mock-server", "An auth server for whoever writes or debugs an auth client.",
      commands: [
        Command(
          "serve", "Starts the server; its first line on standard output says where it is.",
          discussion: """
            The ready line is JSON: {"event":"ready","url":…,"port":…,"pid":…,"admin":…,"caFile":…}. Requests are logged \
            on standard error. INT or TERM stops the server with exit code 0; a second one ends it at once.
            """,
          options: serveOptions,
          examples: [
            .init("mock-server serve --port 0 --seed-user", "any free port, one user"),
            .init("mock-server serve --access-ttl 5s --rotation grace", "tokens that soon expire"),
            .init("mock-server serve --clock virtual --seed 1", "time and tokens repeat"),
            .init("mock-server serve --tls --port 0", "HTTPS; trust the caFile of the ready line"),
            .init("mock-server serve --config mock-server.yaml --watch", "from a file, and again whenever it is saved"),
          ]),
        Command(
          "check", "Checks files of configuration and of scripts, and says what is wrong, with line and column.",
          positionals: [
            Positional(
              "FILE", kind: .file, repeated: true, "A configuration, a script, or a list of scripts; YAML or JSON.")
          ],
          examples: [.init("mock-server check mock-server.yaml", "before it is committed, or in CI")]),
        .completion(for: "mock-server"), .manual(for: "mock-server"),
      ]),
    version: Program.packageVersion,
    exitCodes: [
      .init(0, "stopped by INT or TERM"),
      .init(
        1,
        "could not start, or could not say where it is: the port is in use, a file is wrong; check: something is wrong"),
      .init(2, "the command line is wrong"),
    ])

  private static let serveOptions: [Option] = [
    .value("host", "ADDRESS", default: "127.0.0.1", "The address to listen on; 0.0.0.0 lets other machines in."),
    .value("port", short: "p", "PORT", kind: .integer(0...65535), default: "8080", "The port; 0 takes any free one."),
    .value(
      "access-ttl", "DURATION", kind: .duration(minimum: .zero), default: "15m", "How long an access token works."),
    .value(
      "refresh-ttl", "DURATION", kind: .duration(minimum: .zero), default: "30d", "How long a refresh token works."),
    .choice(
      "rotation", ["none", "strict", "grace", "parent-ok", "gotrue"], default: "strict",
      "What a refresh does to the refresh token."),
    .value(
      "grace", "DURATION", kind: .duration(minimum: .zero), default: "10s",
      "How long a spent refresh token still works, under grace and gotrue."),
    .choice(
      "tokens", ["opaque", "jwt", "jwt-hs256", "jwt-rs256", "jwt-es256"], default: "opaque",
      "The kind of access token; jwt is jwt-hs256. Supabase's are JWTs in any case."),
    .choice("clock", ["real", "virtual"], default: "real", "Whether time runs, or stands until it is advanced."),
    .value("seed", "N", kind: .integer(0 ... .max), "Makes tokens, ids and delays the same in every run."),
    .flag("seed-user", "Begin with a user: anna, anna@example.com, password123."),
    .flag("allow-remote-admin", "Let other machines use the admin API under /__mock/."),
    .flag(
      "until-stdin-closes",
      "Stop also when standard input ends: a parent that holds its other end takes the server along."),
    .flag("quiet", short: "q", "Log nothing on standard error."),
    .flag("tls", "Serve HTTPS, by a throw-away authority whose certificate the ready line names."),
    .value("cert", "FILE", kind: .file, "A certificate in PEM for --tls, instead of the throw-away one."),
    .value("key", "FILE", kind: .file, "The key that belongs to --cert, in PEM."),
    .value(
      "config", "FILE", kind: .file,
      "Realms, users, policies, scripts and clock from a file, YAML or JSON; options stand above it."),
    .value(
      "scripts", "FILE", kind: .file, repeated: true, "Scripts that every realm begins with: one, or a list of them."),
    .flag("watch", "Read the files again when they change; one that is wrong is told, and changes nothing."),
  ]
}

import Groundwork

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

extension Benchmark {
  /// From the start of the process to the ready line of `mock-server`.
  static let ready = Benchmark(name: "ready", summary: "mock-server, from its start to its ready line") { context in
    let server = "\(context.programs)/mock-server"
    let samples = try await interleaved(
      rounds: context.rounds,
      [
        {
          let begun = clock.sinceBoot
          let program = try RunningProgram(server, ["serve", "--port", "0"])
          guard let line = program.firstLine(), line.contains("\"ready\"") else {
            throw BenchError("\(server) said no ready line. Build it: make bench.")
          }
          let taken = clock.sinceBoot - begun
          program.terminate()
          return taken.inSeconds
        },
        { try timeToEnd("/bin/true", []) },
      ])
    return [
      Figure(
        name: "`mock-server`: start to ready line", unit: .seconds, samples: samples[0],
        baselineName: "`/bin/true`: start to end", baseline: samples[1], targets: [.atMost(0.015)])
    ]
  }

  /// `chirp token` and `chirp status` in fresh processes, signed in, with a token that is good.
  static let coldStart = Benchmark(name: "cold-start", summary: "chirp token and status in fresh processes") {
    context in
    let chirp = "\(context.programs)/chirp"
    let server = try RunningProgram(
      "\(context.programs)/mock-server", ["serve", "--port", "0", "--seed-user"])
    defer { server.terminate() }
    guard let line = server.firstLine(), let url = readyURL(line) else {
      throw BenchError("mock-server said no ready line. Build it: make bench.")
    }
    let environment = ["CHIRP_STATE_DIR=\(context.scratch.path("state"))", "CHIRP_SERVER=\(url)", "PATH=/usr/bin:/bin"]
    let login = try RunningProgram(
      chirp, ["login", "--email", "anna@example.com", "--password-stdin"], environment: environment,
      input: "password123\n")
    let answer = login.ended()
    guard answer.code == 0 else { throw BenchError("chirp login ended with \(answer.code).") }

    let git = access("/usr/bin/git", X_OK) == 0
    let other = git ? "/usr/bin/git" : "/bin/true"
    let samples = try await interleaved(
      rounds: context.rounds,
      [
        { try timeToEnd(chirp, ["token"], environment: environment) },
        { try timeToEnd(chirp, ["status"], environment: environment) },
        { try timeToEnd(other, git ? ["--version"] : []) },
      ])
    return ["token", "status"].enumerated().map { index, command in
      Figure(
        name: "`chirp \(command)`: start to end", unit: .seconds, samples: samples[index],
        baselineName: git ? "`git --version`" : "`/bin/true`", baseline: samples[2], targets: [.atMost(0.015)])
    }
  }

  /// From the start of a program to its end with exit code 0, in seconds.
  private static func timeToEnd(
    _ path: String, _ arguments: [String], environment: [String] = []
  ) throws(BenchError) -> Double {
    let begun = clock.sinceBoot
    let program = try RunningProgram(path, arguments, environment: environment)
    let code = program.ended().code
    let taken = clock.sinceBoot - begun
    guard code == 0 else { throw BenchError("\(path) \(arguments.joined(separator: " ")) ended with \(code).") }
    return taken.inSeconds
  }

  /// The `url` of a ready line.
  static func readyURL(_ line: String) -> String? {
    let parts = line.split(separator: "\"url\":\"", maxSplits: 1)
    guard parts.count == 2, let url = parts[1].split(separator: "\"").first else { return nil }
    return String(url).replacing("\\/", with: "/")
  }
}

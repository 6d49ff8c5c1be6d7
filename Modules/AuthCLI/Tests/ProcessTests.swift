import AuthCLI
import Groundwork
import MockServerCore
import MockServerHTTP
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

#if canImport(Glibc)
  import Glibc

  /// The built binary: real processes, real sockets, real files, a real terminal.
  @Suite(.timeLimit(.minutes(2)))
  struct ProcessTests {
    @Test("the session lives in an encrypted file of the user's own, from process to process")
    func spine() async throws {
      try await ProcessWorld.run { world in
        try await world.login()
        let who = try await world.chirp("whoami")
        #expect(who.code == 0)
        #expect(who.output == "anna <anna@example.com>\n")
        let token = try await world.chirp("token").output
        #expect(token.hasPrefix("at_") || token.count > 20)
        let secret = Array(token.utf8.dropLast())
        for name in try files(in: world.store) {
          var status = stat()
          #expect(stat("\(world.store)/\(name)", &status) == 0)
          #expect(status.st_mode & 0o777 == 0o600, "\(name)")
          #expect(!contains(try bytes(of: "\(world.store)/\(name)"), secret), "\(name) holds the token in the open")
        }
        #expect(try await world.chirp("logout").code == 0)
        #expect(try await world.chirp("token").code == 4)
        #expect(world.realm.count(.logout) == 1)
      }
    }

    @Test("a server that cannot be reached is 5")
    func unreachable() async throws {
      try await ProcessWorld.run { world in
        // A port that was free a moment ago: nobody listens there.
        let outcome = try await world.chirp(
          "login", "--server", "http://127.0.0.1:\(try freePort())", "--email", "anna@example.com", "--password-stdin",
          input: "password123\n")
        #expect(outcome.code == 5)
        #expect(outcome.error.contains("127.0.0.1"))
      }
    }

    @Test("a store in a folder that is open to others is 7, and names the folder")
    func openFolder() async throws {
      try await ProcessWorld.run { world in
        try await world.login()
        chmod(world.store, 0o755)
        for command in ["status", "token", "whoami"] {
          let outcome = try await world.chirp(command)
          #expect(outcome.code == 7, "\(command)")
          #expect(outcome.error.contains(world.store))
        }
      }
    }

    @Test("a truncated or overwritten store is 7, and its file is left as it is", arguments: [true, false])
    func damagedStore(truncated: Bool) async throws {
      try await ProcessWorld.run { world in
        try await world.login()
        let path = "\(world.store)/sessions.db"
        var content = try bytes(of: path)
        if truncated {
          content = Array(content.prefix(5000))
        } else {
          content.replaceSubrange(
            0..<100, with: Array("This was a database once. ".utf8) + Array(repeating: 0x2E, count: 74))
        }
        try overwrite(path, with: content)
        for command in ["status", "token", "logout"] {
          let outcome = try await world.chirp(command, "--json")
          #expect(outcome.code == 7, "\(command): \(outcome.error)")
          #expect(outcome.output == "")
        }
        #expect(try bytes(of: path) == content)
      }
    }

    @Test("an unknown flag or command is 2 with the nearest name; help is 0")
    func usage() async throws {
      try await ProcessWorld.run { world in
        let flag = try await world.chirp("token", "--min-tll", "5s")
        #expect(flag.code == 2 && flag.error.contains("--min-ttl"))
        let command = try await world.chirp("whoam")
        #expect(command.code == 2 && command.error.contains("whoami"))
        #expect(try await world.chirp("--help").code == 0)
        #expect(try await world.chirp("api", "--help").output.contains("METHOD"))
      }
    }

    @Test("a reader that goes away ends the process quietly, and not by a signal")
    func brokenPipe() async throws {
      try await ProcessWorld.run { world in
        let process = try ChirpProcess(["--help"], environment: world.environment, onTerminal: false)
        process.closeOutput()
        let outcome = try await process.finishAfterClosedOutput()
        #expect(outcome.code == 0)
        #expect(outcome.error == "")
      }
    }

    // MARK: The terminal

    @Test("a password is never shown, and the terminal is given back as it was")
    func hiddenPassword() async throws {
      try await ProcessWorld.run { world in
        let process = try world.terminal("login", "--accessible")
        try await process.waitFor("Email: ")
        #expect(process.echoes)
        await process.type("anna@example.com\n")
        try await process.waitFor("Password: ")
        #expect(!process.echoes)
        await process.type("wrong-password\n")
        try await process.waitFor("Wrong email or password.")
        try await process.waitFor("Email [anna@example.com]: ")
        await process.type("\n")
        // What is typed before a question for a secret is thrown away: it was shown.
        try await process.waitFor("Password: ", times: 2)
        await process.type("password123\n")
        let outcome = await process.finishOnTerminal()
        #expect(outcome.code == 0, "\(outcome.output)")
        #expect(!outcome.output.contains("wrong-password"))
        #expect(outcome.output.contains("Signed in"))
        #expect(try await world.chirp("whoami").code == 0)
      }
    }

    @Test(
      "a signal while a password is typed: echo on again, 128 + signal",
      arguments: [
        (SIGINT, 130), (SIGTERM, 143), (SIGHUP, 129),
      ] as [(Int32, Int32)])
    func signalAtPassword(signal: Int32, code: Int32) async throws {
      try await ProcessWorld.run { world in
        let process = try world.terminal("login", "--email", "anna@example.com")
        try await process.waitFor("Password: ")
        #expect(!process.echoes)
        // Kept open, so that the terminal can be asked after the process has ended.
        let keeper = try process.keepTerminal()
        defer { close(keeper) }
        process.send(signal)
        #expect(await process.exitCode() == code)
        #expect(process.echoes)
      }
    }

    @Test(
      "Ctrl-C typed at the password is 130, Ctrl-D is 3",
      arguments: [("\u{3}", 130), ("\u{4}", 3)] as [(String, Int32)])
    func controlKeys(key: String, code: Int32) async throws {
      try await ProcessWorld.run { world in
        let process = try world.terminal("login", "--email", "anna@example.com")
        try await process.waitFor("Password: ")
        let keeper = try process.keepTerminal()
        defer { close(keeper) }
        await process.type(key)
        #expect(await process.exitCode() == code)
        #expect(process.echoes)
        #expect(world.realm.count(.login) == 0)
      }
    }

    @Test("stopped at the password the terminal is given back; continued, it is asked again, unseen")
    func stoppedAtPassword() async throws {
      try await ProcessWorld.run { world in
        let process = try world.terminal("login", "--email", "anna@example.com")
        try await process.waitFor("Password: ")
        process.send(SIGTSTP)
        #expect(await process.waitForStop())
        #expect(process.echoes)
        process.send(SIGCONT)
        try await process.waitFor("Password: ", times: 2)
        #expect(!process.echoes)
        await process.type("password123\n")
        let outcome = await process.finishOnTerminal()
        #expect(outcome.code == 0, "\(outcome.output)")
        #expect(!outcome.output.contains("password123"))
      }
    }

    // MARK: Signals during a refresh

    @Test(
      "an interrupt while a refresh is under way waits for its commit: no token is lost (S16)",
      arguments: [
        SIGINT, SIGTERM, SIGHUP,
      ] as [Int32])
    func interruptedRefresh(signal: Int32) async throws {
      try await ProcessWorld.run { world in
        try await world.login()
        world.realm.script(.refresh, .hold("answer"))
        let process = try ChirpProcess(["refresh"], environment: world.environment, onTerminal: false)
        _ = await world.realm.waitForCount(MockJournalFilter(operation: .refresh), atLeast: 1)
        process.send(signal)
        world.realm.release(hold: "answer")
        let outcome = try await process.finish()
        // The signal may still be on its way when the refresh is done; what must not be is a death in between.
        #expect(outcome.code == 128 + signal || outcome.code == 0)
        #expect(try await world.chirp("whoami").code == 0)
        #expect(world.realm.count(.refresh) == 1, "the rotated pair was saved, so nothing had to be sent again")
      }
    }

    @Test("an interrupt waits two seconds at most for a refresh that never ends (S16)")
    func interruptedHungRefresh() async throws {
      try await ProcessWorld.run { world in
        try await world.login()
        world.realm.script(.refresh, .hold("never"))
        let process = try ChirpProcess(["refresh"], environment: world.environment, onTerminal: false)
        _ = await world.realm.waitForCount(MockJournalFilter(operation: .refresh), atLeast: 1)
        let start = ContinuousClock.now
        process.send(SIGINT)
        #expect(try await process.finish().code == 130)
        #expect(ContinuousClock.now - start < .seconds(10))
        // So busy a machine may end the wait before the request has left: then nobody is held.
        world.realm.removeScripts()
        world.realm.release(hold: "never")
      }
    }

    @Test("a signal that the starter ignores stays ignored (nohup)")
    func nohup() async throws {
      try await ProcessWorld.run { world in
        try await world.login()
        world.realm.script(.me, .hold("answer"))
        let process = try ChirpProcess(
          ["whoami"], environment: world.environment, onTerminal: false, under: ["/usr/bin/nohup"])
        _ = await world.realm.waitForCount(MockJournalFilter(operation: .me), atLeast: 1)
        process.send(SIGHUP)
        world.realm.release(hold: "answer")
        #expect(try await process.finish().code == 0)
      }
    }

    // MARK: Hostile starts

    /// Starts `chirp` by a shell that has done something to its descriptors.
    private func chirp(
      _ arguments: String..., in world: ProcessWorld, after script: String, input: String = ""
    ) async throws -> ChirpProcess.Outcome {
      let process = try ChirpProcess(
        arguments, environment: world.environment, onTerminal: false, under: ["/bin/sh", "-c", script, "sh"])
      return try await process.finish(input: input)
    }

    @Test("S11, S15: the user's time-out cuts no refresh, which would lose the session; it cuts other requests")
    func timeoutSparesRefresh() async throws {
      try await ProcessWorld.run { world in
        try await world.login()
        world.realm.script(.refresh, .delay(.fixed(.milliseconds(300))), .delay(.fixed(.milliseconds(300))))
        #expect(try await world.chirp("refresh", "--timeout", "5ms").code == 0)
        #expect(world.realm.count(.refresh) == 1)
        world.realm.script(.me, .hold("never"))
        #expect(try await world.chirp("whoami", "--timeout", "50ms").code == 5)
        // So busy a machine may end the wait before the request has left: then nobody is held.
        world.realm.removeScripts()
        world.realm.release(hold: "never")
        #expect(try await world.chirp("whoami").code == 0, "the session lives")
      }
    }

    @Test("with any of the standard streams closed, a command works or says what it lacks")
    func closedStreams() async throws {
      try await ProcessWorld.run { world in
        let login = try await chirp(
          "login", "--email", "anna@example.com", "--password-stdin", in: world, after: "exec \"$@\" <&-")
        #expect(login.code == 2)
        #expect(login.error.contains("There is no password"))
        try await world.login()
        for script in ["exec \"$@\" >&-", "exec \"$@\" >/dev/full", "exec \"$@\" <&- >&-"] {
          let token = try await chirp("token", in: world, after: script)
          #expect(token.code == 1, "\(script)")
          #expect(token.error.contains("output cannot be written"), "\(script): \(token.error)")
        }
        #expect(try await chirp("token", in: world, after: "exec \"$@\" <&- 2>&-").code == 0)
        #expect(try await chirp("token", in: world, after: "exec \"$@\" <&- >&- 2>&-").code == 1)
        #expect(try await chirp("refresh", in: world, after: "exec \"$@\" <&- >&- 2>&-").code == 0)
        #expect(try await world.chirp("whoami").code == 0)
      }
    }

    @Test("too few descriptors are told of, and no trap", arguments: [4, 8, 12])
    func fewDescriptors(limit: Int) async throws {
      try await ProcessWorld.run { world in
        let outcome = try await chirp("status", in: world, after: "ulimit -n \(limit); exec \"$@\"")
        #expect(outcome.code == 1)
        #expect(outcome.error.contains("ulimit -n"), "\(outcome.error)")
      }
    }

    @Test("an email that is no UTF-8 is refused before anything is sent")
    func emailNotText() async throws {
      try await ProcessWorld.run { world in
        let outcome = try await chirp(
          "login", "--password-stdin", in: world, after: "exec \"$@\" --email \"$(printf 'a\\377@b.cc')\"",
          input: "password123\n")
        #expect(outcome.code == 2)
        #expect(outcome.error.contains("UTF-8"))
        #expect(world.realm.count(.login) == 0)
      }
    }

    @Test("a server that is known by its IPv6 address")
    func sixthVersion() async throws {
      try await ProcessWorld.run { world in
        let front = HTTPFront(handler: world.server, host: "::1")
        // A machine without IPv6 has nothing to test.
        guard let address = try? front.start() else { return }
        let login = try await world.chirp(
          "login", "--server", address.url, "--email", "anna@example.com", "--password-stdin", input: "password123\n")
        #expect(login.code == 0, "\(login.error)")
        #expect(try await world.chirp("whoami", "--server", address.url).code == 0)
        #expect(try await world.chirp("refresh", "--server", address.url).code == 0)
        await front.stop()
      }
    }

    // MARK: Files

    private func files(in folder: String) throws -> [String] {
      guard let stream = opendir(folder) else { throw ChirpProcess.Failure(description: "\(folder): \(errno)") }
      defer { closedir(stream) }
      var names: [String] = []
      while let entry = readdir(stream) {
        let name = withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        if name != ".", name != ".." { names.append(name) }
      }
      return names
    }

    private func bytes(of path: String) throws -> [UInt8] {
      [UInt8](try Data(contentsOf: URL(filePath: path)))
    }

    private func contains(_ bytes: [UInt8], _ part: [UInt8]) -> Bool {
      guard !part.isEmpty, bytes.count >= part.count else { return false }
      return (0...bytes.count - part.count).contains { bytes[$0..<$0 + part.count].elementsEqual(part) }
    }

    private func overwrite(_ path: String, with bytes: [UInt8]) throws {
      let descriptor = open(path, O_WRONLY | O_TRUNC)
      defer { close(descriptor) }
      guard descriptor >= 0, write(descriptor, bytes, bytes.count) == bytes.count else {
        throw ChirpProcess.Failure(description: "\(path): \(errno)")
      }
    }

    private func freePort() throws -> UInt16 {
      let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      defer { close(descriptor) }
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
      var length = socklen_t(MemoryLayout<sockaddr_in>.size)
      let status = withUnsafeMutablePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          bind(descriptor, $0, length) == 0 ? getsockname(descriptor, $0, &length) : -1
        }
      }
      guard status == 0 else { throw ChirpProcess.Failure(description: "no port: \(errno)") }
      return UInt16(bigEndian: address.sin_port)
    }
  }
#endif

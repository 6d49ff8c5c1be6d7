import AuthCLI
import AuthModels
import AuthStorage
import AuthTestSupport
import Groundwork
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// `chirp store` and `chirp doctor` over a real store on disk.
@Suite struct StoreCommandTests {
  private static let slot = SessionSlot(server: "https://auth.example.com:443")

  private struct Outcome {
    var code: Int32
    var output: String
    var error: String
    var questions: [ScriptedConsole.Question]

    func json() throws -> JSONValue { try JSONDecoder().decode(JSONValue.self, from: Data(output.utf8)) }
  }

  /// A folder with a store, and `chirp` over it.
  private struct World: Sendable {
    let path: String
    let clock = LeapingClock()

    var folder: String { path + "/chirp" }

    static func lend(_ body: (World) async throws -> Void) async throws {
      let path = FileManager.default.temporaryDirectory.path + "/chirp-cli-\(UUID().uuidString)"
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
      do {
        try await body(World(path: path))
      } catch {
        try FileManager.default.removeItem(atPath: path)
        throw error
      }
      try FileManager.default.removeItem(atPath: path)
    }

    func run(
      _ arguments: String..., typed: [String]? = nil, environment: [String: String] = [:], helper: String = "/nowhere",
      stateDir: String? = nil
    ) async -> Outcome {
      await run(arguments, typed: typed, environment: environment, helper: helper, stateDir: stateDir)
    }

    func run(
      _ arguments: [String], typed: [String]? = nil, environment: [String: String] = [:], helper: String = "/nowhere",
      stateDir: String? = nil
    ) async -> Outcome {
      let console = ScriptedConsole(typed: typed)
      let clock = clock
      let program = ChirpCommandLine(
        parts: CommandLineParts(
          console: console,
          environment: ["CHIRP_STATE_DIR": stateDir ?? folder].merging(environment) { _, new in new }, time: clock,
          openStore: { folder, source in
            .init(
              store: SQLiteSessionStore(folder: folder, time: clock, keySource: source), location: folder,
              keySource: source.kind)
          },
          makeTransport: { _ in StubTransport() }, secretServiceHelper: helper))
      let code = await program.run(arguments)
      return Outcome(code: code, output: console.output, error: console.error, questions: console.questions)
    }

    func signIn(_ token: String = "token", stateDir: String? = nil) async throws {
      let store = SQLiteSessionStore(folder: stateDir ?? folder, time: clock)
      let record = SessionRecord(
        sessionID: UUID(), slot: slot, profile: "chirp", accessToken: token, refreshToken: nil, tokenType: "Bearer",
        scope: nil, issuedAt: clock.wallClock, lifetime: nil, bootID: "boot", sinceBootAtIssue: 0, serverSkew: nil,
        user: SessionUser(id: "1", email: "anna@example.com"))
      _ = try await store.update(slot) { $0.state.record = record }
    }

    func write(_ name: String, _ text: String) throws -> String {
      try Data(text.utf8).write(to: URL(fileURLWithPath: path + "/" + name))
      return path + "/" + name
    }
  }

  @Test("store info tells what is there, and that nothing is")
  func info() async throws {
    try await World.lend { world in
      let nothing = await world.run("store", "info", "--json")
      #expect(nothing.code == 0)
      #expect(try nothing.json()["exists"]?.bool == false)
      try await world.signIn()
      let info = try await world.run("store", "--json").json()
      #expect(info["keySource"]?.string == "keyfile" && info["sessions"]?.integer == 1)
      #expect(info["schemaVersion"]?.integer == 1 && info["exists"]?.bool == true)
      let words = await world.run("store", "info")
      #expect(words.code == 0 && words.output.contains("Sessions   1, of 1 accounts"))
    }
  }

  @Test("rekey keeps everybody signed in; without a store it is an error")
  func rekey() async throws {
    try await World.lend { world in
      #expect(await world.run("store", "rekey").code == 1)
      try await world.signIn()
      let before = try Data(contentsOf: URL(fileURLWithPath: world.folder + "/key"))
      let outcome = await world.run("store", "rekey")
      #expect(outcome.code == 0 && outcome.error.contains("Everybody stays signed in"))
      #expect(try Data(contentsOf: URL(fileURLWithPath: world.folder + "/key")) != before)
      #expect(await world.run("status").code == 0)
    }
  }

  @Test(
    "a key source that is not the store's is 6, and the hint names the command that changes it",
    arguments: [["status"], ["store", "rekey"], ["token"], []])
  func wrongSource(command: [String]) async throws {
    try await World.lend { world in
      try await world.signIn()
      let flag = await world.run(command + ["--key-source", "passphrase"], typed: ["x", "x"])
      #expect(flag.code == 6)
      #expect(flag.error.contains("leave --key-source out") && flag.error.contains("migrate --to passphrase"))
      let variable = await world.run(command, environment: ["CHIRP_KEY_SOURCE": "secret-service"])
      #expect(variable.code == 6)
      #expect(variable.error.contains("unset CHIRP_KEY_SOURCE") && variable.error.contains("--to secret-service"))
      #expect(await world.run("status").code == 0, "nothing was changed")
    }
  }

  @Test("a passphrase is asked for twice when it is made, once when it opens, and read from a file without a terminal")
  func passphrase() async throws {
    try await World.lend { world in
      try await world.signIn()
      let moved = await world.run(
        "store", "migrate", "--to", "passphrase", typed: ["one", "other", "correct horse", "correct horse"])
      #expect(moved.code == 0, "\(moved.error)")
      #expect(moved.questions.count == 4 && moved.questions.allSatisfy(\.isHidden))
      #expect(moved.error.contains("not the same"))

      let info = await world.run("store", "info", "--json")
      #expect(info.questions.isEmpty, "info asks nobody")
      #expect(try info.json()["keySource"]?.string == "passphrase")
      #expect(try info.json()["passphraseCost"]?.integer == 17)

      let status = await world.run("status", typed: ["correct horse"])
      #expect(status.code == 0 && status.questions.count == 1)
      #expect(status.output.contains("(key: passphrase)"))
      #expect(await world.run("status", typed: ["wrong"]).code == 7)
      #expect(await world.run("status", typed: []).code == 3, "Ctrl-D")
      let silent = await world.run("status")
      #expect(silent.code == 6 && silent.error.contains("CHIRP_PASSPHRASE_FILE"))
      let file = try world.write("pass", "correct horse\n")
      #expect(await world.run("status", environment: ["CHIRP_PASSPHRASE_FILE": file]).code == 0)
      let other = await world.run("status", "--key-source", "keyfile")
      #expect(other.code == 6 && other.error.contains("`passphrase`"), "a store never changes its source by itself")

      let changed = await world.run(
        "store", "migrate", "--to", "passphrase", "--new-passphrase-file", try world.write("new", "new one"),
        environment: ["CHIRP_PASSPHRASE_FILE": file])
      #expect(changed.code == 0, "\(changed.error)")
      #expect(await world.run("status", environment: ["CHIRP_PASSPHRASE_FILE": file]).code == 7)
      let back = await world.run(
        "store", "migrate", "--to", "keyfile", environment: ["CHIRP_PASSPHRASE_FILE": world.path + "/new"])
      #expect(back.code == 0)
      #expect(await world.run("status").code == 0)
      for outcome in [moved, status, silent, other, changed, back] {
        #expect(!(outcome.output + outcome.error).contains("correct"), "no passphrase is repeated")
      }
    }
  }

  @Test("the sessions of another folder come here, once, and overwrite nothing")
  func takeOver() async throws {
    try await World.lend { world in
      let old = world.path + "/old"
      try await world.signIn("old", stateDir: old)
      let moved = await world.run("store", "migrate", "--from", old, "--json")
      #expect(moved.code == 0)
      #expect(try moved.json()["sessions"]?.array?.first?["outcome"]?.string == "moved")
      #expect(await world.run("status").code == 0)
      #expect(await world.run("status", stateDir: old).code == 4)
      try await world.signIn("another", stateDir: old)
      let refused = await world.run("store", "migrate", "--from", old)
      #expect(refused.code == 1 && refused.output.contains("another session stands here"))
      #expect(await world.run("status", stateDir: old).code == 0)
      #expect(await world.run("store", "migrate").code == 2)
      #expect(await world.run("store", "migrate", "--from", old, "--to", "keyfile").code == 2)
      #expect(await world.run("store", "migrate", "--from", world.folder).code == 2)
    }
  }

  @Test("doctor says what is wrong and moves it aside when told; sign-in works again")
  func doctor() async throws {
    try await World.lend { world in
      #expect(await world.run("doctor").code == 0)
      try await world.signIn()
      let healthy = await world.run("doctor", "--repair", "--json")
      #expect(healthy.code == 0)
      #expect(try healthy.json()["healthy"]?.bool == true)
      #expect(try healthy.json()["moved"]?.array?.isEmpty == true)
      let file = world.folder + "/sessions.db"
      try Data(repeating: 7, count: 5000).write(to: URL(fileURLWithPath: file), options: [])
      let status = await world.run("status")
      #expect(status.code == 7 && status.error.contains("chirp doctor --repair"))
      let found = await world.run("doctor")
      #expect(
        found.code == 7 && found.output.contains("PROBLEM") && found.output.contains("chirp doctor --repair moves"))
      #expect(FileManager.default.fileExists(atPath: file))
      let repaired = await world.run("doctor", "--repair")
      #expect(repaired.code == 0 && repaired.output.contains("You can sign in again"))
      #expect(FileManager.default.fileExists(atPath: file + ".damaged-1"))
      try await world.signIn()
      #expect(await world.run("status").code == 0)
    }
  }

  @Test("loose modes are exit 7, explained, and not repaired")
  func looseModes() async throws {
    try await World.lend { world in
      try await world.signIn()
      try FileManager.default.setAttributes(
        [.posixPermissions: 0o644], ofItemAtPath: world.folder + "/sessions.db")
      let outcome = await world.run("doctor", "--repair")
      #expect(outcome.code == 7)
      #expect(outcome.output.contains("chmod 600") && outcome.output.contains("may have read"))
    }
  }

  @Test("the desktop's key store is asked through its helper; without the helper it is 6")
  func secretService() async throws {
    try await World.lend { world in
      let helper = try world.write(
        "helper",
        """
        #!/bin/sh
        cd "\(world.path)" || exit 1
        echo "$1" >>calls
        case $1 in
          add) cat >"secret-$2" ;;
          find) [ -e "secret-$2" ] || exit 4; cat "secret-$2" ;;
          remove) rm -f "secret-$2" ;;
        esac
        [ ! -e fail ] || { echo "(gcr:7): a library's remark" >&2; echo "locked It is locked." >&2; exit 1; }
        """)
      try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: helper)
      try await world.signIn()
      let missing = await world.run("store", "migrate", "--to", "secret-service")
      #expect(missing.code == 6 && missing.error.contains("/nowhere"))
      #expect(await world.run("status").code == 0, "and nothing was changed")
      #expect(await world.run("store", "migrate", "--to", "secret-service", helper: helper).code == 0)
      #expect(await world.run("status", helper: helper).code == 0)
      #expect(await world.run("store", "rekey", helper: helper).code == 0)
      let secrets = try FileManager.default.contentsOfDirectory(atPath: world.path).filter { $0.hasPrefix("secret-") }
      #expect(secrets.count == 1, "the former secret was removed")
      _ = try world.write("fail", "")
      let locked = await world.run("status", helper: helper)
      #expect(locked.code == 6 && locked.error.contains("It is locked."), "\(locked.error)")
      try FileManager.default.removeItem(atPath: world.path + "/fail")
      #expect(await world.run("store", "migrate", "--to", "keyfile", helper: helper).code == 0)
      #expect(await world.run("status").code == 0)
    }
  }

  @Test("a store in memory has nothing to look at")
  func memory() async throws {
    try await World.lend { world in
      #expect(await world.run("doctor", "--store", "memory").code == 2)
      #expect(await world.run("store", "rekey", "--store", "memory").code == 2)
      #expect(await world.run("store", "info", "--store", "memory").code == 2)
    }
  }
}

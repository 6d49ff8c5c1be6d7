import AuthCLI
import AuthStorage
import AuthTestSupport
import CommandLineTable
import Groundwork
import MockServerCore
import MockServerInProcess
import Testing

/// `chirp` alone, and what its help promises.
@Suite struct OverviewTests {
  private let world = CommandLineWorld(policy: MockPolicy(accessTTL: .seconds(900)))

  @Test("chirp alone says that nobody is signed in, and how that is done; it is no failure")
  func nobody() async throws {
    let outcome = await world.run()
    #expect(outcome.code == 0 && outcome.error == "")
    #expect(outcome.output.hasPrefix("Nobody is signed in here.\n"))
    for part in ["chirp login --server URL", "chirp register --server URL", "chirp help"] {
      #expect(outcome.output.contains(part))
    }
    let json = try await world.run("--json").json()
    #expect(json["state"]?.string == "signedOut" && json["next"]?.array?.first?.string == "chirp login --server URL")
  }

  @Test("signed in: where, as whom, until when, and what comes next; no server is asked")
  func signedIn() async throws {
    await world.login()
    _ = await world.run("whoami")
    let requests = world.realm.journal().count
    let outcome = await world.run()
    #expect(outcome.code == 0)
    for part in [
      "Signed in to \(CommandLineWorld.url) as anna <anna@example.com>.", "(in 15 min)", "renews by itself",
      "chirp logout",
    ] {
      #expect(outcome.output.contains(part), "\(part)")
    }
    #expect(!outcome.output.contains("account default"))
    let json = try await world.run("--json").json()
    #expect(json["state"]?.string == "signedIn" && json["expiresIn"]?.integer == 900)
    world.clock.advance(by: .seconds(1000))
    #expect(await world.run().output.contains("The access token expired"))
    #expect(world.realm.journal().count == requests)
  }

  @Test("other accounts, and sign-outs that the server has not heard of, are told")
  func more() async throws {
    await world.login()
    await world.login("--account", "work")
    #expect(await world.run().output.contains("account work."))
    #expect(await world.run().output.contains("1 more account is known: chirp accounts"))
    world.transport.isOffline = true
    _ = await world.run("logout")
    let outcome = await world.run()
    #expect(outcome.output.contains("Signed out of \(CommandLineWorld.url), account work. You signed out."))
    #expect(outcome.output.contains("not heard of 1 sign-out yet"))
    #expect(try await world.run("--json").json()["pendingRevocations"]?.integer == 1)
  }

  @Test("a store that cannot be read is never told as signed out (S21)")
  func unreadable() async throws {
    await world.login()
    world.store.failAll(.lastSignedIn, with: StoreError(.corrupted, "The store is damaged."))
    let outcome = await world.run()
    #expect(outcome.code == 7)
    #expect(outcome.output == "" && outcome.error.contains("chirp doctor"))
  }

  @Test("chirp --help fits a terminal of 80 by 24, the prompt included, and shows every command")
  func help() async throws {
    let lines = await world.run("--help").output.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
    #expect(lines.count <= 23)
    #expect(lines.allSatisfy { $0.count <= 80 })
    for command in ChirpProgram.table.root.commands where !command.isHidden {
      #expect(lines.contains { $0.hasPrefix("  \(command.name) ") }, "\(command.name)")
    }
  }

  @Test("completion and manual pages come from the table")
  func builtIn() async throws {
    for shell in Shell.allCases {
      let script = await world.run("completion", shell.rawValue)
      #expect(script.code == 0 && script.output.contains("switch") && script.output.contains("--key-source"))
    }
    #expect(await world.run("completion", "csh").code == 2)
    let pages = await world.run("man", "--list").output.split(separator: "\n").map(String.init)
    #expect(pages.contains("chirp-accounts-switch") && pages.first == "chirp")
    for page in pages { #expect(await world.run("man", page).output.hasPrefix(".TH \"CHIRP")) }
  }

  @Test(
    "what holds for many commands stands in the environment, and the command line goes before it",
    arguments: [
      ("CHIRP_DIALECT", "envelope", Int32(2)), ("CHIRP_ACCOUNT", "nobody", 4), ("CHIRP_TIMEOUT", "0s", 2),
      ("CHIRP_STORE", "memory", 4), ("CHIRP_STORE", "disk", 2), ("CHIRP_ACCESSIBLE", "maybe", 2),
      ("CHIRP_KEY_SOURCE", "none", 2), ("CHIRP_ACCOUNT", "a\u{1B}[31m", 2),
    ])
  func environment(name: String, value: String, code: Int32) async throws {
    await world.login()
    let outcome = await world.run("whoami", environment: [name: value])
    #expect(outcome.code == code, "\(outcome.error)")
    #expect(!outcome.error.contains("\u{1B}"))
    #expect(await world.run("whoami", environment: [name: ""]).code == 0, "an empty one counts as unset")
    if name == "CHIRP_ACCOUNT", code == 4 {
      #expect(await world.run("whoami", "--account", "default", environment: [name: value]).code == 0)
    }
  }
}

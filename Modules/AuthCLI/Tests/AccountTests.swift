import AuthCLI
import AuthStorage
import AuthTestSupport
import Groundwork
import MockServerCore
import MockServerInProcess
import Testing

/// Several accounts in one store: which one commands use, and how one is let go.
@Suite struct AccountTests {
  private let world = CommandLineWorld()

  private func current() async throws -> String? {
    let rows = try await world.run("accounts", "--json").json()["accounts"]?.array ?? []
    return rows.first { $0["isCurrent"]?.bool == true }?["account"]?.string
  }

  @Test("switch lets commands use another account from now on, and sends nothing")
  func switches() async throws {
    await world.login()
    let first = await world.run("token").output
    await world.login("--account", "work")
    #expect(await world.run("token").output != first)
    let requests = world.realm.journal().count
    let outcome = await world.run("accounts", "switch", "default")
    #expect(outcome.code == 0 && outcome.output == "")
    #expect(outcome.error.contains("account default at \(CommandLineWorld.url)"))
    #expect(await world.run("token").output == first)
    #expect(try await current() == "default")
    #expect(world.realm.journal().count == requests)
    let json = try await world.run("accounts", "switch", "work", "--json").json()
    #expect(json["account"]?.string == "work" && json["state"]?.string == "signedIn")
  }

  @Test("an account is found by who is signed in there, too; its own name comes first")
  func byUser() async throws {
    await world.login()
    _ = await world.run("whoami")
    await world.login("--account", "anna")
    #expect(await world.run("accounts", "switch", "anna@example.com").code == 0)
    #expect(try await current() == "default")
    #expect(await world.run("accounts", "switch", "anna").code == 0)
    #expect(try await current() == "anna")
  }

  @Test("a name that is unknown is 1, with the nearest one; a name at two servers needs --server")
  func unknown() async throws {
    await world.login("--account", "work")
    for command in ["switch", "remove"] {
      let outcome = await world.run("accounts", command, "wrok")
      #expect(outcome.code == 1)
      #expect(outcome.error.contains("There is no account wrok") && outcome.error.contains("Did you mean work?"))
      #expect(await world.run("accounts", command).code == 2)
    }
    let other = "http://localhost:8080/r/other"
    let login = await world.run(
      "login", "--server", other, "--account", "work", "--email", "anna@example.com", "--password-stdin",
      console: ScriptedConsole(input: CommandLineWorld.password))
    #expect(login.code == 0, "\(login.error)")
    let both = await world.run("accounts", "remove", "work")
    #expect(both.code == 2)
    #expect(both.error.contains(other) && both.error.contains("--server"))
    #expect(await world.run("accounts", "switch", "work", "--server", CommandLineWorld.url).code == 0)
    let list = await world.run("accounts", "list", "--server", other)
    #expect(list.output.split(separator: "\n").count == 1 && list.output.contains(other))
  }

  @Test("remove signs out here and at the server, forgets the account, and the next one becomes the current one")
  func removes() async throws {
    await world.login()
    await world.login("--account", "work")
    let outcome = await world.run("accounts", "remove", "work", "--json")
    #expect(outcome.code == 0)
    let json = try outcome.json()
    #expect(json["account"]?.string == "work" && json["revoked"]?.bool == true)
    #expect(json["current"]?["account"]?.string == "default")
    #expect(world.realm.count(.logout) == 1)
    let list = await world.run("accounts")
    #expect(list.output.split(separator: "\n").count == 1 && list.output.contains("* default"))
    #expect(await world.run("whoami").code == 0)
  }

  @Test("removing another account than the current one changes nothing else; the last one leaves its server behind")
  func removesOthers() async throws {
    await world.login()
    await world.login("--account", "work")
    let first = await world.run("accounts", "remove", "default")
    #expect(first.code == 0 && !first.error.contains("Commands use"))
    #expect(try await current() == "work")
    #expect(await world.run("accounts", "remove", "work").code == 0)
    #expect(await world.run("accounts").output == "")
    #expect(await world.run("status").code == 4)
    let again = await world.run(
      "login", "--email", "anna@example.com", "--password-stdin",
      console: ScriptedConsole(input: CommandLineWorld.password))
    #expect(again.code == 0, "the server is still known")
    #expect(try await current() == "default", "a removed account does not come back")
  }

  @Test("offline, remove works, and the server is told later (S20); a signed-out account is just forgotten")
  func removesOffline() async throws {
    await world.login()
    await world.login("--account", "work")
    world.transport.isOffline = true
    let outcome = await world.run("accounts", "remove", "work")
    #expect(outcome.code == 0)
    #expect(outcome.error.contains("a later command tells it"))
    world.transport.isOffline = false
    #expect(await world.run("whoami").code == 0)
    #expect(world.realm.count(.logout) == 1)
    _ = await world.run("logout")
    let count = world.realm.count(.logout)
    #expect(await world.run("accounts", "remove", "default").code == 0)
    #expect(world.realm.count(.logout) == count)
    #expect(await world.run("accounts").output == "")
  }

  @Test("a store that cannot be written keeps the account and says so (exit 6)")
  func readOnly() async throws {
    await world.login()
    world.store.failAll(.update, with: StoreError(.readOnly, "The folder is read-only."))
    for command in ["switch", "remove"] {
      #expect(await world.run("accounts", command, "default").code == 6)
    }
    world.store.failAll(.update, with: nil)
    #expect(await world.run("accounts").output.contains("default"))
  }

  @Test("what the environment puts above the switch is said")
  func environment() async throws {
    await world.login()
    await world.login("--account", "work")
    let outcome = await world.run("accounts", "switch", "default", environment: ["CHIRP_ACCOUNT": "work"])
    #expect(outcome.code == 0)
    #expect(outcome.error.contains("CHIRP_ACCOUNT is set to work"))
    let same = await world.run("accounts", "switch", "work", environment: ["CHIRP_ACCOUNT": "work"])
    #expect(!same.error.contains("CHIRP_ACCOUNT"))
  }
}

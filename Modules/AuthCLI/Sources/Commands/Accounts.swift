import AuthModels
import AuthSession
import AuthStorage
import CommandLineTable
import Groundwork

extension CommandContext {
  /// `chirp accounts list`
  func listAccounts() async throws {
    let store = try await store().store
    let last = try await store.lastSignedIn()
    let server = try wantedServer()
    var rows: [JSONValue] = []
    var lines: [[String]] = []
    for (slot, record) in try await accounts(in: store) where server == nil || slot.server == server {
      var row: [String: JSONValue] = [
        "server": .string(slot.server), "account": .string(slot.account),
        "state": record == nil ? "signedOut" : "signedIn", "isCurrent": .bool(slot == last),
      ]
      if let user = record?.user { row["user"] = user.json }
      rows.append(.object(row))
      lines.append([
        "\(slot == last ? "*" : " ") \(slot.account)", slot.server,
        record.map { $0.user?.text ?? "signed in" } ?? "signed out",
      ])
    }
    if rows.isEmpty, !output.isJSON { output.say("There are no accounts. Sign in: chirp login --server URL") }
    try await output.data(.object(["accounts": .array(rows)]), Self.columns(lines))
  }

  /// `chirp accounts switch NAME`
  func switchAccount() async throws {
    let store = try await store().store
    let (slot, record) = try await account(named: call.argument("NAME") ?? "", in: store)
    _ = try await store.update(slot) { $0.becomesCurrent = true }
    var object = slot.json
    object["state"] = record == nil ? "signedOut" : "signedIn"
    let next = record == nil ? " Nobody is signed in there: chirp login" : ""
    try await output.done(.object(object), "Commands use account \(slot.account) at \(slot.server) now.\(next)")
    for (option, value) in [("account", slot.account), ("server", slot.server)] {
      guard call.source(of: option) == .environment, let given = call.text(option), given != value else { continue }
      output.say("chirp: CHIRP_\(option.uppercased()) is set to \(given): it takes precedence, until it is unset.")
    }
  }

  /// `chirp accounts remove NAME`
  func removeAccount() async throws {
    let store = try await store().store
    let (slot, record) = try await account(named: call.argument("NAME") ?? "", in: store)
    var result: SignOutResult?
    if record != nil {
      let server = try ServerIdentity(slot.server)
      let session = try CommandSession(
        context: self, slot: slot, server: server,
        connection: try await connection(of: slot, server, in: store, .stored), store: store, accessToken: nil)
      result = try await session.engine.signOutWhoever()
    }
    let (_, isGone) = try await store.update(slot) { change in
      // Whoever signed in meanwhile stays.
      guard change.state.record == nil else { return false }
      change.state = SlotState()
      return true
    }
    guard isGone else {
      throw SessionError(.busy, message: "Somebody signed in to this account meanwhile; nothing was removed.")
    }
    let current = try await successor(of: slot, in: store)
    var object = slot.json
    object["revoked"] = .bool(result?.revoked ?? false)
    if let current { object["current"] = .object(current.json) }
    let isUntold = result.map { $0.wasSignedIn && !$0.revoked } ?? false
    let told = isUntold ? " The server could not be told; a later command tells it." : ""
    let next = current.map { " Commands use account \($0.account) at \($0.server) now." } ?? ""
    try await output.done(.object(object), "Removed account \(slot.account) at \(slot.server).\(told)\(next)")
  }

  // MARK: Which account

  /// Every slot that holds a session or a note, with its session, by server and name.
  private func accounts(in store: any SessionStore) async throws -> [(slot: SessionSlot, record: SessionRecord?)] {
    var found: [(slot: SessionSlot, record: SessionRecord?)] = []
    for slot in try await store.slots().sorted(by: { ($0.server, $0.account) < ($1.server, $1.account) }) {
      found.append((slot, try await store.read(slot).record))
    }
    return found
  }

  /// The server that the command line or the environment names.
  private func wantedServer() throws -> String? {
    try call.text("server").map { try ServerIdentity($0).text }
  }

  /// The account that a person means: by its name, else by the address or name of whoever is signed in there.
  private func account(
    named name: String, in store: any SessionStore
  ) async throws -> (slot: SessionSlot, record: SessionRecord?) {
    let all = try await accounts(in: store)
    let server = try wantedServer()
    let here = all.filter { server == nil || $0.slot.server == server }
    var found = here.filter { $0.slot.account == name }
    if found.isEmpty { found = here.filter { [$0.record?.user?.email, $0.record?.user?.username].contains(name) } }
    guard found.count <= 1 else {
      let servers = found.map(\.slot.server).joined(separator: ", ")
      throw call.usageError("There is more than one such account: give --server, one of \(servers).")
    }
    guard let only = found.first else {
      let nearest = nearestName(to: name, among: here.map(\.slot.account)).map { "Did you mean \($0)? " } ?? ""
      let place = server.map { " at \($0)" } ?? ""
      throw CommandFailure(
        "account.notFound", "There is no account \(Printable.line(name.prefix(60)))\(place).",
        hint: "\(nearest)All of them: chirp accounts", .failure)
    }
    return only
  }

  /// Makes another account the current one, if the one that was removed was it: at the same server before others, somebody signed in
  /// before nobody. What is left of a last one is its server.
  private func successor(of removed: SessionSlot, in store: any SessionStore) async throws -> SessionSlot? {
    guard try await store.lastSignedIn() == removed else { return nil }
    let left = try await accounts(in: store).filter { $0.slot != removed }
    let best = left.min { rank($0, beside: removed) < rank($1, beside: removed) }
    let next = best?.slot ?? SessionSlot(server: removed.server)
    _ = try await store.update(next) { $0.becomesCurrent = true }
    return best?.slot
  }

  private func rank(_ account: (slot: SessionSlot, record: SessionRecord?), beside removed: SessionSlot) -> Int {
    (account.record == nil ? 2 : 0) + (account.slot.server == removed.server ? 0 : 1)
  }

  /// Rows as columns of equal width.
  private static func columns(_ rows: [[String]]) -> [String] {
    let widths = rows.reduce(into: [Int]()) { widths, row in
      for (index, cell) in row.enumerated() {
        if index < widths.count { widths[index] = max(widths[index], cell.count) } else { widths.append(cell.count) }
      }
    }
    return rows.map { row in
      row.enumerated().map { index, cell in
        index == row.count - 1 ? cell : cell + String(repeating: " ", count: widths[index] - cell.count)
      }.joined(separator: "  ")
    }
  }
}

extension SessionSlot {
  /// Where a session stands, as members of an object.
  var json: [String: JSONValue] { ["server": .string(server), "account": .string(account)] }
}

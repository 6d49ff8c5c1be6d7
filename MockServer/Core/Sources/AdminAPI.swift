import Groundwork

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The admin API of one realm: `/__mock/…`, JSON, not in the journal.
///
/// It answers loopback alone, unless the server was told otherwise; a `Host` that is no loopback name (DNS rebinding) and a
/// foreign `Origin` (a web page's post) are refused.
struct AdminAPI {
  let server: MockAuthServer
  let realm: MockRealm

  /// Every call with its methods: what is answered, and what the OpenAPI document describes.
  static let calls: [String: [String]] = [
    "/__mock/state": ["GET"], "/__mock/reset": ["POST"], "/__mock/clock": ["POST"],
    "/__mock/users": ["POST", "PUT", "DELETE"], "/__mock/sessions": ["GET", "POST"], "/__mock/revoke": ["POST"],
    "/__mock/policy": ["PUT"],
    "/__mock/scripts": ["GET", "PUT", "DELETE"], "/__mock/journal": ["GET"], "/__mock/journal/count": ["GET"],
    "/__mock/journal/order": ["POST"], "/__mock/journal/entry": ["GET"], "/__mock/connections": ["POST"],
    "/__mock/release": ["POST"],
    "/__mock/events": ["GET"], "/__mock/realms": ["GET", "DELETE"], "/__mock/openapi.json": ["GET"],
    "/__mock/keys": ["GET"], "/__mock/clients": ["GET", "PUT"], "/__mock/mails": ["GET"],
  ]

  func receive(
    _ request: MockRequest, path: String, query: Substring, deliver send: @escaping @Sendable (MockDelivery) -> Void
  ) {
    let deliver: @Sendable (MockDelivery) -> Void = { delivery in
      var guarded = delivery
      guarded.reply.headers += Self.guards
      send(guarded)
    }
    func refuse(_ status: Int, _ code: String, _ reason: String, allow: [String] = []) {
      var reply = Chirp.error(status, code, reason)
      if !allow.isEmpty { reply.headers.append(MockRequest.Field("Allow", allow.joined(separator: ", "))) }
      deliver(MockDelivery(reply: reply))
    }
    let isPage = path == "/__mock/" || path == "/__mock"
    if let reason = refusal(of: request, isPage: isPage) { return refuse(403, "forbidden", reason) }
    if isPage {
      guard ["GET", "HEAD"].contains(request.method) else {
        return refuse(405, "method_not_allowed", "The dashboard answers GET only.", allow: ["GET", "HEAD"])
      }
      return deliver(MockDelivery(reply: path == "/__mock" ? DashboardPage.redirect : DashboardPage.reply))
    }
    guard let methods = Self.calls[path] else {
      return refuse(404, "not_found", FieldReader.unknown("admin call", path, among: Self.calls.keys.sorted()))
    }
    guard methods.contains(request.method) else {
      return refuse(
        405, "method_not_allowed", "\(path) answers \(methods.joined(separator: ", ")) only.", allow: methods)
    }
    guard request.body.count <= 1 << 20 else {
      return refuse(413, "payload_too_large", "The body is larger than 1 MiB.")
    }
    if path != "/__mock/realms" { realm.noteUse() }
    do throws(MockServerError) {
      switch path {
      case "/__mock/journal/count": return try countJournal(query, deliver: deliver)
      case "/__mock/events": return followEvents(deliver: deliver)
      default:
        let json = try answer(request, path: path, query: query)
        var reply = Chirp.json(json == nil ? 204 : 200, json?.data ?? Data())
        if json == nil { reply.headers = [] }
        deliver(MockDelivery(reply: reply))
      }
    } catch {
      let status =
        switch error.code {
        case .invalidRequest: 400
        case .taken: 409
        case .unknownUser, .unknownSession, .forgotten: 404
        }
      refuse(status, error.code == .invalidRequest ? "bad_request" : error.code.rawValue, error.message)
    }
  }

  /// What every answer has: never kept, never taken for another type, never read from another site.
  private static let guards = [
    MockRequest.Field("Cache-Control", "no-store"), MockRequest.Field("X-Content-Type-Options", "nosniff"),
    MockRequest.Field("Cross-Origin-Resource-Policy", "same-origin"),
  ]

  /// Why a request may not reach the admin API at all.
  ///
  /// The page itself may be opened by a link on another site: it holds no data, and no other site can look into it.
  private func refusal(of request: MockRequest, isPage: Bool) -> String? {
    let host = request.header("Host")
    if !server.configuration.allowRemoteAdmin {
      guard request.isLoopback else { return "The admin API answers loopback only (--allow-remote-admin)." }
      if let host, !Self.isLoopbackName(host) {
        return "The admin API answers to a loopback name only, not to this Host (--allow-remote-admin)."
      }
    }
    if let origin = request.header("Origin") {
      let own = ["http://", "https://"].contains { scheme in
        origin.hasPrefix(scheme) && host.map { origin.dropFirst(scheme.count).equalsIgnoringCase($0) } == true
      }
      if !own { return "The admin API takes no request from another origin." }
    }
    if let site = request.header("Sec-Fetch-Site"), site != "same-origin", site != "none",
      !(isPage && request.header("Sec-Fetch-Dest") == "document")
    {
      return "The admin API takes no request from another site."
    }
    return nil
  }

  private static func isLoopbackName(_ host: String) -> Bool {
    if host.hasPrefix("[") { return host == "[::1]" || host.hasPrefix("[::1]:") }
    let parts = host.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count <= 2, let name = parts.first else { return false }
    if name.equalsIgnoringCase("localhost") { return true }
    let octets = name.split(separator: ".", omittingEmptySubsequences: false)
    return octets.count == 4 && octets[0] == "127"
      && octets.allSatisfy { octet in
        (1...3).contains(octet.utf8.count) && octet.utf8.allSatisfy { 0x30...0x39 ~= $0 } && Int(octet) ?? 256 < 256
      }
  }

  /// The answer of a call; nil for 204.
  private func answer(
    _ request: MockRequest, path: String, query: Substring
  ) throws(MockServerError) -> JSONWriter? {
    switch (path, request.method) {
    case ("/__mock/state", _):
      var writer = JSONWriter()
      realm.snapshot.write(to: &writer)
      return writer
    case ("/__mock/reset", _):
      if !request.body.isEmpty { _ = try FieldReader(body(request), at: "reset", knows: []) }
      realm.reset()
      return nil
    case ("/__mock/clock", _): return try setClock(body(request))
    case ("/__mock/users", "POST"): return try addUsers(body(request))
    case ("/__mock/users", "PUT"): return try changeUser(body(request))
    case ("/__mock/users", _): return try deleteUser(query)
    case ("/__mock/sessions", "GET"): return try showFamily(query)
    case ("/__mock/sessions", _): return try mintSession(body(request))
    case ("/__mock/revoke", _): return try revoke(body(request))
    case ("/__mock/policy", _): return try setPolicy(body(request))
    case ("/__mock/scripts", "DELETE"):
      realm.removeScripts()
      return nil
    case ("/__mock/scripts", "GET"): return scripts()
    case ("/__mock/scripts", _):
      realm.script(try MockScript(json: body(request)))
      return nil
    case ("/__mock/journal", _): return try journal(query)
    case ("/__mock/journal/entry", _): return try showExchange(query)
    case ("/__mock/openapi.json", _): return OpenAPI.document(realm: realm.name)
    case ("/__mock/keys", _): return keys()
    case ("/__mock/clients", "GET"): return clients()
    case ("/__mock/clients", _):
      try setClients(body(request))
      return clients()
    case ("/__mock/mails", _): return mails()
    case ("/__mock/journal/order", _): return try checkOrder(body(request))
    case ("/__mock/realms", "GET"): return realms()
    case ("/__mock/realms", _): return try dropRealms(query)
    case ("/__mock/connections", _): return try failConnections(body(request))
    default: return try release(body(request))
    }
  }

  private func body(_ request: MockRequest) throws(MockServerError) -> JSONValue {
    do throws(JSONParser.Failure) {
      return try JSONParser.parse(request.body, allowsRepeatedNames: false)
    } catch {
      throw MockServerError(.invalidRequest, "The body is not JSON: \(error.message).")
    }
  }

  private func setClock(_ json: JSONValue) throws(MockServerError) -> JSONWriter {
    let fields = try FieldReader(json, at: "clock", knows: ["advance", "set", "mode"])
    let mode = try fields.choice("mode", of: MockClockMode.self)
    let advance = try fields.duration("advance")
    let set = try fields.text("set")
    guard advance == nil || set == nil, advance != nil || set != nil || mode != nil else {
      throw fields.failure("give \"advance\" or \"set\", or \"mode\"")
    }
    if let set {
      guard let instant = MockInstant(text: set) else {
        throw fields.failure("\"set\" is an ISO 8601 time from 1970 to 9999, say \"2030-01-31T12:00:00Z\"")
      }
      realm.setClock { _ in instant }
    }
    if let advance { realm.advance(by: advance) }
    if let mode { realm.setClockMode(mode) }
    let now = MockInstant(realm.now).text
    return JSONWriter.object { $0.member("now", now) }
  }

  private func addUsers(_ json: JSONValue) throws(MockServerError) -> JSONWriter {
    guard let elements = json.array else { throw MockServerError(.invalidRequest, "users: an array is needed") }
    var seeds: [MockSeedUser] = []
    for (index, element) in elements.enumerated() {
      let fields = try FieldReader(element, at: "users[\(index)]", knows: ["username", "email", "password"])
      seeds.append(
        MockSeedUser(
          username: try fields.requiredText("username"), email: try fields.requiredText("email"),
          password: try fields.requiredText("password")))
    }
    let users = try realm.addUsers(seeds)
    var writer = JSONWriter()
    writer.array(users) { $1.write(to: &$0) }
    return writer
  }

  private func mintSession(_ json: JSONValue) throws(MockServerError) -> JSONWriter {
    let fields = try FieldReader(json, at: "sessions", knows: ["user", "accessTTL", "refreshTTL", "dialect"])
    let minted = try realm.mintSession(
      user: try fields.requiredText("user"), dialect: try fields.choice("dialect", of: MockDialect.self) ?? .chirp,
      accessTTL: try fields.duration("accessTTL", signed: true),
      refreshTTL: try fields.duration("refreshTTL", signed: true))
    return JSONWriter.object { json in
      json.member("accessToken", minted.accessToken)
      json.member("refreshToken", minted.refreshToken)
      json.member("expiresIn", Int(minted.expiresIn.components.seconds))
      json.member("tokenType", "Bearer")
      json.member("sessionID", minted.sessionID)
    }
  }

  private func keys() -> JSONWriter {
    let keys = realm.keys
    return JSONWriter.object { json in
      json.member("anonKey", keys.anonKey)
      json.member("serviceRoleKey", keys.serviceRoleKey)
      json.member("jwtSecret", keys.jwtSecret)
    }
  }

  private func clients() -> JSONWriter {
    let clients = realm.clients
    return JSONWriter.object { json in
      json.key("clients")
      json.array(clients) { $1.write(to: &$0) }
    }
  }

  private func setClients(_ json: JSONValue) throws(MockServerError) {
    guard let elements = json.array else { throw MockServerError(.invalidRequest, "clients: an array is needed") }
    var clients: [MockOAuthClient] = []
    for (index, element) in elements.enumerated() {
      let client = try MockOAuthClient(json: element, at: "clients[\(index)]")
      guard !clients.contains(where: { $0.id == client.id }) else {
        throw MockServerError(.taken, "clients[\(index)]: another client has the id \"\(client.id.prefix(80))\"")
      }
      clients.append(client)
    }
    realm.clients = clients
  }

  private func mails() -> JSONWriter {
    let mails = realm.mails
    return JSONWriter.object { json in
      json.key("mails")
      json.array(mails) { $1.write(to: &$0) }
    }
  }

  private func revoke(_ json: JSONValue) throws(MockServerError) -> JSONWriter {
    let fields = try FieldReader(json, at: "revoke", knows: ["access", "refresh", "session", "user", "all"])
    var found: [MockRevocation] = []
    if let token = try fields.text("access") { found.append(.access(token)) }
    if let token = try fields.text("refresh") { found.append(.refresh(token)) }
    if let id = try fields.text("session") { found.append(.session(id)) }
    if let user = try fields.text("user") { found.append(.user(user)) }
    if try fields.bool("all") == true { found.append(.all) }
    guard found.count == 1, let what = found.first else {
      throw fields.failure("give one of \"access\", \"refresh\", \"session\", \"user\", \"all\": true")
    }
    let count = realm.revoke(what)
    return JSONWriter.object { $0.member("revoked", count) }
  }

  private func setPolicy(_ json: JSONValue) throws(MockServerError) -> JSONWriter {
    var policy = realm.policy
    try policy.apply(json)
    realm.policy = policy
    var writer = JSONWriter()
    policy.write(to: &writer)
    return writer
  }

  private func failConnections(_ json: JSONValue) throws(MockServerError) -> JSONWriter? {
    let fields = try FieldReader(json, at: "connections", knows: ["failHandshakes", "refuse"])
    let handshakes = try fields.integer("failHandshakes", in: 0...100_000)
    let refused = try fields.integer("refuse", in: 0...100_000)
    switch (handshakes, refused) {
    case (let count?, nil): server.failConnections(.failHandshake, count: count)
    case (nil, let count?): server.failConnections(.refuse, count: count)
    default: throw fields.failure("give either \"failHandshakes\" or \"refuse\"")
    }
    return nil
  }

  private func release(_ json: JSONValue) throws(MockServerError) -> JSONWriter {
    let fields = try FieldReader(json, at: "release", knows: ["hold", "count"])
    let count = realm.release(
      hold: try fields.requiredText("hold"), count: try fields.integer("count", in: 1...Int.max))
    return JSONWriter.object { $0.member("released", count) }
  }

  /// Server-sent events (HTML Living Standard §9.2): `event: request` with a journal entry, `event: changed` with its kind.
  private func followEvents(deliver: @escaping @Sendable (MockDelivery) -> Void) {
    let headers = [MockRequest.Field("Content-Type", "text/event-stream")]
    deliver(MockDelivery(reply: MockReply(status: 200, headers: headers), stream: realm.eventBytes()))
  }
}

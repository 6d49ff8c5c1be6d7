/// Makes requests that are mostly right, about things that mostly exist: damage to them reaches deeper than noise would.
struct RequestMaker {
  /// Tokens, codes and ids that the server has given out; the newest take the places of the oldest.
  private(set) var loot: [String] = ["at_none", "rt_none"]
  private var nextLoot = 0

  private static let paths = [
    "/auth/register", "/auth/login", "/auth/refresh", "/auth/logout", "/me", "/feed", "/posts", "/envelope/login",
    "/envelope/refresh", "/envelope/me", "/auth/v1/signup", "/auth/v1/token", "/auth/v1/user", "/auth/v1/logout",
    "/auth/v1/otp", "/auth/v1/verify", "/auth/v1/recover", "/auth/v1/health", "/auth/v1/settings",
    "/auth/v1/admin/users", "/auth/v1/.well-known/jwks.json", "/oauth2/token", "/oauth2/revoke", "/oauth2/introspect",
    "/oauth2/device_authorization", "/oauth2/authorize", "/oauth2/userinfo", "/oauth2/jwks",
    "/.well-known/oauth-authorization-server", "/.well-known/openid-configuration",
  ]
  private static let adminPaths = [
    "state", "reset", "clock", "users", "sessions", "revoke", "policy", "scripts", "journal", "journal/count",
    "journal/order", "connections", "release", "events", "realms", "openapi.json", "keys", "mails", "",
  ]
  private static let methods = ["GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH"]
  private static let names = [
    "email", "password", "username", "refreshToken", "text", "phone", "data", "refresh_token", "auth_code",
    "code_verifier", "token", "type", "operation", "endpoint", "actions", "then", "status", "body", "headers", "delay",
    "hold", "break", "phase", "after", "revoke", "times", "advance", "set", "mode", "accessTTL", "refreshTTL",
    "rotation",
    "grace", "tokens", "clockSkew", "rateLimit", "limit", "per", "operations", "cors", "origins", "credentials",
    "maxAge",
    "user", "access", "refresh", "session", "all", "order", "since", "only", "count", "failHandshakes", "refuse",
    "distribution", "min", "max", "median", "sigma", "grant_type", "client_id", "client_secret", "scope", "device_code",
  ]
  private static let words = [
    "anna@example.com", "password123", "anna", "ben", "me", "refresh", "login", "POST /auth/refresh", "GET /me",
    "close",
    "reset", "truncate", "malformed", "wrong-type", "garbage", "drip", "tls", "before", "after-commit", "mid-body",
    "real",
    "repeat", "fail", "strict", "grace", "none", "parent-ok", "gotrue", "virtual", "5s", "-1h", "250ms", "30d",
    "uniform",
    "lognormal", "2030-01-01T00:00:00Z", "*", "http://localhost:3000", "opaque", "jwt", "password", "refresh_token",
    "client_credentials", "h", "x", "",
  ]

  /// Remembers what an answer gave out.
  mutating func remember(_ body: some Sequence<UInt8>) {
    var word: [UInt8] = []
    for byte in body {
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."):
        if word.count < 1200 { word.append(byte) }
      default:
        if word.count >= 12 { keep(String(decoding: word, as: UTF8.self)) }
        word.removeAll(keepingCapacity: true)
      }
    }
  }

  private mutating func keep(_ text: String) {
    if loot.count < 256 {
      loot.append(text)
    } else {
      loot[nextLoot % 256] = text
      nextLoot += 1
    }
  }

  /// The bytes of a request, damaged in half of all cases.
  func request(_ dice: inout Dice) -> [UInt8] {
    // Two of three mean something: a call that exists, with its method and a body that fits.
    let call = dice.chance(66) ? dice.pick(KnownCall.all, else: KnownCall("GET", "/me")) : nil
    let body = call.map { Array(filled($0.body, &dice).utf8) } ?? (dice.chance(60) ? self.body(&dice) : [])
    let method = call.map(\.method) ?? self.method(&dice)
    let target = call.map { inRealm(filled($0.path, &dice), &dice) } ?? self.target(&dice)
    var head = "\(method) \(target) HTTP/1.\(dice.chance(95) ? 1 : 0)\r\nHost: 127.0.0.1\r\n"
    head += fields(&dice)
    var bytes: [UInt8]
    if body.isEmpty {
      bytes = Array("\(head)\r\n".utf8)
    } else if dice.chance(80) {
      bytes = Array("\(head)Content-Length: \(body.count)\r\n\r\n".utf8) + body
    } else {
      bytes = Array("\(head)Transfer-Encoding: chunked\r\n\r\n".utf8)
      var rest = body[...]
      while !rest.isEmpty {
        let chunk = rest.prefix(1 + dice.below(rest.count))
        rest = rest.dropFirst(chunk.count)
        bytes += Array("\(String(chunk.count, radix: 16))\(dice.chance(10) ? ";x=y" : "")\r\n".utf8) + chunk + [13, 10]
      }
      bytes += Array("0\r\n\(dice.chance(10) ? "Trailer: x\r\n" : "")\r\n".utf8)
    }
    if dice.chance(50) { bytes.damage(&dice) }
    return bytes
  }

  private func method(_ dice: inout Dice) -> String {
    dice.chance(70) ? dice.pick(["GET", "POST", "PUT"]) : dice.pick(Self.methods)
  }

  private func target(_ dice: inout Dice) -> String {
    var path = dice.chance(65) ? dice.pick(Self.paths) : "/__mock/\(dice.pick(Self.adminPaths))"
    if dice.chance(5) { path += "/\(dice.pick(loot))" }
    path = inRealm(path, &dice)
    if dice.chance(30) {
      let pairs = (0...dice.below(3)).map { _ in "\(dice.pick(Self.queryNames))=\(value(&dice))" }
      path += "?\(pairs.joined(separator: "&"))"
    }
    return path
  }

  private static let queryNames = [
    "limit", "cursor", "grant_type", "scope", "operation", "method", "path", "status", "outcome", "wait", "timeout",
    "since", "idle", "name", "token", "type", "redirect_to", "response_type", "state", "code_challenge", "page",
  ]

  private func inRealm(_ path: String, _ dice: inout Dice) -> String {
    dice.chance(30) ? "/r/r\(dice.below(15))\(path)" : path
  }

  private func filled(_ text: String, _ dice: inout Dice) -> String {
    guard text.contains("LOOT") || text.contains("NUMBER") else { return text }
    return text.replacing("LOOT", with: dice.pick(loot)).replacing("NUMBER", with: "\(dice.below(100_000))")
  }

  private func value(_ dice: inout Dice) -> String {
    switch dice.below(4) {
    case 0: "\(dice.below(1000) - 10)"
    case 1: dice.pick(loot)
    case 2: dice.pick(Self.words).replacing(" ", with: "%20").replacing("@", with: "%40")
    default: "%\(String(dice.below(256), radix: 16))"
    }
  }

  private func fields(_ dice: inout Dice) -> String {
    var text = ""
    if dice.chance(60) { text += "Authorization: Bearer \(dice.pick(loot))\r\n" }
    if dice.chance(80) {
      text += "Content-Type: \(dice.chance(85) ? "application/json" : "application/x-www-form-urlencoded")\r\n"
    }
    if dice.chance(40) { text += "apikey: \(dice.chance(50) ? "sb_secret_0123456789abcdef" : "sb_publishable_x")\r\n" }
    if dice.chance(10) { text += "Idempotency-Key: \(dice.below(20))\r\n" }
    if dice.chance(10) { text += "X-Request-ID: \(dice.pick(loot))\r\n" }
    if dice.chance(10) { text += "Origin: http://localhost:3000\r\nAccess-Control-Request-Method: POST\r\n" }
    if dice.chance(5) { text += "Expect: 100-continue\r\n" }
    if dice.chance(5) { text += "Connection: \(dice.pick(["close", "keep-alive", "upgrade, close"]))\r\n" }
    return text
  }

  private func body(_ dice: inout Dice) -> [UInt8] {
    if dice.chance(25) {
      return Array(filled(dice.pick(KnownCall.all, else: KnownCall("", "", "{}")).body, &dice).utf8)
    }
    if dice.chance(10) {
      return Array(
        (0...dice.below(5)).map { _ in "\(dice.pick(Self.names))=\(value(&dice))" }.joined(separator: "&").utf8)
    }
    return Array(json(&dice, depth: 0).utf8)
  }

  private func json(_ dice: inout Dice, depth: Int) -> String {
    switch dice.below(depth > 4 ? 5 : 8) {
    case 0: return "\"\(dice.pick(Self.words))\""
    case 1: return "\"\(dice.pick(loot))\""
    case 2: return "\(dice.below(100_000) - 100)"
    case 3: return dice.pick(["true", "false", "null", "1e308", "-0", "0.1", "12345678901234567890"])
    case 4: return "\"\(dice.pick(Self.names))\""
    case 5: return "[\((0..<dice.below(4)).map { _ in json(&dice, depth: depth + 1) }.joined(separator: ","))]"
    default:
      let members = (0..<dice.below(5)).map { _ in "\"\(dice.pick(Self.names))\":\(json(&dice, depth: depth + 1))" }
      return "{\(members.joined(separator: ","))}"
    }
  }
}

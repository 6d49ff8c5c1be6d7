import Groundwork

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// The calls that only a service-role key opens (D4.2).
extension RealmState {
  mutating func performSupabaseAdmin(_ call: Call, _ route: Route) throws(SupabaseRefusal) -> Answer {
    try checkAdmin(call.request)
    switch route.endpoint {
    case .adminUsers: return try listUsers(call)
    case .addUser: return try addUserAsAdmin(call)
    case .adminUser(let id):
      try checkExists(id)
      return supabaseUser(id, .ok)
    case .changeUser(let id): return try changeUserAsAdmin(id, call)
    case .deleteUser(let id):
      try checkExists(id)
      _ = removeUser(id)
      return Answer(reply: Chirp.json(200, Data("{}".utf8)), outcome: .ok)
    default: throw SupabaseRefusal(404, "not_found", "There is no such endpoint.", .notFound)
    }
  }

  /// The bearer decides; where there is none, the gateway makes one of a secret key.
  private func checkAdmin(_ request: MockRequest) throws(SupabaseRefusal) {
    let bearer = Self.strictBearer(of: request)
    let secret = request.header("apikey").flatMap { $0.hasPrefix(Supabase.secretKeyPrefix) ? $0 : nil }
    guard let key = bearer ?? secret else {
      throw SupabaseRefusal(401, "no_authorization", "This endpoint requires a valid Bearer token", .noToken)
    }
    if role(ofKey: key) == .serviceRole { return }
    do throws(JWT.Flaw) {
      // A user's token, an anon key: good tokens, but not for this.
      if key.hasPrefix(Supabase.publicKeyPrefix) { throw JWT.Flaw.malformed("it is an API key") }
      _ = try JWT.read(key, keys: keys)
    } catch {
      guard key.hasPrefix(Supabase.publicKeyPrefix) else {
        throw SupabaseRefusal(
          403, "bad_jwt", "invalid JWT: unable to parse or verify signature, token signature is invalid", .unknownToken)
      }
    }
    throw SupabaseRefusal(403, "not_admin", "User not allowed", .notAllowed)
  }

  private func checkExists(_ id: String) throws(SupabaseRefusal) {
    guard Self.isUUID(id) else {
      throw SupabaseRefusal(404, "validation_failed", "user_id must be an UUID", .validationFailed)
    }
    guard users[id] != nil else { throw SupabaseRefusal(404, "user_not_found", "User not found", .notFound) }
  }

  static func isUUID(_ text: String) -> Bool {
    text.utf8.count == 36
      && text.utf8.enumerated().allSatisfy { index, byte in
        if [8, 13, 18, 23].contains(index) { return byte == UInt8(ascii: "-") }
        return 0x30...0x39 ~= byte || 0x61...0x66 ~= byte | 0x20
      }
  }

  private func listUsers(_ call: Call) throws(SupabaseRefusal) -> Answer {
    let items = QueryItems(call.query)
    func number(_ name: String, default value: Int) throws(SupabaseRefusal) -> Int {
      guard let text = items?[name], !text.isEmpty else { return value }
      guard let number = Int(text), (1...1_000_000).contains(number) else {
        throw .invalid("Bad Pagination Parameters: \(name) is a whole number from 1 on")
      }
      return number
    }
    let page = try number("page", default: 1)
    let size = min(try number("per_page", default: 50), 1000)
    // The newest first, as the Authentication tab has them.
    let listed = userIDs.reversed().dropFirst((page - 1) * size).prefix(size)
    let json = JSONWriter.object { json in
      json.key("users")
      json.array(listed.compactMap { users[$0] }) { Supabase.user($1, to: &$0) }
      json.member("aud", "authenticated")
    }
    var reply = Chirp.json(200, json.data)
    reply.headers.append(MockRequest.Field("X-Total-Count", String(userIDs.count)))
    return Answer(reply: reply, outcome: .ok)
  }

  private mutating func addUserAsAdmin(_ call: Call) throws(SupabaseRefusal) -> Answer {
    let members = try supabaseBody(call)
    let contact = try contact(in: members, for: "creation")
    guard !contact.address.isEmpty else { throw .invalid("Cannot create a user without either an email or phone") }
    guard user(contact) == nil else {
      throw contact.email.isEmpty
        ? SupabaseRefusal(
          422, "phone_exists", "A user with this phone number has already been registered", .emailTaken)
        : SupabaseRefusal(
          422, "email_exists", "A user with this email address has already been registered", .emailTaken)
    }
    var password = try text("password", in: members)
    if password.isEmpty { password = random.token(prefix: "") } else { try checkStrength(password) }
    let ban = try banDuration(in: members)
    let id = try addSupabaseUser(
      contact, password: password, members: members, now: call.now, dataKey: "user_metadata")
    if members["email_confirm"]?.bool != true { users[id]?.emailConfirmedAt = nil }
    if members["phone_confirm"]?.bool != true { users[id]?.phoneConfirmedAt = nil }
    if let ban { self.ban(id, until: ban > .zero ? call.now.adding(ban) : nil, now: call.now) }
    return supabaseUser(id, .registered)
  }

  private mutating func changeUserAsAdmin(_ id: String, _ call: Call) throws(SupabaseRefusal) -> Answer {
    try checkExists(id)
    let members = try supabaseBody(call)
    let contact = try contact(in: members, for: "update")
    let ban = try banDuration(in: members)
    let password = try text("password", in: members)
    if !password.isEmpty { try checkStrength(password) }
    if !contact.email.isEmpty, !setEmail(contact.email, of: id) {
      throw SupabaseRefusal(
        422, "email_exists", "A user with this email address has already been registered", .emailTaken)
    }
    if !contact.phone.isEmpty, !setPhone(contact.phone, of: id) {
      throw SupabaseRefusal(
        422, "phone_exists", "A user with this phone number has already been registered", .emailTaken)
    }
    if !password.isEmpty { users[id]?.password = PasswordHash(password, salt: random.uuid()) }
    if let changes = members["user_metadata"]?.object { mergeMetadata(changes, of: id) }
    if members["email_confirm"]?.bool == true { users[id]?.emailConfirmedAt = call.now }
    if members["phone_confirm"]?.bool == true { users[id]?.phoneConfirmedAt = call.now }
    if let ban { self.ban(id, until: ban > .zero ? call.now.adding(ban) : nil, now: call.now) }
    users[id]?.updatedAt = call.now
    return supabaseUser(id, .ok)
  }

  /// `ban_duration`: `none` lifts a ban, a duration such as `24h` begins one.
  private func banDuration(in members: [String: JSONValue]) throws(SupabaseRefusal) -> Duration? {
    let text = try text("ban_duration", in: members)
    guard !text.isEmpty else { return nil }
    if text == "none" { return .zero }
    guard let duration = Duration(text: text) else {
      throw .invalid("invalid format for ban duration: time: invalid duration \"\(text.prefix(32))\"")
    }
    return duration
  }
}

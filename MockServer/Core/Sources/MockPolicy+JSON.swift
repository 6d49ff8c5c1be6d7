public import Groundwork

extension MockPolicy {
  /// Every key that there is.
  static let keys = [
    "accessTTL", "refreshTTL", "rotation", "grace", "tokens", "clockSkew", "rateLimit", "cors", "autoconfirm",
    "supabaseErrors", "idTokenFlaw",
  ]

  /// Changes what the object names, as `PUT /__mock/policy` does.
  ///
  /// - Throws: `MockServerError`, which names the unknown key or the bad value; some of the object may have been applied then.
  public mutating func apply(_ json: JSONValue) throws(MockServerError) {
    let fields = try FieldReader(
      json, at: "policy", knows: Self.keys, nullable: ["rateLimit", "cors", "idTokenFlaw"])
    if let duration = try fields.duration("accessTTL") { accessTTL = duration }
    if let duration = try fields.duration("refreshTTL") { refreshTTL = duration }
    if let choice = try fields.choice("rotation", of: MockRotation.self) { rotation = choice }
    if let duration = try fields.duration("grace") { grace = duration }
    if let duration = try fields.duration("clockSkew", signed: true) { clockSkew = duration }
    if let name = try fields.text("tokens") {
      guard let kind = MockTokenKind(name: name) else {
        throw fields.failure(FieldReader.unknown("token kind", name, among: MockTokenKind.names))
      }
      tokens = kind
    }
    if let flag = try fields.bool("autoconfirm") { autoconfirm = flag }
    if let choice = try fields.choice("supabaseErrors", of: MockSupabaseErrors.self) { supabaseErrors = choice }
    if fields.isNull("idTokenFlaw") { idTokenFlaw = nil }
    if let flaw = try fields.choice("idTokenFlaw", of: MockIDTokenFlaw.self) { idTokenFlaw = flaw }
    if fields.isNull("rateLimit") { rateLimit = nil }
    if let given = fields["rateLimit"] { rateLimit = try MockRateLimit(json: given) }
    if fields.isNull("cors") { cors = nil }
    if let given = fields["cors"] { cors = try MockCORS(json: given) }
  }

  func write(to writer: inout JSONWriter) {
    writer.object { json in
      json.member("accessTTL", accessTTL.text)
      json.member("refreshTTL", refreshTTL.text)
      json.member("rotation", rotation.rawValue)
      json.member("grace", grace.text)
      json.member("tokens", tokens.rawValue)
      json.member("clockSkew", clockSkew < .zero ? "-\((.zero - clockSkew).text)" : clockSkew.text)
      json.key("rateLimit")
      if let rateLimit {
        json.object { json in
          json.member("limit", rateLimit.limit)
          json.member("per", rateLimit.window.text)
          json.key("operations")
          json.array(rateLimit.operations.map(\.rawValue).sorted()) { $0.string($1) }
        }
      } else {
        json.null()
      }
      json.key("cors")
      if let cors { cors.write(to: &json) } else { json.null() }
      json.member("autoconfirm", autoconfirm)
      json.member("supabaseErrors", supabaseErrors.rawValue)
      json.key("idTokenFlaw")
      if let idTokenFlaw { json.string(idTokenFlaw.rawValue) } else { json.null() }
    }
  }
}

extension MockRateLimit {
  init(json: JSONValue) throws(MockServerError) {
    let fields = try FieldReader(json, at: "rateLimit", knows: ["limit", "per", "operations"])
    guard let limit = try fields.integer("limit", in: 0...1_000_000_000), let window = try fields.duration("per"),
      window > .zero
    else { throw fields.failure("a rate limit has \"limit\" (calls) and \"per\" (a duration)") }
    self.init(limit: limit, per: window)
    guard let names = try fields.array("operations") else { return }
    operations = []
    for name in names {
      guard let operation = name.string.flatMap(MockOperation.init) else {
        let known = MockOperation.allCases.map(\.rawValue)
        throw fields.failure(FieldReader.unknown("operation", name.string ?? "", among: known))
      }
      operations.insert(operation)
    }
  }
}

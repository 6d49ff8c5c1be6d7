import Groundwork

// The calls with which a person looks closer: the dashboard is made of them.
extension AdminAPI {
  /// `{"user": ID or EMAIL, "banned": true or false, "for": DURATION?}`.
  func changeUser(_ json: JSONValue) throws(MockServerError) -> JSONWriter {
    let fields = try FieldReader(json, at: "users", knows: ["user", "banned", "for"])
    let user = try fields.requiredText("user")
    let duration = try fields.duration("for")
    guard let isBanned = try fields.bool("banned") else { throw fields.failure("\"banned\" is missing") }
    guard isBanned || duration == nil else { throw fields.failure("\"for\" goes with \"banned\": true") }
    if let duration, duration <= .zero { throw fields.failure("\"for\" is more than 0") }
    // Without a duration: for ever, as far as the clock goes.
    let changed = try realm.ban(user: user, for: isBanned ? duration ?? .seconds(1_000_000_000_000) : .zero)
    var writer = JSONWriter()
    changed.write(to: &writer)
    return writer
  }

  func deleteUser(_ query: Substring) throws(MockServerError) -> JSONWriter {
    let count = try realm.deleteUser(try required("user", in: query))
    return JSONWriter.object { $0.member("sessions", count) }
  }

  /// One session with its tokens as their standing, never as their text.
  func showFamily(_ query: Substring) throws(MockServerError) -> JSONWriter {
    let family = try realm.family(ofSession: try required("session", in: query))
    var writer = JSONWriter()
    family.write(to: &writer)
    return writer
  }

  /// One request and its answer with everything but secrets.
  func showExchange(_ query: Substring) throws(MockServerError) -> JSONWriter {
    let items = try QueryReader(query, knows: ["seq"])
    guard let seq = try items.integer("seq", in: 1...Int.max) else {
      throw MockServerError(.invalidRequest, "\"seq\" is missing: the number of a journal entry")
    }
    let (entry, exchange) = try realm.exchange(seq: seq)
    return JSONWriter.object { json in
      json.key("entry")
      entry.write(to: &json)
      json.key("request")
      json.object { json in
        json.member("target", exchange.target)
        exchange.request.write(to: &json)
      }
      json.key("reply")
      json.object { exchange.reply.write(to: &$0) }
    }
  }

  private func required(_ name: String, in query: Substring) throws(MockServerError) -> String {
    guard let value = try QueryReader(query, knows: [name])[name], !value.isEmpty else {
      throw MockServerError(.invalidRequest, "\"\(name)\" is missing: ?\(name)=…")
    }
    return value
  }
}

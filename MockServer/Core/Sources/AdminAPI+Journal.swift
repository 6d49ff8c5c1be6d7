import Groundwork

// The calls that look at what has happened.
extension AdminAPI {
  func journal(_ query: Substring) throws(MockServerError) -> JSONWriter {
    let items = try QueryReader(query, knows: ["since"])
    let (entries, dropped) = realm.journalPage(since: try items.integer("since", in: 0...Int.max) ?? 0)
    return JSONWriter.object { json in
      json.key("entries")
      json.array(entries) { $1.write(to: &$0) }
      json.member("dropped", dropped)
    }
  }

  func countJournal(
    _ query: Substring, deliver: @escaping @Sendable (MockDelivery) -> Void
  ) throws(MockServerError) {
    let items = try QueryReader(query, knows: ["operation", "method", "path", "status", "outcome", "wait", "timeout"])
    let filter = MockJournalFilter(
      operation: try items.choice("operation", of: MockOperation.self), method: items["method"], path: items["path"],
      status: try items.integer("status", in: 0...999), outcome: try items.choice("outcome", of: MockOutcome.self))
    let target = try items.integer("wait", in: 0...Int.max) ?? 0
    let timeout = try items.duration("timeout") ?? .seconds(5)
    realm.wait(for: filter, toReach: target, timeout: min(timeout, .seconds(3600))) { count in
      deliver(MockDelivery(reply: Chirp.json(200, JSONWriter.object { $0.member("count", count) }.data)))
    }
  }

  /// Whether requests came in an order: `{"order": [FILTER…], "since"?, "only"?}`.
  func checkOrder(_ json: JSONValue) throws(MockServerError) -> JSONWriter {
    let fields = try FieldReader(json, at: "order", knows: ["order", "since", "only"])
    guard let list = try fields.array("order"), !list.isEmpty else {
      throw fields.failure("\"order\" is a list of requests, say [{\"operation\": \"login\"}, {\"operation\": \"me\"}]")
    }
    var order: [MockJournalFilter] = []
    for (index, element) in list.enumerated() {
      order.append(try MockJournalFilter(json: element, at: "order[\(index)]"))
    }
    let check = realm.checkOrder(
      order, since: try fields.integer("since", in: 0...Int.max) ?? 0, only: try fields.bool("only") ?? false)
    return JSONWriter.object { json in
      json.member("holds", check.holds)
      json.key("matched")
      json.array(check.matched) { $0.integer($1) }
      if let failure = check.failure { json.member("failure", failure) }
    }
  }

  /// Every script with its actions, how far it has got, and the request that came nearest to it.
  func scripts() -> JSONWriter {
    let scripts = realm.scripts
    return JSONWriter.object { json in
      json.key("scripts")
      json.array(scripts) { json, item in
        json.object { json in
          item.script.writeMembers(to: &json)
          json.member("used", item.progress.used)
          json.key("remaining")
          if let remaining = item.progress.remaining { json.integer(remaining) } else { json.null() }
          if let nearest = item.progress.nearest {
            json.key("nearest")
            nearest.write(to: &json)
          }
        }
      }
    }
  }
}

extension MockJournalFilter {
  init(json: JSONValue, at place: String) throws(MockServerError) {
    let fields = try FieldReader(json, at: place, knows: ["operation", "method", "path", "status", "outcome"])
    self.init(
      operation: try fields.choice("operation", of: MockOperation.self), method: try fields.text("method"),
      path: try fields.text("path"), status: try fields.integer("status", in: 0...999),
      outcome: try fields.choice("outcome", of: MockOutcome.self))
  }
}

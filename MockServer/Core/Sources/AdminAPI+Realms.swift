import Groundwork

// The calls that are about all realms of the server, whichever realm they come through.
extension AdminAPI {
  func realms() -> JSONWriter {
    let summaries = server.realmSummaries
    return JSONWriter.object { json in
      json.key("realms")
      json.array(summaries) { json, realm in
        json.object { json in
          json.member("name", realm.name)
          json.member("users", realm.users)
          json.member("sessions", realm.sessions)
          json.member("requests", realm.requests)
          json.member("idle", Duration.milliseconds(realm.idle.saturatedMicroseconds / 1000).text)
        }
      }
    }
  }

  /// Forgets one realm by its name, or all that have been idle for long enough.
  func dropRealms(_ query: Substring) throws(MockServerError) -> JSONWriter {
    let items = try QueryReader(query, knows: ["idle", "name"])
    var dropped: [String] = []
    switch (try items.duration("idle"), items["name"]) {
    case (let idle?, nil): dropped = server.dropRealms(idleFor: idle)
    case (nil, let name?):
      if server.realmNames.contains(name) {
        server.dropRealm(name)
        dropped = [name]
      }
    default:
      throw MockServerError(
        .invalidRequest, "give \"idle\" (a duration; 0s is every realm at rest) or \"name\": /__mock/realms?idle=10m")
    }
    return JSONWriter.object { json in
      json.key("dropped")
      json.array(dropped) { $0.string($1) }
    }
  }
}

import Groundwork

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// How an action of a script is carried out.
extension RealmState {
  mutating func run(
    _ action: MockAction, for call: Call, deliver: @escaping @Sendable (MockDelivery) -> Void,
    _ effects: inout Effects
  ) -> MockDelivery? {
    let keepsBack = action.delay != nil || action.hold != nil
    let work: WaitingRoom.Work
    if keepsBack, action.phase == .before {
      var entry = newEntry(call, requestID: requestID(of: call))
      record(entry, of: call, settling: nil, &effects)
      entry.seq = journal.lastSeq
      work = .operation(call, action, entry)
    } else {
      let delivery = carryOut(action, for: call, settling: nil, &effects)
      guard keepsBack else { return delivery }
      work = .delivery(delivery)
    }
    let delay = action.delay?.sample(&random) ?? .zero
    let ticket = WaitingRoom.Ticket(work: work, delay: delay, deliver: deliver)
    if let name = action.hold {
      waiting.hold(ticket, under: name)
    } else {
      keepBack(ticket, now: call.now, &effects)
    }
    return nil
  }

  /// Delivers a ticket when its delay is over.
  private mutating func keepBack(_ ticket: WaitingRoom.Ticket, now: MockInstant, _ effects: inout Effects) {
    guard ticket.delay > .zero else { return redeem(ticket, now: now, &effects) }
    waiting.delay(ticket, until: now.adding(ticket.delay))
    planWake(now: now, &effects)
  }

  /// Asks to be woken for the next delayed answer; a virtual clock wakes nobody, `advance` does.
  private mutating func planWake(now: MockInstant, _ effects: inout Effects) {
    guard clock.mode == .real, let due = waiting.nextDue else { return }
    if let plannedWake, plannedWake.due <= due { return }
    let wait = min(max(due.duration(since: now), .zero), .seconds(86400))
    lastWake += 1
    plannedWake = (lastWake, now.adding(wait), now)
    effects.wake = (lastWake, wait)
  }

  private mutating func redeem(_ ticket: WaitingRoom.Ticket, now: MockInstant, _ effects: inout Effects) {
    switch ticket.work {
    case .delivery(let delivery): effects.deliveries.append((ticket.deliver, delivery))
    case .operation(let call, let action, let entry):
      let later = Call(request: call.request, path: call.path, query: call.query, now: now, route: call.route)
      effects.deliveries.append((ticket.deliver, carryOut(action, for: later, settling: entry, &effects)))
    }
  }

  /// Delivers what is due.
  ///
  /// - Parameter id: the planned wake that has come; nil if the clock was moved, which makes a planned one void.
  mutating func wake(_ id: Int?, now: MockInstant, _ effects: inout Effects) {
    for ticket in waiting.takeDue(now: now) { redeem(ticket, now: now, &effects) }
    if let id {
      guard let plannedWake, plannedWake.id == id else { return }
      // A wake although no time has passed: the time source has ended, and would wake us for ever.
      guard now > plannedWake.plannedAt || waiting.nextDue.map({ $0 <= now }) != false else { return }
    }
    plannedWake = nil
    planWake(now: now, &effects)
  }

  mutating func release(_ name: String, count: Int?, now: MockInstant, _ effects: inout Effects) -> Int {
    let tickets = waiting.release(name, count: count)
    for ticket in tickets { keepBack(ticket, now: now, &effects) }
    events.publish(.changed(.holds), &effects)
    return tickets.count
  }

  private mutating func carryOut(
    _ action: MockAction, for call: Call, settling entry: MockJournalEntry?, _ effects: inout Effects
  ) -> MockDelivery {
    let phase = action.phase ?? .before
    let isDone = phase != .before || action.status == nil && action.body == nil && action.breaks == nil
    if phase == .before { revoke(action.revoke, call, sessionID: nil) }
    var answer = isDone ? perform(call) : scripted(action, call)
    if isDone, action.status != nil || action.body != nil {
      answer.reply = scripted(action, call).reply
    }
    if phase != .before { revoke(action.revoke, call, sessionID: answer.sessionID) }
    for field in action.headers {
      answer.reply.headers.removeAll { $0.name.equalsIgnoringCase(field.name) }
    }
    answer.reply.headers += action.headers
    if !isDone { answer.sessionID = session(of: call) }
    let breaks = action.breaks ?? (phase == .midBody ? .close : nil)
    guard let breaks else { return finish(call, answer, settling: entry, &effects) }
    if !isDone, action.status == nil, action.body == nil {
      switch breaks {
      case .close, .reset, .garbage, .tls: answer.outcome = .lost
      case .truncate, .malformed, .wrongType, .huge, .drip: answer.reply = Self.filler()
      }
    }
    let wire = broken(&answer.reply, breaks, phase: phase, after: action.after)
    return finish(call, answer, fault: breaks, wire: wire, settling: entry, &effects)
  }

  /// The answer that an action writes down.
  private func scripted(_ action: MockAction, _ call: Call) -> Answer {
    let status = action.status ?? 200
    var reply: MockReply
    switch action.body {
    case .string(let text)?:
      let type = MockRequest.Field("Content-Type", "text/plain; charset=utf-8")
      reply = MockReply(status: status, headers: [type], body: Data(text.utf8))
    case let value?:
      var writer = JSONWriter()
      writer.value(value)
      reply = Chirp.json(status, writer.data)
    case nil where status >= 400: reply = defaultError(status, call)
    case nil: reply = MockReply(status: status)
    }
    if status == 401, [.me, .feed, .post].contains(call.operation),
      !action.headers.contains(where: { $0.name.equalsIgnoringCase("WWW-Authenticate") })
    {
      reply.headers.append(
        MockRequest.Field(
          "WWW-Authenticate", "Bearer error=\"invalid_token\", error_description=\"The access token is refused\""))
    }
    return Answer(reply: reply, outcome: .scripted)
  }

  /// The dialect's own error for a status that a script names: what a real server of it would say.
  private func defaultError(_ status: Int, _ call: Call) -> MockReply {
    if call.dialect == .supabase { return Supabase.scripted(status, call.operation, self, call) }
    switch (status, call.operation) {
    case (400, .refresh), (401, .refresh), (403, .refresh):
      return render(call, status, "invalid_grant", "The refresh token is not valid.")
    case (401, .login): return render(call, status, "invalid_credentials", "Invalid email or password.")
    case (401, _): return render(call, status, "invalid_token", "The access token is refused.")
    case (403, _): return render(call, status, "forbidden", "This is not allowed.")
    case (404, _): return render(call, status, "not_found", "There is no such thing.")
    case (409, .register): return render(call, status, "email_taken", "This email has an account already.")
    case (422, _): return render(call, status, "validation_failed", "Some fields are not valid.")
    case (429, _): return render(call, status, "rate_limited", "Too many tries. Try again later.")
    case (503, _): return render(call, status, "unavailable", "The server is not available. Try again later.")
    case (500..., _): return render(call, status, "server_error", "Something went wrong on the server.")
    default: return render(call, status, "scripted", "A script answered with \(status).")
    }
  }

  // MARK: Faults

  /// A body for a fault that needs one, where no operation has made any.
  private static func filler() -> MockReply {
    let json = JSONWriter.object { json in
      json.member("mock", "This body was made by a script of the mock server.")
      json.member("filler", String(repeating: ".", count: 512))
    }
    return Chirp.json(200, json.data)
  }

  /// Breaks an answer: in its body here, or on the wire by the front.
  private func broken(_ reply: inout MockReply, _ how: MockBreak, phase: MockPhase, after: Int?) -> WireFault? {
    let part = min(after ?? reply.body.count / 2, reply.body.count)
    switch how {
    case .close: return .close(afterBodyBytes: phase == .midBody ? part : nil)
    case .reset: return .reset(afterBodyBytes: phase == .midBody ? part : nil)
    case .truncate:
      if reply.body.isEmpty {
        // Nothing can be missing from an empty body.
        return .close(afterBodyBytes: nil)
      }
      return .truncate(afterBodyBytes: min(part, reply.body.count - 1))
    case .garbage: return .garbage
    case .tls: return .tls
    case .drip: return .drip(interval: .milliseconds(100))
    case .malformed:
      // The first half of a JSON object lacks its brace: never JSON.
      reply.body = reply.body.count < 2 ? Data("{".utf8) : reply.body.prefix(reply.body.count / 2)
      return nil
    case .wrongType:
      reply.body = Self.wrongTypes(reply.body)
      return nil
    case .huge:
      var body = Data("{\"filler\":\"".utf8)
      body.append(Data(repeating: UInt8(ascii: "x"), count: 64 << 20))
      body.append(Data("\"}".utf8))
      reply.body = body
      reply.headers.removeAll { $0.name.equalsIgnoringCase("Content-Type") }
      reply.headers.append(Chirp.contentType)
      return nil
    }
  }

  /// The same member names, every value of another type.
  private static func wrongTypes(_ body: Data) -> Data {
    func wrong(_ value: JSONValue) -> JSONValue {
      switch value {
      case .string(let text): .number(Double(text.utf8.count))
      case .number(let number): .string("\(number)")
      case .bool(let flag): .string("\(flag)")
      case .null: .array([])
      case .array(let elements): .object(["elements": .number(Double(elements.count))])
      case .object(let members): .object(members.mapValues(wrong))
      }
    }
    var writer = JSONWriter()
    do throws(JSONParser.Failure) {
      writer.value(wrong(try JSONParser.parse(body)))
    } catch {
      // No JSON, say an empty body: an array stands where an object is expected.
      writer.value([])
    }
    return writer.data
  }

  // MARK: Revoking

  private mutating func revoke(_ target: MockRevokeTarget?, _ call: Call, sessionID: String?) {
    guard let target, let id = sessionID ?? session(of: call) else { return }
    switch target {
    case .access: revokeAccess(of: id)
    case .session: end(id, by: .script)
    }
  }

  /// The session that a request's tokens name.
  private func session(of call: Call) -> String? {
    if let bearer = Self.bearer(of: call.request), let record = access[bearer] { return record.sessionID }
    if let form = FormItems(call.request), let token = form["refresh_token"] ?? form["token"] {
      return refresh[token]?.sessionID ?? access[token]?.sessionID
    }
    guard case .success(let members) = Chirp.body(of: call.request),
      let token = (members["refreshToken"] ?? members["refresh_token"])?.string
    else { return nil }
    return refresh[token]?.sessionID
  }
}

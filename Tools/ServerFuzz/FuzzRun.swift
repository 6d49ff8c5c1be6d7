import Groundwork
import MockServerCore
import MockServerHTTP

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Timers that ring when the run says so.
private final class HandScheduler: DeliveryScheduler {
  private let planned = Guarded<[@Sendable () -> Void]>([])

  func schedule(after duration: Duration, _ work: @escaping @Sendable () -> Void) {
    planned.withLock { $0.append(work) }
  }

  /// Rings all that were set until now.
  func ring() {
    let due = planned.withLock { planned in
      defer { planned = [] }
      return planned
    }
    for work in due { work() }
  }
}

/// What came back, counted.
private final class Answers: Sendable {
  struct State {
    /// How many deliveries each request had.
    var deliveries: [UInt8] = []
    var statuses: [Int: Int] = [:]
    var faults = 0
    var wrong: [String] = []
    var newest: Data?
  }

  let state = Guarded(State())

  func begin() -> Int {
    state.withLock { state in
      state.deliveries.append(0)
      return state.deliveries.count - 1
    }
  }

  func take(_ delivery: MockDelivery, for number: Int) {
    state.withLock { state in
      state.deliveries[number] &+= 1
      state.statuses[delivery.reply.status, default: 0] += 1
      if delivery.fault != nil { state.faults += 1 }
      state.newest = delivery.reply.body.count < 4096 ? delivery.reply.body : nil
      if !(200...599).contains(delivery.reply.status) {
        state.wrong.append("request \(number): status \(delivery.reply.status)")
      }
      if delivery.fault == nil, delivery.reply.status >= 500, delivery.reply.status != 503,
        delivery.reply.status != 501,
        delivery.reply.status != 505, !delivery.reply.body.contains("script".utf8)
      {
        state.wrong.append("request \(number): status \(delivery.reply.status) without a script")
      }
    }
  }
}

extension Data {
  fileprivate func contains(_ bytes: String.UTF8View) -> Bool { firstRange(of: Data(bytes)) != nil }
}

/// One run: requests, whole and damaged, through the parser into the core.
struct FuzzRun {
  let count: Int
  let seed: UInt64
  let isVerbose: Bool

  /// What is wrong, in words; none if nothing is.
  func start() -> [String] {
    var dice = Dice(seed: seed)
    var maker = RequestMaker()
    let scheduler = HandScheduler()
    let answers = Answers()
    let anna = MockSeedUser(username: "anna", email: "anna@example.com", password: "password123")
    let server = MockAuthServer(
      configuration: MockServerConfiguration(
        clock: .virtual, seed: seed, users: [anna], feedItems: 5, journalCapacity: 200, maximumRealms: 20,
        maximumSessions: 100),
      scheduler: scheduler)
    var malformed = 0
    var sent = 0
    var unfinished = 0
    while sent < count {
      var parser = RequestParser()
      var bytes: [UInt8] = []
      // One to four requests on a connection, in pieces of any size.
      for _ in 0...dice.below(4) { bytes += maker.request(&dice) }
      if isVerbose { say("\(sent): \(String(decoding: bytes, as: UTF8.self).debugDescription)") }
      var isOpen = true
      var end = 0
      var begin = 0
      while isOpen, end < bytes.count || begin < end {
        end = min(bytes.count, end + 1 + dice.below(dice.chance(20) ? 8 : 4096))
        var needsMore = false
        while isOpen, begin < end, !needsMore {
          let (used, outcome) = bytes.withUnsafeBytes {
            parser.consume(UnsafeRawBufferPointer(rebasing: $0[begin..<end]))
          }
          begin += used
          switch outcome {
          case .needsMore: needsMore = true
          case .wantsContinue: break
          case .request(let parsed):
            hand(parsed, to: server, answers)
            sent += 1
            if parsed.request.malformation != nil {
              malformed += 1
              isOpen = false
            }
          }
        }
        if end == bytes.count, needsMore { break }
      }
      if isOpen, parser.isInside {
        hand(parser.endedEarly(), to: server, answers)
        sent += 1
        unfinished += 1
      }
      if let body = answers.state.withLock({ $0.newest }), dice.chance(20) { maker.remember(body) }
      if dice.chance(2) { scheduler.ring() }
      // Nothing shall stay broken for ever: deeper code is reached by requests that succeed.
      if dice.below(400) == 0 { server.realm().reset() }
      if dice.below(2000) == 0 { server.dropRealms(idleFor: .zero) }
      if sent % 100_000 < 4 { say("\(sent) requests …") }
    }
    return finish(server, scheduler, answers, malformed: malformed, unfinished: unfinished)
  }

  private func hand(_ parsed: RequestParser.Parsed, to server: MockAuthServer, _ answers: Answers) {
    let number = answers.begin()
    server.receive(parsed.request) { answers.take($0, for: number) }
  }

  /// Lets everything go that is kept back, and looks whether every request was answered exactly once.
  private func finish(
    _ server: MockAuthServer, _ scheduler: HandScheduler, _ answers: Answers, malformed: Int, unfinished: Int
  ) -> [String] {
    for name in server.realmNames { server.dropRealm(name) }
    for _ in 0..<10 { scheduler.ring() }
    let state = answers.state.withLock { $0 }
    var wrong = state.wrong
    for (number, deliveries) in state.deliveries.enumerated() where deliveries != 1 {
      wrong.append("request \(number) was answered \(deliveries) times")
    }
    let statuses = state.statuses.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", ")
    say(
      "\(state.deliveries.count) requests, \(malformed) malformed, \(unfinished) cut off, \(state.faults) answers broken; \(statuses)"
    )
    return wrong
  }
}

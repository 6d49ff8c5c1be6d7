import Groundwork
import Testing

@testable import MockServerCore

@Suite("The order of requests")
struct OrderTests {
  private let order = [
    MockJournalFilter(operation: .login), MockJournalFilter(operation: .refresh, outcome: .rotated),
    MockJournalFilter(operation: .me, status: 200),
  ]

  /// Login, me, refresh, feed, me: entries 1 to 5.
  private func session(_ test: TestServer) throws {
    let first = try test.login()
    _ = try test.me(first.access)
    let second = try test.refresh(first.refresh).pair()
    _ = try test.ask("GET", "/feed", bearer: second.access)
    _ = try test.me(second.access)
  }

  @Test(
    "what came in order holds, with others between; the wrong order, or too few, does not, and says what is missing")
  func inOrder() throws {
    let test = TestServer()
    try session(test)
    #expect(test.realm.checkOrder(order) == MockOrderCheck(matched: [1, 3, 5]))
    let wrong = test.realm.checkOrder([order[1], order[0]])
    #expect(wrong.matched == [3] && wrong.failure == "login (number 2) did not come after entry 3")
    #expect(
      test.realm.checkOrder([MockJournalFilter(operation: .logout)]).failure == "logout (number 1) did not come at all")
    #expect(!test.realm.checkOrder(order, since: 1).holds)
    #expect(test.realm.checkOrder([order[2]], since: 2).matched == [5])
  }

  @Test("only: nothing else may come before, between or after")
  func only() throws {
    let test = TestServer()
    try session(test)
    let all = [.login, .me, .refresh, .feed, .me].map { (operation: MockOperation) in
      MockJournalFilter(operation: operation)
    }
    #expect(test.realm.checkOrder(all, only: true) == MockOrderCheck(matched: [1, 2, 3, 4, 5]))
    #expect(
      test.realm.checkOrder(order, only: true).failure
        == "entry 2 is me (GET /me, 200 ok), where refresh rotated was to come")
    #expect(
      test.realm.checkOrder(Array(all.dropLast()), only: true).failure
        == "entry 5 is me (GET /me, 200 ok), where nothing was to come")
  }

  @Test("entries that fell out of the ring are told with a failure, and make \"only\" fail")
  func ring() throws {
    let test = TestServer(journalCapacity: 3)
    try session(test)
    #expect(test.realm.snapshot.journalDropped == 2)
    #expect(
      test.realm.checkOrder(order).failure
        == "login (number 1) did not come at all; 2 older entries have fallen out of the journal")
    #expect(test.realm.checkOrder([order[1], order[2]]).holds)
    let last = [.refresh, .feed, .me].map { (operation: MockOperation) in MockJournalFilter(operation: operation) }
    #expect(!test.realm.checkOrder(last, only: true).holds)
    #expect(test.realm.checkOrder(last, since: 2, only: true).holds)
  }

  @Test("over the admin API, with mistakes refused by name")
  func admin() throws {
    let test = TestServer()
    try session(test)
    let body = #"{"order":[{"operation":"login"},{"path":"/me","status":200}],"since":0}"#
    #expect(try test.admin("POST", "journal/order", body).text == #"{"holds":true,"matched":[1,2]}"#)
    #expect(
      try test.admin("POST", "journal/order", #"{"order":[{"operation":"logout"}]}"#).text
        == #"{"holds":false,"matched":[],"failure":"logout (number 1) did not come at all"}"#)
    for (bad, reason) in [
      (#"{"order":[]}"#, "order: \"order\" is a list"),
      (#"{"order":[{"operaton":"me"}]}"#, "did you mean \"operation\"?"),
      (#"{"order":[{"operation":"mee"}]}"#, "order[0]: unknown operation \"mee\"; did you mean \"me\"?"),
      (#"{"order":[{}],"only":1}"#, "\"only\" is true or false"),
    ] {
      let reply = try test.admin("POST", "journal/order", bad)
      let told = try reply.json()["reason"]?.string ?? ""
      #expect(reply.status == 400 && told.contains(reason), "\(bad)")
    }
  }
}

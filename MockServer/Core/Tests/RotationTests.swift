import Groundwork
import Testing

@testable import MockServerCore

@Suite("Rotation policies")
struct RotationTests {
  typealias Row = (
    policy: MockRotation, standing: MockRotation.Standing, seconds: Int, decision: MockRotation.Decision
  )

  @Test(
    "the table, cell by cell, with a window of 10 s",
    arguments: [
      (.none, .active, 0, .keep), (.none, .parentOfCurrent, 99, .repeatCurrent), (.none, .older, 99, .repeatCurrent),
      (.strict, .active, 0, .rotate), (.strict, .parentOfCurrent, 0, .reuse), (.strict, .older, 0, .reuse),
      (.grace, .active, 0, .rotate), (.grace, .parentOfCurrent, 9, .repeatCurrent),
      (.grace, .parentOfCurrent, 10, .reuse), (.grace, .older, 9, .repeatCurrent), (.grace, .older, 10, .reuse),
      (.parentOK, .active, 0, .rotate), (.parentOK, .parentOfCurrent, 99, .repeatCurrent),
      (.parentOK, .older, 0, .reuse), (.gotrue, .active, 0, .rotate),
      (.gotrue, .parentOfCurrent, 99, .repeatCurrent), (.gotrue, .older, 9, .rotate), (.gotrue, .older, 10, .reuse),
    ] as [Row])
  func table(row: Row) {
    #expect(
      row.policy.decide(row.standing, sinceSpent: .seconds(row.seconds), grace: .seconds(10)) == row.decision)
  }

  @Test("none: the refresh token stays, each access token is new and the old one goes on")
  func noRotation() throws {
    let test = TestServer(MockPolicy(rotation: .none))
    let first = try test.login()
    let second = try test.refresh(first.refresh).pair()
    let third = try test.refresh(first.refresh).pair()
    #expect(second.refresh == first.refresh && third.refresh == first.refresh)
    #expect(Set([first.access, second.access, third.access]).count == 3)
    #expect(try test.me(first.access) == 200)
    #expect(test.realm.count(.refresh, .refreshed) == 2)
  }

  @Test("strict: a spent token revokes the whole family, and no other")
  func strictReuse() throws {
    let test = TestServer()
    let (first, bystander) = (try test.login(), try test.login())
    let second = try test.refresh(first.refresh).pair()
    let third = try test.refresh(second.refresh).pair()
    #expect(try test.me(third.access) == 200)
    #expect(try test.refresh(first.refresh).detail == "reused")
    for access in [first.access, second.access, third.access] { #expect(try test.me(access) == 401) }
    #expect(try test.refresh(third.refresh).detail == "revoked")
    #expect(try test.me(bystander.access) == 200)
    #expect(try test.refresh(bystander.refresh).status == 200)
    #expect(test.realm.snapshot.sessions.map(\.endedBy) == [.reuse, nil])
    #expect(test.realm.snapshot.sessions.map(\.alive) == [false, true])
    #expect(test.realm.snapshot.sessions.map(\.generation) == [2, 1])
  }

  @Test("grace: the window is open until its last microsecond, and gives the current pair")
  func graceEdges() throws {
    let test = TestServer(MockPolicy(rotation: .grace, grace: .seconds(10)))
    let first = try test.login()
    let second = try test.refresh(first.refresh).pair()
    test.realm.advance(by: .seconds(10) - .microseconds(1))
    let again = try test.refresh(first.refresh)
    #expect(try again.pair() == second)
    #expect(try again.json()["expiresIn"] == 890)
    #expect(test.realm.count(.refresh, .repeated) == 1)
    test.realm.advance(by: .microseconds(1))
    #expect(try test.refresh(first.refresh).detail == "reused")
    #expect(try test.refresh(second.refresh).detail == "revoked")
  }

  @Test(
    "grace: a repeat when the current access token is dead brings a new one; a grandparent gets the current pair too")
  func graceAgain() throws {
    let test = TestServer(MockPolicy(accessTTL: .seconds(5), rotation: .grace, grace: .seconds(60)))
    let first = try test.login()
    let second = try test.refresh(first.refresh).pair()
    let third = try test.refresh(second.refresh).pair()
    #expect(try test.refresh(first.refresh).pair() == third)
    test.realm.advance(by: .seconds(5))
    let fourth = try test.refresh(first.refresh).pair()
    #expect(fourth.refresh == third.refresh)
    #expect(fourth.access != third.access)
    #expect(try test.me(fourth.access) == 200)
  }

  @Test("grace: a lost answer is survived by sending the same token again")
  func graceLostAnswer() throws {
    let test = TestServer(MockPolicy(rotation: .grace))
    let first = try test.login()
    test.realm.script(.refresh, .loseAnswer)
    let lost = try #require(test.send("POST", "/auth/refresh", #"{"refreshToken":"\#(first.refresh)"}"#).one)
    #expect(lost.fault == .close(afterBodyBytes: nil))
    let pair = try test.refresh(first.refresh).pair()
    #expect(try test.me(pair.access) == 200)
    #expect(test.realm.snapshot.sessions.map(\.generation) == [1])
  }

  @Test("parent-ok: the parent gets the current pair however late, a grandparent ends the family")
  func parentOK() throws {
    let test = TestServer(MockPolicy(accessTTL: .seconds(864_000), rotation: .parentOK))
    let first = try test.login()
    let second = try test.refresh(first.refresh).pair()
    test.realm.advance(by: .seconds(86400))
    #expect(try test.refresh(first.refresh).pair() == second)
    let third = try test.refresh(second.refresh).pair()
    #expect(try test.refresh(first.refresh).detail == "reused")
    #expect(try test.refresh(third.refresh).detail == "revoked")
  }

  @Test("gotrue: within the window an older token gets a new child; later the family ends, its access token goes on")
  func gotrue() throws {
    let test = TestServer(MockPolicy(rotation: .gotrue, grace: .seconds(10)))
    let first = try test.login()
    let second = try test.refresh(first.refresh).pair()
    let third = try test.refresh(second.refresh).pair()
    let fourth = try test.refresh(first.refresh).pair()
    #expect(fourth.refresh != third.refresh)
    #expect(try test.refresh(fourth.refresh).status == 200)
    test.realm.advance(by: .seconds(10))
    #expect(try test.refresh(second.refresh).detail == "reused")
    #expect(try test.me(third.access) == 200)
    #expect(try test.refresh(third.refresh).detail == "revoked")
    test.realm.advance(by: .seconds(900))
    #expect(try test.me(third.access) == 401)
  }

  @Test("a rotation begins the refresh token's life anew")
  func slidingRefresh() throws {
    let test = TestServer(MockPolicy(refreshTTL: .seconds(100)))
    let first = try test.login()
    test.realm.advance(by: .seconds(99))
    let second = try test.refresh(first.refresh).pair()
    test.realm.advance(by: .seconds(99))
    let third = try test.refresh(second.refresh).pair()
    test.realm.advance(by: .seconds(100))
    #expect(try test.refresh(third.refresh).detail == "expired")
  }

  @Test("a thousand rotations on: the latest pair works, memory is bounded")
  func longFamily() throws {
    let test = TestServer()
    var pair = try test.login()
    for _ in 0..<3000 { pair = try test.refresh(pair.refresh).pair() }
    #expect(try test.me(pair.access) == 200)
    let (access, refresh) = test.realm.step { state, _, _ in (state.access.count, state.refresh.count) }
    #expect(access == SessionRecord.rememberedAccessTokens)
    #expect(refresh == SessionRecord.rememberedRefreshTokens)
  }
}

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// What is different in one realm; nil means as everywhere.
public struct MockRealmConfiguration: Sendable, Hashable {
  /// The policy that it begins with, whole.
  public var policy: MockPolicy?
  /// The clock that it begins with.
  public var clock: MockClockMode?
  /// The time at which it begins.
  public var startsAt: Date?
  /// The users that it begins with, in place of those of every realm.
  public var users: [MockSeedUser]?
  /// The OAuth clients that it begins with, in place of those of every realm.
  public var clients: [MockOAuthClient]?
  /// The scripts that it begins with, in place of those of every realm.
  public var scripts: [MockScript]?
  /// How many feed items it begins with.
  public var feedItems: Int?

  /// Makes a difference.
  public init(
    policy: MockPolicy? = nil, clock: MockClockMode? = nil, startsAt: Date? = nil, users: [MockSeedUser]? = nil,
    clients: [MockOAuthClient]? = nil, scripts: [MockScript]? = nil, feedItems: Int? = nil
  ) {
    self.policy = policy
    self.clock = clock
    self.startsAt = startsAt
    self.users = users
    self.clients = clients
    self.scripts = scripts
    self.feedItems = feedItems
  }
}

extension MockServerConfiguration {
  /// What a realm of that name begins with.
  func forRealm(_ name: String) -> MockServerConfiguration {
    guard let own = realms[name] else { return self }
    var configuration = self
    configuration.policy = own.policy ?? policy
    configuration.clock = own.clock ?? clock
    configuration.startsAt = own.startsAt ?? startsAt
    configuration.users = own.users ?? users
    configuration.clients = own.clients ?? clients
    configuration.scripts = own.scripts ?? scripts
    configuration.feedItems = own.feedItems ?? feedItems
    return configuration
  }
}

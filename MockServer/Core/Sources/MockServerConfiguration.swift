#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Where a realm's time comes from.
public enum MockClockMode: String, Sendable, Hashable, CaseIterable {
  /// It runs with the server's time source; `advance` moves it ahead of it.
  case real
  /// It stands still until it is advanced or set.
  case virtual
}

/// A user that every realm begins with.
public struct MockSeedUser: Sendable, Hashable {
  /// 3 to 32 of `[A-Za-z0-9_]`.
  public var username: String
  /// The address, `name@domain.tld`.
  public var email: String
  /// 8 to 128 characters.
  public var password: String

  /// Makes a user.
  public init(username: String, email: String, password: String) {
    self.username = username
    self.email = email
    self.password = password
  }
}

/// What a mock server is made with: everything that `mock-server serve` takes as flags, but for its address and TLS.
public struct MockServerConfiguration: Sendable {
  /// The policy that every realm begins with.
  public var policy: MockPolicy
  /// The clock that every realm begins with.
  public var clock: MockClockMode
  /// The time at which every realm begins; nil for the time source's wall clock when the realm is made.
  public var startsAt: Date?
  /// Makes tokens, ids and delays repeatable; nil for another run each time.
  public var seed: UInt64?
  /// Whether the admin API answers others than loopback.
  public var allowRemoteAdmin: Bool
  /// The users that every realm begins with.
  public var users: [MockSeedUser]
  /// The scripts that every realm begins with.
  public var scripts: [MockScript]
  /// What is different in single realms, by their names.
  public var realms: [String: MockRealmConfiguration]
  /// The clients of the OAuth 2 dialect that every realm begins with.
  public var clients: [MockOAuthClient]
  /// How many feed items every realm begins with.
  public var feedItems: Int
  /// How many journal entries a realm keeps; older ones fall out and are counted.
  public var journalCapacity: Int
  /// How many realms requests may make; the Swift API may make more.
  public var maximumRealms: Int
  /// How many sessions a realm remembers; the oldest falls out.
  public var maximumSessions: Int

  /// Makes a configuration.
  public init(
    policy: MockPolicy = MockPolicy(), clock: MockClockMode = .real, startsAt: Date? = nil, seed: UInt64? = nil,
    allowRemoteAdmin: Bool = false, users: [MockSeedUser] = [], clients: [MockOAuthClient] = MockOAuthClient.usual,
    scripts: [MockScript] = [],
    realms: [String: MockRealmConfiguration] = [:], feedItems: Int = 25, journalCapacity: Int = 10_000,
    maximumRealms: Int = 10_000, maximumSessions: Int = 50_000
  ) {
    self.policy = policy
    self.clock = clock
    self.startsAt = startsAt
    self.seed = seed
    self.allowRemoteAdmin = allowRemoteAdmin
    self.users = users
    self.clients = clients
    self.scripts = scripts
    self.realms = realms
    self.feedItems = feedItems
    self.journalCapacity = journalCapacity
    self.maximumRealms = maximumRealms
    self.maximumSessions = maximumSessions
  }
}

/// What the Swift API or the admin API was asked for and cannot do; `message` says what to write instead.
public struct MockServerError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What kind of mistake it is.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// A key, a value or a combination that does not exist.
    case invalidRequest
    /// The email or the username belongs to someone already.
    case taken
    /// There is no such user.
    case unknownUser
    /// There is no such session, or it is long forgotten.
    case unknownSession
    /// There is no such journal entry, or its details have fallen out.
    case forgotten
  }

  /// What kind of mistake it is.
  public var code: Code
  /// What is wrong and where, for a person.
  public var message: String

  /// Makes an error.
  public init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  public var description: String { message }
}

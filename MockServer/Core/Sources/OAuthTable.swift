/// What the OAuth 2 dialect remembers beside sessions: its clients, and codes on their way.
struct OAuthTable: Sendable {
  /// An authorization code (RFC 6749 §4.1.2).
  struct Code: Sendable {
    let clientID: String
    let userID: String
    /// The `redirect_uri` of the request; nil if it had none.
    let redirectURI: String?
    let scope: [String]
    let challenge: PKCEChallenge?
    let nonce: String?
    let madeAt: MockInstant
    var isUsed = false
    /// What came of it: ended if the code is presented once more.
    var sessionID: String?
  }

  /// A device that waits for a person (RFC 8628).
  struct Device: Sendable {
    enum Decision: Sendable, Hashable {
      case open, denied
      case approved(userID: String)
    }

    let clientID: String
    let scope: [String]
    let userCode: String
    let madeAt: MockInstant
    /// How long the device has to wait between two polls, in seconds: 5 more after each hasty one.
    var interval = 5
    var polledAt: MockInstant?
    var decision = Decision.open
  }

  static let codeLifetime = Duration.seconds(600)
  static let deviceLifetime = Duration.seconds(600)
  private static let maximum = 10_000

  var clients: [MockOAuthClient]
  private(set) var codes: [String: Code] = [:]
  private(set) var devices: [String: Device] = [:]

  init(clients: [MockOAuthClient]) { self.clients = clients }

  func client(_ id: String) -> MockOAuthClient? { clients.first { $0.id == id } }

  mutating func add(_ code: Code, as text: String) {
    if codes.count >= Self.maximum { codes.removeAll() }
    codes[text] = code
  }

  mutating func useCode(_ text: String, for sessionID: String? = nil) {
    codes[text]?.isUsed = true
    codes[text]?.sessionID = sessionID
  }

  mutating func removeCode(_ text: String) { codes[text] = nil }

  mutating func add(_ device: Device, as text: String) {
    if devices.count >= Self.maximum { devices.removeAll() }
    devices[text] = device
  }

  mutating func removeDevice(_ text: String) { devices[text] = nil }

  mutating func notePoll(_ text: String, at now: MockInstant, hasty: Bool) {
    devices[text]?.polledAt = now
    if hasty { devices[text]?.interval += 5 }
  }

  /// Decides about the device whose code a person typed in, however they wrote it; nil if there is none, or it has decided.
  mutating func decide(_ decision: Device.Decision, userCode: String, now: MockInstant) -> Device? {
    guard let found = device(userCode: userCode, now: now) else { return nil }
    devices[found.key]?.decision = decision
    return devices[found.key]
  }

  /// The open device of a code that a person typed in.
  func device(userCode: String, now: MockInstant) -> (key: String, device: Device)? {
    let typed = userCode.uppercased().filter(\.isLetter)
    guard !typed.isEmpty else { return nil }
    return devices.first { _, device in
      device.userCode.filter(\.isLetter) == typed && device.decision == .open
        && now < device.madeAt.adding(Self.deviceLifetime)
    }.map { ($0.key, $0.value) }
  }
}

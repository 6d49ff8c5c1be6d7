#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A message that a real server would have sent: the mock server keeps it for whoever looks.
public struct MockMail: Sendable, Hashable {
  /// What a message asks its reader to do.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// Confirm a new account.
    case signUp = "signup"
    /// Sign in without a password.
    case magicLink = "magiclink"
    /// Sign in in order to set a new password.
    case recovery
    /// Confirm a new address.
    case emailChange = "email_change"
  }

  /// Who gets it: an email address or a telephone number.
  public var to: String
  /// What it is about.
  public var kind: Kind
  /// The six digits that a person types in.
  public var code: String
  /// Where its link leads, without the server's address.
  public var link: String
  /// When it was sent, on the realm's clock.
  public var sentAt: Date

  func write(to writer: inout JSONWriter) {
    writer.object { json in
      json.member("to", to)
      json.member("kind", kind.rawValue)
      json.member("code", code)
      json.member("link", link)
      json.member("sentAt", MockInstant(sentAt).text)
    }
  }
}

/// The messages of a realm, and the codes in them that still work.
struct MailTable: Sendable {
  /// A code that waits for its reader.
  struct Pending: Sendable {
    let userID: String
    let to: String
    let kind: MockMail.Kind
    let code: String
    let hash: String
    let sentAt: MockInstant
    /// What a PKCE flow proves itself by later.
    let challenge: PKCEChallenge?
  }

  /// An authorization code of a followed link, for `grant_type=pkce`.
  struct Flow: Sendable {
    let userID: String
    let kind: MockMail.Kind
    let challenge: PKCEChallenge
    let madeAt: MockInstant
  }

  private(set) var sent: [MockMail] = []
  private var pending: [Pending] = []
  var flows: [String: Flow] = [:]
  private static let maximum = 1000
  /// How long a code works.
  static let lifetime = Duration.seconds(3600)

  mutating func add(_ mail: MockMail, _ code: Pending) {
    // A later code takes the place of an earlier one for the same purpose.
    pending.removeAll { $0.userID == code.userID && $0.kind == code.kind }
    pending.append(code)
    sent.append(mail)
    if sent.count > Self.maximum { sent.removeFirst(sent.count - Self.maximum) }
    if pending.count > Self.maximum { pending.removeFirst(pending.count - Self.maximum) }
    if flows.count > Self.maximum { flows.removeAll() }
  }

  /// Takes out the code that `matches`; nil if there is none, or its time is over.
  mutating func take(now: MockInstant, where matches: (Pending) -> Bool) -> Pending? {
    guard let index = pending.firstIndex(where: matches) else { return nil }
    let found = pending.remove(at: index)
    return now < found.sentAt.adding(Self.lifetime) ? found : nil
  }

  mutating func forget(userID: String) {
    pending.removeAll { $0.userID == userID }
    flows = flows.filter { $0.value.userID != userID }
  }
}

/// A PKCE challenge (RFC 7636 §4.2).
struct PKCEChallenge: Sendable, Hashable {
  let value: String
  /// `S256`; otherwise `plain`.
  let isHashed: Bool

  /// Whether a verifier is well formed (§4.1) and the one that the challenge was made from.
  func accepts(_ verifier: String) -> Bool {
    guard Self.isVerifier(verifier) else { return false }
    return value == (isHashed ? Base64URL.encode(SHA256.digest(Array(verifier.utf8))) : verifier)
  }

  /// 43 to 128 unreserved characters; a challenge looks the same.
  static func isVerifier(_ text: String) -> Bool {
    (43...128).contains(text.utf8.count)
      && text.utf8.allSatisfy { byte in
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: "-._~".utf8.contains(byte)
        }
      }
  }
}

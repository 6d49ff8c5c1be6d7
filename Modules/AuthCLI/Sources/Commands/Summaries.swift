import AuthModels
import AuthSession
import AuthStorage
import Groundwork

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension SessionUser {
  /// The user as data.
  var json: JSONValue {
    var object: [String: JSONValue] = ["id": .string(id)]
    if let email { object["email"] = .string(email) }
    if let username { object["username"] = .string(username) }
    return .object(object)
  }

  /// The user in a few words.
  var text: String {
    switch (email, username) {
    case (let email?, let username?): "\(username) <\(email)>"
    case (let email?, nil): email
    case (nil, let username?): username
    case (nil, nil): id
    }
  }
}

extension SessionSummary {
  /// The session as members of an object; no token is among them.
  func members(now: Date) -> [String: JSONValue] {
    var object: [String: JSONValue] = [
      "state": "signedIn", "sessionID": .string(id.uuidString.lowercased()), "dialect": .string(profile),
      "issuedAt": .string(Self.absolute(issuedAt)), "hasRefreshToken": .bool(hasRefreshToken),
    ]
    if let user { object["user"] = user.json }
    if let accessTokenExpiry {
      object["expiresAt"] = .string(Self.absolute(accessTokenExpiry))
      object["expiresIn"] = .number(accessTokenExpiry.timeIntervalSince(now).rounded(.down))
    }
    return object
  }

  /// When the access token expires, for people.
  func expiry(now: Date) -> String {
    guard let accessTokenExpiry else { return "unknown: the server does not tell" }
    return "\(Self.absolute(accessTokenExpiry)) (\(Self.relative(accessTokenExpiry.timeIntervalSince(now))))"
  }

  /// An instant as RFC 3339 writes it, in UTC.
  static func absolute(_ date: Date) -> String { date.formatted(.iso8601) }

  /// A span of time in its largest unit: "in 14 min", "3 h ago".
  static func relative(_ seconds: Double) -> String {
    let size = seconds.magnitude
    let text =
      switch size {
      case ..<60: "\(Int(size)) s"
      case ..<3600: "\(Int(size / 60)) min"
      case ..<86400: "\(Int(size / 3600)) h"
      case ..<1e12: "\(Int(size / 86400)) d"
      default: "ages"
      }
    return seconds < 0 ? "\(text) ago" : "in \(text)"
  }
}

extension SignedOutReason {
  /// The reason in one word, for scripts.
  var name: String {
    switch self {
    case .neverSignedIn: "neverSignedIn"
    case .byUser: "byUser"
    case .refreshRefused: "refreshRefused"
    case .elsewhere: "elsewhere"
    }
  }

  /// The reason in a sentence.
  var text: String {
    switch self {
    case .neverSignedIn: "Nobody has signed in here."
    case .byUser: "You signed out."
    case .refreshRefused(let code, let requestID):
      "The server refused to renew the session\(code.map { " (\($0))" } ?? "")"
        + "\(requestID.map { ", request id \($0)" } ?? "")."
    case .elsewhere: "The session was signed out elsewhere."
    }
  }

  /// What a sign-out says that comes too late.
  var sentenceAtSignOut: String {
    switch self {
    case .neverSignedIn: "Nobody was signed in."
    case .byUser: "Nobody was signed in: you signed out before."
    case .refreshRefused: "Already signed out: the server ended the session."
    case .elsewhere: "Already signed out: it was done elsewhere."
    }
  }

  /// The reason as members of an object.
  var members: [String: JSONValue] {
    var object: [String: JSONValue] = ["reason": .string(name)]
    if case .refreshRefused(let code, let requestID) = self {
      if let code { object["code"] = .string(code) }
      if let requestID { object["requestID"] = .string(requestID) }
    }
    return object
  }
}

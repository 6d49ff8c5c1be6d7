import Groundwork

// Changes to users that every dialect shares: confirmation, bans, removal.
extension RealmState {
  /// Takes a new account's confirmation back and sends the message that asks for it.
  mutating func askToConfirm(_ userID: String, challenge: PKCEChallenge? = nil, now: MockInstant) {
    guard let user = users[userID] else { return }
    users[userID]?.emailConfirmedAt = nil
    users[userID]?.phoneConfirmedAt = nil
    users[userID]?.confirmationSentAt = now
    send(.signUp, to: user.email.isEmpty ? user.phone : user.email, of: userID, challenge: challenge, now: now)
  }

  /// Sends a message with a code.
  mutating func send(
    _ kind: MockMail.Kind, to address: String, of userID: String, challenge: PKCEChallenge? = nil, now: MockInstant
  ) {
    let code = String(String(1_000_000 + random.next() % 1_000_000).dropFirst())
    let hash = (challenge == nil ? "" : "pkce_") + random.letters(56)
    let link = "/auth/v1/verify?token=\(hash)&type=\(kind.rawValue)"
    mails.add(
      MockMail(to: address, kind: kind, code: code, link: link, sentAt: now.date),
      MailTable.Pending(
        userID: userID, to: address, kind: kind, code: code, hash: hash, sentAt: now, challenge: challenge))
  }

  /// Confirms whatever address a user has.
  mutating func confirm(_ userID: String, now: MockInstant) {
    guard let user = users[userID], user.confirmedAt == nil else { return }
    if !user.email.isEmpty { users[userID]?.emailConfirmedAt = now }
    if !user.phone.isEmpty { users[userID]?.phoneConfirmedAt = now }
    users[userID]?.updatedAt = now
  }

  /// The user with that email or id.
  func requiredUser(_ text: String) throws(MockServerError) -> UserRecord {
    guard let user = user(email: text) ?? users[text] else {
      throw MockServerError(.unknownUser, "no user has the email or id \"\(text.prefix(80))\"")
    }
    return user
  }

  /// Bans a user until an instant, or lifts the ban.
  mutating func ban(_ userID: String, until end: MockInstant?, now: MockInstant) {
    users[userID]?.bannedUntil = end
    users[userID]?.updatedAt = now
  }

  /// Changes what an app keeps with a user; `null` takes a member out.
  mutating func mergeMetadata(_ changes: [String: JSONValue], of userID: String) {
    for (name, value) in changes {
      if value == .null {
        users[userID]?.metadata.removeValue(forKey: name)
      } else {
        users[userID]?.metadata[name] = value
      }
    }
  }

  /// Ends the sessions of a user that `isMeant` says, and tells how many there were.
  @discardableResult
  mutating func endSessions(
    of userID: String, by cause: MockSessionEnd, where isMeant: (SessionRecord) -> Bool = { _ in true }
  ) -> Int {
    let meant = sessions.values.filter { $0.userID == userID && isMeant($0) }.map(\.id)
    return meant.reduce(0) { $0 + (end($1, by: cause) ? 1 : 0) }
  }

  /// Removes a user for good; their sessions end.
  mutating func removeUser(_ userID: String, by cause: MockSessionEnd = .admin) -> Bool {
    guard let user = users[userID] else { return false }
    endSessions(of: userID, by: cause)
    _ = setEmail("", of: userID)
    _ = setPhone("", of: userID)
    userIDByName[user.username.lowercased()] = nil
    users[userID] = nil
    userIDs.removeAll { $0 == userID }
    mails.forget(userID: userID)
    return true
  }

  /// A username for a dialect that has none: made of the address, and nobody's yet.
  mutating func freeUsername(for address: String) -> String {
    var base = String(
      decoding: address.utf8.prefix { $0 != UInt8(ascii: "@") }.filter { byte in
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "_"): true
        default: false
        }
      }.prefix(24), as: UTF8.self)
    if base.utf8.count < 3 { base += "user" }
    var name = base
    var number = 2
    while userIDByName[name.lowercased()] != nil {
      // After a few neighbours by chance, so that a thousand users of one name cost no search.
      name = number < 6 ? "\(base)\(number)" : "\(base)_\(random.letters(6))"
      number += 1
    }
    return name
  }
}

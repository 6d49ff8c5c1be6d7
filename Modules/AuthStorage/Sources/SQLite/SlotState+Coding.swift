import AuthModels

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// How a sealed value looks inside: a format byte, then tagged fields.
///
/// Tags are given once and never again. Fields may be added without a new format; a reader takes what it knows, and
/// gives a field that an older version could not write its default, so that no update signs anybody out.
enum SealedFormat {
  static let current: UInt8 = 1

  /// The fields behind the format byte.
  static func fields(_ bytes: [UInt8]) throws(SealedValueError) -> ByteFieldReader {
    guard let format = bytes.first else { throw .malformed }
    guard format <= current else { throw .newer }
    guard format == current, let reader = ByteFieldReader(bytes.dropFirst()) else { throw .malformed }
    return reader
  }

  static func bytes(_ fields: (inout ByteFieldWriter) -> Void) -> [UInt8] {
    var writer = ByteFieldWriter()
    fields(&writer)
    let bytes = [current] + writer.bytes
    writer.wipe()
    return bytes
  }
}

/// Why a value that was opened cannot be read.
package enum SealedValueError: Error {
  case malformed
  case newer
}

extension SlotState {
  /// The state as it is sealed, filled up so that the save that follows an intent needs no byte more (S16).
  ///
  /// A row keeps its size as long as its contents fit: SQLite then overwrites it where it stands and takes no new page,
  /// on a full disk too. An intent is written only into a row with room for the next pair. `former` is the size of what
  /// stands there, 0 for nothing.
  package func encoded(over former: Int) -> [UInt8] {
    var bytes = SealedFormat.bytes { put(into: &$0) }
    let room = Self.roomForNextPair(bytes.count)
    let needed = intent == nil ? bytes.count : bytes.count + room
    let fresh = (bytes.count + room + 1023) / 1024 * 1024
    let target = former >= needed && former <= 4 * fresh ? former : fresh
    bytes.append(contentsOf: repeatElement(ByteFieldWriter.padding, count: target - bytes.count))
    return bytes
  }

  /// What the next pair may need more: a quarter of this state, at least a KiB.
  static func roomForNextPair(_ count: Int) -> Int {
    max(1024, count / 4)
  }

  private func put(into writer: inout ByteFieldWriter) {
    if let record { writer.put(1) { record.put(into: &$0) } }
    if let intent {
      writer.put(2) { writer in
        writer.put(1, intent.version.sessionID)
        writer.put(2, intent.version.stamp)
        writer.put(3, intent.attempt)
        writer.put(4, intent.startedAt)
      }
    }
    if let cooldown {
      writer.put(3) { writer in
        writer.put(1, UInt64(clamping: cooldown.failures))
        writer.put(2, UInt64(clamping: cooldown.unclassified))
        writer.put(3, cooldown.since)
        writer.put(4, cooldown.duration)
      }
    }
    if let lastSignOut {
      writer.put(4) { writer in
        writer.put(1, lastSignOut.reason.rawValue)
        writer.put(2, lastSignOut.serverCode)
        writer.put(3, lastSignOut.requestID)
        writer.put(4, lastSignOut.at)
      }
    }
    writer.put(5, connection)
  }

  /// Reads what `encoded` gave, or what a later version with more fields did.
  package init(encoded bytes: [UInt8]) throws(SealedValueError) {
    let fields = try SealedFormat.fields(bytes)
    self.init()
    if fields.bytes(1) != nil {
      guard let inner = fields.fields(1), let record = SessionRecord(inner) else { throw .malformed }
      self.record = record
    }
    if fields.bytes(2) != nil {
      guard let inner = fields.fields(2), let id = inner.id(1), let stamp = inner.integer(2), let attempt = inner.id(3)
      else { throw .malformed }
      intent = RefreshIntent(
        version: SessionVersion(sessionID: id, stamp: stamp), attempt: attempt, startedAt: inner.date(4) ?? .distantPast
      )
    }
    if fields.bytes(3) != nil {
      guard let inner = fields.fields(3), let failures = inner.integer(1), let since = inner.date(3),
        let duration = inner.double(4)
      else { throw .malformed }
      cooldown = RefreshCooldown(
        failures: Int(clamping: failures), unclassified: Int(clamping: inner.integer(2) ?? 0), since: since,
        duration: duration)
    }
    if fields.bytes(4) != nil {
      guard let inner = fields.fields(4), let reason = inner.text(1) else { throw .malformed }
      // A reason that a later version gave is told as the least that is known: signed out, not by us.
      lastSignOut = SignOutNote(
        SignOutNote.Reason(rawValue: reason) ?? .elsewhere, serverCode: inner.text(2), requestID: inner.text(3),
        at: inner.date(4) ?? .distantPast)
    }
    connection = fields.text(5)
  }
}

extension SessionRecord {
  fileprivate func put(into writer: inout ByteFieldWriter) {
    writer.put(1, sessionID)
    writer.put(2, slot.server)
    writer.put(3, slot.account)
    writer.put(4, profile)
    writer.put(5, accessToken)
    writer.put(6, refreshToken)
    writer.put(7, tokenType)
    writer.put(8, scope)
    writer.put(9, issuedAt)
    writer.put(10, lifetime)
    writer.put(11, bootID)
    writer.put(12, sinceBootAtIssue)
    writer.put(13, serverSkew)
    if let user {
      writer.put(14) { writer in
        writer.put(1, user.id)
        writer.put(2, user.email)
        writer.put(3, user.username)
      }
    }
    writer.put(15, stamp)
  }

  fileprivate init?(_ fields: ByteFieldReader) {
    guard let sessionID = fields.id(1), let server = fields.text(2), let account = fields.text(3),
      let accessToken = fields.text(5), let stamp = fields.integer(15)
    else { return nil }
    let user = fields.fields(14).flatMap { fields in
      fields.text(1).map { SessionUser(id: $0, email: fields.text(2), username: fields.text(3)) }
    }
    self.init(
      sessionID: sessionID, slot: SessionSlot(server: server, account: account), profile: fields.text(4) ?? "",
      accessToken: accessToken, refreshToken: fields.text(6), tokenType: fields.text(7) ?? "Bearer",
      scope: fields.text(8), issuedAt: fields.date(9) ?? .distantPast, lifetime: fields.double(10),
      bootID: fields.text(11) ?? "", sinceBootAtIssue: fields.double(12) ?? 0, serverSkew: fields.double(13),
      user: user, stamp: stamp)
  }
}

extension PendingRevocation {
  package func encoded() -> [UInt8] {
    SealedFormat.bytes { writer in
      writer.put(1, id)
      writer.put(2, slot.server)
      writer.put(3, slot.account)
      writer.put(4, profile)
      writer.put(5, accessToken)
      writer.put(6, refreshToken)
      writer.put(7, since)
      writer.put(8, scope)
    }
  }

  package init(encoded bytes: [UInt8]) throws(SealedValueError) {
    let fields = try SealedFormat.fields(bytes)
    guard let id = fields.id(1), let server = fields.text(2), let account = fields.text(3), let since = fields.date(7)
    else { throw .malformed }
    self.init(
      id: id, slot: SessionSlot(server: server, account: account), profile: fields.text(4) ?? "",
      accessToken: fields.text(5), refreshToken: fields.text(6), since: since, scope: fields.text(8) ?? "local")
  }
}

#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

/// The store's sealed table of contents, rewritten in every write transaction.
///
/// It says of each row which revision of which session stands there. A row that was moved, swapped, removed or put back
/// from an earlier day does not fit it, and so is found out; only the whole file can be rolled back unseen.
package struct StoreHeader: Equatable {
  package struct Entry: Equatable {
    var slot: SessionSlot
    var sessionID: SessionID?
    var stamp: UInt64
    var revision: UInt64
    var isListed: Bool

    package init(slot: SessionSlot, sessionID: SessionID?, stamp: UInt64, revision: UInt64, isListed: Bool) {
      self.slot = slot
      self.sessionID = sessionID
      self.stamp = stamp
      self.revision = revision
      self.isListed = isListed
    }
  }

  /// The last stamp that was given.
  package var stampCounter: UInt64 = 0
  /// The last revision that was given: each write of a row takes the next.
  package var revisionCounter: UInt64 = 0
  package var lastSignedIn: SessionSlot?
  /// By the row's name.
  package var entries: [[UInt8]: Entry] = [:]
  /// Revision by the row's id.
  package var outbox: [UUID: UInt64] = [:]

  package func encoded() -> [UInt8] {
    SealedFormat.bytes { writer in
      writer.put(1, stampCounter)
      writer.put(2, revisionCounter)
      if let lastSignedIn {
        writer.put(3) { writer in
          writer.put(1, lastSignedIn.server)
          writer.put(2, lastSignedIn.account)
        }
      }
      for (name, entry) in entries.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
        writer.put(4) { writer in
          writer.put(1, name)
          writer.put(2, entry.slot.server)
          writer.put(3, entry.slot.account)
          if let id = entry.sessionID { writer.put(4, id) }
          writer.put(5, entry.stamp)
          writer.put(6, entry.revision)
          writer.put(7, UInt64(entry.isListed ? 1 : 0))
        }
      }
      for (id, revision) in outbox.sorted(by: { $0.value < $1.value }) {
        writer.put(5) { writer in
          writer.put(1, id)
          writer.put(2, revision)
        }
      }
    }
  }

  package init() {}

  package init(encoded bytes: [UInt8]) throws(SealedValueError) {
    let fields = try SealedFormat.fields(bytes)
    guard let stamps = fields.integer(1), let revisions = fields.integer(2) else { throw .malformed }
    stampCounter = stamps
    revisionCounter = revisions
    if let last = fields.fields(3), let server = last.text(1), let account = last.text(2) {
      lastSignedIn = SessionSlot(server: server, account: account)
    }
    for value in fields.all(4) {
      guard let entry = ByteFieldReader(value), let name = entry.bytes(1), let server = entry.text(2),
        let account = entry.text(3), let stamp = entry.integer(5), let revision = entry.integer(6)
      else { throw .malformed }
      entries[Array(name)] = Entry(
        slot: SessionSlot(server: server, account: account), sessionID: entry.id(4), stamp: stamp, revision: revision,
        isListed: entry.integer(7) != 0)
    }
    for value in fields.all(5) {
      guard let row = ByteFieldReader(value), let id = row.id(1), let revision = row.integer(2) else {
        throw .malformed
      }
      outbox[id] = revision
    }
  }
}

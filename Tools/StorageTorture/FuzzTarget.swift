import AuthModels
import AuthStorage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A decoder that is fed damaged bytes.
///
/// It must not trap, which the process would not survive; it must not give a secret that is not the true one; and what
/// it takes must be what it writes again.
struct FuzzTarget {
  var name: String
  /// Whole values, to be damaged.
  var corpus: [[UInt8]]
  /// Reads damaged bytes made from a whole value; throws if what came out must never be. Gives whether it was taken.
  var feed: (_ damaged: [UInt8], _ whole: [UInt8]) throws -> Bool

  static func decoders() throws -> [FuzzTarget] {
    [
      FuzzTarget(name: "record", corpus: states.map { $0.encoded(over: 0) }) { damaged, _ in
        try stable(damaged, { try SlotState(encoded: $0) }, { $0.encoded(over: 0) })
      },
      FuzzTarget(name: "outbox", corpus: [row.encoded()]) { damaged, _ in
        try stable(damaged, { try PendingRevocation(encoded: $0) }, { $0.encoded() })
      },
      FuzzTarget(name: "header", corpus: [header.encoded(), StoreHeader().encoded()]) { damaged, _ in
        try stable(damaged, { try StoreHeader(encoded: $0) }, { $0.encoded() })
      },
      try sealed(), try keyFile(), try passphrase(),
    ]
  }

  /// Decodes; what was taken has to come out of its own encoding unchanged.
  private static func stable<Value>(
    _ bytes: [UInt8], _ decode: ([UInt8]) throws -> Value, _ encode: (Value) -> [UInt8]
  ) throws -> Bool {
    let value: Value
    do {
      value = try decode(bytes)
    } catch is SealedValueError {
      return false
    }
    let once = encode(value)
    guard encode(try decode(once)) == once else { throw TortureError("a value changes by being written and read") }
    return true
  }

  private static func sealed() throws -> FuzzTarget {
    let key = try SecretBytes(randomCount: 32)
    let context = Array("context".utf8)
    let box = try Cipher.seal(states[0].encoded(over: 0), key: key, authenticating: context)
    return FuzzTarget(name: "sealed", corpus: [box]) { damaged, whole in
      let opened = Cipher.open(damaged, key: key, authenticating: context)
      guard opened == nil || damaged == whole else { throw TortureError("damaged bytes open") }
      return opened != nil
    }
  }

  private static func keyFile() throws -> FuzzTarget {
    let secret = try SecretBytes(randomCount: 32)
    let file = try KeyFileKeySource.Contents(id: Array(1...16), key: secret).encoded()
    return FuzzTarget(name: "keyfile", corpus: [file]) { damaged, whole in
      do {
        let found = try KeyFileKeySource.Contents(damaged, path: "key")
        guard damaged == whole, found.key.isEqual(to: secret) else { throw TortureError("a damaged key file is taken") }
        return true
      } catch let error as StoreError {
        guard error.code == .corrupted || error.code == .newerVersion else { throw TortureError("\(error.code)") }
        return false
      }
    }
  }

  private static func passphrase() throws -> FuzzTarget {
    let parameters = PassphraseKeySource.Parameters(
      log2N: 17, salt: Array(1...16), verifier: Array(17...32))
    return FuzzTarget(name: "passphrase", corpus: [try parameters.encoded()]) { damaged, _ in
      do {
        let found = try PassphraseKeySource.Parameters(damaged, folder: "folder")
        guard found == parameters else { throw TortureError("damaged parameters are taken") }
        return true
      } catch let error as StoreError {
        guard error.code == .corrupted || error.code == .newerVersion else { throw TortureError("\(error.code)") }
        return false
      }
    }
  }
}

extension FuzzTarget {
  static let slot = SessionSlot(server: "https://auth.example.com:443", account: "anna")
  private static let date = Date(timeIntervalSince1970: 1_800_000_000)

  private static var states: [SlotState] {
    let record = SessionRecord(
      sessionID: UUID(), slot: slot, profile: "chirp", accessToken: "access", refreshToken: "refresh",
      tokenType: "Bearer", scope: "a b", issuedAt: date, lifetime: 900, bootID: "boot", sinceBootAtIssue: 12.5,
      serverSkew: -3, user: .init(id: "1", email: "anna@example.com", username: "anna"), stamp: 7)
    return [
      SlotState(record: record),
      SlotState(
        record: record, intent: RefreshIntent(version: record.version, attempt: UUID(), startedAt: date),
        cooldown: RefreshCooldown(failures: 3, unclassified: 1, since: date, duration: 2.5)),
      SlotState(lastSignOut: SignOutNote(.refreshRefused, serverCode: "invalid_grant", requestID: "r-1", at: date)),
      SlotState(),
    ]
  }

  private static var row: PendingRevocation {
    PendingRevocation(
      id: UUID(), slot: slot, profile: "chirp", accessToken: "access", refreshToken: "refresh", since: date)
  }

  private static var header: StoreHeader {
    var header = StoreHeader()
    header.stampCounter = 9
    header.revisionCounter = 12
    header.lastSignedIn = slot
    header.entries[Array(1...16)] = StoreHeader.Entry(
      slot: slot, sessionID: UUID(), stamp: 9, revision: 11, isListed: true)
    header.outbox[UUID()] = 12
    return header
  }
}

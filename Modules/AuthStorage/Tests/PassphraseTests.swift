import AuthModels
import AuthStorage
import AuthTestSupport
import Foundation
import Groundwork
import Testing

/// A passphrase as the store's key source. Each opening costs one scrypt, so that there are few of them here.
@Suite struct PassphraseTests {
  private static func source(_ passphrase: String) throws -> PassphraseKeySource {
    PassphraseKeySource(
      SecretBytes(Array(passphrase.utf8)), cost: try #require(PassphraseKeySource.Cost(log2N: 16)))
  }

  private static func store(_ fixture: StoreFixture, _ source: any KeySource) -> SQLiteSessionStore {
    SQLiteSessionStore(folder: fixture.folder.store, time: fixture.clock, keySource: source)
  }

  @Test("scrypt gives what RFC 7914 says for r = 8 and p = 1, with more memory than OpenSSL allows by itself")
  func knownAnswer() throws {
    let derived = try Cipher.scrypt(
      SecretBytes(Array("pleaseletmein".utf8)), salt: Array("SodiumChloride".utf8), log2N: 14, count: 64)
    #expect(
      derived.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        == "7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2"
        + "d5432955613f0fcf62d49705242a9af9e61e85dc0d651e40dfcf017b45575887")
    #expect(try Cipher.scrypt(SecretBytes([1]), salt: [2], log2N: 16, count: 32).count == 32)
  }

  @Test("a cost from 2^16 to 2^20 is taken, 2^17 is the standard, anything else is not")
  func costs() {
    #expect(PassphraseKeySource.Cost.standard.log2N == 17)
    for log2N in 16...20 { #expect(PassphraseKeySource.Cost(log2N: log2N)?.log2N == log2N) }
    for log2N in [Int.min, 0, 15, 21, .max] { #expect(PassphraseKeySource.Cost(log2N: log2N) == nil) }
  }

  @Test("the right passphrase opens the store, a wrong one is `wrongPassphrase` and changes nothing (S21)")
  func rightAndWrong() async throws {
    try await StoreFixture.lend { fixture in
      let record = StoreFixture.record()
      let saved = try await Self.store(fixture, Self.source("correct horse"))
        .update(StoreFixture.slot) { $0.state.record = record }.state
      #expect(try fixture.folder.names().contains("key") == false, "no key file is made")
      let before = try fixture.folder.bytes("sessions.db")
      let wrong = Self.store(fixture, try Self.source("correct horsf"))
      let reading = try await StoreFixture.error { _ = try await wrong.read(StoreFixture.slot) }
      #expect(reading.code == .wrongPassphrase)
      let writing = try await StoreFixture.error {
        _ = try await wrong.update(StoreFixture.slot) { $0.state = SlotState() }
      }
      #expect(writing.code == .wrongPassphrase)
      #expect(try fixture.folder.bytes("sessions.db") == before)
      #expect(try await Self.store(fixture, Self.source("correct horse")).read(StoreFixture.slot) == saved)
      #expect(try await fixture.readError().code == .unavailable, "a key file is no passphrase")
    }
  }

  @Test(
    "damaged parameters are `corrupted`, never a wrong passphrase; a later version's are `newerVersion`",
    arguments: [(0, UInt8(0)), (0, 2), (1, 15), (1, 18), (2, 9), (3, 0), (4, 255), (19, 255), (20, 255), (43, 255)])
  func damagedParameters(position: Int, value: UInt8) async throws {
    try await StoreFixture.lend { fixture in
      let asked = Guarded(0)
      let passphrase = SecretBytes(Array("correct horse".utf8))
      let record = StoreFixture.record()
      _ = try await Self.store(fixture, Self.source("correct horse"))
        .update(StoreFixture.slot) { $0.state.record = record }
      // 255 stands for another byte than the one that is there: salt and check are random.
      let other = "CASE substr(key_parameters,\(position + 1),1) WHEN x'5a' THEN x'5b' ELSE x'5a' END"
      let byte = value == 255 ? other : "x'\(String(format: "%02x", value))'"
      try fixture.sql(
        "UPDATE store SET key_parameters=CAST(substr(key_parameters,1,\(position)) || \(byte) || "
          + "substr(key_parameters,\(position + 2)) AS BLOB)")
      let source = PassphraseKeySource { _ in
        asked.withLock { $0 += 1 }
        return passphrase
      }
      let store = Self.store(fixture, source)
      let error = try await StoreFixture.error { _ = try await store.read(StoreFixture.slot) }
      #expect(error.code == (position == 0 && value == 2 ? .newerVersion : .corrupted), "\(error)")
      #expect(asked.withLock { $0 } == 0, "nobody is asked for a passphrase that cannot help")
    }
  }

  @Test("the right passphrase and a damaged key is `corrupted`")
  func damagedKey() async throws {
    try await StoreFixture.lend { fixture in
      let record = StoreFixture.record()
      _ = try await Self.store(fixture, Self.source("correct horse"))
        .update(StoreFixture.slot) { $0.state.record = record }
      try fixture.sql("UPDATE store SET wrapped_key=zeroblob(length(wrapped_key))")
      let store = Self.store(fixture, try Self.source("correct horse"))
      #expect(try await StoreFixture.error { _ = try await store.read(StoreFixture.slot) }.code == .corrupted)
    }
  }

  @Test("the passphrase is asked for once, when it is needed; giving up is `cancelled`, an empty one is refused")
  func asking() async throws {
    try await StoreFixture.lend { fixture in
      let requests = Guarded<[PassphraseKeySource.Request]>([])
      let cost = try #require(PassphraseKeySource.Cost(log2N: 16))
      let store = Self.store(
        fixture,
        PassphraseKeySource(cost: cost) { request in
          requests.withLock { $0.append(request) }
          return SecretBytes(Array("pass".utf8))
        })
      #expect(try await store.read(StoreFixture.slot) == SlotState())
      #expect(requests.withLock { $0 } == [], "reading a store that is not there asks for nothing")
      let record = StoreFixture.record()
      _ = try await store.update(StoreFixture.slot) { $0.state.record = record }
      _ = try await store.read(StoreFixture.slot)
      try await store.renewDataKey()
      try await store.renewGuard()
      #expect(try await store.read(StoreFixture.slot).record?.accessToken == record.accessToken)
      let folder = try #require(realpath(fixture.folder.store, nil))
      defer { free(folder) }
      #expect(requests.withLock { $0 } == [.create(folder: String(cString: folder))])

      let given = Self.store(
        fixture,
        PassphraseKeySource { request throws(StoreError) in
          requests.withLock { $0.append(request) }
          throw StoreError(.cancelled, "Cancelled.")
        })
      #expect(try await StoreFixture.error { _ = try await given.read(StoreFixture.slot) }.code == .cancelled)
      #expect(requests.withLock { $0.last } == .open(folder: String(cString: folder)))
    }
    try await StoreFixture.lend { fixture in
      let store = Self.store(fixture, PassphraseKeySource(SecretBytes([])))
      let record = StoreFixture.record()
      let error = try await StoreFixture.error {
        _ = try await store.update(StoreFixture.slot) { $0.state.record = record }
      }
      #expect(error.code == .wrongPassphrase)
      #expect(try await fixture.reopened().read(StoreFixture.slot) == SlotState())
    }
  }
}

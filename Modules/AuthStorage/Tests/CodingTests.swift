import AuthModels
import Foundation
import Testing

@testable import AuthStorage

/// What is inside the seal: today's format, tomorrow's, and none at all.
@Suite struct CodingTests {
  private static let full: SlotState = {
    let record = SessionRecord(
      sessionID: UUID(), slot: SessionSlot(server: "https://example.com:443", account: "a"), profile: "chirp",
      accessToken: "access", refreshToken: "refresh", tokenType: "Bearer", scope: "read", issuedAt: Date(),
      lifetime: 1e300,
      bootID: "boot", sinceBootAtIssue: -1, serverSkew: .infinity,
      user: SessionUser(id: "1", email: "a@b.cd", username: "anna"), stamp: .max)
    return SlotState(
      record: record, intent: RefreshIntent(version: record.version, attempt: UUID(), startedAt: Date()),
      cooldown: RefreshCooldown(failures: .max, unclassified: 0, since: Date(), duration: 0.25),
      lastSignOut: SignOutNote(.elsewhere, serverCode: "x", requestID: "y", at: Date()), connection: "{}")
  }()

  @Test("a state comes back as it was, every field of it")
  func roundTrip() throws {
    for state in [
      Self.full, SlotState(), SlotState(record: Self.full.record), SlotState(lastSignOut: Self.full.lastSignOut),
    ] {
      #expect(try SlotState(encoded: state.encoded(over: 0)) == state)
    }
  }

  @Test("a negative count, which no store should ever hold, is kept at zero and does not trap")
  func negativeCount() throws {
    let state = SlotState(cooldown: RefreshCooldown(failures: -5, unclassified: .min, since: Date(), duration: .nan))
    let found = try SlotState(encoded: state.encoded(over: 0)).cooldown
    #expect(found?.failures == 0 && found?.unclassified == 0 && found?.duration.isNaN == true)
  }

  @Test("a row keeps its size while its contents fit, and an intent leaves room for the next pair (S16)")
  func sizes() throws {
    var state = Self.full
    let withIntent = state.encoded(over: 0).count
    state.intent = nil
    state.record?.accessToken += String(repeating: "x", count: 1000)
    #expect(state.encoded(over: withIntent).count == withIntent, "the save that follows takes not a byte more")
    state.record?.accessToken += String(repeating: "x", count: 9000)
    #expect(state.encoded(over: withIntent).count > withIntent)
    #expect(SlotState(lastSignOut: Self.full.lastSignOut).encoded(over: 400_000).count < 10_000, "a huge row shrinks")
    // An intent is not put into a row that the next pair may not fit into.
    let bare = SlotState(record: Self.full.record).encoded(over: 0).count
    let grown = String(repeating: "x", count: 900)
    var tight = Self.full
    tight.record?.accessToken = grown
    #expect(tight.encoded(over: bare).count > bare)
  }

  @Test("fields that a later version added are skipped, and none of them signs anybody out")
  func laterFields() throws {
    var writer = ByteFieldWriter()
    writer.put(1) { record in
      record.put(99, "new and unknown")
      record.put(1, UUID(uuidString: "00000000-0000-0000-0000-000000000001") ?? UUID())
      record.put(2, "https://example.com:443")
      record.put(3, "a")
      record.put(5, "access")
      record.put(15, UInt64(7))
    }
    writer.put(4) { note in
      note.put(1, "a reason of later days")
    }
    writer.put(200, "new and unknown")
    let state = try SlotState(encoded: [1] + writer.bytes + [0, 1, 2])
    #expect(state.record?.accessToken == "access" && state.record?.stamp == 7)
    #expect(state.record?.tokenType == "Bearer" && state.record?.refreshToken == nil)
    #expect(state.lastSignOut?.reason == .elsewhere)
  }

  @Test("a later format is `newer`, an unknown or a torn one `malformed`")
  func formats() {
    #expect(throws: SealedValueError.newer) { try SlotState(encoded: [2, 1, 2, 3]) }
    #expect(throws: SealedValueError.malformed) { try SlotState(encoded: [0]) }
    #expect(throws: SealedValueError.malformed) { try SlotState(encoded: []) }
    #expect(throws: SealedValueError.malformed) { try SlotState(encoded: [1, 1, 0, 0, 0, 9, 1]) }
    #expect(throws: SealedValueError.malformed) { try SlotState(encoded: [1, 1, 0xff, 0xff, 0xff, 0xff]) }
    #expect(throws: SealedValueError.malformed) { try StoreHeader(encoded: [1]) }
  }

  @Test("no bytes make a decoder trap, and cut ones never read as an empty slot")
  func randomBytes() throws {
    let whole = Self.full.encoded(over: 0)
    let contents = try #require(whole.lastIndex { $0 != 0 })
    for count in 1..<contents {
      // Cut at the edge of a field, what is left may read; it must not read as nobody being signed in.
      if let found = Self.decoded(Array(whole.prefix(count))) { #expect(count == 1 || found.record != nil) }
    }
    var generator = Xorshift(state: 42)
    for _ in 0..<20_000 {
      var bytes = whole
      for _ in 0..<(1 + Int(generator.next() % 4)) {
        bytes[Int(generator.next() % UInt64(contents))] = UInt8(truncatingIfNeeded: generator.next())
      }
      _ = Self.decoded(bytes)
      let noise = (0..<Int(generator.next() % 200)).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
      _ = Self.decoded([1] + noise)
      do {
        _ = try StoreHeader(encoded: [1] + noise)
      } catch {
        #expect(error == .malformed)
      }
    }
  }

  @Test("a seal opens with its own key and context alone, and not when a bit of it has changed")
  func seals() throws {
    let key = try SecretBytes(randomCount: 32)
    let context = Array("context".utf8)
    for plain in [[], [7], Array(repeating: 3, count: 5000)] as [[UInt8]] {
      let box = try Cipher.seal(plain, key: key, authenticating: context)
      #expect(box.count == plain.count + 28)
      #expect(Cipher.open(box, key: key, authenticating: context) == plain)
      #expect(Cipher.open(box, key: key, authenticating: context + [0]) == nil)
      #expect(Cipher.open(box, key: try SecretBytes(randomCount: 32), authenticating: context) == nil)
      #expect(Cipher.open(Array(box.dropLast()), key: key, authenticating: context) == nil)
      for index in stride(from: 0, to: box.count, by: max(1, box.count / 40)) {
        var damaged = box
        damaged[index] ^= 0x10
        #expect(Cipher.open(damaged, key: key, authenticating: context) == nil, "byte \(index)")
      }
    }
    #expect(Cipher.open([], key: key, authenticating: context) == nil)
    #expect(throws: StoreError.self) { try Cipher.seal([1], key: SecretBytes([1, 2]), authenticating: []) }
  }

  @Test("the cipher is AES-256-GCM and the hash HMAC-SHA-256, by published vectors")
  func vectors() throws {
    // NIST GCM test case 14: an all-zero key, nonce and block.
    let key = SecretBytes([UInt8](repeating: 0, count: 32))
    let box =
      [UInt8](repeating: 0, count: 12) + Self.bytes("cea7403d4d606b6e074ec5d3baf39d18d0d1c8a799996bf0265b98b5d48ab919")
    #expect(Cipher.open(box, key: key, authenticating: []) == [UInt8](repeating: 0, count: 16))
    // RFC 4231, test case 1.
    let name = try Cipher.keyedName(Array("Hi There".utf8), key: SecretBytes([UInt8](repeating: 0x0b, count: 20)))
    #expect(name == Self.bytes("b0344c61d8db38535ca8afceaf0bf12b"))
    #expect([0, 0x0a, 0xff].hexadecimal == "000aff")
  }

  private static func bytes(_ hexadecimal: String) -> [UInt8] {
    stride(from: 0, to: hexadecimal.count, by: 2).compactMap { offset in
      UInt8(hexadecimal.dropFirst(offset).prefix(2), radix: 16)
    }
  }

  private static func decoded(_ bytes: [UInt8]) -> SlotState? {
    do {
      return try SlotState(encoded: bytes)
    } catch {
      return nil
    }
  }

  private struct Xorshift {
    var state: UInt64

    mutating func next() -> UInt64 {
      state ^= state << 13
      state ^= state >> 7
      state ^= state << 17
      return state
    }
  }
}

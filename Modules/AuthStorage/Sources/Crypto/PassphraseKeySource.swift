import COpenSSL
import Groundwork

/// Guards the store's key by a passphrase: scrypt (RFC 7914) with r = 8 and p = 1, under a salt of its own.
///
/// Guards a home folder that leaks whole, as far as the passphrase is hard to guess. Each opening of a store costs one
/// scrypt, on the store's thread: `Documentation/storage.md` has the figures. The passphrase is taken byte for byte, in
/// UTF-8. It is kept in memory, wiped at the end, so that a process that opens its store again need not ask again.
///
/// In the open stand: version (1) ‖ log2 N (1) ‖ r (1) ‖ p (1) ‖ salt (16) ‖ verifier (16) ‖ checksum (8). The verifier
/// is a hash under a second key that scrypt gives: it tells a wrong passphrase from a damaged key. The checksum tells a
/// wrong passphrase from damaged parameters.
public final class PassphraseKeySource: KeySource {
  /// How dear one guess is: N, the number of blocks of 1 KiB that scrypt fills.
  public struct Cost: Sendable, Hashable {
    /// What a store may ask for: 64 MiB to 1 GiB of memory.
    public static let accepted = 16...20
    /// N = 2^17, 128 MiB: what OWASP's password storage guide asks for.
    public static let standard = Cost()
    /// The logarithm of N to base 2.
    public let log2N: Int

    /// The standard cost, 2^17.
    public init() { log2N = 17 }

    /// Another cost; nil outside ``accepted``.
    public init?(log2N: Int) {
      guard Self.accepted.contains(log2N) else { return nil }
      self.log2N = log2N
    }
  }

  /// What a passphrase is asked for.
  public enum Request: Sendable, Hashable {
    /// A new one, for the store in this folder.
    case create(folder: String)
    /// The one that the store in this folder was sealed with.
    case open(folder: String)
  }

  private struct Known {
    var passphrase: SecretBytes
    var parameters: [UInt8]
    var guardKey: SecretBytes
  }

  private let ask: @Sendable (Request) throws(StoreError) -> SecretBytes
  private let cost: Cost
  private let known = Guarded<Known?>(nil)

  /// Asks for the passphrase when it is needed, and only then.
  ///
  /// - Parameters:
  ///   - cost: what new guards cost; a store that is there says its own.
  ///   - ask: called on the store's thread, which it may block; throws `cancelled` if the person gives up.
  public init(cost: Cost = .standard, ask: @escaping @Sendable (Request) throws(StoreError) -> SecretBytes) {
    self.cost = cost
    self.ask = ask
  }

  /// Uses a passphrase that is known beforehand.
  public convenience init(_ passphrase: SecretBytes, cost: Cost = .standard) {
    self.init(cost: cost) { _ in passphrase }
  }

  public var kind: String { "passphrase" }

  public func wrap(_ key: SecretBytes, for context: KeySourceContext) throws(StoreError) -> WrappedKey {
    let passphrase: SecretBytes
    if let known = known.withLock({ $0?.passphrase }) {
      passphrase = known
    } else {
      passphrase = try ask(.create(folder: context.folder))
    }
    guard passphrase.count > 0 else {
      throw StoreError(.wrongPassphrase, "An empty passphrase guards nothing.", hint: "Give another one.")
    }
    var parameters = Parameters(log2N: cost.log2N, salt: try Cipher.randomBytes(Parameters.saltCount), verifier: [])
    let derived = try derive(passphrase, parameters)
    parameters.verifier = derived.verifier
    let encoded = try parameters.encoded()
    let wrapped = try seal(key, under: derived.guardKey, parameters: encoded, for: context)
    known.withLock { $0 = Known(passphrase: passphrase, parameters: encoded, guardKey: derived.guardKey) }
    return wrapped
  }

  public func unwrap(_ key: WrappedKey, for context: KeySourceContext) throws(StoreError) -> SecretBytes {
    let guardKey: SecretBytes
    if let known = known.withLock({ $0 }), known.parameters == key.parameters {
      guardKey = known.guardKey
    } else {
      guardKey = try derive(key.parameters, context)
    }
    guard let opened = open(key, under: guardKey, for: context) else {
      throw StoreError(
        .corrupted, "The passphrase is right, and yet the key of the session store in \(context.folder) does not open.")
    }
    return opened
  }

  private func derive(_ encoded: [UInt8], _ context: KeySourceContext) throws(StoreError) -> SecretBytes {
    let parameters = try Parameters(encoded, folder: context.folder)
    let passphrase: SecretBytes
    let remembered = known.withLock { $0?.passphrase }
    if let remembered {
      passphrase = remembered
    } else {
      passphrase = try ask(.open(folder: context.folder))
    }
    let derived = try derive(passphrase, parameters)
    guard derived.verifier == parameters.verifier else {
      // Remembered from before another process changed it: the next call asks for the new one.
      known.withLock { $0 = nil }
      throw StoreError(
        .wrongPassphrase, "The passphrase does not open the session store in \(context.folder).",
        hint: "Try again; nothing was changed.")
    }
    known.withLock { $0 = Known(passphrase: passphrase, parameters: encoded, guardKey: derived.guardKey) }
    return derived.guardKey
  }

  private func derive(
    _ passphrase: SecretBytes, _ parameters: Parameters
  ) throws(StoreError) -> (guardKey: SecretBytes, verifier: [UInt8]) {
    var bytes = try Cipher.scrypt(passphrase, salt: parameters.salt, log2N: parameters.log2N, count: 64)
    defer { bytes.wipe() }
    let checking = SecretBytes(bytes.suffix(32))
    return (SecretBytes(bytes.prefix(32)), try Cipher.keyedName(Array("chirp-passphrase".utf8), key: checking))
  }
}

extension PassphraseKeySource {
  /// What stands in the store in the open.
  package struct Parameters: Equatable {
    static let version: UInt8 = 1
    static let saltCount = 16
    static let count = 4 + 16 + 16 + 8

    package var log2N: Int
    package var salt: [UInt8]
    package var verifier: [UInt8]

    package init(log2N: Int, salt: [UInt8], verifier: [UInt8]) {
      self.log2N = log2N
      self.salt = salt
      self.verifier = verifier
    }

    /// Reads what `encoded` gave; `folder` is named in the errors.
    package init(_ bytes: [UInt8], folder: String) throws(StoreError) {
      if let version = bytes.first, version > Self.version {
        throw StoreError(
          .newerVersion, "The passphrase of the session store in \(folder) was set by a newer version of this program.",
          hint: "Use that version.")
      }
      guard bytes.count == Self.count, bytes[0] == Self.version, Cost.accepted.contains(Int(bytes[1])), bytes[2] == 8,
        bytes[3] == 1, try Array(Cipher.checksum(Array(bytes.dropLast(8))).prefix(8)) == Array(bytes.suffix(8))
      else {
        throw StoreError(
          .corrupted, "The session store in \(folder) is damaged: the parameters of its passphrase cannot be used.")
      }
      self.init(log2N: Int(bytes[1]), salt: Array(bytes[4..<20]), verifier: Array(bytes[20..<36]))
    }

    package func encoded() throws(StoreError) -> [UInt8] {
      let bytes = [Self.version, UInt8(clamping: log2N), 8, 1] + salt + verifier
      return try bytes + Cipher.checksum(bytes).prefix(8)
    }
  }
}

extension Cipher {
  /// scrypt with r = 8, p = 1.
  ///
  /// OpenSSL's own limit, 32 MiB, refuses every N from 2^15 on: the memory is allowed explicitly.
  package static func scrypt(
    _ passphrase: SecretBytes, salt: [UInt8], log2N: Int, count: Int
  ) throws(StoreError) -> [UInt8] {
    guard (1...24).contains(log2N) else { throw StoreError(.corrupted, "scrypt with N = 2^\(log2N) is not done.") }
    let blocks = UInt64(1) << UInt64(log2N)
    let memory = 128 * 8 * (blocks + 4) + 1 << 20
    var derived = [UInt8](repeating: 0, count: count)
    // Random bytes ask the library to start as this program wants it.
    _ = try randomBytes(1)
    let done = passphrase.withBytes { bytes in
      EVP_PBE_scrypt(
        bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count, salt, salt.count, blocks, 8, 1, memory,
        &derived, count)
    }
    guard done == 1 else {
      throw StoreError(
        .unavailable, "scrypt could not be run: it needs \(memory >> 20) MiB of memory.",
        hint: "Free some memory, then try again.")
    }
    return derived
  }
}

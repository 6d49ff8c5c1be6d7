import COpenSSL

/// Key bytes that are overwritten when nobody needs them any more.
///
/// Never printed: its description tells its length alone. It is sent nowhere.
public final class SecretBytes: Sendable, CustomStringConvertible, CustomReflectable {
  // Safe because the memory is written in `init` alone, before anyone else can see it, and wiped in `deinit`, after
  // everyone.
  private struct Memory: @unchecked Sendable {
    let bytes: UnsafeMutableRawBufferPointer
  }

  private let memory: Memory

  /// How many bytes there are.
  public var count: Int { memory.bytes.count }

  /// Copies `bytes`; the caller wipes its own copy.
  public init(_ bytes: some Collection<UInt8>) {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 16)
    buffer.copyBytes(from: bytes)
    memory = Memory(bytes: buffer)
  }

  /// Makes `count` bytes from the system's cryptographic random source.
  public convenience init(randomCount count: Int) throws(StoreError) {
    var bytes = try Cipher.randomBytes(count)
    defer { bytes.wipe() }
    self.init(bytes)
  }

  deinit {
    OPENSSL_cleanse(memory.bytes.baseAddress, memory.bytes.count)
    memory.bytes.deallocate()
  }

  /// Lends the bytes for the time of `body`.
  public func withBytes<Success, Failure: Error>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Success
  ) throws(Failure) -> Success {
    try body(UnsafeRawBufferPointer(memory.bytes))
  }

  /// Whether both hold the same bytes; takes as long for a near miss as for any other.
  package func isEqual(to other: SecretBytes) -> Bool {
    count == other.count && CRYPTO_memcmp(memory.bytes.baseAddress, other.memory.bytes.baseAddress, count) == 0
  }

  public var description: String { "SecretBytes(\(count))" }
  public var customMirror: Mirror { Mirror(self, children: ["count": count]) }
}

extension [UInt8] {
  /// Overwrites the bytes, in a way that no optimiser drops.
  package mutating func wipe() {
    withUnsafeMutableBytes { OPENSSL_cleanse($0.baseAddress, $0.count) }
  }
}

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif
#if canImport(Glibc)
  import Glibc
  // In an optimized build of the whole module, the compiler takes this for the module that defines `timespec`.
  import SwiftOverlayShims
#elseif canImport(Darwin)
  import Darwin
#endif

/// The real clocks of this machine.
public struct SystemClock: TimeSource {
  /// Names this start of the machine, read once.
  public let bootID: String

  /// Reads the boot id: `/proc/sys/kernel/random/boot_id` on Linux, the boot session on Apple systems.
  ///
  /// Where the system tells none the name is unique to this process, so that no reading is trusted after it (rule S4).
  public init() {
    bootID = Self.readBootID() ?? "process-\(UInt64.random(in: .min ... .max))"
  }

  public var wallClock: Date { Date() }

  public var sinceBoot: Duration {
    var reading = timespec()
    #if canImport(Darwin)
      // CLOCK_MONOTONIC_RAW counts suspension on Darwin.
      clock_gettime(CLOCK_MONOTONIC_RAW, &reading)
    #else
      clock_gettime(CLOCK_BOOTTIME, &reading)
    #endif
    return .seconds(Int64(reading.tv_sec)) + .nanoseconds(Int64(reading.tv_nsec))
  }

  public func sleep(for duration: Duration) async throws {
    guard duration > .zero else { return try Task.checkCancellation() }
    try await ContinuousClock().sleep(for: duration)
  }

  private static func readBootID() -> String? {
    #if canImport(Darwin)
      var size = 0
      guard sysctlbyname("kern.bootsessionuuid", nil, &size, nil, 0) == 0, size > 1 else { return nil }
      var bytes = [UInt8](repeating: 0, count: size)
      guard sysctlbyname("kern.bootsessionuuid", &bytes, &size, nil, 0) == 0 else { return nil }
      return String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    #else
      let descriptor = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
      guard descriptor >= 0 else { return nil }
      defer { close(descriptor) }
      var bytes = [UInt8](repeating: 0, count: 64)
      let count = read(descriptor, &bytes, bytes.count)
      guard count >= 36 else { return nil }
      return String(decoding: bytes[..<36], as: UTF8.self)
    #endif
  }
}

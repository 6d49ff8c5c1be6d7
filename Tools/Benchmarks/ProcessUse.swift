#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// What this process holds of the system.
struct ProcessUse: CustomStringConvertible {
  var files: Int
  var threads: Int
  /// Resident bytes.
  var memory: Int

  init() throws(BenchError) {
    guard let folder = opendir("/proc/self/fd") else { throw BenchError("There is no /proc on this system.") }
    var count = 0
    while readdir(folder) != nil { count += 1 }
    closedir(folder)
    // Without ".", ".." and the folder itself.
    files = count - 3
    let status: String
    do {
      status = String(decoding: try Data(contentsOf: URL(fileURLWithPath: "/proc/self/status")), as: UTF8.self)
    } catch {
      throw BenchError("/proc/self/status cannot be read: \(error).")
    }
    func number(_ name: String) -> Int? {
      status.split(separator: "\n").first { $0.hasPrefix(name) }.flatMap { line in Int(line.filter(\.isNumber)) }
    }
    guard let threads = number("Threads:"), let kibibytes = number("VmRSS:") else {
      throw BenchError("/proc/self/status lacks Threads or VmRSS.")
    }
    (self.threads, memory) = (threads, kibibytes * 1024)
  }

  var description: String { "\(files) files, \(threads) threads, \(memory / 1024) KiB" }
}

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif
#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The file with the throw-away authority's certificate, for clients to trust while the server runs.
struct AuthorityFile {
  let path: String
  private let folder: String

  /// Writes it into a new folder of the temporary one; nil if that cannot be done, which errno tells.
  init?(_ certificate: String) {
    let temporary = ProcessInfo.processInfo.environment["TMPDIR"].flatMap { $0.isEmpty ? nil : $0 } ?? "/tmp"
    var template = Array("\(temporary)/mock-server-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { return nil }
    folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    path = "\(folder)/ca.pem"
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else {
      rmdir(folder)
      return nil
    }
    defer { close(descriptor) }
    let bytes = Array(certificate.utf8)
    guard write(descriptor, bytes, bytes.count) == bytes.count else {
      remove()
      return nil
    }
  }

  /// Deletes file and folder.
  func remove() {
    unlink(path)
    rmdir(folder)
  }
}

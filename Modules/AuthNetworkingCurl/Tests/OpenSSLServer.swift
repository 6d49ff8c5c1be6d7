import AuthTestSupport
import Foundation

#if canImport(Glibc)
  import Glibc
#endif

/// A certificate for localhost and its key, made by `openssl`, in a folder of their own.
struct CertificateFiles {
  let folder: URL
  var certificate: String { folder.appendingPathComponent("cert.pem").path }
  var key: String { folder.appendingPathComponent("key.pem").path }

  init() throws {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("curl-tests-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let process = OpenSSLServer.process([
      "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", key, "-out",
      certificate, "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost",
    ])
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw ContractFailure("openssl makes no certificate") }
  }

  func remove() {
    try? FileManager.default.removeItem(at: folder)
  }
}

/// `openssl s_server`, which answers with a page of its own to those who show a certificate.
final class OpenSSLServer {
  let port: Int
  private let process: Process

  init(_ files: CertificateFiles) throws {
    process = Self.process([
      "s_server", "-accept", "127.0.0.1:0", "-cert", files.certificate, "-key", files.key, "-Verify", "1",
      "-verify_return_error", "-CAfile", files.certificate, "-www",
    ])
    let output = Pipe()
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    var text = ""
    while !text.contains("ACCEPT") || text.last != "\n" {
      let more = output.fileHandleForReading.availableData
      guard !more.isEmpty else { throw ContractFailure("openssl s_server does not start: \(text)") }
      text += String(decoding: more, as: UTF8.self)
    }
    let digits = text.split(whereSeparator: \.isNewline).first { $0.hasPrefix("ACCEPT") }?.split(separator: ":").last
    guard let digits, let port = Int(digits) else { throw ContractFailure("openssl s_server names no port: \(text)") }
    self.port = port
  }

  /// By SIGKILL: it has inherited a thread's mask, under which SIGTERM waits for ever.
  func stop() {
    kill(process.processIdentifier, SIGKILL)
  }

  static func process(_ arguments: [String]) -> Process {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["openssl"] + arguments
    process.standardInput = FileHandle.nullDevice
    return process
  }
}

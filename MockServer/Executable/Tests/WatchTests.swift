import Groundwork
import Testing

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

/// A folder of a test's own.
private final class Folder: Sendable {
  let path: String

  init() throws {
    path = FileManager.default.temporaryDirectory.appending(path: "mock-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { _ = try? FileManager.default.removeItem(atPath: path) }

  func write(_ text: String, to name: String) throws -> String {
    let file = "\(path)/\(name)"
    try Data(text.utf8).write(to: URL(filePath: file))
    return file
  }
}

@Suite("Files that the server is configured by")
struct WatchTests {
  /// The port of a ready line.
  private static func port(_ line: String?) throws -> UInt16 {
    let ready = try JSONDecoder().decode(JSONValue.self, from: Data((line ?? "").utf8))
    return UInt16(clamping: try #require(ready["port"]?.integer))
  }

  private static func state(_ port: UInt16, realm: String = "") throws -> String {
    try ask(port, "GET \(realm)/__mock/state HTTP/1.0\r\n\r\n")
  }

  /// Reads standard error until a line with `part`.
  private static func wait(_ server: ServerProcess, for part: String) -> [String] {
    var lines: [String] = []
    while let line = server.readErrorLine() {
      lines.append(line)
      if line.contains(part) { return lines }
    }
    return lines + ["(the end)"]
  }

  @Test(
    "--watch takes a file when it is rewritten or replaced, keeps the old one when the new one is wrong, and says so")
  func watch() async throws {
    try await onThread {
      let folder = try Folder()
      let file = try folder.write("policy: {accessTTL: 5s}\nusers: []\n", to: "mock.yaml")
      let server = try ServerProcess(["serve", "--port=0", "--config", file, "--watch", "--grace=3s"])
      let port = try Self.port(server.readLine())
      let first = try Self.state(port)
      #expect(first.contains(#""accessTTL":"5s""#) && first.contains(#""grace":"3s""#))

      _ = try folder.write(
        "policy: {accessTTL: 6s}\nusers: []\nrealms: {a: {policy: {accessTTL: 1s}}}\n", to: "mock.yaml")
      #expect(Self.wait(server, for: "read again").last?.contains("mock.yaml: read again") == true)
      #expect(try Self.state(port).contains(#""accessTTL":"6s""#))
      #expect(try Self.state(port, realm: "/r/a").contains(#""accessTTL":"1s""#))

      _ = try folder.write("policy:\n  accesTTL: 7s\n", to: "mock.yaml")
      let told = Self.wait(server, for: "not taken")
      #expect(told.contains("\(file):2:3: a policy has no \"accesTTL\"; did you mean \"accessTTL\"?"))
      #expect(try Self.state(port).contains(#""accessTTL":"6s""#))

      // As editors do it: another file takes its name.
      let other = try folder.write("policy: {accessTTL: 8s}\n", to: "mock.yaml.new")
      #expect(rename(other, file) == 0)
      _ = Self.wait(server, for: "read again")
      #expect(try Self.state(port).contains(#""accessTTL":"8s""#))

      #expect(unlink(file) == 0)
      let gone = Self.wait(server, for: "not taken")
      #expect(gone.contains { $0.contains("mock.yaml:1:1: the file cannot be read") })
      #expect(try Self.state(port).contains(#""accessTTL":"8s""#))
      server.signal(SIGTERM)
      #expect(server.wait() == 0)
    }
  }

  @Test("scripts come from files too, and a symlink that is turned is a change")
  func scripts() async throws {
    try await onThread {
      let folder = try Folder()
      let one = try folder.write("- {operation: me, actions: [{status: 503}]}\n", to: "one.yaml")
      let two = try folder.write("- {operation: feed, actions: [{status: 503}]}\n", to: "two.yaml")
      let link = "\(folder.path)/link.yaml"
      #expect(symlink(one, link) == 0)
      let server = try ServerProcess(["serve", "--port=0", "--scripts", link, "--watch"])
      let port = try Self.port(server.readLine())
      #expect(try Self.state(port).contains(#""scripts":{"me":"#))
      #expect(symlink(two, "\(link).new") == 0 && rename("\(link).new", link) == 0)
      _ = Self.wait(server, for: "read again")
      #expect(try Self.state(port).contains(#""scripts":{"feed":"#))
      server.signal(SIGTERM)
      #expect(server.wait() == 0)
    }
  }

  @Test("a file that is wrong ends serve with 1, its mistakes on standard error, and no ready line")
  func wrongAtStart() async throws {
    try await onThread {
      let folder = try Folder()
      let file = try folder.write("users:\n  - {username: anna}\n", to: "mock.yaml")
      for arguments in [["--config", file], ["--scripts", "\(folder.path)/none.yaml"]] {
        let server = try ServerProcess(["serve", "--port=0"] + arguments)
        #expect(server.wait() == 1)
        #expect(server.readLine() == nil)
        let errors = server.readErrors()
        #expect(
          errors.contains(".yaml:2:5: a user needs \"email\"") || errors.contains("none.yaml:1:1: the file cannot"))
      }
      let server = try ServerProcess(["serve", "--port=0", "--watch"])
      #expect(server.wait() == 2)
      #expect(server.readErrors().contains("--watch needs --config or --scripts."))
    }
  }

  @Test("check says what is wrong in each file, and nothing but a count where nothing is")
  func check() async throws {
    try await onThread {
      let folder = try Folder()
      let good = try folder.write("clock: virtual\n", to: "good.yaml")
      let scripts = try folder.write("operation: me\nactions: [{status: 503}]\n", to: "scripts.yaml")
      let bad = try folder.write("clok: virtual\npolicy: {grace: x}\n", to: "bad.yaml")
      let latin = "\(folder.path)/latin.yaml"
      try Data([0x61, 0x3A, 0x0A, 0x62, 0xE9, 0x0A]).write(to: URL(filePath: latin))

      let sound = try ServerProcess(["check", good, scripts])
      #expect(sound.wait() == 0)
      #expect(sound.readLine() == "2 files, nothing wrong" && sound.readErrors().isEmpty)

      let wrong = try ServerProcess(["check", good, bad, latin, "\(folder.path)/none"])
      #expect(wrong.wait() == 1)
      #expect(wrong.readLine() == nil)
      let lines = wrong.readErrors().split(separator: "\n")
      #expect(lines.count == 4)
      #expect(lines.first == "\(bad):1:1: a configuration has no \"clok\"; did you mean \"clock\"?")
      #expect(lines.dropFirst().first?.hasPrefix("\(bad):2:17: expected a duration") == true)
      #expect(lines.dropFirst(2).first == "\(latin):2:2: a byte here is not UTF-8")
      #expect(lines.last?.contains("none:1:1: the file cannot be read: No such file") == true)

      let none = try ServerProcess(["check"])
      #expect(none.wait() == 2)
    }
  }
}

import Foundation
import Testing

/// The desktop's key store against a real gnome-keyring-daemon, on a session bus of each test's own.
@Suite(.enabled(if: KeyringTools.areThere, "needs dbus-run-session, dbus-send and gnome-keyring-daemon"))
struct SecretServiceTests {
  /// No service is started by being asked for: a keyring that is gone stays gone, and no prompt finds a screen.
  private static let configuration = """
    <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
     "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
    <busconfig><type>session</type><listen>unix:tmpdir=/tmp</listen>
    <policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy>
    </busconfig>
    """

  private static let preamble = """
    set -u
    # A blocked SIGTERM is inherited, and dbus-run-session has nothing else to end its bus with.
    trap 'ids="$(pid_of org.freedesktop.secrets) $(pid_of org.freedesktop.DBus)"; kill -KILL $ids' EXIT
    keyring() { printf pass | gnome-keyring-daemon --unlock --components=secrets --daemonize >/dev/null 2>&1
      until [ -n "$(pid_of org.freedesktop.secrets)" ]; do :; done; }
    lock() { dbus-send --session --print-reply --dest=org.freedesktop.secrets /org/freedesktop/secrets \
      org.freedesktop.Secret.Service.Lock array:objpath:/org/freedesktop/secrets/collection/login >/dev/null; }
    pid_of() { dbus-send --session --print-reply --dest=org.freedesktop.DBus /org/freedesktop/DBus \
      org.freedesktop.DBus.GetConnectionUnixProcessID string:$1 | sed -n 's/.*uint32 //p'; }
    try() { label=$1; shift; out=$("$@" 2>err <secret | od -An -tx1 | tr -d ' \\n'); code=$(head -n1 err | cut -d' ' -f1)
      echo "$label: ${out:-none} ${code:-ok}"; }
    """

  /// Runs a script on a bus of its own and gives its lines; `$helper` is the program under test.
  private static func run(_ script: String) async throws -> [String] {
    let folder = FileManager.default.temporaryDirectory.path + "/chirp-secret-service-\(UUID().uuidString)"
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    defer {
      do { try FileManager.default.removeItem(atPath: folder) } catch { Issue.record(error) }
    }
    try Data(configuration.utf8).write(to: URL(fileURLWithPath: folder + "/bus.conf"))
    try Data((0..<32).map { UInt8($0) }).write(to: URL(fileURLWithPath: folder + "/secret"))
    try Data("\(preamble)\n\(script)\n".utf8).write(to: URL(fileURLWithPath: folder + "/script"))
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [
      "timeout", "--kill-after=5", "60", "dbus-run-session", "--config-file", folder + "/bus.conf", "--", "bash", "-c",
      "exec bash script >output 2>/dev/null",
    ]
    process.currentDirectoryURL = URL(fileURLWithPath: folder)
    var environment = ProcessInfo.processInfo.environment
    for name in ["DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "WAYLAND_DISPLAY"] { environment[name] = nil }
    environment.merge(
      ["HOME": folder, "XDG_DATA_HOME": folder, "XDG_RUNTIME_DIR": folder, "helper": try helper()]
    ) { _, new in new }
    process.environment = environment
    // A file takes the output: whoever inherits a pipe and stays would keep its reader waiting.
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    let text = try String(contentsOfFile: folder + "/output", encoding: .utf8)
    return text.split(separator: "\n").map(String.init)
  }

  /// Beside the test bundle, where the build puts it.
  private static func helper() throws -> String {
    var folder = URL(fileURLWithPath: try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
    for argument in CommandLine.arguments where argument.hasSuffix(".xctest") {
      folder = URL(fileURLWithPath: argument)
    }
    let path = folder.deletingLastPathComponent().appendingPathComponent("chirp-secret-service").path
    try #require(FileManager.default.isExecutableFile(atPath: path), "\(path) is not there")
    return path
  }

  private static let secret = (0..<32).map { String(format: "%02x", $0) }.joined()

  @Test("a secret is kept, found again, told from others, and removed; its attributes are the schema and the id")
  func life() async throws {
    let lines = try await Self.run(
      """
      keyring
      try add $helper add 0a
      try found $helper find 0a
      try other $helper find 0b
      dbus-send --session --print-reply --dest=org.freedesktop.secrets /org/freedesktop/secrets/collection/login/1 \
        org.freedesktop.DBus.Properties.Get string:org.freedesktop.Secret.Item string:Attributes |
        sed -n 's/.*string "\\(.*\\)"/attribute: \\1/p' | sort
      try remove $helper remove 0a
      try again $helper remove 0a
      try gone $helper find 0a
      """)
    #expect(
      lines == [
        "add: none ok", "found: \(Self.secret) ok", "other: none ok", "attribute: 0a",
        "attribute: com.chirp.StoreKey", "attribute: id", "attribute: xdg:schema", "remove: none ok", "again: none ok",
        "gone: none ok",
      ])
  }

  @Test("a locked keyring is `locked` where nobody may be asked, `cancelled` where the prompt comes to nothing (S21)")
  func locked() async throws {
    let lines = try await Self.run(
      """
      keyring
      try add $helper add 0a
      lock
      export CHIRP_SECRET_SERVICE_PROMPT=never
      try find $helper find 0a
      try add $helper add 0b
      try remove $helper remove 0a
      export CHIRP_SECRET_SERVICE_PROMPT=
      try prompt $helper find 0a
      kill -KILL $(pid_of org.freedesktop.secrets)
      until [ -z "$(pid_of org.freedesktop.secrets)" ]; do :; done
      rm -rf keyring
      keyring
      try unlocked $helper find 0a
      """)
    #expect(
      lines == [
        "add: none ok", "find: none locked", "add: none locked", "remove: none locked", "prompt: none cancelled",
        "unlocked: \(Self.secret) ok",
      ])
  }

  @Test("a key store that hangs, dies in mid-call, or was never there is `unavailable`, within the deadline (S21)")
  func gone() async throws {
    let lines = try await Self.run(
      """
      try never $helper find 0a
      keyring
      try add $helper add 0a
      pid=$(pid_of org.freedesktop.secrets)
      kill -STOP $pid
      CHIRP_SECRET_SERVICE_DEADLINE=300ms try hangs $helper find 0a
      export CHIRP_SECRET_SERVICE_DEADLINE=60s
      try dies $helper find 0a > dies &
      sleep 0.3
      kill -KILL $pid
      wait
      cat dies
      try after $helper find 0a
      """)
    #expect(
      lines == [
        "never: none unavailable", "add: none ok", "hangs: none unavailable", "dies: none unavailable",
        "after: none unavailable",
      ])
  }

  @Test("a bus that goes away in mid-call is `unavailable`, and takes nobody with it; without a bus too")
  func noBus() async throws {
    let lines = try await Self.run(
      """
      keyring
      pid=$(pid_of org.freedesktop.secrets)
      kill -STOP $pid
      bus=$(pid_of org.freedesktop.DBus)
      export CHIRP_SECRET_SERVICE_DEADLINE=60s
      { try bus $helper find 0a > bus; } &
      sleep 0.3
      kill -KILL $bus
      wait $!
      kill -KILL $pid
      cat bus
      unset DBUS_SESSION_BUS_ADDRESS XDG_RUNTIME_DIR
      try none $helper find 0a
      export DBUS_SESSION_BUS_ADDRESS=unix:path=/nowhere
      try nowhere $helper find 0a
      """)
    #expect(lines == ["bus: none unavailable", "none: none unavailable", "nowhere: none unavailable"])
  }
}

/// The programs that a keyring of a test's own needs.
private enum KeyringTools {
  static let areThere: Bool = ["dbus-run-session", "dbus-send", "gnome-keyring-daemon"].allSatisfy { name in
    (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").contains { folder in
      FileManager.default.isExecutableFile(atPath: "\(folder)/\(name)")
    }
  }
}

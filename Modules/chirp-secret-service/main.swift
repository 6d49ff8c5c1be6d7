import AuthStorage
import AuthStorageSecretService
import Groundwork

#if canImport(Glibc)
  import Glibc
#endif

// What `chirp` runs where a store's key is kept in the desktop's key store. A program of its own, so that `chirp` neither
// links libsecret and GLib, which would cost each of its starts, nor needs them where nobody has a desktop.
//
//   chirp-secret-service add ID      reads the secret, 32 bytes, from standard input
//   chirp-secret-service find ID     writes it to standard output; exit 4 if there is none
//   chirp-secret-service remove ID
//
// A failure is one line on standard error, its code before the message, and exit 1. No secret is ever an argument.

func fail(_ error: StoreError) -> Never {
  let line = "\(error.code.rawValue) \(error.message)\n"
  var bytes = Array(line.utf8)
  if let hint = error.hint { bytes += Array("\(hint)\n".utf8) }
  _ = write(STDERR_FILENO, bytes, bytes.count)
  exit(1)
}

let arguments = Array(CommandLine.arguments.dropFirst())
guard arguments.count == 2, ["add", "find", "remove"].contains(arguments[0]) else {
  let usage = Array("usage: chirp-secret-service add|find|remove ID\n".utf8)
  _ = write(STDERR_FILENO, usage, usage.count)
  exit(2)
}
let environment = getenv("CHIRP_SECRET_SERVICE_PROMPT").map { String(cString: $0) }
let deadline = getenv("CHIRP_SECRET_SERVICE_DEADLINE").flatMap { Duration(text: String(cString: $0)) }
let items = SecretServiceItems(deadline: deadline ?? .seconds(5), allowsPrompts: environment != "never")
do throws(StoreError) {
  switch arguments[0] {
  case "add":
    var bytes = [UInt8](repeating: 0, count: 33)
    var filled = 0
    while filled < bytes.count, case let count = read(STDIN_FILENO, &bytes[filled], bytes.count - filled), count > 0 {
      filled += count
    }
    guard filled == 32 else { throw StoreError(.corrupted, "The secret on standard input is not 32 bytes long.") }
    let secret = SecretBytes(bytes.prefix(32))
    bytes.wipe()
    try items.add(secret, id: arguments[1])
  case "find":
    guard let secret = try items.find(arguments[1]) else { exit(4) }
    let written = secret.withBytes { write(STDOUT_FILENO, $0.baseAddress, $0.count) }
    guard written == secret.count else { throw StoreError(.unavailable, "The secret cannot be handed over.") }
  default: try items.remove(arguments[1])
  }
} catch {
  fail(error)
}

import AuthStorage
import Groundwork

/// Where `chirp` gets the store's passphrase from: the file that `CHIRP_PASSPHRASE_FILE` names, else the terminal.
///
/// A passphrase is never an argument, nor the value of a variable: both can be read by other processes.
struct PassphrasePrompt: Sendable {
  /// The variable that names the file.
  static let variable = "CHIRP_PASSPHRASE_FILE"

  let parts: CommandLineParts
  /// A file for a passphrase that is being made, where it is not the one that opens the store now.
  var newPassphraseFile: String?

  /// Whether the passphrase can be had without a person.
  var hasFile: Bool { file != nil }

  private var file: String? {
    guard let path = parts.environment[Self.variable], !path.isEmpty else { return nil }
    return path
  }

  /// The passphrase; blocks the store's thread that asks for it.
  func answer(_ request: PassphraseKeySource.Request) throws(StoreError) -> SecretBytes {
    let answer = BlockingAnswer<Result<SecretBytes, StoreError>>()
    parts.tasks.start {
      do throws(StoreError) {
        answer.give(.success(try await passphrase(request)))
      } catch {
        answer.give(.failure(error))
      }
    }
    return try answer.wait().get()
  }

  private func passphrase(_ request: PassphraseKeySource.Request) async throws(StoreError) -> SecretBytes {
    var source = file
    if case .create = request, let newPassphraseFile { source = newPassphraseFile }
    if let source { return try await read(source) }
    guard parts.console.inputIsTerminal else {
      throw StoreError(
        .unavailable, "The session store is guarded by a passphrase, and there is no terminal to ask for it.",
        hint: "Let \(Self.variable) name a file that holds it, readable for yourself alone.")
    }
    switch request {
    case .open(let folder):
      return SecretBytes(Array(try await ask("Passphrase of the session store in \(folder): ").utf8))
    case .create(let folder):
      while true {
        let first = try await ask("New passphrase for the session store in \(folder): ")
        guard !first.isEmpty else {
          parts.console.writeError("  It cannot be empty.\n")
          continue
        }
        if try await ask("The same again: ") == first { return SecretBytes(Array(first.utf8)) }
        parts.console.writeError("  The two are not the same.\n")
      }
    }
  }

  private func ask(_ prompt: String) async throws(StoreError) -> String {
    let typed: String?
    do {
      typed = try await parts.console.ask(Printable.line(prompt), hidden: true)
    } catch {
      throw StoreError(.unavailable, CommandFailure(error).message)
    }
    guard let typed else { throw StoreError(.cancelled, "Cancelled.") }
    return typed
  }

  private func read(_ path: String) async throws(StoreError) -> SecretBytes {
    let bytes: [UInt8]
    do {
      bytes = try await parts.readFile(path, 64 * 1024)
    } catch {
      throw StoreError(.unavailable, "The passphrase's file: \(CommandFailure(error).message)")
    }
    var line = bytes[...]
    if line.last == UInt8(ascii: "\n") { line.removeLast() }
    if line.last == UInt8(ascii: "\r") { line.removeLast() }
    guard !line.isEmpty, !line.contains(UInt8(ascii: "\n")) else {
      throw StoreError(.unavailable, "The passphrase's file \(path) does not hold one line.")
    }
    return SecretBytes(line)
  }
}

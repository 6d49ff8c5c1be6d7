import AuthStorage
import CommandLineTable

extension CommandContext {
  /// The kinds of source that guard a store's key.
  enum KeySourceKind: String, CaseIterable, Sendable {
    case keyfile
    case passphrase
    case secretService = "secret-service"
  }

  /// What guards the key of the store: as told, else as the store says, else a key file.
  ///
  /// Nothing is asked and nobody is prompted before a store is opened.
  func keySource() throws -> any KeySource {
    if let kind: KeySourceKind = try call.choice("key-source") { return try keySource(kind) }
    return KeySourceChoice(
      try keySource(.keyfile), try keySource(.passphrase), try keySource(.secretService))
  }

  /// One source; `newPassphraseFile` holds a passphrase that is being made.
  func keySource(_ kind: KeySourceKind, newPassphraseFile: String? = nil) throws -> any KeySource {
    switch kind {
    case .keyfile: return KeyFileKeySource()
    case .passphrase:
      let prompt = PassphrasePrompt(parts: parts, newPassphraseFile: newPassphraseFile)
      return PassphraseKeySource { request throws(StoreError) in try prompt.answer(request) }
    case .secretService:
      return KeyItemKeySource(kind: kind.rawValue, items: HelperKeyItems(path: parts.secretServiceHelper))
    }
  }
}

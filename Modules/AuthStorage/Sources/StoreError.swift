/// Why a store could not do what it was asked. None of these means "signed out" (S21).
///
/// `description` names the file and the system's reason, never a secret.
public struct StoreError: Error, Sendable, Hashable {
  /// What went wrong; each stays distinct up to the exit code.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// The key store is locked, or the database stayed busy; try again.
    case locked
    /// The store cannot be reached: no folder, no service, an I/O error.
    case unavailable
    /// A person dismissed the prompt that would have unlocked it, or the task was cancelled.
    case cancelled
    /// Another process holds the lock longer than the bound (S15).
    case busy
    /// The disk is full.
    case full
    /// The place cannot be written.
    case readOnly
    /// A file or folder is open to others, is a link, or belongs to someone else.
    case insecurePermissions
    /// What is stored does not read as what was saved.
    case corrupted
    /// The passphrase does not open the store.
    case wrongPassphrase
    /// A newer version of this program wrote the store.
    case newerVersion
    /// What was asked for by name is not there.
    case notFound
  }

  /// What went wrong.
  public var code: Code
  /// One sentence for a person: what, where. Holds no secret.
  public var message: String
  /// What to do about it, if there is something.
  public var hint: String?

  /// Makes an error from its parts.
  public init(_ code: Code, _ message: String, hint: String? = nil) {
    self.code = code
    self.message = message
    self.hint = hint
  }
}

extension StoreError: CustomStringConvertible {
  public var description: String { message }
}

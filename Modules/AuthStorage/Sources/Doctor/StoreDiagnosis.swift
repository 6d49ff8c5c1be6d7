/// What was found in a store's folder, and what a repair would do about it (S21).
///
/// Holds no secret. It names servers and accounts, as any list of accounts does.
public struct StoreDiagnosis: Sendable, Hashable {
  /// What was looked at.
  public enum Check: String, Sendable, Hashable, CaseIterable {
    /// The folder: there, ours, nobody else's.
    case folder
    /// The files in it: ours, 0600, known by name.
    case files
    /// Whether another process writes just now.
    case lock
    /// The database's file, its version, its pages.
    case database
    /// What guards the key, and whether it opens.
    case key
    /// The table of contents and every session.
    case sessions
    /// What is still to be revoked.
    case outbox
  }

  /// One thing that was found.
  public struct Finding: Sendable, Hashable {
    /// How bad it is.
    public enum Severity: String, Sendable, Hashable {
      /// As it should be.
      case good
      /// Worth knowing; nothing has to be done.
      case note
      /// The store cannot be used, or should not be, until something is done.
      case problem
    }

    /// What was looked at.
    public var check: Check
    /// How bad it is.
    public var severity: Severity
    /// For a problem: what every other call of the store throws for it.
    public var code: StoreError.Code?
    /// What was found, in one sentence or two.
    public var message: String
    /// What to do about it, if there is something.
    public var hint: String?
  }

  /// What a repair does. It never deletes.
  public enum Repair: Sendable, Hashable {
    /// Gives the file another name in its folder, so that the next sign-in makes a new one.
    case moveAside(path: String)
  }

  /// The folder that was looked at, as it was given.
  public var folder: String
  /// Everything that was found, in the order of the checks.
  public var findings: [Finding] = []
  /// What ``StoreDoctor/repair()`` would do; empty if it would do nothing.
  public var repairs: [Repair] = []
  /// What is known of the store, as far as it could be read.
  public var info = StoreInfo()

  /// Whether nothing has to be done.
  public var isHealthy: Bool { problems.isEmpty }

  /// The findings that are problems.
  public var problems: [Finding] { findings.filter { $0.severity == .problem } }

  mutating func add(
    _ check: Check, _ severity: Finding.Severity, _ message: String, hint: String? = nil
  ) {
    findings.append(Finding(check: check, severity: severity, code: nil, message: message, hint: hint))
  }

  mutating func add(_ check: Check, _ error: StoreError) {
    let found = Finding(
      check: check, severity: .problem, code: error.code, message: error.message, hint: error.hint)
    if !findings.contains(found) { findings.append(found) }
  }
}

/// What a store says of itself; nil where it could not be read.
public struct StoreInfo: Sendable, Hashable {
  /// The schema's version.
  public var schemaVersion: Int?
  /// The kind of source that guards the key: `keyfile`, `passphrase`, `secret-service`.
  public var keySource: String?
  /// For a passphrase, the logarithm to base 2 of scrypt's N.
  public var passphraseCost: Int?
  /// The size of the database's file, in bytes.
  public var databaseSize: Int64?
  /// How many sessions there are.
  public var sessions: Int?
  /// How many accounts are known, signed in or not.
  public var accounts: Int?
  /// How many rows wait in the outbox (S20).
  public var pendingRevocations: Int?
}

/// What `chirp` says to scripts: one meaning a number.
public enum ExitCode: Int32, Sendable, Hashable, CaseIterable {
  /// Done.
  case success = 0
  /// Failed in a way that has no code of its own; `api`: another 4xx.
  case failure = 1
  /// The command line is wrong.
  case usage = 2
  /// The user gave up at a prompt.
  case cancelled = 3
  /// Nobody is signed in, or the server refuses.
  case signInNeeded = 4
  /// Network or server trouble, or another process is busy.
  case tryAgain = 5
  /// The store is locked, unavailable, full or read-only.
  case storeUnavailable = 6
  /// The store is corrupted, insecure, newer, or the passphrase is wrong.
  case storeUnusable = 7
  /// Ctrl-C.
  case interrupted = 130

  /// The meaning, as help lists it.
  public var meaning: String {
    switch self {
    case .success: "done"
    case .failure: "failed (api: the server answered with another 4xx)"
    case .usage: "the command line is wrong"
    case .cancelled: "cancelled by the user"
    case .signInNeeded: "sign-in needed, or refused"
    case .tryAgain: "network or server trouble, or busy: try again"
    case .storeUnavailable: "the store is locked, unavailable, full or read-only"
    case .storeUnusable: "the store is corrupted, insecure, of a newer version, or the passphrase is wrong"
    case .interrupted: "interrupted"
    }
  }
}

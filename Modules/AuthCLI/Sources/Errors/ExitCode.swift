/// What `chirp` says to scripts: one meaning a number.
public enum ExitCode: Int32, Sendable, Hashable, CaseIterable {
  case success = 0
  case failure = 1
  case usage = 2
  case cancelled = 3
  case signInNeeded = 4
  case tryAgain = 5
  case storeUnavailable = 6
  case storeUnusable = 7
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

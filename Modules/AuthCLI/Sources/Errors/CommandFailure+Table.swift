import AuthModels
import AuthOAuth
import AuthSession
import AuthStorage
import CommandLineTable
import Groundwork

/// The one table from errors to what is told and how the process ends.
extension CommandFailure {
  /// The failure that an error is.
  package init(_ error: any Error) {
    switch error {
    case let error as CommandFailure: self = error
    case let error as UsageError:
      self.init("usage", error.message, hint: Self.hint(for: error), .usage)
    case let error as ServerIdentityError: self.init("usage", error.message, .usage)
    case let error as SupabaseKeyError:
      self.init("apiKey.\(error.code.rawValue)", error.message, error.code == .refused ? .signInNeeded : .usage)
    case let error as RESTDescriptionError: self.init("usage", error.message, .usage)
    case let error as OAuthError: self.init(oauth: error)
    case let error as StoreError: self.init(store: error)
    case let error as SessionError: self.init(session: error)
    case let error as APIError: self.init(api: error)
    case let error as TransportError: self.init(transport: error)
    case is CancellationError: self = .cancelled
    case let error as ConsoleError: self.init(console: error)
    default: self.init("other", "This did not work: \(error)", .failure)
    }
  }

  /// The user gave up, at a prompt or by cancelling.
  static let cancelled = CommandFailure("cancelled", "Cancelled.", .cancelled)

  private static func hint(for error: UsageError) -> String {
    let suggestion = error.suggestion.map { "Did you mean \($0)? " } ?? ""
    return "\(suggestion)Try: \(error.command) --help"
  }

  private init(store error: StoreError) {
    // Of a damaged store the library can only say which file to move; here is a command that does it.
    let hint = error.code == .corrupted ? Self.hint(.corrupted) : error.hint ?? Self.hint(error.code)
    self.init("store.\(error.code.rawValue)", error.message, hint: hint, error.code.exit)
  }

  private static func hint(_ code: StoreError.Code) -> String? {
    switch code {
    case .corrupted: "Nothing was changed. chirp doctor says more; chirp doctor --repair lets you sign in again."
    case .insecurePermissions: "Nobody but you may read or write it: chmod 700 for the folder, 600 for its files."
    case .newerVersion: "Use the newer chirp, or another --state-dir."
    case .busy, .locked: "Another chirp is at work. Try again."
    case .full: "Free some space and try again."
    case .readOnly, .unavailable: "Choose another place with --state-dir or CHIRP_STATE_DIR."
    case .cancelled, .wrongPassphrase, .notFound: nil
    }
  }

  private init(session error: SessionError) {
    if error.code == .storage, let store = error.storeError {
      self.init(store: store)
      return
    }
    self.init("session.\(error.code.rawValue)", error.message, error.code.exit)
    requestID = error.apiError?.requestID
    status = error.apiError?.status
    retryAfter = error.retryAfter
    switch error.code {
    case .notLoggedIn, .sessionEnded:
      hint = "Sign in: chirp login"
      if case .refreshRefused(_, let id) = error.signedOutReason { requestID = id }
    case .sessionReplaced: hint = "Nothing was delivered. Run the command again to use the new session."
    case .refreshFailed, .tooManyRefreshes, .busy, .storage: break
    }
  }

  private init(oauth error: OAuthError) {
    self.init("oauth.\(error.code.rawValue)", error.message, error.code.exit)
    requestID = error.requestID
  }

  private init(api error: APIError) {
    if error.kind == .transport, let transport = error.transport {
      self.init(transport: transport)
    } else {
      self.init("api.\(error.kind.rawValue)", Self.message(error), error.kind.exit)
      fields = error.fields
    }
    status = error.status
    // No server has a log entry for what never left.
    requestID = error.transport?.mayHaveBeenSent == false ? nil : error.requestID
    retryAfter = error.retryAfter
    if error.kind == .unauthorized { hint = "Sign in again: chirp login" }
  }

  private static func message(_ error: APIError) -> String {
    let said = error.serverMessage.map { " It says: \($0)" } ?? ""
    let status = error.status.map { " (\($0))" } ?? ""
    switch error.kind {
    case .transport: return "No answer came from the server."
    case .unauthorized: return "The server refused the access token\(status).\(said)"
    case .invalidCredentials: return "Wrong email or password."
    case .forbidden: return "The server does not allow this\(status).\(said)"
    case .notFound: return "The server has no such thing\(status).\(said)"
    case .conflict: return error.serverMessage ?? "This is taken already\(status)."
    case .validation: return error.serverMessage ?? "The server does not take these values\(status)."
    case .rateLimited: return "Too many requests\(status)."
    case .clientError: return "The server refused the request\(status).\(said)"
    case .serverError: return "The server has a problem\(status).\(said)"
    case .undecodable:
      return error.detail.map { "The server's answer could not be used: \($0)." }
        ?? "The server's answer could not be used\(status)."
    }
  }

  private init(transport error: TransportError) {
    guard error.code != .cancelled else {
      self = .cancelled
      return
    }
    self.init("transport.\(error.code.rawValue)", error.message, error.code.exit)
    if error.code == .insecureConnection { hint = "Use https, or --allow-insecure-http." }
  }

  private init(console error: ConsoleError) {
    switch error {
    case .brokenPipe: self.init("output.closed", "Nobody reads the output any more.", .success)
    case .failed(let reason): self.init("terminal", reason, .failure)
    case .tooLarge(let limit): self.init("usage", "The input is larger than \(limit) bytes.", .usage)
    case .notText: self.init("usage", "The input is not UTF-8 text.", .usage)
    }
  }
}

extension StoreError.Code {
  /// How a process ends that this stopped.
  var exit: ExitCode {
    switch self {
    case .locked, .unavailable, .full, .readOnly: .storeUnavailable
    case .insecurePermissions, .corrupted, .wrongPassphrase, .newerVersion: .storeUnusable
    case .busy: .tryAgain
    case .cancelled: .cancelled
    case .notFound: .failure
    }
  }
}

extension SessionError.Code {
  /// How a process ends that this stopped; for `storage` the store's own code tells more.
  var exit: ExitCode {
    switch self {
    case .notLoggedIn, .sessionEnded: .signInNeeded
    case .sessionReplaced: .tryAgain
    case .refreshFailed, .tooManyRefreshes, .busy: .tryAgain
    case .storage: .storeUnavailable
    }
  }
}

extension OAuthError.Code {
  /// How a process ends that this stopped.
  var exit: ExitCode {
    switch self {
    case .noMetadata, .badMetadata, .notSupported, .grantNotAllowed, .grantNotSupported, .scopeRefused,
      .tokenTypeNotSupported:
      .failure
    case .noListener, .timedOut: .tryAgain
    default: .signInNeeded
    }
  }
}

extension APIError.Kind {
  /// How a process ends that this stopped; for `transport` the transport's own code tells more.
  var exit: ExitCode {
    switch self {
    case .unauthorized, .invalidCredentials: .signInNeeded
    case .transport, .rateLimited, .serverError, .undecodable: .tryAgain
    case .forbidden, .notFound, .conflict, .validation, .clientError: .failure
    }
  }
}

extension TransportError.Code {
  /// How a process ends that this stopped.
  var exit: ExitCode {
    switch self {
    case .cannotConnect, .timedOut, .tlsFailure, .connectionLost, .malformedResponse, .responseTooLarge,
      .redirectRefused:
      .tryAgain
    case .insecureConnection, .invalidRequest: .usage
    case .cancelled: .cancelled
    }
  }
}

internal import AuthModels
internal import AuthNetworking
internal import AuthSession
internal import AuthStorage
internal import Groundwork

extension Outcome {
  /// What an error of the client's modules means in the words that every driver knows.
  init(_ error: any Error) {
    switch error {
    case is CancellationError: self.init(.cancelled)
    case let error as SessionError: self.init(error)
    case let error as APIError: self.init(error)
    case is SupabaseKeyError: self.init(.refused, error: "serviceRoleKey", message: "\(error)")
    case let error as StoreError:
      self.init(error.code == .cancelled ? .cancelled : .storage, error: error.code.rawValue, message: error.message)
    default: self.init(.other, message: "\(error)")
    }
  }

  private init(_ error: SessionError) {
    let kind: OutcomeKind =
      switch error.code {
      case .notLoggedIn, .sessionEnded, .sessionReplaced: .notSignedIn
      case .refreshFailed, .tooManyRefreshes, .busy: .transient
      case .storage: .storage
      }
    self.init(
      kind, status: error.apiError?.status, error: error.code.rawValue, message: error.message,
      retryAfter: error.retryAfter)
  }

  private init(_ error: APIError) {
    let kind: OutcomeKind =
      switch error.kind {
      case .transport, .serverError, .rateLimited, .undecodable: .transient
      case .unauthorized, .invalidCredentials, .forbidden, .notFound, .conflict, .validation, .clientError: .refused
      }
    self.init(
      kind, status: error.status, error: error.transport?.code.rawValue ?? error.kind.rawValue,
      message: error.userMessage, fields: error.fields,
      retryAfter: error.retryAfter)
  }
}

import AuthModels
import AuthSession
import AuthStorage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension FormModel.Outcome {
  /// What a form says of a failure: the profile's words for what everyone understands, the server's own for what only it knows, and
  /// each field's refusal at its field (D1.7).
  init(failure error: any Error, in profile: AuthProfile, form: FormSpecification) {
    let strings = profile.strings
    switch error {
    case is CancellationError: self = .abandoned
    case let error as APIError: self.init(error, strings, form)
    case let error as TransportError: self.init(APIError(error), strings, form)
    case let error as SessionError:
      if let store = error.storeError {
        self.init(failure: store, in: profile, form: form)
      } else if let api = error.apiError {
        self.init(api, strings, form)
      } else {
        self = .refused(FormRefusal(message: error.message))
      }
    case let error as StoreError where error.code == .cancelled: self = .abandoned
    case let error as StoreError:
      self = .refused(FormRefusal(message: strings[.errorStorage, filling: ["reason": error.message]]))
    case is LoginError: self = .refused(FormRefusal(message: strings[.loginInvalidCredentials]))
    case let error as any LocalizedError:
      self = .refused(FormRefusal(message: error.errorDescription ?? strings[.errorUnknown]))
    default: self = .refused(FormRefusal(message: strings[.errorUnknown]))
    }
  }

  private init(_ error: APIError, _ strings: StringsTable, _ form: FormSpecification) {
    switch error.kind {
    case .invalidCredentials, .unauthorized:
      self = .refused(FormRefusal(message: strings[.loginInvalidCredentials]))
    case .transport where error.transport?.code == .cancelled: self = .abandoned
    case .transport: self = .refused(FormRefusal(message: strings[Self.key(for: error.transport?.code)]))
    case .rateLimited:
      let seconds = error.retryAfter.map { $0.components.seconds + ($0.components.attoseconds > 0 ? 1 : 0) }
      self = .refused(
        FormRefusal(
          message: seconds.map { strings[.errorRateLimitedFor, filling: ["seconds": "\($0)"]] }
            ?? strings[.errorRateLimited]))
    case .serverError: self = .refused(FormRefusal(message: strings[.errorServer]))
    case .undecodable: self = .refused(FormRefusal(message: strings[.errorUnusableAnswer]))
    case .conflict, .validation, .forbidden, .notFound, .clientError:
      self = .refused(Self.refusal(error, strings, form))
    }
  }

  private static func key(for code: TransportError.Code?) -> StringKey {
    switch code {
    case .timedOut: .errorTimedOut
    case .insecureConnection, .tlsFailure: .errorInsecure
    case .malformedResponse, .responseTooLarge, .redirectRefused: .errorUnusableAnswer
    case .cannotConnect, .connectionLost, .invalidRequest, .cancelled, nil: .errorNoConnection
    }
  }

  /// Fields that the form shows get what the server says of them; what it says of others joins the message.
  private static func refusal(
    _ error: APIError, _ strings: StringsTable, _ form: FormSpecification
  ) -> FormRefusal {
    var fields: [FieldName: String] = [:]
    var others: [String] = []
    for (name, text) in error.fields.sorted(by: { $0.key < $1.key }) {
      if let name = FieldName(rawValue: name), form[name] != nil {
        fields[name] = text
      } else {
        others.append("\(name): \(text)")
      }
    }
    if fields.isEmpty, let (name, key) = taken[error.serverCode], form[name] != nil {
      fields[name] = strings[key]
    }
    if !others.isEmpty { return FormRefusal(message: others.joined(separator: " "), fields: fields) }
    guard fields.isEmpty else { return FormRefusal(message: nil, fields: fields) }
    return FormRefusal(message: error.serverMessage ?? strings[.errorRejected])
  }

  private static let taken: [ServerErrorCode?: (FieldName, StringKey)] = [
    .emailTaken: (.email, .registerEmailTaken), .usernameTaken: (.username, .registerUsernameTaken),
    "user_already_exists": (.email, .registerEmailTaken), "email_exists": (.email, .registerEmailTaken),
  ]
}

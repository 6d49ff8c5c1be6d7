internal import AuthModels

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

extension APIError.Kind {
  /// What an answer that is no success means for the caller.
  init(status: Int, body: ServerErrorBody?, requiresAuth: Bool, isSignIn: Bool) {
    let taken: Set<ServerErrorCode> = [
      .emailTaken, .usernameTaken, .userAlreadyExists, .emailExists, .phoneExists,
    ]
    if let code = body?.code {
      if taken.contains(code) {
        self = .conflict
        return
      }
      if status < 500, code == .invalidCredentials || isSignIn && code == .invalidGrant {
        self = .invalidCredentials
        return
      }
      // Supabase says 403 where others say 401 (S10).
      if requiresAuth, status == 403, code == .badJWT {
        self = .unauthorized
        return
      }
    }
    switch status {
    case 401: self = isSignIn && !requiresAuth ? .invalidCredentials : .unauthorized
    case 403: self = .forbidden
    case 404, 410: self = .notFound
    case 409: self = .conflict
    case 429: self = .rateLimited
    case 408, 425, 500...599: self = .serverError
    case 400, 422: self = body?.message != nil || body?.fields.isEmpty == false ? .validation : .clientError
    case 400...499: self = .clientError
    default: self = .undecodable
    }
  }
}

extension HTTPResponse {
  /// The id under which the server knows the request, if it tells.
  package var requestID: String? {
    for name in ["X-Request-ID", "Request-ID", "X-Correlation-ID"] {
      if let id = headers[name], !id.isEmpty { return ServerText.cleaned(id, limit: 128) }
    }
    return nil
  }
}

/// Text from a server, made safe to show and to log.
enum ServerText {
  /// Cuts at `limit` characters and drops control characters: a server must not drive the terminal that shows its words.
  static func cleaned(_ text: String, limit: Int) -> String {
    var result = String.UnicodeScalarView()
    for scalar in text.unicodeScalars.prefix(limit * 4) {
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse:
        if scalar.properties.isWhitespace { result.append(" ") }
      default: result.append(scalar)
      }
    }
    return String(String(result).prefix(limit))
  }
}

/// What to say of an answer that could not be read, without saying what stands in it.
enum UndecodableAnswer {
  /// The answer from outside: type and size.
  static func summary(of response: HTTPResponse) -> String {
    let type = response.headers["Content-Type"].map { ServerText.cleaned($0, limit: 80) } ?? "no content type"
    return "status \(response.status), \(type), \(response.body.count) bytes"
  }

  /// What the decoder missed: the member's name and the kind of fault, never a value.
  static func detail(of error: any Error, in response: HTTPResponse) -> String {
    "\(fault(error)) (\(summary(of: response)))"
  }

  private static func fault(_ error: any Error) -> String {
    switch error {
    case DecodingError.keyNotFound(let key, let context): "no member \(path(context.codingPath + [key]))"
    case DecodingError.valueNotFound(_, let context): "null at \(path(context.codingPath))"
    case DecodingError.typeMismatch(let type, let context): "\(path(context.codingPath)) is no \(name(of: type))"
    case DecodingError.dataCorrupted(let context) where !context.codingPath.isEmpty:
      "unusable value at \(path(context.codingPath))"
    default: "the body is not the JSON that the call promises"
    }
  }

  /// What JSON calls a value of the type, without an article.
  private static func name(of type: any Any.Type) -> String {
    switch type {
    case is String.Type: return "text"
    case is Bool.Type: return "true or false"
    case is any Numeric.Type: return "number"
    default:
      let name = "\(type)"
      if name.hasPrefix("Dictionary<") { return "JSON object" }
      return name.hasPrefix("Array<") ? "JSON array" : name
    }
  }

  private static func path(_ keys: [any CodingKey]) -> String {
    let text = keys.map { $0.intValue.map { "[\($0)]" } ?? $0.stringValue }.joined(separator: ".")
    return text.isEmpty ? "the top" : ServerText.cleaned(text, limit: 120)
  }
}

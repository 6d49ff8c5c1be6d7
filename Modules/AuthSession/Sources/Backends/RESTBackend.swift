public import AuthModels
public import AuthNetworking
public import AuthStorage
import Groundwork

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Any server of JSON or forms behind the engine, by its description.
public struct RESTBackend: AuthBackend {
  private let client: APIClient
  private let description: RESTDescription
  private let refusals: RefusalTable

  /// Makes the backend over a client without a `BearerInterceptor`.
  public init(client: APIClient, description: RESTDescription) {
    self.client = client.with(errorDecoder: AnyErrorDecoder([RESTErrorDecoder(description), OAuthErrorDecoder()]))
    self.description = description
    refusals = RefusalTable(
      shape: .custom, codes: description.refusalCodes.union([.invalidGrant]), bareStatuses: description.bareRefusals)
  }

  public var dialect: AuthDialect { .rest }

  public func signIn(_ credentials: Credentials) async throws -> TokenGrant {
    var members = [description.identifierMember: credentials.identifier]
    members[description.passwordMember] = credentials.password
    return try await tokens(description.signIn, members, isSignIn: true)
  }

  public func signUp(_ registration: Registration) async throws -> SignUpGrant {
    guard let call = description.signUp else {
      throw APIError(.notFound, detail: "The description has no signUp.")
    }
    var members = ["email": registration.email]
    members["username"] = registration.username
    members[description.passwordMember] = registration.password
    let endpoint = try endpoint(call, members, isSignIn: false) { response in
      let body = response.body.isEmpty ? JSONValue.null : try JSONDecoder().decode(JSONValue.self, from: response.body)
      return body
    }
    let body = try await client.send(endpoint)
    return .registered(try user(body) ?? SessionUser(id: registration.email, email: registration.email))
  }

  public func refresh(refreshToken: String) async -> RefreshAnswer {
    guard let call = description.refresh else {
      return .passing(PassingFailure(error: APIError(.notFound, detail: "no refresh"), isAmbiguous: false))
    }
    do {
      return .granted(try await tokens(call, [description.refreshMember: refreshToken], isSignIn: false))
    } catch {
      return refusals.judge(thrown: error)
    }
  }

  public func revoke(_ tokens: PendingRevocation) async -> RevocationOutcome {
    guard let call = description.signOut else { return .unsupported }
    var members: [String: String] = [:]
    if description.signOutWantsRefreshToken {
      guard let token = tokens.refreshToken else { return .unsupported }
      members[description.refreshMember] = token
    }
    var headers: HTTPFields = [:]
    if description.signOutWantsAccessToken {
      guard let token = tokens.accessToken else { return .unsupported }
      headers["Authorization"] = "Bearer \(token)"
    }
    return await RevocationOutcome {
      try await client.send(endpoint(call, members, headers: headers, isSignIn: false) { _ in })
    }
  }

  public func user(authorizedBy authorizer: any RequestAuthorizer) async throws -> SessionUser {
    guard let call = description.user else {
      throw APIError(.notFound, detail: "The description has no user: nothing tells who is signed in.")
    }
    let body = try await authorized(client, by: authorizer).send(
      Endpoint(method: call.method, path: call.path, headers: ["Accept": "application/json"]) {
        try JSONDecoder().decode(JSONValue.self, from: $0.body)
      })
    guard let user = try user(body) else {
      throw APIError(.undecodable, status: 200, detail: "no member \(description.userID)")
    }
    return user
  }

  public func authorized(_ client: APIClient, by authorizer: any RequestAuthorizer) -> APIClient {
    client.authorized(
      by: authorizer,
      refusal: TokenRefusal(
        forbiddenCodes: description.refusedTokenCodes, decoder: RESTErrorDecoder(description)))
  }

  /// The user of a body: an id of text or a number.
  private func user(_ body: JSONValue) throws -> SessionUser? {
    let id: String
    switch body.member(at: description.userID) {
    case .string(let text) where !text.isEmpty: id = text
    case .number(let number): id = Int64(exactly: number).map { String($0) } ?? "\(number)"
    default: return nil
    }
    func text(_ path: String?) -> String? {
      path.flatMap { body.member(at: $0)?.string }.flatMap { $0.isEmpty ? nil : $0 }
    }
    return SessionUser(id: id, email: text(description.userEmail), username: text(description.userName))
  }

  private func tokens(_ call: RESTDescription.Call, _ members: [String: String], isSignIn: Bool) async throws
    -> TokenGrant
  {
    let (names, now, keepsRefresh) = (description.tokens, client.today, description.refresh != nil)
    return TokenGrant(
      try await client.exchange(
        endpoint(call, members, isSignIn: isSignIn) { response in
          var tokens = try names.read(response, now: now)
          // Nobody could spend it.
          if !keepsRefresh { tokens.refreshToken = nil }
          return tokens
        }))
  }

  private func endpoint<Value: Sendable>(
    _ call: RESTDescription.Call, _ members: [String: String], headers: HTTPFields = [:], isSignIn: Bool,
    decode: @escaping @Sendable (HTTPResponse) throws -> Value
  ) throws -> Endpoint<Value> {
    let all = call.constants.merging(members) { _, given in given }
    var headers = headers
    headers["Accept"] = "application/json"
    var body: Data?
    if !all.isEmpty {
      headers["Content-Type"] = call.isForm ? "application/x-www-form-urlencoded" : "application/json"
      body =
        call.isForm
        ? FormBody.encoded(all.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) })
        : try JSONBody.encoded(JSONValue.object(all.mapValues { .string($0) }))
    }
    return Endpoint(
      method: call.method, path: call.path, headers: headers, body: body, requiresAuth: false, isIdempotent: false,
      hasCredentialBody: true, isSignIn: isSignIn, decode: decode)
  }
}

/// Reads errors where a description says that they stand.
struct RESTErrorDecoder: ErrorDecoder {
  private let description: RESTDescription

  init(_ description: RESTDescription) {
    self.description = description
  }

  func decode(_ response: HTTPResponse) -> ServerErrorBody? {
    guard let body = ServerErrorText.object(in: response) else { return nil }
    let code = description.errorCode.flatMap { ServerErrorText.code(body.member(at: $0)) }
    let message = description.errorMessage.flatMap { body.member(at: $0)?.string }.map(ServerErrorText.message)
    let fields = fields(body)
    guard code != nil || message != nil || !fields.isEmpty else { return nil }
    return ServerErrorBody(shape: .custom, code: code.map(known), message: message, fields: fields)
  }

  /// The project's own code for what the description says means the same.
  private func known(_ code: ServerErrorCode) -> ServerErrorCode {
    if description.invalidCredentials.contains(code) { return .invalidCredentials }
    return description.taken.contains(code) ? .emailTaken : code
  }

  /// `{"email": ["Enter a valid address."]}`, as many frameworks say what is wrong with a field (D1.7).
  private func fields(_ body: JSONValue) -> [String: String] {
    var fields: [String: String] = [:]
    // Set one by one: what a description calls a member may be a name that stands here already.
    var names = ["email": "email", "username": "username", "password": "password"]
    names[description.identifierMember] = description.identifierMember == "username" ? "username" : "email"
    names[description.passwordMember] = "password"
    for (name, field) in names.sorted(by: { $0.key < $1.key }) {
      guard let list = body[name]?.array else { continue }
      let texts = list.prefix(8).compactMap(\.string)
      if !texts.isEmpty { fields[field] = ServerErrorText.message(texts.joined(separator: " ")) }
    }
    return fields
  }
}

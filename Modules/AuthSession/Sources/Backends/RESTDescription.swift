public import AuthModels
public import AuthNetworking
package import Groundwork

/// A server of JSON or forms, described: which calls it has, and how it names what stands in them. `RESTBackend` speaks to it.
///
/// Made in Swift, or read from a file (`init(_:)`), as `chirp --dialect rest --backend FILE` does.
public struct RESTDescription: Sendable, Hashable {
  /// One call.
  public struct Call: Sendable, Hashable {
    /// The method.
    public var method: HTTPMethod
    /// The path under the server's URL.
    public var path: String
    /// Whether the body is a form; JSON otherwise.
    public var isForm: Bool
    /// Members that are always the same, such as `grant_type`.
    public var constants: [String: String]

    /// Makes a call.
    public init(_ path: String, method: HTTPMethod = .post, isForm: Bool = false, constants: [String: String] = [:]) {
      self.path = path
      self.method = method
      self.isForm = isForm
      self.constants = constants
    }
  }

  /// The server's name, for people.
  public var name: String
  /// Signs in.
  public var signIn: Call
  /// What the sign-in calls the email or username, and the password.
  public var identifierMember = "email"
  /// What sign-in and sign-up call the password.
  public var passwordMember = "password"
  /// Makes an account; nil where the server has no such call.
  public var signUp: Call?
  /// Buys the next tokens; nil for a server without refresh tokens.
  public var refresh: Call?
  /// What refresh and sign-out call the refresh token.
  public var refreshMember = "refresh_token"
  /// Revokes the tokens; nil where they only expire.
  public var signOut: Call?
  /// Whether the sign-out wants the access token in its `Authorization` header.
  public var signOutWantsAccessToken = false
  /// Whether the sign-out wants the refresh token in its body.
  public var signOutWantsRefreshToken = true
  /// Tells who is signed in; nil where no call does.
  public var user: Call?
  /// Where the user's id stands.
  public var userID = "id"
  /// Where the user's address stands.
  public var userEmail: String? = "email"
  /// Where the user's name stands.
  public var userName: String? = "username"
  /// Where the tokens stand.
  public var tokens = TokenFields.oauth2
  /// Where an error has its code.
  public var errorCode: String?
  /// Where an error has its words.
  public var errorMessage: String?
  /// The codes with which a refresh ends the session, with 400, 401 or 403 (S10).
  public var refusalCodes: Set<ServerErrorCode> = []
  /// The statuses with which a refresh that has words and no code ends the session (S10).
  public var bareRefusals: Set<Int> = []
  /// The codes of a wrong email, username or password; a 401 of the sign-in needs none.
  public var invalidCredentials: Set<ServerErrorCode> = []
  /// The codes of an address or a name that has an account.
  public var taken: Set<ServerErrorCode> = []
  /// The codes that say, with a 403, that the access token is not taken any more; a 401 needs none.
  public var refusedTokenCodes: Set<ServerErrorCode> = []

  /// Describes a server by its sign-in; set what else it has.
  public init(name: String, signIn: Call) {
    self.name = name
    self.signIn = signIn
  }
}

/// Why a description cannot be used: which member, and what belongs there.
public struct RESTDescriptionError: Error, Sendable, Hashable, CustomStringConvertible {
  /// One sentence.
  public var message: String

  init(_ message: String) { self.message = message }

  public var description: String { message }
}

extension RESTDescription {
  /// Reads a description; a member that is not known is refused, with the nearest name.
  ///
  /// - Throws: `RESTDescriptionError`.
  public init(_ text: String) throws(RESTDescriptionError) {
    try self.init(try Self.read(text))
  }

  /// Reads a description, and gives it as data if it is a good one.
  package static func read(_ text: String) throws(RESTDescriptionError) -> JSONValue {
    let value: JSONValue
    do {
      value = try JSONBody.decoded(text)
    } catch {
      throw RESTDescriptionError("The description is no JSON.")
    }
    _ = try RESTDescription(value)
    return value
  }

  package init(_ value: JSONValue) throws(RESTDescriptionError) {
    var top = try Members(value, "the description")
    self.init(name: try top.text("name") ?? "REST", signIn: Call(""))
    guard var call = try top.members("signIn") else { throw RESTDescriptionError("signIn is missing.") }
    identifierMember = try call.text("identifier") ?? identifierMember
    passwordMember = try call.text("password") ?? passwordMember
    signIn = try call.call()
    if var call = try top.members("signUp") { signUp = try call.call() }
    if var call = try top.members("refresh") {
      refreshMember = try call.text("token") ?? refreshMember
      refresh = try call.call()
    }
    if var call = try top.members("signOut") {
      signOutWantsAccessToken = try call.flag("accessToken") ?? signOutWantsAccessToken
      signOutWantsRefreshToken = try call.flag("refreshToken") ?? signOutWantsRefreshToken
      signOut = try call.call()
    }
    if var call = try top.members("user") {
      userID = try call.text("id") ?? userID
      userEmail = try call.text("email") ?? userEmail
      userName = try call.text("username") ?? userName
      user = try call.call(method: .get)
    }
    if var names = try top.members("tokens") {
      guard let accessToken = try names.text("accessToken") else {
        throw RESTDescriptionError("tokens.accessToken is missing.")
      }
      tokens = TokenFields(
        accessToken: accessToken, refreshToken: try names.text("refreshToken"), expiresIn: try names.text("expiresIn"),
        expiresAt: try names.text("expiresAt"), tokenType: try names.text("tokenType"), scope: try names.text("scope"))
      try names.end()
    }
    if var errors = try top.members("errors") {
      errorCode = try errors.text("code")
      errorMessage = try errors.text("message")
      refusalCodes = try errors.codes("endsSession")
      bareRefusals = try errors.statuses("endsSessionWithoutCode")
      invalidCredentials = try errors.codes("invalidCredentials")
      taken = try errors.codes("taken")
      refusedTokenCodes = try errors.codes("refusedToken")
      try errors.end()
    }
    try top.end()
  }

  /// The members of an object, each taken once: what is left at the end is not known.
  private struct Members {
    private let place: String
    private let all: [String: JSONValue]
    private var asked: Set<String> = []

    init(_ value: JSONValue, _ place: String) throws(RESTDescriptionError) {
      guard let members = value.object else { throw RESTDescriptionError("\(place) is no object.") }
      (all, self.place) = (members, place)
    }

    private mutating func take(_ name: String) -> JSONValue? {
      asked.insert(name)
      return all[name]
    }

    mutating func text(_ name: String) throws(RESTDescriptionError) -> String? {
      guard let value = take(name) else { return nil }
      guard let text = value.string, !text.isEmpty else {
        throw RESTDescriptionError("\(name) of \(place) is no text.")
      }
      return text
    }

    mutating func flag(_ name: String) throws(RESTDescriptionError) -> Bool? {
      guard let value = take(name) else { return nil }
      guard let flag = value.bool else { throw RESTDescriptionError("\(name) of \(place) is neither true nor false.") }
      return flag
    }

    mutating func members(_ name: String) throws(RESTDescriptionError) -> Members? {
      guard let value = take(name) else { return nil }
      return try Members(value, name)
    }

    mutating func codes(_ name: String) throws(RESTDescriptionError) -> Set<ServerErrorCode> {
      guard let value = take(name) else { return [] }
      guard let list = value.array, list.allSatisfy({ $0.string != nil }) else {
        throw RESTDescriptionError("\(name) of \(place) is no list of texts.")
      }
      return Set(list.compactMap { $0.string.map { ServerErrorCode(rawValue: $0) } })
    }

    mutating func statuses(_ name: String) throws(RESTDescriptionError) -> Set<Int> {
      guard let value = take(name) else { return [] }
      guard let list = value.array, list.allSatisfy({ $0.integer.map { [400, 401, 403].contains($0) } ?? false }) else {
        throw RESTDescriptionError(
          "\(name) of \(place) is no list of 400, 401 and 403: no other status ends a session.")
      }
      return Set(list.compactMap(\.integer))
    }

    mutating func call(method: HTTPMethod = .post) throws(RESTDescriptionError) -> Call {
      guard let path = try text("path"), path.hasPrefix("/") else {
        throw RESTDescriptionError("path of \(place) is missing, or does not begin with a slash.")
      }
      let given = try text("method").map { HTTPMethod(rawValue: $0.uppercased()) }
      let isForm = try flag("form") ?? false
      var constants: [String: String] = [:]
      if let value = take("constants") {
        guard let members = value.object, members.values.allSatisfy({ $0.string != nil }) else {
          throw RESTDescriptionError("constants of \(place) is no object of texts.")
        }
        constants = members.compactMapValues(\.string)
      }
      try end()
      return Call(path, method: given ?? method, isForm: isForm, constants: constants)
    }

    func end() throws(RESTDescriptionError) {
      guard let unknown = all.keys.filter({ !asked.contains($0) }).min() else { return }
      let nearest = nearestName(to: unknown, among: asked.sorted()).map { " Did you mean \($0)?" } ?? ""
      throw RESTDescriptionError("\(place) has a member that is not known: \(unknown.prefix(40)).\(nearest)")
    }
  }
}

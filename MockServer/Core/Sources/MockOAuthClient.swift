public import Groundwork

/// How a client of the OAuth 2 dialect comes by its tokens (RFC 6749 §4, RFC 8628).
public enum MockOAuthGrantType: String, Sendable, Hashable, CaseIterable {
  case authorizationCode = "authorization_code"
  case password
  case refreshToken = "refresh_token"
  case clientCredentials = "client_credentials"
  case deviceCode = "urn:ietf:params:oauth:grant-type:device_code"
}

/// A client of the OAuth 2 dialect, as the realm has it registered. Its description does not show the secret.
public struct MockOAuthClient: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
  /// The `client_id`.
  public var id: String
  /// The secret of a confidential client; nil for a public one, which has to use PKCE.
  public var secret: String?
  /// Where codes may be sent. An address of a loopback host without a port allows every port (RFC 8252 §7.3); one that ends
  /// in `/*` every path.
  public var redirectURIs: [String]
  /// The grants that it may use.
  public var grants: Set<MockOAuthGrantType>
  /// The scopes that it may have, and that it gets if it names none.
  public var scopes: [String]

  /// The loopback addresses, at every port and path.
  public static let loopback = ["http://127.0.0.1/*", "http://[::1]/*", "http://localhost/*"]
  /// What a client may have unless it is told otherwise.
  public static let usualScopes = ["openid", "profile", "email", "offline_access"]

  /// Makes a client: a public one that may use everything but `client_credentials`, unless told otherwise.
  public init(
    id: String, secret: String? = nil, redirectURIs: [String] = MockOAuthClient.loopback,
    grants: Set<MockOAuthGrantType>? = nil, scopes: [String] = MockOAuthClient.usualScopes
  ) {
    self.id = id
    self.secret = secret
    self.redirectURIs = redirectURIs
    var usual = Set(MockOAuthGrantType.allCases)
    if secret == nil { usual.remove(.clientCredentials) }
    self.grants = grants ?? usual
    self.scopes = scopes
  }

  /// The clients that a realm has unless it is told otherwise: `chirp`, public, and `chirp-service`, whose secret is
  /// `chirp-service-secret`.
  public static let usual = [
    MockOAuthClient(id: "chirp"), MockOAuthClient(id: "chirp-service", secret: "chirp-service-secret"),
  ]

  public var description: String { "MockOAuthClient(id: \(id))" }
  public var customMirror: Mirror { Mirror(self, children: ["id": id]) }

  /// Whether a code may be sent there.
  func allows(redirect address: String) -> Bool {
    guard RealmState.isWebAddress(address) else { return false }
    return redirectURIs.contains { Self.matches(address, $0) }
  }

  /// The address that is meant if a request names none: the only one, if it is one.
  var onlyRedirect: String? {
    guard redirectURIs.count == 1, let only = redirectURIs.first, !only.hasSuffix("/*") else { return nil }
    return only
  }

  private static func matches(_ address: String, _ registered: String) -> Bool {
    if address == registered { return true }
    for host in ["http://127.0.0.1", "http://[::1]", "http://localhost"]
    where registered.hasPrefix("\(host)/") && address.hasPrefix(host) {
      var rest = address.dropFirst(host.count)
      if rest.hasPrefix(":") {
        let digits = rest.dropFirst().prefix { $0.isASCII && $0.isNumber }
        guard (1...65535).contains(Int(digits) ?? 0) else { return false }
        rest = rest.dropFirst(1 + digits.count)
      }
      guard rest.isEmpty || rest.hasPrefix("/") || rest.hasPrefix("?") else { return false }
      let path = registered.dropFirst(host.count)
      return path == "/*" || rest == path || rest.isEmpty && path == "/"
    }
    guard registered.hasSuffix("/*"), registered.firstRange(of: "://") != nil else { return false }
    return address.hasPrefix(registered.dropLast(1))
  }
}

extension MockOAuthClient {
  /// Reads a client as `PUT /__mock/clients` has it.
  ///
  /// - Throws: `MockServerError`, which names the unknown key or the bad value.
  public init(json: JSONValue, at place: String = "client") throws(MockServerError) {
    let fields = try FieldReader(json, at: place, knows: ["id", "secret", "redirectURIs", "grants", "scopes"])
    self.init(id: try fields.requiredText("id"), secret: try fields.text("secret"))
    guard !id.isEmpty, id.utf8.allSatisfy({ 0x20...0x7E ~= $0 }) else {
      throw fields.failure("\"id\" is a text of printable ASCII (RFC 6749 §A.1)")
    }
    if let given = try fields.array("redirectURIs") { redirectURIs = try Self.texts(given, "redirectURIs", fields) }
    for address in redirectURIs where !RealmState.isWebAddress(address) {
      throw fields.failure("\"redirectURIs\": \"\(address.prefix(80))\" is no absolute address without a fragment")
    }
    if let given = try fields.array("grants") {
      grants = []
      for name in try Self.texts(given, "grants", fields) {
        guard
          let grant = MockOAuthGrantType(
            rawValue: name == "device_code" ? MockOAuthGrantType.deviceCode.rawValue : name)
        else {
          throw fields.failure(FieldReader.unknown("grant", name, among: MockOAuthGrantType.allCases.map(\.rawValue)))
        }
        grants.insert(grant)
      }
    }
    if let given = try fields.array("scopes") { scopes = try Self.texts(given, "scopes", fields) }
    for scope in scopes where !OAuth.isScope(scope) {
      throw fields.failure("\"scopes\": \"\(scope.prefix(80))\" is no scope (RFC 6749 §3.3)")
    }
  }

  private static func texts(
    _ values: [JSONValue], _ name: String, _ fields: FieldReader
  ) throws(MockServerError) -> [String] {
    let texts = values.compactMap(\.string)
    guard texts.count == values.count else { throw fields.failure("\"\(name)\" is an array of texts") }
    return texts
  }

  /// The client as the admin API shows it: whether it has a secret, not which.
  func write(to writer: inout JSONWriter) {
    writer.object { json in
      json.member("id", id)
      json.member("confidential", secret != nil)
      json.key("redirectURIs")
      json.array(redirectURIs) { $0.string($1) }
      json.key("grants")
      json.array(grants.map(\.rawValue).sorted()) { $0.string($1) }
      json.key("scopes")
      json.array(scopes) { $0.string($1) }
    }
  }
}

import AuthModels
import Foundation
import Testing

@Suite("Wire values and errors")
struct ModelTests {
  private func decode(_ json: String) throws -> TokenResponse {
    try JSONDecoder().decode(TokenResponse.self, from: Data(json.utf8))
  }

  @Test("the chirp shape, whole")
  func tokenResponse() throws {
    let response = try decode(
      #"{"accessToken":"a","refreshToken":"r","expiresIn":900,"tokenType":"Bearer","scope":"x","other":1}"#)
    #expect(response == TokenResponse(accessToken: "a", refreshToken: "r", expiresIn: 900, scope: "x"))
  }

  @Test(
    "a lifetime that is none is unknown, and the tokens stay good (S3)",
    arguments: [
      ("null", nil), ("\"soon\"", nil), ("[1]", nil), ("{}", nil), ("true", nil), ("\"900\"", 900), ("1.5", 1.5),
      ("-5", -5), ("1e300", 1e300), ("\"inf\"", nil), ("\"nan\"", nil), ("\"1e999\"", nil), ("\"\"", nil),
    ] as [(String, Double?)])
  func lifetime(text: String, expected: Double?) throws {
    let response = try decode("{\"accessToken\":\"a\",\"expiresIn\":\(text)}")
    #expect(response.accessToken == "a")
    #expect(response.expiresIn == expected)
    #expect(response.refreshToken == nil)
    #expect(response.tokenType == "Bearer")
  }

  @Test(
    "without a usable access token there is no response",
    arguments: [
      "{}", #"{"accessToken":""}"#, #"{"accessToken":null}"#, #"{"accessToken":1}"#, "[]", "", "null",
    ])
  func noToken(json: String) {
    #expect(throws: DecodingError.self) { try decode(json) }
  }

  @Test("a refresh token of another type is an error: dropping it would lose the session")
  func refreshTokenType() throws {
    #expect(throws: DecodingError.self) { try decode(#"{"accessToken":"a","refreshToken":5}"#) }
    #expect(try decode(#"{"accessToken":"a","refreshToken":""}"#).refreshToken == nil)
    #expect(try decode(#"{"accessToken":"a","refreshToken":null}"#).refreshToken == nil)
  }

  @Test("no secret shows in a description, a debug description, a dump or an interpolation")
  func secrets() {
    let secret = "s3cr3t"
    let values: [any Sendable] = [
      TokenResponse(accessToken: secret, refreshToken: secret, expiresIn: 1),
      TokenBundle(
        accessToken: secret, refreshToken: secret, accessTokenExpiry: Date(timeIntervalSince1970: 0)),
      Credentials(identifier: "anna", password: secret),
    ]
    for value in values {
      var dumped = ""
      dump(value, to: &dumped)
      var nested = ""
      dump([value], to: &nested)
      for text in [
        "\(value)", String(reflecting: value), String(describing: [value]), dumped, nested, "\(Optional(value) as Any)",
      ] {
        #expect(!text.contains(secret), "\(type(of: value))")
        #expect(text.contains("●●●"))
      }
    }
  }

  @Test("a refused sign-in says what D1.5 wants it to say")
  func invalidCredentials() {
    #expect(APIError(.invalidCredentials, status: 401).userMessage == "Invalid email or password.")
    #expect(APIError(.invalidCredentials).errorDescription == "Invalid email or password.")
  }

  @Test("a duplicate email or username is told (D4.6)")
  func conflicts() {
    #expect(
      APIError(.conflict, status: 409, serverCode: .emailTaken, serverMessage: "x").userMessage
        == "An account with this email already exists.")
    #expect(APIError(.conflict, status: 409, serverCode: .usernameTaken).userMessage == "This username is taken.")
    #expect(APIError(.conflict, status: 409, serverMessage: "Slow down").userMessage == "Slow down")
    #expect(APIError(.conflict, status: 409).userMessage == "This already exists.")
  }

  @Test("the server's words about the fields are shown (D1.7)")
  func validation() {
    let fields = ["password": "Too short.", "email": "No."]
    #expect(
      APIError(.validation, status: 422, serverMessage: "Bad", fields: fields).userMessage == "No. Too short.")
    #expect(APIError(.validation, status: 422, serverMessage: "Bad").userMessage == "Bad")
    #expect(APIError(.validation, status: 422).userMessage == "The server did not accept what was entered.")
  }

  @Test(
    "a rate limit says how long to wait",
    arguments: [
      (nil, "Try again later."), (.zero, "Try again later."), (.milliseconds(1), "Try again in 1 second."),
      (.seconds(30), "Try again in 30 seconds."), (.milliseconds(30_100), "Try again in 31 seconds."),
      (.seconds(120), "Try again in 2 minutes."), (.seconds(121), "Try again in 3 minutes."),
    ] as [(Duration?, String)])
  func rateLimit(wait: Duration?, text: String) {
    #expect(APIError(.rateLimited, status: 429, retryAfter: wait).userMessage == "Too many attempts. \(text)")
  }

  @Test("every kind and every transport failure has words that end", arguments: APIError.Kind.allCases)
  func words(kind: APIError.Kind) {
    #expect(APIError(kind).userMessage.hasSuffix("."))
    for code in TransportError.Code.allCases {
      let error = APIError(TransportError(code, mayHaveBeenSent: true, message: "m"))
      #expect(error.userMessage.hasSuffix("."))
      #expect(error.userMessage == error.transport?.userMessage)
    }
  }

  @Test("the description is for logs: kind, status, code, ids")
  func description() {
    let error = APIError(
      .validation, status: 422, serverCode: .validationFailed, serverMessage: "Bad", fields: ["email": "No."],
      requestID: "r-1", shape: .chirp)
    #expect("\(error)" == "APIError validation, status 422, code validation_failed, request r-1, fields email: Bad")
  }
}

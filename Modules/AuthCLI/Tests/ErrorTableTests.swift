import AuthCLI
import AuthModels
import AuthOAuth
import AuthSession
import AuthStorage
import CommandLineTable
import Groundwork
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Every error has one place in one table: what is told, and how the process ends (cli/cli#8845, #9338).
struct ErrorTableTests {
  @Test("store errors: 3, 5, 6 and 7, each code on its own", arguments: StoreError.Code.allCases)
  func store(code: StoreError.Code) {
    let expected: [StoreError.Code: Int32] = [
      .locked: 6, .unavailable: 6, .cancelled: 3, .busy: 5, .full: 6, .readOnly: 6, .insecurePermissions: 7,
      .corrupted: 7, .wrongPassphrase: 7, .newerVersion: 7, .notFound: 1,
    ]
    let failure = CommandFailure(StoreError(code, "what and where"))
    #expect(failure.exitCode.rawValue == expected[code])
    #expect(failure.kind == "store.\(code.rawValue)")
    #expect(failure.message == "what and where")
    let wrapped = CommandFailure(
      SessionError(.storage, message: "what and where", storeError: StoreError(code, "what and where")))
    #expect(wrapped == failure, "the engine's wrapping changes nothing (S21)")
  }

  @Test("session errors: 4 where a sign-in helps, 5 where trying again does", arguments: SessionError.Code.allCases)
  func session(code: SessionError.Code) {
    let expected: [SessionError.Code: Int32] = [
      .notLoggedIn: 4, .sessionEnded: 4, .sessionReplaced: 5, .refreshFailed: 5, .tooManyRefreshes: 5, .busy: 5,
      .storage: 6,
    ]
    let failure = CommandFailure(SessionError(code, message: "why"))
    #expect(failure.exitCode.rawValue == expected[code])
    #expect(failure.kind == "session.\(code.rawValue)")
    #expect(failure.message == "why")
  }

  @Test("API errors", arguments: APIError.Kind.allCases)
  func api(kind: APIError.Kind) {
    let expected: [APIError.Kind: Int32] = [
      .transport: 5, .unauthorized: 4, .invalidCredentials: 4, .forbidden: 1, .notFound: 1, .conflict: 1,
      .validation: 1, .rateLimited: 5, .clientError: 1, .serverError: 5, .undecodable: 5,
    ]
    let failure = CommandFailure(APIError(kind, status: 499, requestID: "r-1"))
    #expect(failure.exitCode.rawValue == expected[kind])
    #expect(failure.kind == "api.\(kind.rawValue)")
    #expect(!failure.message.isEmpty)
    #expect(failure.requestID == "r-1")
  }

  @Test("transport errors, alone and as the engine and the client wrap them", arguments: TransportError.Code.allCases)
  func transport(code: TransportError.Code) {
    let expected: [TransportError.Code: Int32] = [
      .cannotConnect: 5, .timedOut: 5, .tlsFailure: 5, .connectionLost: 5, .malformedResponse: 5,
      .responseTooLarge: 5, .redirectRefused: 5, .insecureConnection: 2, .invalidRequest: 2, .cancelled: 3,
    ]
    let error = TransportError(code, mayHaveBeenSent: true, message: "which host")
    #expect(CommandFailure(error).exitCode.rawValue == expected[code])
    #expect(CommandFailure(APIError(error)).exitCode.rawValue == expected[code])
    #expect(CommandFailure(APIError(error)).kind == (code == .cancelled ? "cancelled" : "transport.\(code.rawValue)"))
  }

  @Test("a usage error is 2 and says what was meant")
  func usage() throws {
    let error = UsageError(
      .unknownOption, "There is no option '--emial'.", suggestion: "--email", command: "chirp login")
    let failure = CommandFailure(error)
    #expect(failure.exitCode == .usage)
    #expect(failure.text == "chirp: There is no option '--emial'.\nDid you mean --email? Try: chirp login --help\n")
  }

  @Test("giving up is 3, and an error that nobody knows is 1")
  func others() {
    struct Odd: Error {}
    #expect(CommandFailure(CancellationError()).exitCode == .cancelled)
    #expect(CommandFailure(Odd()).exitCode == .failure)
    #expect(CommandFailure(ConsoleError.brokenPipe).exitCode == .success)
  }

  @Test("what a server says cannot move the cursor")
  func escapes() {
    let failure = CommandFailure(APIError(.forbidden, status: 403, serverMessage: "\u{1B}[2J\rhello\u{202E}"))
    #expect(!failure.text.contains("\u{1B}"))
    #expect(!failure.text.contains("\r"))
    #expect(!failure.text.contains("\u{202E}"))
    #expect(failure.text.contains("hello"))
  }

  @Test("the server's refusals of fields, and the request's id, are told")
  func details() {
    let text = CommandFailure(
      APIError(
        .validation, status: 422, serverMessage: "Not like this.", fields: ["email": "Bad.", "username": "Short."],
        requestID: "r-7")
    ).text
    #expect(text == "chirp: Not like this.\n  email: Bad.\n  username: Short.\nRequest id: r-7\n")
  }

  @Test(
    "a wait is told in whole seconds, rounded up, in words and as data",
    arguments: [(Duration.seconds(7), 7), (.milliseconds(7001), 8), (.milliseconds(1), 1), (.seconds(60), 60)])
  func waits(wait: Duration, seconds: Int) {
    let failure = CommandFailure(APIError(.rateLimited, status: 429, retryAfter: wait))
    #expect(failure.text.contains("Try again in \(seconds) s.\n"))
    #expect(failure.json["error"]?["retryAfter"]?.integer == seconds)
    #expect(failure.json["error"]?["status"]?.integer == 429)
  }

  @Test("the page on the command line lists every kind of error, and the members of the object")
  func page() throws {
    var file = URL(filePath: #filePath)
    for _ in 0..<4 { file.deleteLastPathComponent() }
    let bytes = try #require(
      FileManager.default.contents(atPath: file.appending(path: "Documentation/command-line.md").path))
    let page = String(decoding: bytes, as: UTF8.self)
    let kinds =
      StoreError.Code.allCases.map { CommandFailure(StoreError($0, "")).kind }
      + SessionError.Code.allCases.map { CommandFailure(SessionError($0, message: "")).kind }
      + APIError.Kind.allCases.map { CommandFailure(APIError($0)).kind }
      + TransportError.Code.allCases.map {
        CommandFailure(TransportError($0, mayHaveBeenSent: false, message: "")).kind
      }
      + SupabaseKeyError.Code.allCases.map { "apiKey.\($0.rawValue)" }
      + OAuthError.Code.allCases.map { "oauth.\($0.rawValue)" }
      + ["usage", "account.notFound", "cancelled", "terminal", "output.closed", "other", "api.status"]
    for kind in kinds { #expect(page.contains("`\(kind)`"), "\(kind)") }
    var failure = CommandFailure(
      APIError(.rateLimited, status: 429, fields: ["a": "b"], retryAfter: .seconds(1), requestID: "r"))
    failure.hint = "h"
    for name in failure.json["error"]?.object?.keys.sorted() ?? [] {
      #expect(page.contains("`\(name)`"), "\(name)")
    }
    for option in ChirpProgram.table.root.options { #expect(page.contains("--\(option.name)"), "\(option.name)") }
    for variable in ChirpProgram.table.variables { #expect(page.contains("`\(variable.name)`"), "\(variable.name)") }
  }

  @Test("a request that never left has no id to look for")
  func unsent() {
    let error = TransportError(.cannotConnect, mayHaveBeenSent: false, message: "No connection.")
    #expect(CommandFailure(APIError(error, requestID: "r-1")).requestID == nil)
  }
}

import AuthModels
import AuthNetworking
import AuthSession
import CommandLineTable
import Groundwork

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension CommandContext {
  /// `chirp api METHOD PATH`
  func api() async throws -> (CommandSession, ExitCode) {
    let method = (call.argument("METHOD") ?? "").uppercased()
    let path = call.argument("PATH") ?? ""
    guard !method.isEmpty, method.utf8.allSatisfy({ 0x41...0x5A ~= $0 }) else {
      throw call.usageError("METHOD is a word such as GET or POST.")
    }
    guard path.hasPrefix("/") else {
      throw call.usageError("PATH begins with / and stands under the server: /me, not a whole URL.")
    }
    let headers = try headers()
    let body = try await body()
    let session = try await session(.requests)
    var request = RawCall(HTTPMethod(rawValue: method), path, headers: headers, body: body)
    if body != nil, headers["Content-Type"] == nil { request.headers["Content-Type"] = "application/json" }
    let response = try await session.client.sendRaw(request)
    try await console.write((call.flag("include") ? head(of: response) : []) + shown(response.body))
    let code = Self.exit(for: response.status)
    if code != .success {
      var failure = CommandFailure("api.status", "The server answered \(response.status).", code)
      failure.status = response.status
      output.fail(failure, colored: false)
    }
    return (session, code)
  }

  /// How the process ends after an answer of that status.
  static func exit(for status: Int) -> ExitCode {
    switch status {
    case 401: .signInNeeded
    case 408, 425, 429, 500...: .tryAgain
    case 400...: .failure
    default: .success
    }
  }

  private func headers() throws -> HTTPFields {
    var fields: [HTTPField] = []
    for text in call.texts("header") {
      // A header field may be a secret: the error does not repeat it.
      guard let colon = text.firstIndex(of: ":"), colon > text.startIndex else {
        throw call.usageError("--header takes a name, a colon and a value.")
      }
      guard text[..<colon].lowercased() != "authorization" else {
        throw call.usageError("--header Authorization: your session sets it; another token goes into CHIRP_TOKEN.")
      }
      let value = text[text.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
      fields.append(HTTPField(String(text[..<colon]), String(value)))
    }
    return HTTPFields(fields)
  }

  private func body() async throws -> Data? {
    guard let data = call.text("data") else { return nil }
    let limit = 16 << 20
    if data == "-" { return Data(try await console.readInput(limit: limit)) }
    if data.hasPrefix("@") { return Data(try await readFile(String(data.dropFirst()), option: "data", limit: limit)) }
    return Data(data.utf8)
  }

  /// The body as it came; on a terminal, made safe for it, and with a line's end.
  private func shown(_ body: Data) -> [UInt8] {
    guard console.outputIsTerminal, !body.isEmpty else { return Array(body) }
    let text = Printable.lines(String(decoding: body, as: UTF8.self))
    return Array((text.hasSuffix("\n") ? text : text + "\n").utf8)
  }

  private func head(of response: HTTPResponse) -> [UInt8] {
    var text = "HTTP \(response.status)\n"
    for field in response.headers.fields { text += Printable.line("\(field.name): \(field.value)") + "\n" }
    return Array("\(text)\n".utf8)
  }
}

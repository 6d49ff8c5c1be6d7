import Groundwork

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Waits on this machine for the browser's way back from the server (RFC 8252 §7.3): on 127.0.0.1 alone, at a port of the system's choice.
///
/// It answers one redirect and closes. Everything else that knocks meanwhile (a browser's wish for an icon, a page of somebody else's, another
/// address in the `Host` header) gets an error and ends nothing.
public final class LoopbackReceiver: Sendable {
  /// The address to give to the server as `redirect_uri`.
  public let redirectURI: String
  private let socket: LoopbackSocket

  /// Opens the listener.
  ///
  /// - Parameters:
  ///   - port: 0 for any free one, which servers have to allow (RFC 8252 §7.3); a fixed one for servers that do not.
  ///   - path: the path of the redirect.
  /// - Throws: `OAuthError`, code `noListener`.
  public init(port: UInt16 = 0, path: String = "/callback") throws(OAuthError) {
    socket = try LoopbackSocket(port: port)
    redirectURI = "http://127.0.0.1:\(socket.port)\(path.hasPrefix("/") ? path : "/" + path)"
  }

  /// Waits for the redirect.
  ///
  /// - Parameters:
  ///   - timeout: how long at most.
  ///   - answer: judges the whole address that the browser was sent to; what it throws is shown in the browser, and thrown here.
  /// - Returns: what `answer` returns.
  /// - Throws: `OAuthError`, code `timedOut` among others; `CancellationError` as soon as the task is cancelled.
  public func redirect<Value: Sendable>(
    within timeout: Duration, _ answer: @escaping @Sendable (String) throws(OAuthError) -> Value
  ) async throws -> Value {
    let redirectURI = redirectURI
    let socket = socket
    let result: Result<Value, any Error> = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        DetachedThread.start {
          let end = socket.serve(within: timeout) { request -> LoopbackSocket.Step<Result<Value, any Error>> in
            Self.judge(request, redirectURI, answer)
          }
          switch end {
          case .answered(let result): continuation.resume(returning: result)
          case .cancelled: continuation.resume(returning: .failure(CancellationError()))
          case .timedOut:
            continuation.resume(
              returning: .failure(OAuthError(.timedOut, "The browser did not come back in time. Start again.")))
          }
        }
      }
    } onCancel: {
      socket.cancel()
    }
    return try result.get()
  }

  private static func judge<Value: Sendable>(
    _ request: LoopbackSocket.Request, _ redirectURI: String,
    _ answer: (String) throws(OAuthError) -> Value
  ) -> LoopbackSocket.Step<Result<Value, any Error>> {
    let origin = redirectURI.split(separator: "/").prefix(2).joined(separator: "//")
    let path = redirectURI.dropFirst(origin.count)
    guard request.method == "GET" else { return .goOn(LoopbackPage(405, "This address takes the browser's way back.")) }
    // A page that reaches this port under another name, or another port's name, is not where the server sent anybody.
    guard "http://\(request.host)" == origin else {
      return .goOn(LoopbackPage(421, "This is not the address that the sign-in waits at."))
    }
    guard request.target.prefix(while: { $0 != "?" }) == path else {
      return .goOn(LoopbackPage(404, "There is nothing here."))
    }
    do throws(OAuthError) {
      let value = try answer(origin + request.target)
      return .end(LoopbackPage(200, "Done. You can close this page and go back to the terminal."), .success(value))
    } catch {
      return .end(LoopbackPage(400, error.message), .failure(error))
    }
  }
}

/// A page for the browser; loads nothing, says one thing.
struct LoopbackPage: Sendable {
  private let status: Int
  private let sentence: String

  init(_ status: Int, _ sentence: String) {
    self.status = status
    self.sentence = sentence
  }

  /// The whole answer.
  var bytes: [UInt8] {
    let reasons = [
      200: "OK", 400: "Bad Request", 404: "Not Found", 405: "Method Not Allowed", 421: "Misdirected Request",
    ]
    let text = Self.escaped(sentence)
    let body = """
      <!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>chirp</title>\
      <body style="font:18px/1.5 system-ui,sans-serif;margin:15vh auto;max-width:32em;padding:0 1em;color-scheme:light dark">\
      <h1 style="font-size:1.3em">\(status == 200 ? "Signed in" : "Not signed in")</h1><p>\(text)</p></html>
      """
    let head = """
      HTTP/1.1 \(status) \(reasons[status] ?? "Error")\r
      Content-Type: text/html; charset=utf-8\r
      Content-Length: \(body.utf8.count)\r
      Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'\r
      Referrer-Policy: no-referrer\r
      Cache-Control: no-store\r
      Connection: close\r
      \r

      """
    return Array((head + body).utf8)
  }

  private static func escaped(_ text: String) -> String {
    var result = ""
    for character in text {
      switch character {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      default: result.append(character)
      }
    }
    return result
  }
}

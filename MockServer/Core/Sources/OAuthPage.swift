/// The pages of the authorization server: one form, one notice. They need no script and no asset.
enum OAuthPage {
  /// A form for a name, a password and a decision.
  ///
  /// - Parameters:
  ///   - hidden: the request's parameters, which come back with the form.
  ///   - userCode: what a device shows, if it is about one: a field of the form then.
  static func form(
    title: String, action: String, client: String?, scope: [String], hidden: [String: String], userCode: String? = nil,
    name: String?, message: String?
  ) -> String {
    let own: Set<String> = ["username", "password", "decision", "user", "login_hint"]
    let kept = hidden.filter { !own.contains($0.key) }.sorted { $0.key < $1.key }.map { name, value in
      "<input type=\"hidden\" name=\"\(escape(name))\" value=\"\(escape(value))\">"
    }.joined(separator: "\n")
    let code = userCode.map { code in
      """
      <label for="user_code">Code</label>
      <input id="user_code" name="user_code" value="\(escape(code))" autocomplete="off" autocapitalize="characters" required>
      """
    }
    let asks = client.map { client in
      let what = scope.isEmpty ? "wants to sign you in" : "asks for: \(escape(scope.joined(separator: ", ")))"
      return "<p><strong>\(escape(client))</strong> \(what).</p>"
    }
    return document(
      title,
      """
      \(asks ?? "")
      \(message.map { "<p role=\"alert\" class=\"alert\">\(escape($0))</p>" } ?? "")
      <form method="post" action="\(escape(action))">
      \(kept)
      \(code ?? "")
      <label for="username">Email or username</label>
      <input id="username" name="username" value="\(escape(name ?? ""))" autocomplete="username" autocapitalize="none" required autofocus>
      <label for="password">Password</label>
      <input id="password" name="password" type="password" autocomplete="current-password" required>
      <button name="decision" value="allow">Sign in and allow</button>
      <button name="decision" value="deny" class="second" formnovalidate>Deny</button>
      </form>
      """)
  }

  static func notice(_ title: String, _ text: String) -> String {
    document(title, "<p>\(escape(text))</p>")
  }

  static func failure(_ text: String) -> String {
    document("This does not work", "<p role=\"alert\" class=\"alert\">\(escape(text))</p>")
  }

  private static func document(_ title: String, _ body: String) -> String {
    """
    <!doctype html>
    <html lang="en">
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>\(escape(title))</title>
    <style>
    :root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif }
    body { max-width: 22rem; margin: 2rem auto; padding: 0 1rem }
    label { display: block; margin-top: 1rem }
    input, button { width: 100%; box-sizing: border-box; font: inherit; padding: .6rem; margin-top: .25rem }
    button { margin-top: 1rem; cursor: pointer }
    .alert { color: light-dark(#b00020, #ff8a80) }
    </style>
    <h1>\(escape(title))</h1>
    \(body)
    </html>

    """
  }

  static func escape(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      case "'": result += "&#39;"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}

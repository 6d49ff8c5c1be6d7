package import CheckedYAML

/// The whole scenario format as one value.
package enum ScenarioFormat {
  /// The operations that the server tells apart, the same in every dialect; `unknown` fits none of them.
  package static let operations = [
    "login", "register", "refresh", "logout", "me", "feed", "post", "unknown",
  ]

  /// The ways in which a store can fail.
  static let storeFaults = [
    "locked", "unavailable", "busy", "full", "readOnly", "insecurePermissions", "corrupted", "wrongPassphrase",
    "newerVersion",
  ]

  /// The dialects of the server.
  package static let dialects = ["chirp", "envelope", "supabase", "oauth2"]

  /// Verbs that need no argument: such a step may be one word.
  static let bareVerbs = [
    "refresh", "auto", "logout", "token", "restore", "relaunch", "reboot", "kill", "offline", "online",
  ]

  /// All verbs; a step has one of them, or only checks.
  static let verbs =
    ["login", "register", "call"] + bareVerbs + [
      "switch", "store", "project", "advance", "server-clock", "client-clock", "revoke", "script", "policy", "release",
      "wait", "until",
      "await",
      "cancel", "open", "type", "leave", "return", "tap",
    ]

  /// A scenario file.
  package static let scenario = Shape.object(
    ObjectShape(
      "a scenario",
      [
        FieldShape("name", .text, "what holds, as a sentence", isRequired: true),
        FieldShape("covers", .list(.text), "ids of requirements and rules (D3.5, S8)", isRequired: true),
        FieldShape("report", .text, "the public bug report behind it: owner/repository#number"),
        FieldShape(
          "needs", .list(.choice(Feature.allCases.map(\.rawValue))),
          "what a driver must be able to do beyond what steps tell"),
        FieldShape("skip", .text, "why it is not run"),
        FieldShape("only", .flag, "run this alone, while you work at it; e2e check refuses it"),
        FieldShape("include", .either([.text, .list(.text)]), "files with server, users, script or vars to share"),
        FieldShape("vars", .table(.json), "names for values: ${name} stands for the value anywhere below"),
        FieldShape("rows", .list(.table(.json)), "one scenario for each row: ${name} stands for the row's value"),
        FieldShape(
          "notApplicable",
          .object(
            ObjectShape("a list of dialects", dialects.map { FieldShape($0, .text, "why it says nothing about it") })),
          "dialects that it says nothing about, each with its reason"),
        FieldShape(
          "profile", .choice(Scenario.Profile.allCases.map(\.rawValue)), "which document's app: its dialect and texts"),
        FieldShape("server", policy, "the server's policy"),
        FieldShape("client", clientKind, "how the clients are put together, if not in the usual way"),
        FieldShape(
          "users", .either([.list(.text), .table(.either([.nothing, user]))]),
          "who has an account: names, or names with email and password"),
        FieldShape("script", .list(script), "answers that replace the server's real ones"),
        FieldShape("steps", .list(step), "what happens, in order", isRequired: true),
        FieldShape("expect", finalExpectation, "what has to hold at the end", isRequired: true),
      ]))

  static let policy = Shape.object(
    ObjectShape(
      "a server policy",
      [
        FieldShape("accessTTL", .duration, "how long an access token lives (15m)"),
        FieldShape("refreshTTL", .duration, "how long a refresh token lives (30d)"),
        FieldShape(
          "rotation", .choice(["none", "strict", "grace", "parent-ok", "gotrue"]), "what a refresh does to its token"),
        FieldShape("grace", .duration, "how long a spent refresh token still works under grace (10s)"),
        FieldShape("tokens", .choice(["opaque", "jwt"]), "what access tokens look like"),
        FieldShape("clockSkew", .signedDuration, "how far the server's clock is ahead"),
        FieldShape("rateLimit", .json, "tries per time, as the admin API takes it"),
      ]))

  static let clientKind = Shape.object(
    ObjectShape(
      "a kind of client",
      [
        FieldShape(
          "keeps", .choice(Scenario.ClientKind.Keeps.allCases.map(\.rawValue)),
          "its store: a session store, a plain token store, or D2's two items"),
        FieldShape("session-of", .text, "whose session stands in the two items at the start: a name from users"),
        FieldShape("retries", .flag, "whether its calls are tried again after a passing failure"),
        FieldShape("service", .choice(["fake"]), "the login form's service: fake is D5's stand-in"),
      ]))

  static let user = Shape.object(
    ObjectShape(
      "a user",
      [
        FieldShape("email", .text, "NAME@example.com unless given"),
        FieldShape("password", .text, "one of its own unless given"),
      ]))

  static let credentials = Shape.object(
    ObjectShape(
      "a sign-in",
      [
        FieldShape("user", .text, "a name from users"),
        FieldShape("as", .text, "what is typed instead of the user's email (or username)"),
        FieldShape("password", .text, "what is typed instead of the user's password"),
      ]))

  static let delay = Shape.either([
    .duration,
    .object(
      ObjectShape(
        "a delay",
        [
          FieldShape("distribution", .choice(["uniform", "lognormal"]), "how delays are spread", isRequired: true),
          FieldShape("min", .duration, "the shortest (uniform)"), FieldShape("max", .duration, "the longest (uniform)"),
          FieldShape("median", .duration, "the middle (lognormal)"),
          FieldShape("sigma", .json, "the spread of the logarithm (lognormal)"),
        ])),
  ])

  static let action = Shape.either([
    .choice(["real"]),
    .object(
      ObjectShape(
        "an action",
        [
          FieldShape("status", .integer(200...599), "the status to answer with"),
          FieldShape("body", .json, "the body: a mapping or list is sent as JSON, text as it is"),
          FieldShape("headers", .table(.text), "header fields to add or replace"),
          FieldShape("delay", delay, "how long the answer takes"),
          FieldShape("hold", .text, "wait until the step `release: NAME`"),
          FieldShape(
            "break",
            .choice([
              "close", "reset", "truncate", "malformed", "wrong-type", "huge", "garbage", "drip", "tls",
            ]), "how the answer breaks on the wire"),
          FieldShape(
            "phase", .choice(["before", "after-commit", "mid-body"]), "when: before the handler, or after it"),
          FieldShape("after", .integer(0...Int.max), "after so many bytes of the body (mid-body)"),
          FieldShape("revoke", .choice(["access", "session"]), "revoke the request's token or session first"),
          FieldShape("times", .integer(1...1_000_000), "so many requests in a row"),
        ])),
  ])

  static let script = Shape.object(
    ObjectShape(
      "a script",
      [
        FieldShape(
          "operation", .choice(Array(operations.dropLast())), "which operation, in any dialect"),
        FieldShape("endpoint", .text, "which endpoint: METHOD PATH"),
        FieldShape("actions", .list(action), "what happens to the first request, the second, …", isRequired: true),
        FieldShape("then", .choice(["real", "repeat", "fail"]), "what happens to those after the last action (real)"),
      ], exclusive: ["operation", "endpoint"], needsOne: true))

  static let counts = Shape.table(.integer(0...10_000_000))

  static let clientFields = [
    FieldShape(
      "state", .choice(["unknown", "unavailable", "signedOut", "signedIn"]), "what the client says it is"),
    FieldShape(
      "reason", .choice(["neverSignedIn", "byUser", "refreshRefused", "elsewhere"]), "why it is signed out"),
    FieldShape("user", .text, "who is signed in: a name from users"),
    FieldShape("events", .list(.text), "the events since its launch, in order"),
  ]

  static let stepExpectation = Shape.either([
    .choice(OutcomeKind.allCases.map(\.rawValue)),
    .object(
      ObjectShape(
        "an expectation",
        [
          FieldShape("outcome", .choice(OutcomeKind.allCases.map(\.rawValue)), "how the verb ends (ok)"),
          FieldShape("outcomes", counts, "how many of a parallel step end how"),
          FieldShape("status", .integer(100...599), "the answer's status"),
          FieldShape("error", .text, "the client's own name for the error: invalidCredentials, rateLimited, …"),
          FieldShape("message", .text, "what the user is told; \"\" for nothing"),
          FieldShape("fields", .table(.text), "what the server says of single fields"),
          FieldShape("retryAfter", .duration, "how long the server asks to wait"),
          FieldShape("body", .json, "members that the answer has"),
          FieldShape("requests", counts, "exact counts of requests since the start, for the operations named"),
          FieldShape("took", .duration, "how much time passed, to a second (virtual time only)"),
          FieldShape("exit", .integer(0...255), "the exit code of the program (cli only)"),
          FieldShape("screen", .choice(["splash", "login", "register", "home", "unavailable"]), "the screen in front"),
          FieldShape("title", .text, "the screen's title"),
          FieldShape("button", .choice(["enabled", "disabled"]), "whether the button can be tapped"),
          FieldShape("caption", .text, "the button's caption"),
          FieldShape("spinner", .flag, "whether the button shows progress"),
          FieldShape("locked", .flag, "whether the fields are locked"),
          FieldShape("errors", .table(.text), "the error under each field; \"\" for none"),
          FieldShape("focus", .text, "the field with the cursor; none for none"),
          FieldShape("announced", .text, "what the screen reader said last"),
          FieldShape("labels", .list(.text), "the fields' labels in order"),
          FieldShape("hints", .json, "members that the fields' hints have: keyboard, content, return, secure, …"),
          FieldShape("style", .json, "members that the main button's style has: color, size, …"),
        ] + clientFields)),
  ])

  static let anyName = Shape.either([.nothing, .text])

  static let step: Shape = .either([
    .choice(bareVerbs),
    .object(
      ObjectShape(
        "a step",
        [
          FieldShape("login", .either([.text, credentials]), "sign in: a name from users, or what is typed"),
          FieldShape(
            "register",
            .either([
              .text,
              .object(
                ObjectShape(
                  "a registration",
                  [
                    FieldShape("username", .text, "the name", isRequired: true),
                    FieldShape("email", .text, "the address", isRequired: true),
                    FieldShape("password", .text, "the password", isRequired: true),
                  ])),
            ]), "sign up: a new name, or all three fields"),
          FieldShape(
            "call",
            .either([
              .text,
              .object(
                ObjectShape(
                  "a call",
                  [
                    FieldShape("method", .text, "the method", isRequired: true),
                    FieldShape("path", .text, "the path under the dialect's root", isRequired: true),
                    FieldShape("body", .json, "the JSON body"),
                  ])),
            ]), "an authed call: METHOD PATH"),
          FieldShape("refresh", anyName, "force a refresh"),
          FieldShape("auto", anyName, "begin to refresh by itself before each expiry"),
          FieldShape("logout", anyName, "sign out"),
          FieldShape("token", anyName, "ask for a valid access token"),
          FieldShape("restore", anyName, "ask the store who is signed in, as at launch"),
          FieldShape("relaunch", anyName, "end the client process and start a new one on the same store"),
          FieldShape("reboot", anyName, "as relaunch, on a machine that was restarted"),
          FieldShape("kill", anyName, "kill the client process in the midst of whatever it does, and start a new one"),
          FieldShape("offline", anyName, "cut the client's network"),
          FieldShape("online", anyName, "mend the client's network"),
          FieldShape(
            "store", .choice(["ok"] + storeFaults), "the client's store fails in this way from here on; ok: no more"),
          FieldShape(
            "project",
            .object(
              ObjectShape(
                "a file of the project",
                [
                  FieldShape("file", .text, "its path", isRequired: true),
                  FieldShape("has", .list(.text), "what has to stand in it", isRequired: true),
                ])), "a file of the project has to say so much"),
          FieldShape("switch", .text, "sign out, then sign in as another user"),
          FieldShape("advance", .duration, "let time pass, for client and server"),
          FieldShape("server-clock", .duration, "move the server's clock alone on"),
          FieldShape("client-clock", .signedDuration, "set the client's wall clock, not its uptime"),
          FieldShape(
            "revoke", .choice(Verb.Revocation.allCases.map(\.rawValue)),
            "revoke at the server what this client was given"),
          FieldShape("script", .list(ScenarioFormat.script), "replace scripts from here on"),
          FieldShape("policy", policy, "change the server's policy from here on"),
          FieldShape(
            "release",
            .either([
              .text,
              .object(
                ObjectShape(
                  "a release",
                  [
                    FieldShape("hold", .text, "its name", isRequired: true),
                    FieldShape("count", .integer(1...1_000_000), "only so many"),
                  ])),
            ]), "let answers go that an action holds"),
          FieldShape("wait", counts, "wait until so many requests of an operation have reached the server"),
          FieldShape(
            "until", .object(ObjectShape("a client", clientFields)), "wait until the client believes this, 10 s at most"
          ),
          FieldShape("await", .text, "wait for a step in the background"),
          FieldShape("cancel", .text, "give a step in the background up"),
          FieldShape(
            "open", .choice(Verb.FormScreen.allCases.map(\.rawValue)), "start the app, or go to one of its screens"),
          FieldShape("type", .table(.text), "type into fields, replacing what is there"),
          FieldShape("leave", .text, "leave a field"),
          FieldShape("return", .text, "press Return in a field"),
          FieldShape("tap", .choice(Verb.FormButton.allCases.map(\.rawValue)), "tap a button"),
          FieldShape("as", .text, "which client process does it (main)"),
          FieldShape("parallel", .integer(1...10_000), "so many at once"),
          FieldShape("times", .integer(1...10_000), "so often, one after the other"),
          FieldShape("start", .text, "run it in the background under this name"),
          FieldShape("expect", stepExpectation, "what has to hold after it"),
        ], exclusive: verbs)),
  ])

  static let finalExpectation = Shape.object(
    ObjectShape(
      "the final expectation",
      [
        FieldShape(
          "requests", counts, "exact counts per operation; what is not named must not have come", isRequired: true),
        FieldShape("order", .list(.text), "all operations in the order in which they came: login, me x 50"),
        FieldShape("client", .object(ObjectShape("a client", clientFields)), "what the main client believes"),
        FieldShape("clients", .table(.object(ObjectShape("a client", clientFields))), "the same for others, by name"),
        FieldShape(
          "store",
          .object(
            ObjectShape(
              "a store",
              [
                FieldShape("session", .choice(["present", "absent"]), "whether a session is stored"),
                FieldShape("same-session", .flag, "whether it is the one of the first sign-in"),
                FieldShape("rotations", .integer(0...1_000_000), "how often its tokens were replaced"),
                FieldShape("outbox", .integer(0...1_000_000), "revocations that wait to be sent"),
                FieldShape("private", .flag, "whether its files are its owner's alone (0600)"),
                FieldShape("user", .text, "whose it is: a name from users"),
              ])), "what the store holds"),
        FieldShape(
          "server",
          .object(
            ObjectShape(
              "a server",
              [
                FieldShape("live", .integer(0...1_000_000), "sessions that are alive"),
                FieldShape("ended", .integer(0...1_000_000), "sessions that were ended"),
                FieldShape("users", .list(.text), "the usernames of all accounts"),
              ])), "what the server knows"),
        FieldShape("unconsumed", .choice(["allowed"]), "script actions may be left over"),
      ]))
}

extension ScenarioFormat {
  /// Every name that the format knows, once.
  package static var knownNames: [String] { names(in: scenario).sorted() }

  private static func names(in shape: Shape) -> Set<String> {
    switch shape {
    case .object(let object):
      object.fields.reduce(into: Set(object.fields.map(\.name))) { $0.formUnion(names(in: $1.shape)) }
    case .list(let element), .table(let element): names(in: element)
    case .either(let shapes): shapes.reduce(into: []) { $0.formUnion(names(in: $1)) }
    default: []
    }
  }
}

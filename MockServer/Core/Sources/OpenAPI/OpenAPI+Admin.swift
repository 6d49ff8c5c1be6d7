import Groundwork

// What is known about the calls of the admin API.
extension OpenAPI {
  static func admin(_ method: String, _ path: String) -> Operation {
    var operation = known(method, path) ?? Operation(summary: "\(method) \(path)")
    operation.failure = reference("AdminError")
    return operation
  }

  private static func known(_ method: String, _ path: String) -> Operation? {
    switch "\(method) \(path.dropFirst("/__mock".count))" {
    case "GET /openapi.json":
      Operation(summary: "This document", answers: [(200, ["type": "object"])])
    case "GET /state": state
    case "POST /reset":
      Operation(summary: "The realm as new", answers: [(204, nil)])
    case "POST /clock": clock
    case "POST /users": users
    case "PUT /users": ban
    case "DELETE /users":
      Operation(
        summary: "Deletes a user and ends their sessions",
        parameters: [query("user", text, "the id or the email", required: true)],
        answers: [(200, answer(["sessions": whole]))])
    case "POST /sessions": sessions
    case "GET /sessions": family
    case "POST /revoke": revoke
    case "PUT /policy":
      Operation(
        summary: "Changes what the policy says", body: (closed(policy), "application/json"),
        answers: [(200, reference("Policy"))])
    case "PUT /scripts":
      Operation(
        summary: "Sets a script", body: (reference("Script"), "application/json"), answers: [(204, nil)])
    case "GET /scripts": scripts
    case "DELETE /scripts": Operation(summary: "Takes all scripts away", answers: [(204, nil)])
    case "GET /journal":
      Operation(
        summary: "The requests, oldest first",
        parameters: [query("since", integer(0...Int.max), "only those after this number")],
        answers: [(200, answer(["entries": list(reference("JournalEntry")), "dropped": whole]))])
    case "GET /journal/count": count
    case "GET /journal/entry": exchange
    case "POST /journal/order":
      Operation(
        summary: "Whether requests came in an order",
        body: (
          closed(
            [
              "order": ["type": "array", "items": closed(filter), "minItems": 1], "since": integer(0...Int.max),
              "only": flag,
            ], required: ["order"]), "application/json"
        ),
        answers: [(200, answer(["holds": flag, "matched": list(whole)], optional: ["failure": text]))])
    case "POST /release":
      Operation(
        summary: "Lets answers go that an action holds",
        body: (closed(["hold": text, "count": integer(1...Int.max)], required: ["hold"]), "application/json"),
        answers: [(200, answer(["released": whole]))])
    case "POST /connections":
      Operation(
        summary: "Lets the next connections of the whole server go wrong",
        body: (
          [
            "oneOf": [
              closed(["failHandshakes": integer(0...100_000)], required: ["failHandshakes"]),
              closed(["refuse": integer(0...100_000)], required: ["refuse"]),
            ]
          ], "application/json"
        ), answers: [(204, nil)])
    case "GET /events":
      Operation(summary: "Server-sent events, without an end", answers: [(200, text)], type: "text/event-stream")
    case "GET /realms": realms
    case "DELETE /realms":
      Operation(
        summary: "Forgets realms: one by its name, or all that are idle",
        parameters: [
          query("idle", text, "a duration: those that no call has reached for so long"),
          query("name", text, "this one"),
        ], answers: [(200, answer(["dropped": list(text)]))])
    case "GET /keys":
      Operation(
        summary: "The keys of the Supabase dialect",
        answers: [(200, answer(["anonKey": text, "serviceRoleKey": text, "jwtSecret": text]))])
    case "GET /clients":
      Operation(summary: "The OAuth clients", answers: [(200, answer(["clients": list(["type": "object"])]))])
    case "PUT /clients":
      Operation(
        summary: "Sets the OAuth clients, all of them", body: (list(["type": "object"]), "application/json"),
        answers: [(200, answer(["clients": list(["type": "object"])]))])
    case "GET /mails":
      Operation(
        summary: "The messages that the server would have sent",
        answers: [(200, answer(["mails": list(["type": "object"])]))])
    default: nil
    }
  }

  private static var state: Operation {
    let session = answer(
      [
        "id": text, "userID": text, "alive": flag, "generation": whole, "accessExpiresAt": text,
        "refreshExpiresAt": text,
      ], optional: ["endedBy": words(MockSessionEnd.allCases.map(\.rawValue))])
    return Operation(
      summary: "The realm at this moment",
      answers: [
        (
          200,
          answer([
            "realm": text, "now": text, "clock": words(MockClockMode.allCases.map(\.rawValue)),
            "policy": reference("Policy"), "users": list(reference("User")), "sessions": list(session),
            "scripts": ["type": "object"], "held": ["type": "object", "additionalProperties": whole], "delayed": whole,
            "journal": answer(["seq": whole, "dropped": whole]),
          ])
        )
      ])
  }

  private static var clock: Operation {
    let mode = words(MockClockMode.allCases.map(\.rawValue))
    return Operation(
      summary: "Moves the realm's clock",
      body: (
        [
          "oneOf": [
            closed(["advance": duration, "mode": mode], required: ["advance"]),
            closed(["set": text, "mode": mode], required: ["set"]), closed(["mode": mode], required: ["mode"]),
          ]
        ], "application/json"
      ), answers: [(200, answer(["now": text]))])
  }

  private static var users: Operation {
    Operation(
      summary: "Adds users, all or none",
      body: (
        list(
          closed(
            ["username": text, "email": text, "password": text], required: ["username", "email", "password"])),
        "application/json"
      ), answers: [(200, list(reference("User")))])
  }

  private static var ban: Operation {
    Operation(
      summary: "Bans a user, or lifts the ban",
      body: (
        [
          "oneOf": [
            closed(["user": text, "banned": ["const": true], "for": duration], required: ["user", "banned"]),
            closed(["user": text, "banned": ["const": false]], required: ["user", "banned"]),
          ]
        ], "application/json"
      ), answers: [(200, reference("User"))])
  }

  /// A session's tokens as their standing, never as their text.
  private static var family: Operation {
    let token = answer(
      ["generation": whole, "issuedAt": text, "expiresAt": text, "revoked": flag, "current": flag],
      optional: ["parent": whole, "spentAt": text])
    return Operation(
      summary: "One session with its tokens as their standing",
      parameters: [query("session", text, "the session's id", required: true)],
      answers: [
        (200, answer(["session": ["type": "object"], "refreshTokens": list(token), "accessTokens": list(token)]))
      ])
  }

  private static var exchange: Operation {
    let headers = list(answer(["name": text, "value": text]))
    return Operation(
      summary: "One request and its answer, with secrets masked; the last 256 are kept",
      parameters: [query("seq", integer(1...Int.max), "the number of the journal's entry", required: true)],
      answers: [
        (
          200,
          answer([
            "entry": reference("JournalEntry"),
            "request": answer(["target": text, "headers": headers, "bodySize": whole], optional: ["body": text]),
            "reply": answer(["status": whole, "headers": headers, "bodySize": whole], optional: ["body": text]),
          ])
        )
      ])
  }

  private static var sessions: Operation {
    Operation(
      summary: "Makes a session without a login, an expired one too",
      body: (
        closed(
          [
            "user": text, "accessTTL": signedDuration, "refreshTTL": signedDuration,
            "dialect": words(MockDialect.allCases.map(\.rawValue)),
          ], required: ["user"]), "application/json"
      ),
      answers: [
        (
          200,
          answer([
            "accessToken": text, "refreshToken": text, "expiresIn": whole, "tokenType": ["const": "Bearer"],
            "sessionID": text,
          ])
        )
      ])
  }

  private static var revoke: Operation {
    let kinds = ["access", "refresh", "session", "user"].map { closed([$0: text], required: [$0]) }
    return Operation(
      summary: "Revokes a token, or ends sessions",
      body: (
        ["oneOf": .array(kinds + [closed(["all": ["const": true]], required: ["all"])])], "application/json"
      ), answers: [(200, answer(["revoked": whole]))])
  }

  private static var scripts: Operation {
    let listed = object(
      [
        "operation": operations, "endpoint": text, "actions": list(reference("Action")),
        "then": words(MockScript.Then.allCases.map(\.rawValue)), "used": whole, "remaining": orNull(whole),
        "nearest": reference("Nearest"),
      ], required: ["actions", "then", "used", "remaining"])
    return Operation(
      summary: "The scripts as they were set, and how far they have got",
      answers: [(200, answer(["scripts": list(listed)]))])
  }

  private static var count: Operation {
    Operation(
      summary: "How many requests match; waits until there are so many",
      parameters: [
        query("operation", operations, "the operation"), query("method", text, "the method"),
        query("path", text, "the path"), query("status", integer(0...999), "the status"),
        query("outcome", outcomes, "what became of it"),
        query("wait", integer(0...Int.max), "answers once the count is reached"),
        query("timeout", text, "or after this duration, with what there is"),
      ], answers: [(200, answer(["count": whole]))])
  }

  private static var realms: Operation {
    Operation(
      summary: "The realms of the server",
      answers: [
        (
          200,
          answer([
            "realms": list(answer(["name": text, "users": whole, "sessions": whole, "requests": whole, "idle": text]))
          ])
        )
      ])
  }
}

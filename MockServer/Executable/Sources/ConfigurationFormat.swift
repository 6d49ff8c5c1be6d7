import CheckedYAML
import Groundwork
import MockServerCore

/// What may stand in a configuration file and in a file of scripts.
///
/// The shapes find wrong names and kinds with their places; what a value may be is decided where the admin API decides it.
enum ConfigurationFormat {
  static let file = Shape.object(
    ObjectShape(
      "a configuration",
      realmFields + [
        FieldShape("seed", .integer(0...Int.max), "makes tokens, ids and delays the same in every run"),
        FieldShape("journalCapacity", .integer(1...100_000_000), "how many journal entries a realm keeps"),
        FieldShape("maximumRealms", .integer(1...10_000_000), "how many realms requests may make"),
        FieldShape("maximumSessions", .integer(1...100_000_000), "how many sessions a realm remembers"),
        FieldShape(
          "realms", .table(.object(ObjectShape("a realm", realmFields))), "what is different in single realms"),
      ]))

  /// A file of scripts: one, or a list of them.
  static let scriptFile = Shape.either([script, .list(script)])

  private static let realmFields = [
    FieldShape(
      "clock", .choice(MockClockMode.allCases.map(\.rawValue)), "whether time runs, or stands until it is advanced"),
    FieldShape("now", .text, "the time at which a realm begins, ISO 8601"),
    FieldShape("policy", .object(policy), "how tokens and time are treated"),
    FieldShape("users", .list(.object(user)), "the users that a realm begins with"),
    FieldShape("clients", .list(.object(client)), "the OAuth clients that a realm begins with"),
    FieldShape("scripts", .list(script), "what the first requests get"),
    FieldShape("feedItems", .integer(0...10_000), "how many feed items a realm begins with"),
  ]

  private static let client = ObjectShape(
    "a client",
    [
      FieldShape("id", .text, "the client_id", isRequired: true),
      FieldShape("secret", .text, "the secret; without one the client is public"),
      FieldShape("redirectURIs", .list(.text), "where codes may be sent"),
      FieldShape("grants", .list(.text), "the grants that it may use"),
      FieldShape("scopes", .list(.text), "the scopes that it may have"),
    ])

  private static let user = ObjectShape(
    "a user",
    [
      FieldShape("username", .text, "3 to 32 of A-Z, a-z, 0-9 and _", isRequired: true),
      FieldShape("email", .text, "the address", isRequired: true),
      FieldShape("password", .text, "8 to 128 characters", isRequired: true),
    ])

  private static let policy = ObjectShape(
    "a policy",
    [
      FieldShape("accessTTL", .duration, "how long an access token works"),
      FieldShape("refreshTTL", .duration, "how long a refresh token works"),
      FieldShape(
        "rotation", .choice(MockRotation.allCases.map(\.rawValue)), "what a refresh does to the refresh token"),
      FieldShape("grace", .duration, "the window of grace and gotrue"),
      FieldShape("tokens", .choice(MockTokenKind.names), "the kind of access token"),
      FieldShape("autoconfirm", .flag, "whether a new user may sign in at once, without confirming the address"),
      FieldShape(
        "supabaseErrors", .choice(MockSupabaseErrors.allCases.map(\.rawValue)), "how Supabase's dialect words errors"),
      FieldShape(
        "idTokenFlaw", .either([.nothing, .choice(MockIDTokenFlaw.allCases.map(\.rawValue))]),
        "what is wrong with ID tokens"),
      FieldShape("clockSkew", .either([.duration, .signedDuration]), "how far the time that is told is ahead"),
      FieldShape(
        "rateLimit",
        .either([
          .nothing,
          .object(
            ObjectShape(
              "a rate limit",
              [
                FieldShape("limit", .integer(0...1_000_000_000), "how many calls a window has", isRequired: true),
                FieldShape("per", .duration, "how long a window is", isRequired: true),
                FieldShape("operations", .list(.choice(operations)), "the operations that count"),
              ])),
        ]), "how often some operations may be called"),
      FieldShape(
        "cors",
        .either([
          .nothing,
          .object(
            ObjectShape(
              "a cors policy",
              [
                FieldShape("origins", .list(.text), "the origins, or \"*\"", isRequired: true),
                FieldShape("credentials", .flag, "whether cookies may come along"),
                FieldShape("maxAge", .duration, "how long a preflight's answer may be remembered"),
              ])),
        ]), "which web pages may call the dialects"),
    ])

  private static let script = Shape.object(
    ObjectShape(
      "a script",
      [
        FieldShape("operation", .choice(operations), "the operation it is for, in any dialect"),
        FieldShape("endpoint", .text, "the one endpoint it is for: METHOD PATH"),
        FieldShape("actions", .list(.object(action)), "one a request", isRequired: true),
        FieldShape("then", .choice(MockScript.Then.allCases.map(\.rawValue)), "what comes after the last action"),
      ], exclusive: ["operation", "endpoint"], needsOne: true))

  private static let action = ObjectShape(
    "an action",
    [
      FieldShape("status", .integer(200...599), "the answer's status"),
      FieldShape("body", .json, "the answer's body"),
      FieldShape("headers", .table(.text), "header fields to add or replace"),
      FieldShape(
        "delay",
        .either([
          .duration,
          .object(
            ObjectShape(
              "a delay",
              [
                FieldShape("distribution", .choice(["uniform", "lognormal"]), "how it is drawn", isRequired: true),
                FieldShape("min", .duration, "uniform: the least"), FieldShape("max", .duration, "uniform: the most"),
                FieldShape("median", .duration, "lognormal: the middle"),
                FieldShape("sigma", .json, "lognormal: how long the tail is, 0 to 10"),
              ])),
        ]), "how long the answer waits"),
      FieldShape("hold", .text, "the answer waits until this name is released"),
      FieldShape("break", .choice(MockBreak.allCases.map(\.rawValue)), "how the answer breaks"),
      FieldShape("phase", .choice(MockPhase.allCases.map(\.rawValue)), "when it goes wrong"),
      FieldShape("after", .integer(0...(1 << 30)), "how many bytes of the body get through"),
      FieldShape("revoke", .choice(MockRevokeTarget.allCases.map(\.rawValue)), "what is revoked"),
      FieldShape("times", .integer(1...1_000_000_000), "for how many requests"),
    ])

  private static let operations = MockOperation.allCases.map(\.rawValue)
}

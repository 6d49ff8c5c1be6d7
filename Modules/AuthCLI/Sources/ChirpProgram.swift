public import CommandLineTable
import Groundwork

/// The command line of `chirp` as a table: parsing, help and errors all read it here.
public enum ChirpProgram: Sendable {
  /// What `--version` prints.
  public static let version = Program.packageVersion

  /// The whole program.
  public static let table = Program(
    Command(
      "chirp", "Signs you in to a server, keeps the session safe, and keeps it alive.",
      discussion: """
        A session begins with login, and ends with logout. Between them every command uses it: the access token is renewed when it is \
        due, once, however many commands run at the same time. Without a command chirp tells where you stand, and what to do next.
        Data go to standard output, everything else to standard error. There is no configuration file: what holds for many commands \
        stands in the environment.
        """,
      options: globalOptions,
      commands: [
        overview, login, register, whoami, status, token, refresh, api, feed, logout, accounts, store, doctor,
        .completion(for: "chirp"), .manual(for: "chirp"),
      ], defaultCommand: "overview",
      examples: [
        .init("chirp login --server http://127.0.0.1:8080 --email anna@example.com", "sign in"),
        .init("chirp api GET /me", "call the server with your session"),
      ]),
    version: version, exitCodes: ExitCode.allCases.map { .init($0.rawValue, $0.meaning) },
    variables: [
      .init("CHIRP_TOKEN", "An access token that requests use in place of the stored session; never refreshed."),
      .init("CHIRP_PASSPHRASE_FILE", "A file with the store's passphrase, one line, in place of asking for it."),
      .init("NO_COLOR", "Anything: write without colors."),
    ])

  private static let globalOptions: [Option] = [
    .value(
      "server", "URL", environment: "CHIRP_SERVER", "The server; without it, the one last signed in to."),
    .choice(
      "dialect", ["chirp", "envelope", "supabase", "oauth2", "rest"], environment: "CHIRP_DIALECT",
      "How the server speaks; without it, as when you signed in, else chirp."),
    .value(
      "api-key", "KEY", environment: "CHIRP_API_KEY", secret: true,
      "The project's public key (dialect supabase); kept for later commands."),
    .value("client-id", "ID", "The client's id (dialect oauth2); kept for later commands."),
    .value(
      "client-secret-file", "FILE", kind: .file, environment: "CHIRP_CLIENT_SECRET_FILE",
      "A file with the client's secret, one line (dialect oauth2); its name is kept, the secret is not."),
    .value("backend", "FILE", kind: .file, "The server's description (dialect rest); kept for later commands."),
    .value(
      "state-dir", "DIR", kind: .folder, environment: "CHIRP_STATE_DIR",
      "Where sessions are kept; without it, $XDG_STATE_HOME/chirp or ~/.local/state/chirp."),
    .choice(
      "store", ["sqlite", "memory"], environment: "CHIRP_STORE", default: "sqlite",
      "What keeps sessions; memory forgets them at the end."),
    .choice(
      "key-source", ["keyfile", "passphrase", "secret-service"], environment: "CHIRP_KEY_SOURCE",
      "What guards the store's key; without it, what the store says, and a key file for a new one."),
    .value("account", "NAME", environment: "CHIRP_ACCOUNT", "Which of several accounts at the server."),
    .value(
      "ca-file", "FILE", kind: .file, environment: "CHIRP_CA_FILE", "Trust the certificate authorities in this file."),
    .flag("allow-insecure-http", "Let credentials go over plain HTTP to another machine."),
    .value(
      "timeout", "DURATION", kind: .duration(minimum: .milliseconds(1)), environment: "CHIRP_TIMEOUT", default: "30s",
      "How long one request may take."),
    .flag("json", "Write data and errors as JSON."),
    .flag("no-color", "Write without colors."),
    .flag("accessible", environment: "CHIRP_ACCESSIBLE", "Write without anything that moves."),
    .flag("verbose", short: "v", "Trace requests on standard error; secrets are masked."),
  ]

  private static let overview = Command(
    "overview", "Tell where you stand, and what to do next.",
    discussion: "It asks no server, and for no passphrase. This is what chirp does without a command.",
    examples: [.init("chirp", "where you stand")], hidden: true)

  private static let passwordOptions: [Option] = [
    .flag("password-stdin", "Read the password from standard input."),
    .value("password-file", "FILE", kind: .file, "Read the password from a file."),
  ]

  private static let login = Command(
    "login", "Sign in.",
    discussion:
      "On a terminal, chirp login alone shows the sign-in form; with an option, with --accessible or with TERM=dumb it asks "
      + "for what is missing, line by line. A password is never taken from the command line.",
    options: [
      .value("email", "EMAIL", "Who signs in."),
      .value("username", "NAME", "Who signs in, where the server wants a username (dialect envelope)."),
    ] + passwordOptions + oauthOptions,
    examples: [
      .init("chirp login --email anna@example.com", "asks for the password"),
      .init("chirp login --email anna@example.com --password-stdin < password.txt", "sign in from a script"),
    ],
    hidesArguments: true)

  private static let oauthOptions: [Option] = [
    .choice(
      "grant", ["code", "device", "password", "client-credentials"],
      "How to sign in (dialect oauth2); without it, code."),
    .flag("device", "The same as --grant device: type a code on another machine."),
    .value("scope", "TEXT", "What to ask for (dialect oauth2), words with spaces between them."),
    .value("issuer", "URL", "The authorization server, where it is not the server itself (dialect oauth2)."),
    .value(
      "endpoint", "NAME=URL", repeated: true,
      "An endpoint that the server's metadata leave out (dialect oauth2): authorization, token, device, revocation, "
        + "userinfo or jwks. With token among them, no metadata are asked for."),
    .choice("client-auth", ["none", "basic", "post"], "How the client proves itself; without it, as the server says."),
    .value(
      "redirect-port", "N", kind: .integer(1...65535),
      "The port that the browser comes back to; without it, any free one."),
    .flag("no-browser", "Show the page's address, and open no browser."),
    .value(
      "wait", "DURATION", kind: .duration(minimum: .seconds(1)), default: "5m", "How long to wait for the browser."),
  ]

  private static let register = Command(
    "register", "Make an account.",
    options: [
      .value("username", "NAME", "The name that others see."), .value("email", "EMAIL", "The address to sign in with."),
    ] + passwordOptions,
    examples: [
      .init("chirp register --username bob --email bob@example.com --password-file pw.txt", "from a script")
    ],
    hidesArguments: true)

  private static let whoami = Command(
    "whoami", "Ask the server who is signed in.",
    examples: [.init("chirp whoami --json", "for a program"), .init("chirp whoami --verbose", "trace the request")])

  private static let status = Command(
    "status", "Tell what is stored here, without asking the server.",
    discussion: "State, account, expiry, and place. Ends with 4 when nobody is signed in, and says why.",
    examples: [
      .init("chirp status --json", "for a program"), .init("chirp status >/dev/null && echo in", "in a script"),
    ])

  private static let token = Command(
    "token", "Print an access token that works, and nothing else.",
    options: [
      .value(
        "min-ttl", "DURATION", kind: .duration(minimum: .zero), "Refresh first if it lives no longer than this.")
    ],
    examples: [
      .init("curl -H \"Authorization: Bearer $(chirp token)\" http://127.0.0.1:8080/feed", "use it elsewhere"),
      .init("chirp token --min-ttl 5m", "one that works for five more minutes"),
    ])

  private static let refresh = Command(
    "refresh", "Renew the session now.",
    discussion: "Commands renew it by themselves when it is due; this is for those who want it sooner.",
    examples: [.init("chirp refresh", "until when the new token works")])

  private static let api = Command(
    "api", "Call the server with your session, and print the answer's body.",
    discussion:
      "Ends with 1 for a 4xx, 4 for a 401, 5 for 429 and 5xx; the body is printed all the same. CHIRP_TOKEN, where it "
      + "is set, is sent in place of the stored session's token.",
    options: [
      .value("data", short: "d", "TEXT|@FILE|-", "The body: a text, a file's, or standard input's."),
      .value("header", short: "H", "K:V", repeated: true, "A header field."),
      .flag("include", short: "i", "Print the status and the header fields first."),
    ],
    positionals: [
      Positional("METHOD", "GET, POST, …"), Positional("PATH", "Path and query at the server, such as /me."),
    ],
    examples: [
      .init("chirp api GET '/feed?limit=2'", "the answer's body"),
      .init("chirp api POST /posts --data '{\"text\":\"Hello\"}'", "send JSON"),
      .init("chirp api POST /posts --data @post.json --include", "a file's; with status and header fields"),
      .init("chirp api POST /posts -d - -H 'Idempotency-Key: 1' < post.json", "standard input's"),
    ])

  private static let feed = Command(
    "feed", "Show the newest posts.",
    options: [.value("limit", "N", kind: .integer(1...100), "How many at most.")],
    examples: [.init("chirp feed --limit 3", "the newest three")])

  private static let logout = Command(
    "logout", "Sign out: here at once, and at the server.",
    options: [
      .flag("all-accounts", "Sign out everywhere that this store knows."),
      .choice("scope", ["local", "global", "others"], default: "local", "Which of your sessions end."),
    ],
    examples: [.init("chirp logout", "this account"), .init("chirp logout --all-accounts", "every account here")])

  private static let accounts = Command(
    "accounts", "The accounts that this store knows: list, switch, remove.",
    discussion: """
      An account is one session at one server; login --account NAME gives it a name. Where NAME is asked for, the address or the name \
      of whoever is signed in there does, too.
      """,
    commands: [
      Command(
        "list", "List them; a star marks the one that commands use.",
        examples: [.init("chirp accounts", "all of them"), .init("chirp accounts list --json", "for a program")]),
      Command(
        "switch", "Let commands use another one from now on.",
        positionals: [Positional("NAME", "The account's name, or who is signed in there.")],
        examples: [.init("chirp accounts switch work", "from now on; --account NAME is for one command")]),
      Command(
        "remove", "Sign out of one, and forget it.",
        positionals: [Positional("NAME", "The account's name, or who is signed in there.")],
        examples: [.init("chirp accounts remove work", "signs out here and at the server")]),
    ],
    defaultCommand: "list")

  private static let store = Command(
    "store", "The session store itself: info, rekey, migrate.",
    commands: [
      Command(
        "info", "Tell where it is, what guards it, and how much is in it.",
        discussion: "Asks for no passphrase; without one, the sessions are not counted.",
        examples: [.init("chirp store info", "where it is, and what guards it")]),
      Command(
        "rekey", "Give it a new key and a new guard; everybody stays signed in.",
        discussion: "For when a copy of it may have leaked. Interrupted anywhere, the store stays whole.",
        examples: [.init("chirp store rekey", "a copy of the store opens nothing new")]),
      Command(
        "migrate", "Move it to another key source, or take over the sessions of another store.",
        discussion: "What is moved is copied, read back, and only then deleted. Nothing that is here is overwritten.",
        options: [
          .choice("to", ["keyfile", "passphrase", "secret-service"], "What is to guard the store's key from now on."),
          .value(
            "new-passphrase-file", "FILE", kind: .file, "With --to passphrase: read the new one from a file."),
          .value("from", "DIR", kind: .folder, "The folder of a store whose sessions are to come here."),
        ],
        examples: [
          .init("chirp store migrate --to passphrase", "asks for a new passphrase, twice"),
          .init("chirp store migrate --to passphrase --new-passphrase-file passphrase.txt", "from a script"),
          .init("chirp store migrate --from old-state", "take over another folder's sessions"),
        ]),
    ],
    defaultCommand: "info")

  private static let doctor = Command(
    "doctor", "Look at the session store, say what is wrong, and what to do.",
    discussion: "Changes nothing, unless told to. Ends with 6 or 7 when there is a problem, as other commands do.",
    options: [
      .flag("repair", "Move what cannot be read any more aside, so that you can sign in again; deletes nothing.")
    ],
    examples: [.init("chirp doctor", "what is wrong"), .init("chirp doctor --repair", "so that login works again")])
}

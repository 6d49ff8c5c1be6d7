/// The name of a user-visible text, such as `Login.UsernameField.Title` (D2.4); open, so that an app can add texts of its own.
public struct StringKey: RawRepresentable, Sendable, Hashable, ExpressibleByStringLiteral {
  /// The key as the strings files have it.
  public var rawValue: String
  /// Takes any key.
  public init(rawValue: String) { self.rawValue = rawValue }
  /// Takes any key.
  public init(stringLiteral value: String) { rawValue = value }

  /// The caption of the button that asks the store again who is signed in (S21).
  public static let rootRetryButtonTitle: StringKey = "Root.RetryButton.Title"

  /// The sign-in screen's title.
  public static let loginTitle: StringKey = "Login.Title"
  /// The username field's caption (D2.4).
  public static let loginUsernameTitle: StringKey = "Login.UsernameField.Title"
  /// What stands under a bad username.
  public static let loginUsernameError: StringKey = "Login.UsernameField.Error"
  /// The email field's caption.
  public static let loginEmailTitle: StringKey = "Login.EmailField.Title"
  /// What stands under a bad email (D5.1).
  public static let loginEmailError: StringKey = "Login.EmailField.Error"
  /// The password field's caption (D2.4).
  public static let loginPasswordTitle: StringKey = "Login.PasswordField.Title"
  /// What stands under a bad password (D5.1).
  public static let loginPasswordError: StringKey = "Login.PasswordField.Error"
  /// The sign-in button's caption (D1.5, D2.4, D5.3).
  public static let loginButtonTitle: StringKey = "Login.LoginButton.Title"
  /// The refusal of a wrong email, username or password (D1.5, D5.4).
  public static let loginInvalidCredentials: StringKey = "Login.Error.InvalidCredentials"
  /// Why the sign-in screen is there after a session that the server, or somebody else, has ended (S22).
  public static let loginSessionEnded: StringKey = "Login.SessionEnded"

  /// The sign-up screen's title.
  public static let registerTitle: StringKey = "Register.Title"
  /// The username field's caption.
  public static let registerUsernameTitle: StringKey = "Register.UsernameField.Title"
  /// What stands under a bad username.
  public static let registerUsernameError: StringKey = "Register.UsernameField.Error"
  /// What stands under a username that has an account (D1.7).
  public static let registerUsernameTaken: StringKey = "Register.UsernameField.Taken"
  /// The email field's caption.
  public static let registerEmailTitle: StringKey = "Register.EmailField.Title"
  /// What stands under a bad email.
  public static let registerEmailError: StringKey = "Register.EmailField.Error"
  /// What stands under an email that has an account (D1.7, D4.6).
  public static let registerEmailTaken: StringKey = "Register.EmailField.Taken"
  /// The password field's caption.
  public static let registerPasswordTitle: StringKey = "Register.PasswordField.Title"
  /// What stands under a bad password.
  public static let registerPasswordError: StringKey = "Register.PasswordField.Error"
  /// The sign-up button's caption.
  public static let registerButtonTitle: StringKey = "Register.RegisterButton.Title"
  /// What a new user is told who must follow the link in a mail first.
  public static let registerConfirmEmail: StringKey = "Register.ConfirmEmail"

  /// The home screen's title (D2.4).
  public static let homeTitle: StringKey = "Home.Title"
  /// The sign-out button's caption (D2.4, D5.5).
  public static let homeLogoutButtonTitle: StringKey = "Home.LogoutButton.Title"
  /// A sign-out that could not be written down (S20); `{reason}` is the store's.
  public static let homeErrorStorage: StringKey = "Home.Error.Storage"
  /// The store cannot tell whether somebody is signed in (S21); `{reason}` is the store's.
  public static let homeErrorUnknownUser: StringKey = "Home.Error.UnknownUser"

  /// Who is signed in, on the home screen; `{who}` is an email or a name.
  public static let homeWho: StringKey = "Home.Who"
  /// Where somebody is signed in; `{server}` is its address.
  public static let homeServer: StringKey = "Home.Server"
  /// Until when the access token works; `{when}` is an instant.
  public static let homeExpiry: StringKey = "Home.Expiry"
  /// Until when the access token works, which is renewed by itself; `{when}` is an instant.
  public static let homeExpiryRenewed: StringKey = "Home.ExpiryRenewed"
  /// The caption of the button that leaves the home screen signed in, where a screen has an end: on a terminal.
  public static let homeDoneButtonTitle: StringKey = "Home.DoneButton.Title"
  /// The sign-in screen after a sign-up that gave no session along.
  public static let loginAccountReady: StringKey = "Login.AccountReady"

  /// The keys of a form on a terminal.
  public static let terminalFormKeys: StringKey = "Terminal.FormKeys"
  /// The keys while a request runs.
  public static let terminalWorkingKeys: StringKey = "Terminal.WorkingKeys"
  /// The keys of the home screen on a terminal.
  public static let terminalHomeKeys: StringKey = "Terminal.HomeKeys"

  /// No answer came.
  public static let errorNoConnection: StringKey = "Error.NoConnection"
  /// The server took too long.
  public static let errorTimedOut: StringKey = "Error.TimedOut"
  /// Nothing was sent, since the connection is not secure (S24).
  public static let errorInsecure: StringKey = "Error.Insecure"
  /// Too many tries.
  public static let errorRateLimited: StringKey = "Error.RateLimited"
  /// Too many tries; `{seconds}` says for how long.
  public static let errorRateLimitedFor: StringKey = "Error.RateLimitedFor"
  /// The server has a problem.
  public static let errorServer: StringKey = "Error.Server"
  /// The server's answer cannot be read.
  public static let errorUnusableAnswer: StringKey = "Error.UnusableAnswer"
  /// The server refused without a word.
  public static let errorRejected: StringKey = "Error.Rejected"
  /// A sign-in that could not be saved (S21); `{reason}` is the store's.
  public static let errorStorage: StringKey = "Error.Storage"
  /// Anything else.
  public static let errorUnknown: StringKey = "Error.Unknown"

  /// Every key that this module reads: each profile has a text for each of them.
  public static let all: [StringKey] = [
    rootRetryButtonTitle,
    loginTitle, loginUsernameTitle, loginUsernameError, loginEmailTitle, loginEmailError, loginPasswordTitle,
    loginPasswordError, loginButtonTitle, loginInvalidCredentials, loginSessionEnded, registerTitle,
    registerUsernameTitle,
    registerUsernameError, registerUsernameTaken, registerEmailTitle, registerEmailError, registerEmailTaken,
    registerPasswordTitle, registerPasswordError, registerButtonTitle, registerConfirmEmail, homeTitle,
    homeLogoutButtonTitle, homeErrorStorage, homeErrorUnknownUser, homeWho, homeServer, homeExpiry, homeExpiryRenewed,
    homeDoneButtonTitle, loginAccountReady, terminalFormKeys, terminalWorkingKeys, terminalHomeKeys, errorNoConnection,
    errorTimedOut, errorInsecure, errorRateLimited, errorRateLimitedFor, errorServer, errorUnusableAnswer,
    errorRejected, errorStorage, errorUnknown,
  ]
}

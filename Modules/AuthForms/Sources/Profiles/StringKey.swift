/// The name of a user-visible text, such as `Login.UsernameField.Title` (D2.4); open, so that an app can add texts of its own.
public struct StringKey: RawRepresentable, Sendable, Hashable, ExpressibleByStringLiteral {
  /// The key as the strings files have it.
  public var rawValue: String
  /// Takes any key.
  public init(rawValue: String) { self.rawValue = rawValue }
  /// Takes any key.
  public init(stringLiteral value: String) { rawValue = value }

  public static let loginTitle: StringKey = "Login.Title"
  public static let loginUsernameTitle: StringKey = "Login.UsernameField.Title"
  public static let loginUsernameError: StringKey = "Login.UsernameField.Error"
  public static let loginEmailTitle: StringKey = "Login.EmailField.Title"
  public static let loginEmailError: StringKey = "Login.EmailField.Error"
  public static let loginPasswordTitle: StringKey = "Login.PasswordField.Title"
  public static let loginPasswordError: StringKey = "Login.PasswordField.Error"
  public static let loginButtonTitle: StringKey = "Login.LoginButton.Title"
  public static let loginInvalidCredentials: StringKey = "Login.Error.InvalidCredentials"
  public static let loginSessionEnded: StringKey = "Login.SessionEnded"

  public static let registerTitle: StringKey = "Register.Title"
  public static let registerUsernameTitle: StringKey = "Register.UsernameField.Title"
  public static let registerUsernameError: StringKey = "Register.UsernameField.Error"
  public static let registerUsernameTaken: StringKey = "Register.UsernameField.Taken"
  public static let registerEmailTitle: StringKey = "Register.EmailField.Title"
  public static let registerEmailError: StringKey = "Register.EmailField.Error"
  public static let registerEmailTaken: StringKey = "Register.EmailField.Taken"
  public static let registerPasswordTitle: StringKey = "Register.PasswordField.Title"
  public static let registerPasswordError: StringKey = "Register.PasswordField.Error"
  public static let registerButtonTitle: StringKey = "Register.RegisterButton.Title"
  public static let registerConfirmEmail: StringKey = "Register.ConfirmEmail"

  public static let homeTitle: StringKey = "Home.Title"
  public static let homeLogoutButtonTitle: StringKey = "Home.LogoutButton.Title"
  public static let homeErrorStorage: StringKey = "Home.Error.Storage"
  public static let homeErrorUnknownUser: StringKey = "Home.Error.UnknownUser"

  public static let errorNoConnection: StringKey = "Error.NoConnection"
  public static let errorTimedOut: StringKey = "Error.TimedOut"
  public static let errorInsecure: StringKey = "Error.Insecure"
  public static let errorRateLimited: StringKey = "Error.RateLimited"
  public static let errorRateLimitedFor: StringKey = "Error.RateLimitedFor"
  public static let errorServer: StringKey = "Error.Server"
  public static let errorUnusableAnswer: StringKey = "Error.UnusableAnswer"
  public static let errorRejected: StringKey = "Error.Rejected"
  public static let errorStorage: StringKey = "Error.Storage"
  public static let errorUnknown: StringKey = "Error.Unknown"

  /// Every key that this module reads: each profile has a text for each of them.
  public static let all: [StringKey] = [
    loginTitle, loginUsernameTitle, loginUsernameError, loginEmailTitle, loginEmailError, loginPasswordTitle,
    loginPasswordError, loginButtonTitle, loginInvalidCredentials, loginSessionEnded, registerTitle,
    registerUsernameTitle,
    registerUsernameError, registerUsernameTaken, registerEmailTitle, registerEmailError, registerEmailTaken,
    registerPasswordTitle, registerPasswordError, registerButtonTitle, registerConfirmEmail, homeTitle,
    homeLogoutButtonTitle, homeErrorStorage, homeErrorUnknownUser, errorNoConnection, errorTimedOut, errorInsecure,
    errorRateLimited, errorRateLimitedFor,
    errorServer, errorUnusableAnswer, errorRejected, errorStorage, errorUnknown,
  ]
}

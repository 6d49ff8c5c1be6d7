/// One document's app as data: its screens' fields, rules and texts.
///
/// The four profiles of this project are `loginForm` (D5, the default and the strictest), `chirp` (D1), `envelope` (D2) and
/// `supabase` (D4). An app makes its own from the same parts.
public struct AuthProfile: Sendable, Hashable {
  /// The profile's name, and the dialect's where the two are the same.
  public var name: String
  /// The user-visible texts (D2.4).
  public var strings: StringsTable
  /// The sign-in screen.
  public var login: FormSpecification
  /// The sign-up screen.
  public var registration: FormSpecification

  /// Makes a profile from its parts.
  public init(name: String, strings: StringsTable, login: FormSpecification, registration: FormSpecification) {
    self.name = name
    self.strings = strings
    self.login = login
    self.registration = registration
  }

  /// The field that says who signs in: the email, or the username in D2.
  public var identifierField: FieldName { login.fields.first { $0.name != .password }?.name ?? .email }
}

extension AuthProfile {
  /// The login form of D5: the default.
  public static let loginForm = make(
    "loginForm", strings: PackageResources.loginForm_json, identifier: .email, identifierRule: .email,
    emailContent: .username, passwordRule: .minimumLength(8), newPasswordRule: .minimumLength(8),
    signUpHasUsername: true,
    messagePlacement: .belowButton)

  /// Chirp, the app of D1 and D3.
  public static let chirp = make(
    "chirp", strings: PackageResources.chirp_json, identifier: .email, identifierRule: .containsAt,
    emailContent: .emailAddress, passwordRule: .minimumLength(8), newPasswordRule: .minimumLength(8),
    signUpHasUsername: true, messagePlacement: .aboveButton)

  /// The app of D2: a username, and no rule but that nothing is empty.
  public static let envelope = make(
    "envelope", strings: PackageResources.envelope_json, identifier: .username, identifierRule: .required,
    emailContent: .emailAddress, passwordRule: .required, newPasswordRule: .minimumLength(8), signUpHasUsername: true,
    messagePlacement: .aboveButton)

  /// Snapgram, the app of D4. How long a password must be is the project's own setting at the server, so only it says so (D1.7).
  public static let supabase = make(
    "supabase", strings: PackageResources.supabase_json, identifier: .email, identifierRule: .email,
    emailContent: .emailAddress, passwordRule: .required, newPasswordRule: .required, signUpHasUsername: false,
    messagePlacement: .aboveButton)

  /// The four profiles of this project.
  public static let all: [AuthProfile] = [loginForm, chirp, envelope, supabase]

  /// The profile of that name, if this project has it.
  public static func named(_ name: String) -> AuthProfile? { all.first { $0.name == name } }

  private static func make(
    _ name: String, strings file: [UInt8], identifier: FieldName, identifierRule: FieldRule,
    emailContent: FieldHints.ContentType, passwordRule: FieldRule, newPasswordRule: FieldRule, signUpHasUsername: Bool,
    messagePlacement: FormSpecification.MessagePlacement
  ) -> AuthProfile {
    let strings = StringsTable(embedded: [PackageResources.common_json, file])
    let login = FormSpecification(
      fields: [
        identifier == .email
          ? email(.loginEmailTitle, .loginEmailError, identifierRule, emailContent, strings)
          : username(.loginUsernameTitle, .loginUsernameError, identifierRule, strings),
        password(.loginPasswordTitle, .loginPasswordError, passwordRule, .password, strings),
      ],
      title: strings[.loginTitle], buttonTitle: strings[.loginButtonTitle], messagePlacement: messagePlacement)
    var fields = [
      email(.registerEmailTitle, .registerEmailError, .email, .emailAddress, strings),
      password(.registerPasswordTitle, .registerPasswordError, newPasswordRule, .newPassword, strings),
    ]
    if signUpHasUsername {
      fields.insert(username(.registerUsernameTitle, .registerUsernameError, .username, strings), at: 0)
    }
    let registration = FormSpecification(
      fields: fields, title: strings[.registerTitle], buttonTitle: strings[.registerButtonTitle],
      messagePlacement: messagePlacement)
    return AuthProfile(name: name, strings: strings, login: login, registration: registration)
  }

  private static func username(
    _ title: StringKey, _ error: StringKey, _ rule: FieldRule, _ strings: StringsTable
  ) -> FormField {
    FormField(
      name: .username, rule: rule, hints: FieldHints(contentType: .username), title: strings[title],
      errorText: strings[error])
  }

  private static func email(
    _ title: StringKey, _ error: StringKey, _ rule: FieldRule, _ content: FieldHints.ContentType,
    _ strings: StringsTable
  ) -> FormField {
    FormField(
      name: .email, rule: rule, hints: FieldHints(keyboard: .email, contentType: content), title: strings[title],
      errorText: strings[error])
  }

  private static func password(
    _ title: StringKey, _ error: StringKey, _ rule: FieldRule, _ content: FieldHints.ContentType,
    _ strings: StringsTable
  ) -> FormField {
    FormField(
      name: .password, rule: rule, hints: FieldHints(contentType: content, isSecure: true, returnKey: .go),
      title: strings[title], errorText: strings[error])
  }
}

/// What a screen tells its keyboard and its password manager about a field (D5.6), as data, so that no screen library is needed here.
public struct FieldHints: Sendable, Hashable {
  /// Which keys come up.
  public enum Keyboard: String, Sendable, Hashable {
    /// Letters.
    case standard
    /// Letters with `@` and dot at hand.
    case email
  }

  /// What password managers may fill in.
  public enum ContentType: String, Sendable, Hashable {
    /// A saved name to sign in with, which may be an email: what fills a whole sign-in form (D5.6).
    case username
    /// An email (D1).
    case emailAddress
    /// A saved password.
    case password
    /// A password that is being chosen: a manager may suggest one.
    case newPassword
  }

  /// What the Return key says and does (D5.7).
  public enum ReturnKey: String, Sendable, Hashable {
    /// Moves to the next field.
    case next
    /// Submits the form.
    case go
  }

  /// Which keys come up.
  public var keyboard: Keyboard
  /// What password managers may fill in.
  public var contentType: ContentType
  /// Whether the keyboard begins sentences in upper case; false in every field of ours.
  public var capitalizes: Bool
  /// Whether the keyboard corrects words; false in every field of ours.
  public var autocorrects: Bool
  /// Whether what is typed stays hidden.
  public var isSecure: Bool
  /// What the Return key says and does.
  public var returnKey: ReturnKey

  /// Makes hints from their parts.
  public init(
    keyboard: Keyboard = .standard, contentType: ContentType, capitalizes: Bool = false, autocorrects: Bool = false,
    isSecure: Bool = false, returnKey: ReturnKey = .next
  ) {
    self.keyboard = keyboard
    self.contentType = contentType
    self.capitalizes = capitalizes
    self.autocorrects = autocorrects
    self.isSecure = isSecure
    self.returnKey = returnKey
  }
}

/// What every screen with a form has in common: the form, its profile, and the few things that a screen binds to.
///
/// Everything here is read from, or handed to, the form's state machine; what differs between screens is only who is asked.
@MainActor
public protocol FormViewModel: AnyObject {
  /// The form: its fields, errors and cursor.
  var form: FormModel { get }
  /// The profile whose texts and rules it follows.
  var profile: AuthProfile { get }
  /// Back to an empty form.
  func reset()
}

extension FormViewModel {
  /// What stands in a field, as typed; "" where the form has no such field, and then setting it does nothing.
  public subscript(field: FieldName) -> String {
    get { form.state[field] }
    set { form.dispatch(.edited(field, newValue)) }
  }

  /// The password as typed.
  public var password: String {
    get { self[.password] }
    set { self[.password] = newValue }
  }

  /// Whether a submission is running: spinner in the button, fields locked (D5.3).
  public var isLoading: Bool { form.state.isSubmitting }

  /// What the server said of the last try (D5.4, D1.5), where that belongs to no field; gone when a field is edited.
  public var errorMessage: String? { form.state.message }

  /// What a screen reader is to say, the newest (D5.9).
  public var announcement: Announcement? { form.announcement }

  /// Whether the button is enabled (D1.5, D5.3).
  public var canSubmit: Bool { form.state.canSubmit }

  /// Sends what is typed, and returns when that has succeeded or failed. A second call while one runs does nothing (D5.8).
  public func submit() async {
    await form.handle(.submitPressed)
  }

  /// The button was tapped: as `submit`, for callers that cannot wait.
  public func submitTapped() {
    form.dispatch(.submitPressed)
  }

  /// The user does not want to wait any longer: the form takes input again, without a message.
  public func giveUp() {
    form.giveUp()
  }
}

import AuthForms
import TerminalScreen

extension FormScreen {
  /// What stands around a form.
  struct Surroundings: Sendable, Hashable {
    /// Which server is asked.
    var server: String
    /// What is said before anything is typed: that the session has ended, that the account is there.
    var notice: String?
    /// The keys, while the form takes input and while it waits.
    var keys: (form: String, working: String)

    static func == (one: Surroundings, other: Surroundings) -> Bool {
      one.server == other.server && one.notice == other.notice && one.keys == other.keys
    }
    func hash(into hasher: inout Hasher) { hasher.combine(server) }
  }

  /// The form as it is drawn: in boxes where there is room, else without, else the part that has the cursor.
  func frame(
    _ form: FormState, _ around: Surroundings, size: ScreenSize, look: ScreenLook, spinner: Int
  ) -> ScreenFrame {
    let boxed = layout(form, around, size, look, spinner, isBoxed: true)
    if boxed.height <= size.rows { return boxed.frame(rows: size.rows) }
    return layout(form, around, size, look, spinner, isBoxed: false).frame(rows: size.rows)
  }

  private func layout(
    _ form: FormState, _ around: Surroundings, _ size: ScreenSize, _ look: ScreenLook, _ spinner: Int, isBoxed: Bool
  ) -> ScreenLayout {
    var page = ScreenLayout(size: size, look: look)
    page.text(form.specification.title, TextStyle(isBold: true))
    page.text(around.server, TextStyle(isDim: true))
    if let notice = around.notice { page.text(notice) }
    if isBoxed { page.blank() }
    for field in form.specification.fields {
      if target == .field(field.name) {
        page.mustBeSeen { self.draw(field, form, on: &$0, isBoxed: isBoxed) }
      } else {
        draw(field, form, on: &page, isBoxed: isBoxed)
      }
    }
    if form.specification.messagePlacement == .aboveButton { message(form, on: &page, isBoxed: isBoxed) }
    let isSubmitting = form.isSubmitting
    func button(_ page: inout ScreenLayout) {
      page.button(
        form.specification.buttonTitle, color: .blue, isEnabled: form.canSubmit,
        isCurrent: target == .button && !form.isLocked, spinner: isSubmitting ? spinner : nil)
    }
    if target == .button || isSubmitting { page.mustBeSeen(button) } else { button(&page) }
    if form.specification.messagePlacement == .belowButton { message(form, on: &page, isBoxed: isBoxed) }
    if isBoxed { page.blank() }
    page.text(isSubmitting ? around.keys.working : around.keys.form, TextStyle(isDim: true))
    return page
  }

  private func draw(_ field: FormField, _ form: FormState, on page: inout ScreenLayout, isBoxed: Bool) {
    let isCurrent = target == .field(field.name) && !form.isLocked
    page.text(field.title, TextStyle(isBold: isCurrent))
    page.field(
      input(field.name), isSecret: field.hints.isSecure, isCurrent: isCurrent, isLocked: form.isLocked, isBoxed: isBoxed
    )
    if let error = form.error(for: field.name) {
      page.error(error)
    } else if isBoxed {
      // Kept free, so that nothing jumps when an error comes or goes.
      page.blank()
    }
  }

  private func message(_ form: FormState, on page: inout ScreenLayout, isBoxed: Bool) {
    if let message = form.message {
      page.error(message)
    } else if isBoxed, form.specification.messagePlacement == .aboveButton {
      page.blank()
    }
  }
}

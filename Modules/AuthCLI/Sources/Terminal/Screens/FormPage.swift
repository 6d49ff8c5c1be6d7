import AuthForms
import Observation
import TerminalScreen

/// A form's screen: its view model, and the terminal's part of it.
@MainActor
@Observable
final class FormPage: ScreenPage {
  /// Not observed: every key is followed by a drawing, and a drawing brings this in line first. If that counted as a change, it would be
  /// drawn, and so for ever.
  @ObservationIgnored private var screen: FormScreen
  var around: FormScreen.Surroundings
  @ObservationIgnored private let model: any FormViewModel
  @ObservationIgnored private let onCancel: @MainActor () -> Void

  init(_ model: any FormViewModel, around: FormScreen.Surroundings, onCancel: @escaping @MainActor () -> Void) {
    self.model = model
    self.around = around
    self.onCancel = onCancel
    screen = FormScreen(model.form.state)
    follow()
  }

  var isWorking: Bool { model.isLoading }

  func frame(size: ScreenSize, look: ScreenLook, spinner: Int) -> ScreenFrame {
    screen.frame(model.form.state, around, size: size, look: look, spinner: spinner)
  }

  func take(_ key: Key) {
    for action in screen.handle(key, model.form.state) {
      switch action {
      case .form(let event):
        // What was said before anything was typed has been read by now.
        if case .edited = event { around.notice = nil }
        model.form.dispatch(event)
      case .giveUp: model.giveUp()
      case .cancel: onCancel()
      }
    }
    follow()
  }

  func follow() {
    guard let event = screen.follow(model.form.state) else { return }
    model.form.dispatch(event)
    _ = screen.follow(model.form.state)
  }
}

import AuthForms
import Observation
import TerminalScreen

/// The home screen (D2.3, D5.5): a welcome, who is signed in and until when, and the way out.
///
/// The cursor begins on "Done", which keeps the session: a Return too many after the password must not sign out again.
@MainActor
@Observable
final class HomePage: ScreenPage {
  private enum Target {
    case done
    case logout
  }

  private var target = Target.done
  @ObservationIgnored private let model: HomeViewModel
  @ObservationIgnored private let details: @MainActor () -> [String]
  @ObservationIgnored private let captions: (done: String, keys: String)
  @ObservationIgnored private let onDone: @MainActor () -> Void
  @ObservationIgnored private let onLogout: @MainActor () -> Void

  init(
    _ model: HomeViewModel, captions: (done: String, keys: String), details: @escaping @MainActor () -> [String],
    onDone: @escaping @MainActor () -> Void, onLogout: @escaping @MainActor () -> Void
  ) {
    self.model = model
    self.captions = captions
    self.details = details
    self.onDone = onDone
    self.onLogout = onLogout
  }

  var isWorking: Bool { model.isWorking }

  func frame(size: ScreenSize, look: ScreenLook, spinner: Int) -> ScreenFrame {
    let isRoomy = size.rows >= 14
    var page = ScreenLayout(size: size, look: look)
    page.text(model.title, TextStyle(isBold: true))
    if isRoomy { page.blank() }
    for detail in details() { page.text(detail) }
    if let error = model.errorMessage { page.error(error) }
    if isRoomy { page.blank() }
    func button(_ title: String, _ target: Target, _ color: TextStyle.Color, spinner: Int?) {
      let isCurrent = self.target == target && !isWorking
      func draw(_ page: inout ScreenLayout) {
        page.button(title, color: color, isEnabled: !isWorking, isCurrent: isCurrent, spinner: spinner)
      }
      if isCurrent { page.mustBeSeen(draw) } else { draw(&page) }
    }
    button(captions.done, .done, .blue, spinner: nil)
    if isRoomy { page.blank() }
    button(
      model.logoutButtonTitle, .logout, model.logoutButtonStyle.color == .red ? .red : .blue,
      spinner: isWorking ? spinner : nil)
    if isRoomy { page.blank() }
    page.text(captions.keys, TextStyle(isDim: true))
    return page.frame(rows: size.rows)
  }

  func take(_ key: Key) {
    guard !isWorking else { return }
    switch key {
    case .tab, .backTab, .up, .down: target = target == .done ? .logout : .done
    case .enter, .text(" "): target == .done ? onDone() : onLogout()
    case .escape: onDone()
    default: break
    }
  }

  func follow() {}
}

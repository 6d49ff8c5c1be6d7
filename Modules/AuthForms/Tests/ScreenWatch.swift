import AuthForms
import Observation

/// Every screen that a model has shown, in order, however short.
@MainActor
final class ScreenWatch {
  private let screen: @MainActor () -> RootScreen
  private var past: [RootScreen] = []

  init(_ screen: @escaping @MainActor () -> RootScreen) {
    self.screen = screen
    watch()
  }

  /// The screens from first to last, without repetitions.
  var seen: [RootScreen] {
    (past + [screen()]).reduce(into: []) { if $0.last != $1 { $0.append($1) } }
  }

  /// `onChange` runs right before each change, on the same thread, while the old screen is still there.
  private func watch() {
    withObservationTracking {
      _ = screen()
    } onChange: { [weak self] in
      MainActor.assumeIsolated {
        guard let self else { return }
        self.past.append(self.screen())
        self.watch()
      }
    }
  }
}

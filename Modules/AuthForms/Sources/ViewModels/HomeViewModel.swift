import AuthSession
import AuthStorage
public import Observation

/// The home screen: a welcome and a way out (D2.3, D5.5).
@MainActor
@Observable
public final class HomeViewModel {
  /// Whether a sign-out is running: the button is locked.
  public private(set) var isWorking = false
  /// What went wrong with the last sign-out here: the server's part never shows (D4.7).
  public private(set) var errorMessage: String?
  /// The screen's title (D2.4).
  public let title: String
  /// The button's caption (D2.4).
  public let logoutButtonTitle: String
  /// The button's look (D2.5).
  public let logoutButtonStyle = MainButtonStyle(color: .red)

  @ObservationIgnored private let signOut: @MainActor () async throws -> Void
  @ObservationIgnored private let profile: AuthProfile

  /// Makes the screen's model.
  ///
  /// - Parameter signOut: ends the session; the root then switches by itself.
  public init(profile: AuthProfile = .loginForm, signOut: @escaping @MainActor () async throws -> Void) {
    self.profile = profile
    self.signOut = signOut
    title = profile.strings[.homeTitle]
    logoutButtonTitle = profile.strings[.homeLogoutButtonTitle]
  }

  /// Signs out; a second call while one runs does nothing.
  public func logout() async {
    guard !isWorking else { return }
    isWorking = true
    errorMessage = nil
    defer { isWorking = false }
    do {
      try await signOut()
    } catch let error as StoreError {
      errorMessage = storage(error)
    } catch let error as SessionError where error.storeError != nil {
      errorMessage = error.storeError.map { storage($0) }
    } catch {
      guard case .refused(let refusal) = FormModel.Outcome(failure: error, in: profile, form: profile.login) else {
        return
      }
      errorMessage = refusal.message
    }
  }

  private func storage(_ error: StoreError) -> String {
    profile.strings[.homeErrorStorage, filling: ["reason": error.message]]
  }
}

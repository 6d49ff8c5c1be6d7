public import AuthSession
import AuthStorage
public import Observation

/// The root's model over the session (D1.4, D2.3): it switches the whole app on whether somebody is signed in, and on nothing else.
///
/// A session that ends anywhere, by the user, by the server (D3.6) or in another process, leads to the sign-in screen by itself.
@MainActor
@Observable
public final class RootViewModel {
  /// The one owner of "signed in?".
  @ObservationIgnored public let session: SessionManager
  @ObservationIgnored private let profile: AuthProfile
  @ObservationIgnored private var hasRestored = false

  /// Makes the model; nothing is read before `restore`.
  public init(session: SessionManager, profile: AuthProfile = .loginForm) {
    self.session = session
    self.profile = profile
  }

  /// The screen that belongs to the session's state: a splash while nothing is known, so that a returning user never sees the
  /// sign-in screen (D4.3).
  public var screen: RootScreen {
    switch session.state {
    case .unknown: .splash
    case .unavailable(let error):
      .unavailable(profile.strings[.homeErrorUnknownUser, filling: ["reason": error.message]])
    case .signedOut: .signIn
    case .signedIn: .home
    }
  }

  /// Why the last session ended, to be shown on the sign-in screen; nil if nobody wonders (S22).
  public var notice: String? {
    switch session.state {
    case .signedOut(.refreshRefused), .signedOut(.elsewhere): profile.strings[.loginSessionEnded]
    default: nil
    }
  }

  /// Reads the store, once at launch; later calls do nothing, unless the store could not answer.
  public func restore() async {
    if case .unavailable = session.state { hasRestored = false }
    guard !hasRestored else { return }
    hasRestored = true
    await session.restore()
  }
}

#if canImport(SwiftUI)
  public import AuthForms
  public import SwiftUI

  /// The whole app: a splash, the sign-in flow, or the app itself, by what the root's model says, and by nothing else (D1.4, D2.3, D4.3).
  ///
  /// ```swift
  /// @main struct SnapgramApp: App {
  ///   @State private var root = RootViewModel(session: session)
  ///   var body: some Scene {
  ///     WindowGroup {
  ///       AuthRootView(root, profile: .loginForm) { SignInFlowView(flow) } home: { HomeView(home) }
  ///     }
  ///   }
  /// }
  /// ```
  public struct AuthRootView<SignIn: View, Home: View>: View {
    private let screen: @MainActor () -> RootScreen
    private let restore: @MainActor () async -> Void
    private let retry: @MainActor () -> Void
    private let retryTitle: String
    private let signIn: () -> SignIn
    private let home: () -> Home

    /// Switches on the session's state (D1.4); it is read from the store when the view appears (D4.3).
    public init(
      _ model: RootViewModel, profile: AuthProfile = .loginForm, @ViewBuilder signIn: @escaping () -> SignIn,
      @ViewBuilder home: @escaping () -> Home
    ) {
      screen = { model.screen }
      restore = { await model.restore() }
      retry = { model.restoreTapped() }
      retryTitle = profile.strings[.rootRetryButtonTitle]
      self.signIn = signIn
      self.home = home
    }

    /// Switches on what an `AuthService` says (D4.3).
    public init(
      _ model: AuthViewModel, profile: AuthProfile = .supabase, @ViewBuilder signIn: @escaping () -> SignIn,
      @ViewBuilder home: @escaping () -> Home
    ) {
      screen = { model.screen }
      restore = { await model.restore() }
      retry = { model.restoreTapped() }
      retryTitle = profile.strings[.rootRetryButtonTitle]
      self.signIn = signIn
      self.home = home
    }

    public var body: some View {
      content.task { [restore] in await restore() }
    }

    @ViewBuilder private var content: some View {
      switch screen() {
      case .splash: SplashView()
      case .signIn: signIn()
      case .home: home()
      case .unavailable(let text): UnavailableView(text: text, buttonTitle: retryTitle, retry: retry)
      }
    }
  }
#endif

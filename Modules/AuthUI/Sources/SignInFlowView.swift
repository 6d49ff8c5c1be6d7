#if canImport(SwiftUI)
  public import AuthForms
  public import SwiftUI

  /// The sign-in screen with a way to the sign-up screen (D1.4); which of the two shows its model decides.
  public struct SignInFlowView: View {
    @Bindable private var flow: SignInFlowViewModel

    /// Makes the flow's screens.
    public init(_ flow: SignInFlowViewModel) {
      self.flow = flow
    }

    public var body: some View {
      NavigationStack(path: $flow.path) {
        VStack(spacing: 0) {
          LoginView(flow.login, notice: flow.notice)
          Button(flow.registrationTitle) { flow.registrationTapped() }.padding(CGFloat(MainButtonStyle.screenPadding))
        }
        .navigationDestination(for: SignInFlowViewModel.Step.self) { step in
          switch step {
          case .registration: RegistrationView(flow.registration)
          }
        }
      }
    }
  }

  struct SignInFlowPreviews: PreviewProvider {
    static var previews: some View {
      SignInFlowView(SignInFlowViewModel(login: FakeAuthService(), registration: FakeAuthService()))
    }
  }
#endif

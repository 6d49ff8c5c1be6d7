#if canImport(SwiftUI)
  public import AuthForms
  public import SwiftUI

  /// The sign-up screen of every profile (D1.6, D4.6), with the same states as the sign-in screen.
  public struct RegistrationView: View {
    private let model: RegistrationViewModel

    /// Makes the screen.
    public init(_ model: RegistrationViewModel) {
      self.model = model
    }

    public var body: some View {
      FormView(form: model.form, notice: nil)
    }
  }

  struct RegistrationPreviews: PreviewProvider {
    static var previews: some View { RegistrationView(RegistrationViewModel(service: FakeAuthService())) }
  }
#endif

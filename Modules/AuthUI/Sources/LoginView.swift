#if canImport(SwiftUI)
  public import AuthForms
  public import SwiftUI

  /// The sign-in screen of every profile (D1.5, D2.2, D5).
  public struct LoginView: View {
    private let model: LoginViewModel
    private let notice: String?

    /// Makes the screen.
    ///
    /// - Parameter notice: what is said above the form, such as why the last session ended (S22).
    public init(_ model: LoginViewModel, notice: String? = nil) {
      self.model = model
      self.notice = notice
    }

    public var body: some View {
      FormView(form: model.form, notice: notice)
    }
  }

  struct LoginPreviews: PreviewProvider {
    static var previews: some View {
      ForEach(AuthProfile.all, id: \.name) { profile in
        LoginView(LoginViewModel(profile: profile)).previewDisplayName(profile.name)
      }
    }
  }
#endif

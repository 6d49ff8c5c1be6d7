#if canImport(SwiftUI)
  public import AuthForms
  public import SwiftUI

  /// The home screen: a welcome, and a way out (D2.3, D5.5). An app with more to show puts its own screen here (D1.4, D4.3).
  public struct HomeView: View {
    private let model: HomeViewModel

    /// Makes the screen.
    public init(_ model: HomeViewModel) {
      self.model = model
    }

    public var body: some View {
      VStack(spacing: 16) {
        Text(model.title).font(.largeTitle).bold().accessibilityAddTraits(.isHeader)
        Spacer()
        MessageView(text: model.errorMessage)
        Button(model.logoutButtonTitle) { model.logoutTapped() }
          .buttonStyle(MainButton(model.logoutButtonStyle))
          .disabled(model.isWorking)
      }
      .padding(CGFloat(MainButtonStyle.screenPadding))
    }
  }

  struct HomePreviews: PreviewProvider {
    static var previews: some View { HomeView(HomeViewModel {}) }
  }
#endif

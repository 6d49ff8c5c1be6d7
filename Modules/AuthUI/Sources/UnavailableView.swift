#if canImport(SwiftUI)
  import AuthForms
  import SwiftUI

  /// The store could not say whether somebody is signed in: it is said, and can be asked again (S21).
  struct UnavailableView: View {
    let text: String
    let buttonTitle: String
    let retry: @MainActor () -> Void

    var body: some View {
      VStack(spacing: 16) {
        Text(text).multilineTextAlignment(.center)
        Button(buttonTitle, action: retry).buttonStyle(MainButton())
      }
      .padding(CGFloat(MainButtonStyle.screenPadding))
      .frame(maxWidth: .infinity, maxHeight: .infinity)
    }
  }

  struct UnavailablePreviews: PreviewProvider {
    static var previews: some View {
      UnavailableView(text: "It cannot be told whether you are signed in.", buttonTitle: "Try again") {}
    }
  }
#endif

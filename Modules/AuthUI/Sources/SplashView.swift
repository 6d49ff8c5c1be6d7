#if canImport(SwiftUI)
  public import SwiftUI

  /// What shows until it is known whether somebody is signed in: never the sign-in screen (D4.3).
  public struct SplashView: View {
    /// Makes the screen.
    public init() {}

    public var body: some View {
      ProgressView().frame(maxWidth: .infinity, maxHeight: .infinity)
    }
  }

  struct SplashPreviews: PreviewProvider {
    static var previews: some View { SplashView() }
  }
#endif

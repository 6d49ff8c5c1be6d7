#if canImport(SwiftUI)
  public import AuthForms
  public import SwiftUI

  /// The one look of the main buttons (D2.5), read from `MainButtonStyle`: only the color differs.
  public struct MainButton: ButtonStyle {
    private let style: MainButtonStyle

    /// Makes the look, blue unless told otherwise.
    public init(_ style: MainButtonStyle = MainButtonStyle()) {
      self.style = style
    }

    /// The caption in the look, dimmed while it is pressed or cannot be.
    public func makeBody(configuration: Configuration) -> some View {
      Look(style: style, configuration: configuration)
    }

    private struct Look: View {
      let style: MainButtonStyle
      let configuration: Configuration
      @Environment(\.isEnabled) private var isEnabled

      var body: some View {
        configuration.label
          .font(.system(size: CGFloat(style.fontSize)))
          .bold(style.isBold)
          .foregroundStyle(.white)
          .tint(.white)
          .frame(
            maxWidth: style.maximumWidth.map { CGFloat($0) }, minHeight: 44, maxHeight: CGFloat(style.maximumHeight)
          )
          .background(style.color.shown)
          .clipShape(RoundedRectangle(cornerRadius: CGFloat(style.cornerRadius)))
          .opacity(style.opacity(isPressed: configuration.isPressed, isEnabled: isEnabled))
      }
    }
  }

  extension MainButtonStyle.Color {
    fileprivate var shown: Color {
      switch self {
      case .blue: .blue
      case .red: .red
      }
    }
  }
#endif

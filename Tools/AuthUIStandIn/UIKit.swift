// A stand-in for the part of UIKit that AuthUI uses, and for SwiftUI's modifiers over it; see SwiftUI.swift beside it.

public import SwiftUI

public enum UIKeyboardType: Sendable { case `default`, emailAddress }
public struct UITextContentType: Sendable {
  public static let username = UITextContentType()
  public static let emailAddress = UITextContentType()
  public static let password = UITextContentType()
  public static let newPassword = UITextContentType()
}
public struct TextInputAutocapitalization: Sendable {
  public static var never: TextInputAutocapitalization { TextInputAutocapitalization() }
  public static var sentences: TextInputAutocapitalization { TextInputAutocapitalization() }
}

@MainActor
extension View {
  public func textContentType(_ type: UITextContentType?) -> some View { self }
  public func keyboardType(_ type: UIKeyboardType) -> some View { self }
  public func textInputAutocapitalization(_ autocapitalization: TextInputAutocapitalization?) -> some View { self }
}

// A stand-in for the part of AppKit that AuthUI uses, and for SwiftUI's modifier over it; see SwiftUI.swift beside it.

public import SwiftUI

public struct NSTextContentType: Sendable {
  public static let username = NSTextContentType()
  public static let emailAddress = NSTextContentType()
  public static let password = NSTextContentType()
  public static let newPassword = NSTextContentType()
}

@MainActor
extension View {
  public func textContentType(_ type: NSTextContentType?) -> some View { self }
}

// A stand-in for the part of Accessibility that AuthUI uses; see SwiftUI.swift beside it.

public enum AccessibilityNotification {
  public struct Announcement {
    public init(_ announcement: String) {}
    public func post() {}
  }
}

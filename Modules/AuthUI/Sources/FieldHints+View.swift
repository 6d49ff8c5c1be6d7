#if canImport(SwiftUI)
  import AuthForms
  import SwiftUI

  #if canImport(UIKit)
    import UIKit
  #elseif canImport(AppKit)
    import AppKit
  #endif

  extension View {
    /// Tells the keyboard and the password manager what a field is for (D5.6, D5.7).
    func hinted(_ hints: FieldHints) -> some View {
      self
        .autocorrectionDisabled(!hints.autocorrects)
        .submitLabel(hints.returnKey.label)
        .textContentType(hints.contentType.shown)
        .keyboard(hints)
    }

    #if canImport(UIKit)
      fileprivate func keyboard(_ hints: FieldHints) -> some View {
        self.keyboardType(hints.keyboard.shown).textInputAutocapitalization(hints.capitalization)
      }
    #else
      /// A keyboard of keys has nothing to be told.
      fileprivate func keyboard(_ hints: FieldHints) -> some View { self }
    #endif
  }

  extension FieldHints.ReturnKey {
    fileprivate var label: SubmitLabel {
      switch self {
      case .next: .next
      case .go: .go
      }
    }
  }

  #if canImport(UIKit)
    extension FieldHints {
      fileprivate var capitalization: TextInputAutocapitalization {
        switch capitalizes {
        case true: .sentences
        case false: .never
        }
      }
    }

    extension FieldHints.Keyboard {
      fileprivate var shown: UIKeyboardType {
        switch self {
        case .standard: .default
        case .email: .emailAddress
        }
      }
    }

    extension FieldHints.ContentType {
      fileprivate var shown: UITextContentType {
        switch self {
        case .username: .username
        case .emailAddress: .emailAddress
        case .password: .password
        case .newPassword: .newPassword
        }
      }
    }
  #elseif canImport(AppKit)
    extension FieldHints.ContentType {
      fileprivate var shown: NSTextContentType {
        switch self {
        case .username: .username
        case .emailAddress: .emailAddress
        case .password: .password
        case .newPassword: .newPassword
        }
      }
    }
  #endif
#endif

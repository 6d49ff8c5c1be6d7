/// A failure of Apple's keychain, with its status code (D3.1).
public enum KeychainError: Error, Sendable, Hashable {
  /// A call gave this `OSStatus`.
  case unhandled(Int32)

  /// The `OSStatus`.
  public var status: Int32 {
    switch self {
    case .unhandled(let status): status
    }
  }

  /// What it means for a store (S21): −25308 is `locked`, since the item is readable after the first unlock only; a
  /// dismissed prompt is `cancelled`. None means "signed out".
  public var storeError: StoreError {
    switch status {
    case -25308:
      StoreError(
        .locked, "The keychain is locked (status −25308).",
        hint: "Unlock the device once after its start, then try again.")
    case -34018:
      StoreError(
        .unavailable, "The keychain refuses this program (status −34018): it lacks an entitlement.",
        hint: "Sign the program with the entitlement keychain-access-groups, and check the access group's name.")
    case -128: StoreError(.cancelled, "The keychain's prompt was dismissed (status −128).")
    case -25293: StoreError(.locked, "The keychain did not accept who asked (status −25293).")
    case -25291: StoreError(.unavailable, "There is no keychain to be used (status −25291).")
    case -34: StoreError(.full, "The disk of the keychain is full (status −34).")
    case -61: StoreError(.readOnly, "The keychain cannot be written (status −61).")
    case -26275: StoreError(.corrupted, "The keychain cannot decode its item (status −26275).")
    default: StoreError(.unavailable, "The keychain failed with status \(status).")
    }
  }
}

extension KeychainError: CustomStringConvertible {
  public var description: String { storeError.message }
}

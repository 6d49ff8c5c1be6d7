/// The fields that the screens of this project have; servers name their field errors alike (D1.7).
public enum FieldName: String, Sendable, Hashable, CaseIterable, Codable {
  /// The name that others see, and in D2 the one to sign in with.
  case username
  /// The address to sign in with.
  case email
  /// The password: never trimmed, never shown, never kept after a sign-in.
  case password
}

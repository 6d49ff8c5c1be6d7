public import AuthModels

/// A place for one token bundle (D1.2): the store that anyone can write.
///
/// `load` and `clear` throw, since a store that cannot be read is not an empty one (S21). All three may be called from
/// any task.
public protocol TokenStore: Sendable {
  /// Replaces what is stored; once it returns, a kill loses nothing.
  func save(_ bundle: TokenBundle) async throws
  /// What is stored, or nil if nothing is.
  func load() async throws -> TokenBundle?
  /// Removes what is stored; removing nothing is no error.
  func clear() async throws
}

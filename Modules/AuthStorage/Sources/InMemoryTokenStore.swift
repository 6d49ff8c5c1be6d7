public import AuthModels
import Groundwork

/// A token store that forgets everything at exit (D1.2): for tests, previews and `--store memory`.
///
/// It never throws. Copies of the reference share one bundle, and all calls may come from any task.
public final class InMemoryTokenStore: TokenStore {
  private let bundle: Guarded<TokenBundle?>

  /// Makes a store that holds `bundle`; nothing unless told otherwise.
  public init(_ bundle: TokenBundle? = nil) {
    self.bundle = Guarded(bundle)
  }

  /// Replaces the bundle.
  public func save(_ bundle: TokenBundle) async {
    self.bundle.withLock { $0 = bundle }
  }

  /// The bundle, or nil if there is none.
  public func load() async -> TokenBundle? {
    bundle.withLock { $0 }
  }

  /// Removes the bundle.
  public func clear() async {
    bundle.withLock { $0 = nil }
  }
}

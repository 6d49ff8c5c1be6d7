/// A shell for which a table writes its completion.
public enum Shell: String, Sendable, Hashable, CaseIterable {
  /// GNU bash, 4 or newer.
  case bash
  /// Z shell.
  case zsh
  /// Friendly interactive shell, 3 or newer.
  case fish
}

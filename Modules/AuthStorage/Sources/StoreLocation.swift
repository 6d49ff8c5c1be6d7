/// Where the store stands unless the user says otherwise.
public enum StoreLocation: Sendable {
  /// `$XDG_STATE_HOME/chirp`, else `~/.local/state/chirp`, by the XDG base directory specification: a relative value is
  /// ignored.
  ///
  /// - Throws: `unavailable` if neither variable gives an absolute path.
  public static func defaultFolder(environment: [String: String]) throws(StoreError) -> String {
    if let state = environment["XDG_STATE_HOME"], state.hasPrefix("/") { return joined(state, "chirp") }
    if let home = environment["HOME"], home.hasPrefix("/") { return joined(home, ".local/state/chirp") }
    throw StoreError(
      .unavailable, "There is no place for the session store: neither XDG_STATE_HOME nor HOME is an absolute path.",
      hint: "Set CHIRP_STATE_DIR, or pass --state-dir.")
  }

  private static func joined(_ folder: String, _ rest: String) -> String {
    folder.hasSuffix("/") ? folder + rest : "\(folder)/\(rest)"
  }
}

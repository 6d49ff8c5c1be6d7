/// With which signs a screen is drawn, and whether in color: what the user's terminal, locale and wishes allow.
struct ScreenLook: Sendable, Hashable {
  /// The signs.
  struct Signs: Sendable, Hashable {
    var horizontal: String
    var vertical: String
    /// Corners: top left, top right, bottom left, bottom right.
    var corners: [String]
    /// Stands for a character of a password.
    var mask: Character
    /// What turns in the button.
    var spinner: [String]
    /// Around the caption of the button that has the cursor.
    var pointers: (left: String, right: String)

    static let unicode = Signs(
      horizontal: "─", vertical: "│", corners: ["┌", "┐", "└", "┘"], mask: "•",
      spinner: ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"], pointers: ("›", "‹"))
    static let ascii = Signs(
      horizontal: "-", vertical: "|", corners: ["+", "+", "+", "+"], mask: "*", spinner: ["|", "/", "-", "\\"],
      pointers: (">", "<"))

    static func == (one: Signs, other: Signs) -> Bool { one.mask == other.mask && one.spinner == other.spinner }
    func hash(into hasher: inout Hasher) { hasher.combine(mask) }
  }

  var signs: Signs
  var usesColor: Bool

  /// Reads the environment: `NO_COLOR`, and the locale's character set.
  init(environment: [String: String], noColor: Bool) {
    usesColor = !noColor && (environment["NO_COLOR"] ?? "").isEmpty
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].compactMap { environment[$0] }.first { !$0.isEmpty } ?? ""
    signs = Self.isUTF8(locale) && environment["TERM"] != "linux" ? .unicode : .ascii
  }

  /// Who says nothing has a terminal of today; who says `C`, or names another character set, has not.
  private static func isUTF8(_ locale: String) -> Bool {
    guard locale != "C", locale != "POSIX" else { return false }
    guard let dot = locale.firstIndex(of: ".") else { return true }
    let set = locale[locale.index(after: dot)...].prefix { $0 != "@" }.lowercased().filter { $0 != "-" }
    return set == "utf8"
  }
}

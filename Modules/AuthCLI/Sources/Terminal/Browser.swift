#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The user's browser.
public enum Browser: Sendable {
  /// Opens a page, best effort: `BROWSER`, where it names a program, else the desktop's own way. Whether one opened nobody can tell for sure;
  /// so the address is always shown as well.
  ///
  /// The program gets the address as one argument, by no shell; its streams are closed.
  public static func open(_ url: String, environment: [String: String]) {
    guard url.hasPrefix("https://") || url.hasPrefix("http://"), url.utf8.allSatisfy({ 0x21...0x7E ~= $0 }) else {
      return
    }
    #if canImport(Darwin)
      let usual: String? = "open"
    #else
      let hasDesktop = ["DISPLAY", "WAYLAND_DISPLAY"].contains { !(environment[$0] ?? "").isEmpty }
      let usual: String? = hasDesktop ? "xdg-open" : nil
    #endif
    // A list of programs, or one with arguments, is for a shell: xdg-open knows how.
    let named = environment["BROWSER"].flatMap { $0.isEmpty || $0.contains(where: { ": %".contains($0) }) ? nil : $0 }
    guard let program = named ?? usual else { return }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    for stream in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] {
      posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", O_RDWR, 0)
    }
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    // Signals are blocked in every thread here, and a child would inherit that.
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    var words: [UnsafeMutablePointer<CChar>?] = [strdup(program), strdup(url), nil]
    defer { for word in words { free(word) } }
    var child = pid_t()
    _ = posix_spawnp(&child, program, &actions, &attributes, &words, environ)
  }
}

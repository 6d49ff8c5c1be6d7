import CLibevent

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Notices when files change; lives on the loop's thread.
///
/// The folders are watched, by inotify where there is one, else by looking twice a second: an editor that writes another file and renames
/// it leaves a watch on the first one behind. What has changed is decided by looking at the files alone.
final class FileWatch {
  /// How long nothing more may happen before the files are looked at: a file is often emptied first and written then.
  private static let quietTime = Duration.milliseconds(50)
  private static let pollingInterval = Duration.milliseconds(500)
  /// A file that is being replaced is missing for a moment; after so many looks it is gone.
  private static let patience = 20

  private let files: [String]
  private unowned let loop: EventLoop
  private let onChange: @Sendable () -> Void
  private var known: [FileIdentity]
  private var missing = 0
  /// Counts what happens, so that only the last event's look counts.
  private var lastEvent = 0
  private var descriptor: Int32 = -1
  private var event: OpaquePointer?

  init(_ files: [String], known: [FileIdentity], loop: EventLoop, onChange: @escaping @Sendable () -> Void) {
    self.files = files
    self.known = known
    self.loop = loop
    self.onChange = onChange
  }

  /// Begins to watch; what has changed since the files were known is noticed too.
  func start() {
    if !watchFolders() { poll() }
    lookSoon()
  }

  /// Gives the descriptor and the event back.
  func free() {
    if let event { event_free(event) }
    event = nil
    if descriptor >= 0 { close(descriptor) }
    descriptor = -1
  }

  private func poll() {
    loop.scheduleOnLoop(after: Self.pollingInterval) { [weak self] in
      guard let self else { return }
      self.look()
      self.poll()
    }
  }

  private func lookSoon() {
    lastEvent += 1
    let event = lastEvent
    loop.scheduleOnLoop(after: Self.quietTime) { [weak self] in
      guard let self, self.lastEvent == event else { return }
      self.look()
    }
  }

  private func look() {
    let now = files.map(FileIdentity.init)
    guard now != known else { return }
    if now.contains(where: { !$0.exists }), missing < Self.patience {
      missing += 1
      return lookSoon()
    }
    missing = 0
    known = now
    _ = addFolders()
    onChange()
  }

  #if canImport(Darwin)
    private func watchFolders() -> Bool { false }
    private func addFolders() -> Bool { false }
  #else
    /// False if inotify cannot be had: it has limits, and some file systems tell it nothing.
    private func watchFolders() -> Bool {
      descriptor = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
      guard descriptor >= 0, addFolders() else { return false }
      event = event_new(
        loop.base, descriptor, Int16(EV_READ | EV_PERSIST),
        { _, _, context in
          guard let context else { return }
          Unmanaged<FileWatch>.fromOpaque(context).takeUnretainedValue().happened()
        }, Unmanaged.passUnretained(self).toOpaque())
      guard let event, event_add(event, nil) == 0 else { return false }
      return true
    }

    /// Watches the folders in which the files stand, and those in which they really are.
    private func addFolders() -> Bool {
      guard descriptor >= 0 else { return false }
      let mask = UInt32(IN_CLOSE_WRITE | IN_MODIFY | IN_MOVED_TO | IN_MOVED_FROM | IN_CREATE | IN_DELETE | IN_ATTRIB)
      var isWatched = true
      for file in files {
        isWatched = inotify_add_watch(descriptor, Self.folder(of: file), mask) >= 0 && isWatched
        guard let real = realpath(file, nil) else { continue }
        let folder = Self.folder(of: String(cString: real))
        Glibc.free(real)
        isWatched = inotify_add_watch(descriptor, folder, mask) >= 0 && isWatched
      }
      return isWatched
    }

    private func happened() {
      var buffer = [UInt8](repeating: 0, count: 4096)
      while read(descriptor, &buffer, buffer.count) > 0 {}
      lookSoon()
    }

    private static func folder(of path: String) -> String {
      guard let slash = path.lastIndex(of: "/") else { return "." }
      return slash == path.startIndex ? "/" : String(path[..<slash])
    }
  #endif
}

import CLibevent

/// A timer of an event loop that fires once; lives on the loop's thread.
final class LoopTimer {
  let id: UInt64
  private unowned let loop: EventLoop
  private let work: () -> Void
  private var event: OpaquePointer?

  init(id: UInt64, loop: EventLoop, work: @escaping () -> Void) {
    self.id = id
    self.loop = loop
    self.work = work
  }

  /// Begins to count; false if there is no memory for it. The loop holds the timer until it fires.
  func start(after duration: Duration) -> Bool {
    event = event_new(
      loop.base, -1, 0,
      { _, _, context in
        guard let context else { return }
        Unmanaged<LoopTimer>.fromOpaque(context).takeUnretainedValue().fire()
      }, Unmanaged.passUnretained(self).toOpaque())
    guard let event else { return false }
    var interval = timeval(duration)
    guard event_add(event, &interval) == 0 else {
      free()
      return false
    }
    return true
  }

  /// Gives the event back.
  func free() {
    if let event { event_free(event) }
    event = nil
  }

  private func fire() {
    free()
    loop.forget(self)
    work()
  }
}

extension timeval {
  /// A duration as libevent takes it: rounded up to a microsecond, nothing below zero, a hundred years at most.
  init(_ duration: Duration) {
    let bounded = min(max(duration, .zero), .seconds(3_155_760_000))
    let (seconds, attoseconds) = bounded.components
    let microseconds = (attoseconds + 999_999_999_999) / 1_000_000_000_000
    self.init()
    tv_sec = .init(seconds + microseconds / 1_000_000)
    tv_usec = .init(microseconds % 1_000_000)
  }
}

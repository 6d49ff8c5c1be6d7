import AuthStorage
import CLibsecret
import Groundwork

/// One operation on the session bus: its calls run one after the other on this thread, none longer than its deadline.
///
/// GLib's own blocking calls cannot be given a deadline from the same thread, and those of D-Bus wait for 25 s. So each
/// call is made asynchronously on a main context of its own, beside a timer that cancels it.
final class GLibOperation {
  typealias Cancellable = UnsafeMutablePointer<GCancellable>

  private let context: OpaquePointer?

  /// Begins an operation on this thread; `end` it there.
  init() {
    context = g_main_context_new()
    g_main_context_push_thread_default(context)
  }

  func end() {
    // What is still on its way, such as the farewells of objects that were let go, is dealt with while it costs nothing.
    while g_main_context_iteration(context, 0) != 0 {}
    g_main_context_pop_thread_default(context)
    g_main_context_unref(context)
  }

  /// Starts a call and waits for its answer; `finish` takes the answer apart.
  func call<Answer>(
    within deadline: Duration, _ start: (Cancellable?, GAsyncReadyCallback?, gpointer?) -> Void,
    finish: (OpaquePointer, inout UnsafeMutablePointer<GError>?) -> Answer
  ) throws(StoreError) -> Answer {
    let reply = Reply()
    let limit = Limit()
    let sources = [limit.source(after: deadline, giveUp), limit.source(after: deadline + .seconds(1), abandon)]
    for source in sources { g_source_attach(source, context) }
    defer {
      for source in sources {
        g_source_destroy(source)
        g_source_unref(source)
      }
    }
    start(limit.cancellable, takeReply, Unmanaged.passRetained(reply).toOpaque())
    while reply.result == nil, !limit.isAbandoned { g_main_context_iteration(context, 1) }
    guard let result = reply.result else { throw Self.noAnswer(deadline) }
    var error: UnsafeMutablePointer<GError>?
    let answer = finish(result, &error)
    guard let error else { return answer }
    defer { g_error_free(error) }
    throw limit.isOver ? Self.noAnswer(deadline) : Self.meaning(of: error.pointee)
  }

  static func noAnswer(_ deadline: Duration) -> StoreError {
    StoreError(
      .unavailable, "The desktop's key store (Secret Service) did not answer within \(deadline.text).",
      hint: "Look whether it hangs, or waits for an answer on another screen.")
  }

  /// What an error of GLib's means for a store.
  private static func meaning(of error: GError) -> StoreError {
    let reason = error.message.map { String(cString: $0) } ?? "no reason given"
    if error.domain == secret_error_get_quark(), error.code == Int32(bitPattern: SECRET_ERROR_IS_LOCKED.rawValue) {
      return StoreError(
        .locked, "The desktop's key store (Secret Service) is locked.", hint: "Unlock it, and try again.")
    }
    if error.domain == g_io_error_quark(), error.code == Int32(bitPattern: G_IO_ERROR_CANCELLED.rawValue) {
      return StoreError(.cancelled, "The prompt of the desktop's key store was dismissed.")
    }
    return StoreError(
      .unavailable, "The desktop's key store (Secret Service) cannot be used: \(reason).",
      hint: "Start a Secret Service, such as gnome-keyring or KWallet, or choose another key source.")
  }
}

/// The answer of a call, once it has come.
private final class Reply {
  var result: OpaquePointer?

  deinit {
    if let result { g_object_unref(UnsafeMutableRawPointer(result)) }
  }
}

/// How long a call may take.
private final class Limit {
  let cancellable = g_cancellable_new()
  var isOver = false
  var isAbandoned = false

  /// A timer that holds on to this object until it is destroyed.
  func source(after time: Duration, _ action: GSourceFunc) -> UnsafeMutablePointer<GSource>? {
    let milliseconds = time.components.seconds * 1000 + time.components.attoseconds / 1_000_000_000_000_000
    let source = g_timeout_source_new(guint(clamping: milliseconds))
    g_source_set_callback(source, action, Unmanaged.passRetained(self).toOpaque()) { data in
      if let data { Unmanaged<Limit>.fromOpaque(data).release() }
    }
    return source
  }

  deinit { g_object_unref(cancellable) }
}

private func giveUp(_ data: gpointer?) -> gboolean {
  guard let data else { return 0 }
  let limit = Unmanaged<Limit>.fromOpaque(data).takeUnretainedValue()
  limit.isOver = true
  g_cancellable_cancel(limit.cancellable)
  return 0
}

private func abandon(_ data: gpointer?) -> gboolean {
  guard let data else { return 0 }
  Unmanaged<Limit>.fromOpaque(data).takeUnretainedValue().isAbandoned = true
  return 0
}

private func takeReply(_ source: UnsafeMutablePointer<GObject>?, _ result: OpaquePointer?, _ data: gpointer?) {
  guard let data else { return }
  let reply = Unmanaged<Reply>.fromOpaque(data).takeRetainedValue()
  guard let result else { return }
  g_object_ref(UnsafeMutableRawPointer(result))
  reply.result = result
}

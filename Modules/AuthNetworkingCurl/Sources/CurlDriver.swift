internal import AuthModels
internal import CLibcurl
internal import Groundwork

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// The way to the one thread that talks to libcurl: an inbox, and how to wake the thread.
///
/// The thread starts with the first request. After `stop` it ends as soon as what is on its way has been answered.
final class CurlDriver: Sendable {
  /// What the thread is to do.
  enum Order: Sendable {
    case start(CurlJob, CurlWaiter)
    case cancel(CurlWaiter)
  }

  private struct State {
    var orders: [Order] = []
    var bell: Bell?
    var isServed = false
    var isStopped = false
    /// Whether the thread sleeps, or is about to: only then it has to be woken.
    var isSleeping = false

    /// Wakes the thread if it sleeps.
    mutating func wake() {
      guard isSleeping else { return }
      isSleeping = false
      bell?.ring()
    }
  }

  let options: CurlTransport.Options
  let time: any TimeSource
  private let state = Guarded(State())

  init(options: CurlTransport.Options, time: any TimeSource) {
    self.options = options
    self.time = time
  }

  /// Hands an order to the thread; never blocks.
  func send(_ order: Order) {
    let isFirst = state.withLock { state in
      state.orders.append(order)
      state.wake()
      defer { state.isServed = true }
      return !state.isServed
    }
    if isFirst, !startThread() { abandon("The system gives no further thread.") }
  }

  /// Lets the thread end, once nothing is on its way.
  func stop() {
    state.withLock { state in
      state.isStopped = true
      state.wake()
    }
  }

  /// For the thread: how it is woken from now on.
  func serve(with bell: Bell) {
    state.withLock { $0.bell = bell }
  }

  /// For the thread: what has come since it asked last; nil if it shall end.
  func takeOrders(isIdle: Bool) -> [Order]? {
    state.withLock { state in
      state.isSleeping = false
      if isIdle, state.isStopped, state.orders.isEmpty {
        state.bell = nil
        state.isServed = false
        return nil
      }
      defer { state.orders.removeAll(keepingCapacity: true) }
      return state.orders
    }
  }

  /// For the thread: whether it may sleep, since nothing has come.
  func maySleep(isIdle: Bool) -> Bool {
    state.withLock { state in
      guard state.orders.isEmpty, !(isIdle && state.isStopped) else { return false }
      state.isSleeping = true
      return true
    }
  }

  /// For the thread: there is no libcurl, so nothing can be sent.
  private func abandon(_ message: String) {
    let orders = state.withLock { state in
      state.bell = nil
      state.isServed = false
      defer { state.orders = [] }
      return state.orders
    }
    for case .start(_, let waiter) in orders {
      waiter.finish(.failure(TransportError(.cannotConnect, mayHaveBeenSent: false, message: message)))
    }
  }

  /// Starts the thread with all signals blocked: they are for the program's own threads.
  private func startThread() -> Bool {
    var all = sigset_t()
    var before = sigset_t()
    sigfillset(&all)
    pthread_sigmask(SIG_SETMASK, &all, &before)
    defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
    let context = Unmanaged.passRetained(self)
    #if canImport(Darwin)
      var thread: pthread_t?
      let failure = pthread_create(&thread, nil, { curlThread($0) }, context.toOpaque())
      if failure == 0, let thread { pthread_detach(thread) }
    #else
      var thread = pthread_t()
      let failure = pthread_create(&thread, nil, { curlThread($0) }, context.toOpaque())
      if failure == 0 { pthread_detach(thread) }
    #endif
    if failure != 0 { context.release() }
    return failure == 0
  }

  fileprivate func run() {
    switch CurlLibrary.shared {
    case .failure(let failure): abandon(failure.message)
    case .success(let library):
      guard let loop = CurlLoop(library, driver: self) else {
        abandon("libcurl has no memory left.")
        return
      }
      loop.run()
    }
  }

  /// Wakes the thread.
  // Safe because libcurl lets any thread ring, and the driver rings under the lock under which it forgets the bell before the end.
  struct Bell: @unchecked Sendable {
    let multi: UnsafeMutableRawPointer
    let lib: UnsafePointer<libcurl_functions>

    func ring() {
      _ = libcurl_multi_wakeup(lib, multi)
    }
  }
}

private func curlThread(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  guard let context else { return nil }
  Unmanaged<CurlDriver>.fromOpaque(context).takeRetainedValue().run()
  return nil
}

internal import AuthModels
internal import CLibcurl
internal import Groundwork

/// The way to libcurl's one multi handle, which one thread at a time may use: a thread of its own, or a caller who finds it idle.
///
/// The thread starts with the first request, and waits for the network on behalf of everybody. While nothing is on its way it lays the
/// loop down; then the next caller sends with his own hands, since waking a thread costs more than sending. He waits for nothing: a few
/// looks at the socket are all that an answer from next door needs, and whatever takes longer is the thread's.
/// After `stop` the thread ends as soon as what is on its way has been answered.
final class CurlDriver: Sendable {
  /// What is to be done with libcurl.
  enum Order: Sendable {
    case start(CurlJob, CurlWaiter)
    case cancel(CurlWaiter)
  }

  /// Who uses libcurl now.
  private enum Holder: Sendable {
    case nobody
    case thread
    case caller
  }

  private struct State {
    var orders: [Order] = []
    var holder = Holder.nobody
    /// The loop, from the thread's start to its end.
    var loop: LaidDown?
    var isServed = false
    var isStopped = false
    /// Whether the loop was laid down with something on its way, which is for the thread alone to take up.
    var isHandedOver = false
    /// Whether the thread waits for the network, or is about to: only then libcurl has to wake it.
    var isPolling = false

    /// Wakes the thread where it waits for the network: the one call that libcurl allows any thread.
    mutating func ringLibcurl() {
      isPolling = false
      loop?.loop.ring()
    }
  }

  /// Whom to wake, after the lock is given back.
  private enum Wake: Sendable {
    case nobody
    case startThread
    case parkedThread
  }

  let options: CurlTransport.Options
  let time: any TimeSource
  private let state = Guarded(State())
  private let bell = ThreadBell()

  init(options: CurlTransport.Options, time: any TimeSource) {
    self.options = options
    self.time = time
  }

  /// Sends, or hands the request to the thread; never waits.
  func send(_ job: CurlJob, _ waiter: CurlWaiter) {
    if job.isForAnyThread, let borrowed = borrow() {
      defer { layDown(borrowed) }
      guard borrowed.loop.isWarm(for: job) else {
        post(.start(job, waiter))
        return
      }
      borrowed.loop.start(job, waiter)
      borrowed.loop.lookForAnswer { self.state.withLock { $0.orders.isEmpty } }
    } else {
      post(.start(job, waiter))
    }
  }

  /// Hangs up on a request whose waiter has been answered; never waits.
  func cancel(_ waiter: CurlWaiter) {
    post(.cancel(waiter))
  }

  /// Lets the thread end, once nothing is on its way.
  func stop() {
    state.withLock { state in
      state.isStopped = true
      if state.isPolling { state.ringLibcurl() }
    }
    bell.ring()
  }

  private func post(_ order: Order) {
    let wake = state.withLock { state -> Wake in
      state.orders.append(order)
      guard state.isServed else {
        state.isServed = true
        return .startThread
      }
      if state.isPolling { state.ringLibcurl() }
      return state.holder == .nobody ? .parkedThread : .nobody
    }
    switch wake {
    case .nobody: break
    case .parkedThread: bell.ring()
    case .startThread:
      if !SystemThread.start({ self.run() }) { abandon("The system gives no further thread.") }
    }
  }

  /// Takes up the loop, if it lies there with nothing on its way and nothing to do.
  private func borrow() -> LaidDown? {
    state.withLock { state in
      guard state.holder == .nobody, !state.isHandedOver, state.orders.isEmpty, let loop = state.loop else {
        return nil
      }
      state.holder = .caller
      return loop
    }
  }

  private func layDown(_ borrowed: LaidDown) {
    let isIdle = borrowed.loop.isIdle
    let needsThread = state.withLock { state in
      state.holder = .nobody
      state.isHandedOver = !isIdle
      return !isIdle || !state.orders.isEmpty || state.isStopped
    }
    if needsThread { bell.ring() }
  }

  /// There is no libcurl, or no thread, so nothing can be sent.
  private func abandon(_ message: String) {
    let orders = state.withLock { state in
      state.isServed = false
      defer { state.orders = [] }
      return state.orders
    }
    for case .start(_, let waiter) in orders {
      waiter.finish(.failure(TransportError(.cannotConnect, mayHaveBeenSent: false, message: message)))
    }
  }

  /// What the thread does.
  private func run() {
    switch CurlLibrary.shared {
    case .failure(let failure): abandon(failure.message)
    case .success(let library):
      guard let loop = CurlLoop(library, options: options, time: time) else {
        abandon("libcurl has no memory left.")
        return
      }
      let mine = LaidDown(loop)
      state.withLock { state in
        state.loop = mine
        state.holder = .thread
      }
      serve(mine)
    }
  }

  private func serve(_ mine: LaidDown) {
    let loop = mine.loop
    while true {
      let orders = state.withLock { state in
        state.isPolling = false
        defer { state.orders.removeAll(keepingCapacity: true) }
        return state.orders
      }
      for order in orders {
        switch order {
        case .start(let job, let waiter): loop.start(job, waiter)
        case .cancel(let waiter): loop.forget(waiter)
        }
      }
      loop.step()
      switch rest(isIdle: loop.isIdle) {
      case .none: break
      case .atNetwork: loop.waitForNetwork()
      case .parked: while !takeUp() { bell.wait() }
      case .forGood: return
      }
    }
  }

  private enum Rest: Sendable {
    case none
    case atNetwork
    case parked
    case forGood
  }

  /// How the thread rests until there is more to do.
  private func rest(isIdle: Bool) -> Rest {
    state.withLock { state in
      guard state.orders.isEmpty else { return .none }
      guard isIdle else {
        state.isPolling = true
        return .atNetwork
      }
      state.holder = .nobody
      guard state.isStopped else { return .parked }
      state.loop = nil
      state.isServed = false
      return .forGood
    }
  }

  /// Takes the loop up again for the thread, if there is anything to do with it.
  private func takeUp() -> Bool {
    state.withLock { state in
      guard state.holder == .nobody, state.isHandedOver || !state.orders.isEmpty || state.isStopped else {
        return false
      }
      state.holder = .thread
      state.isHandedOver = false
      return true
    }
  }

  /// The loop on its way from one hand to the next.
  // Safe because only the holder touches it, and who holds it changes under the driver's lock.
  private struct LaidDown: @unchecked Sendable {
    let loop: CurlLoop

    init(_ loop: CurlLoop) {
      self.loop = loop
    }
  }
}

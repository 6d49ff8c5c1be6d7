internal import AuthModels
internal import CLibcurl
internal import Groundwork

/// The work with libcurl: one multi handle with all connections, and the requests on their way. Used by one thread at a time.
final class CurlLoop {
  /// The most handles that are kept for further requests.
  private static let keptHandles = 64
  /// How often a caller looks whether the answer is there, about a microsecond each: a server on this machine answers within half of it.
  private static let looks = 100
  /// The most calls that do without looking after one that looked in vain.
  private static let longestPause = 64

  private let library: CurlLibrary
  private let lib: UnsafePointer<libcurl_functions>
  private let options: CurlTransport.Options
  private let time: any TimeSource
  private let multi: UnsafeMutableRawPointer
  private var transfers: [ObjectIdentifier: CurlTransfer] = [:]
  private var idle: [CurlHandle] = []
  /// No request is over before that.
  private var nextDeadline: Duration?
  /// The origin of the last answer that came over a connection which can be used again.
  private var warmOrigin = ""
  /// How many calls do without looking, and how many will after the next that looks in vain.
  private var callsWithoutLook = 0
  private var pause = 1

  init?(_ library: CurlLibrary, options: CurlTransport.Options, time: any TimeSource) {
    self.library = library
    self.options = options
    self.time = time
    lib = library.functions
    guard let multi = libcurl_multi_init(lib) else { return nil }
    self.multi = multi
    let perHost = min(max(options.connectionsPerHost, 1), 10_000)
    _ = libcurl_multi_set_long(lib, multi, CURLMOPT_MAX_HOST_CONNECTIONS, perHost)
    _ = libcurl_multi_set_long(lib, multi, CURLMOPT_MAXCONNECTS, perHost * 4)
    _ = libcurl_multi_set_long(lib, multi, CURLMOPT_PIPELINING, Int(CURLPIPE_MULTIPLEX))
  }

  deinit {
    idle = []
    libcurl_multi_cleanup(lib, multi)
  }

  /// Whether nothing is on its way.
  var isIdle: Bool { transfers.isEmpty }

  /// Whether a request can likely be sent at once, over a connection that is there: no name to look up, no handshake.
  func isWarm(for job: CurlJob) -> Bool { job.origin == warmOrigin }

  /// Sends and receives what can be, and answers those whose request is over.
  func step() {
    let code = libcurl_multi_perform(lib, multi)
    finishDone()
    finishOverdue()
    if code != CURLM_OK { giveUp(code) }
  }

  /// Blocks until the network has something, a time-out is due, or `ring`.
  func waitForNetwork() {
    let code = libcurl_multi_poll(lib, multi, patience())
    if code != CURLM_OK { giveUp(code) }
  }

  /// Ends `waitForNetwork`, from any thread.
  func ring() {
    _ = libcurl_multi_wakeup(lib, multi)
  }

  /// Sends, and looks for the answer a few times without waiting: two threads less to wake if the server is next door.
  ///
  /// After looks in vain, the following calls do without, up to 64 of them: against a server far away the looking costs next to nothing.
  func lookForAnswer(while isAlone: () -> Bool) {
    step()
    guard callsWithoutLook == 0 else {
      callsWithoutLook -= 1
      return
    }
    for _ in 0..<Self.looks {
      guard !isIdle else {
        pause = 1
        return
      }
      guard isAlone() else { return }
      if libcurl_multi_is_ready(lib, multi) { step() } else { SystemThread.yield() }
    }
    callsWithoutLook = pause
    pause = min(pause * 2, Self.longestPause)
  }

  /// Gives a request to libcurl.
  func start(_ job: CurlJob, _ waiter: CurlWaiter) {
    guard waiter.isWaiting else { return }
    guard let handle = idle.popLast() ?? CurlHandle(library) else {
      waiter.finish(
        .failure(TransportError(.cannotConnect, mayHaveBeenSent: false, message: "libcurl has no memory left.")))
      return
    }
    let transfer = CurlTransfer(job, waiter: waiter, handle: handle, limit: options.maximumResponseBytes)
    let code = handle.prepare(transfer, options)
    guard code == CURLE_OK, libcurl_multi_add(lib, multi, handle.easy) == CURLM_OK else {
      waiter.finish(transfer.outcome(code == CURLE_OK ? CURLE_FAILED_INIT : code))
      keep(handle)
      return
    }
    transfers[ObjectIdentifier(waiter)] = transfer
    nextDeadline = min(nextDeadline ?? job.deadline, job.deadline)
  }

  /// Hangs up on a request whose waiter has been answered.
  func forget(_ waiter: CurlWaiter) {
    if let transfer = transfers.removeValue(forKey: ObjectIdentifier(waiter)) { remove(transfer) }
  }

  private func remove(_ transfer: CurlTransfer) {
    _ = libcurl_multi_remove(lib, multi, transfer.handle.easy)
    keep(transfer.handle)
  }

  private func keep(_ handle: CurlHandle) {
    handle.reset()
    if idle.count < Self.keptHandles { idle.append(handle) }
  }

  /// Answers those whose request is over; the waiter first, then the tidying.
  private func finishDone() {
    var code = CURLE_OK
    while let easy = libcurl_next_done(lib, multi, &code) {
      guard let context = libcurl_private(lib, easy) else { continue }
      let transfer = Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue()
      if code == CURLE_OK, transfer.job.isForAnyThread { warmOrigin = transfer.job.origin }
      transfer.waiter.finish(transfer.outcome(code))
      forget(transfer.waiter)
    }
  }

  /// libcurl measures the time-outs itself, but not of requests that still wait for a connection.
  private func finishOverdue() {
    guard let nextDeadline, !transfers.isEmpty else {
      nextDeadline = nil
      return
    }
    let now = time.sinceBoot
    guard now >= nextDeadline else { return }
    for transfer in Array(transfers.values) where transfer.job.deadline <= now {
      transfer.waiter.finish(transfer.outcome(CURLE_OPERATION_TIMEDOUT))
      forget(transfer.waiter)
    }
    self.nextDeadline = transfers.values.lazy.map(\.job.deadline).min()
  }

  /// How long the thread may sleep, in milliseconds; libcurl wakes earlier for its own timers.
  private func patience() -> Int32 {
    guard let nextDeadline else { return 3_600_000 }
    return Int32(min((nextDeadline - time.sinceBoot).wholeMilliseconds, 3_600_000))
  }

  /// libcurl cannot go on, say for want of memory: everyone is told, rather than waiting for ever.
  private func giveUp(_ code: CURLMcode) {
    for transfer in Array(transfers.values) {
      transfer.waiter.finish(
        .failure(
          TransportError(
            .connectionLost, mayHaveBeenSent: true,
            message: "The exchange with \(transfer.job.host) broke off, libcurl's code \(code.rawValue).")))
      forget(transfer.waiter)
    }
  }
}

internal import AuthModels
internal import CLibcurl
internal import Groundwork

/// The driver thread's work: one multi handle with all connections, and the requests on their way.
final class CurlLoop {
  /// The most handles that are kept for further requests.
  private static let keptHandles = 64

  private let library: CurlLibrary
  private let lib: UnsafePointer<libcurl_functions>
  private let driver: CurlDriver
  private let multi: UnsafeMutableRawPointer
  private var transfers: [ObjectIdentifier: CurlTransfer] = [:]
  private var idle: [CurlHandle] = []
  /// No request is over before that.
  private var nextDeadline: Duration?

  init?(_ library: CurlLibrary, driver: CurlDriver) {
    self.library = library
    self.driver = driver
    lib = library.functions
    guard let multi = libcurl_multi_init(lib) else { return nil }
    self.multi = multi
    let perHost = min(max(driver.options.connectionsPerHost, 1), 10_000)
    _ = libcurl_multi_set_long(lib, multi, CURLMOPT_MAX_HOST_CONNECTIONS, perHost)
    _ = libcurl_multi_set_long(lib, multi, CURLMOPT_MAXCONNECTS, perHost * 4)
    _ = libcurl_multi_set_long(lib, multi, CURLMOPT_PIPELINING, Int(CURLPIPE_MULTIPLEX))
  }

  deinit {
    idle = []
    libcurl_multi_cleanup(lib, multi)
  }

  func run() {
    driver.serve(with: .init(multi: multi, lib: lib))
    while let orders = driver.takeOrders(isIdle: transfers.isEmpty) {
      for order in orders {
        switch order {
        case .start(let job, let waiter): start(job, waiter)
        case .cancel(let waiter): forget(waiter)
        }
      }
      var code = libcurl_multi_perform(lib, multi)
      finishDone()
      finishOverdue()
      if code == CURLM_OK, driver.maySleep(isIdle: transfers.isEmpty) {
        code = libcurl_multi_poll(lib, multi, patience())
      }
      if code != CURLM_OK { giveUp(code) }
    }
  }

  private func start(_ job: CurlJob, _ waiter: CurlWaiter) {
    guard waiter.isWaiting else { return }
    guard let handle = idle.popLast() ?? CurlHandle(library) else {
      waiter.finish(
        .failure(TransportError(.cannotConnect, mayHaveBeenSent: false, message: "libcurl has no memory left.")))
      return
    }
    let transfer = CurlTransfer(job, waiter: waiter, handle: handle, limit: driver.options.maximumResponseBytes)
    let code = handle.prepare(transfer, driver.options)
    guard code == CURLE_OK, libcurl_multi_add(lib, multi, handle.easy) == CURLM_OK else {
      waiter.finish(transfer.outcome(code == CURLE_OK ? CURLE_FAILED_INIT : code))
      keep(handle)
      return
    }
    transfers[ObjectIdentifier(waiter)] = transfer
    nextDeadline = min(nextDeadline ?? job.deadline, job.deadline)
  }

  /// Hangs up on a request whose waiter has been answered.
  private func forget(_ waiter: CurlWaiter) {
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
    let now = driver.time.sinceBoot
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
    return Int32(min((nextDeadline - driver.time.sinceBoot).wholeMilliseconds, 3_600_000))
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

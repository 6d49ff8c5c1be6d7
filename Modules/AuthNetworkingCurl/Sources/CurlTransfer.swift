internal import AuthModels
internal import AuthNetworking
internal import CLibcurl

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// One request on its way, on the driver thread alone: what libcurl is told and what it has answered so far.
final class CurlTransfer {
  let waiter: CurlWaiter
  let job: CurlJob
  let handle: CurlHandle
  private let limit: Int
  private var head = ResponseHead()
  private var body = Data()
  private var isTooLarge = false

  init(_ job: CurlJob, waiter: CurlWaiter, handle: CurlHandle, limit: Int) {
    self.job = job
    self.waiter = waiter
    self.handle = handle
    self.limit = limit
  }

  /// A line of the head or the trailers has come.
  ///
  /// - Returns: whether to go on.
  fileprivate func receivedLine(_ line: UnsafeRawBufferPointer) -> Bool {
    let wasComplete = head.isComplete
    guard head.take(line) else {
      isTooLarge = head.problem == .tooLarge
      return false
    }
    if !wasComplete, head.isComplete, job.method != .head, let length = head.contentLength {
      guard length <= UInt64(max(limit, 0)) else {
        isTooLarge = true
        return false
      }
      body.reserveCapacity(Int(min(length, 1 << 20)))
    }
    return true
  }

  /// A part of the body has come, unpacked.
  ///
  /// - Returns: whether to go on.
  fileprivate func receivedBody(_ part: UnsafeRawBufferPointer) -> Bool {
    guard part.count <= limit - body.count else {
      isTooLarge = true
      return false
    }
    body.append(contentsOf: part)
    return true
  }

  /// Whether the answer was whole before the connection broke, as when a server answers early and does not read on (RFC 9112 §9.6).
  private func isWhole(_ code: CURLcode) -> Bool {
    guard [CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_HTTP2_STREAM].contains(code), head.isComplete,
      let length = head.contentLength, !head.isPacked
    else { return false }
    return length == UInt64(body.count)
  }

  /// What the waiter gets, once libcurl is done.
  func outcome(_ code: CURLcode) -> CurlWaiter.Outcome {
    if isTooLarge { return .failure(.tooLarge(host: job.host, limit: limit)) }
    if head.problem != nil { return .failure(.malformed(host: job.host)) }
    guard code == CURLE_OK || isWhole(code) else {
      return .failure(
        TransportError(code, host: job.host, wasSent: handle.hasSent, detail: handle.hasSent ? "" : handle.words(code)))
    }
    // To libcurl, a connection that ends inside the header section has given an answer.
    guard head.isComplete else { return .failure(.lost(host: job.host)) }
    return .success(HTTPResponse(status: head.status, headers: HTTPFields(head.fields), body: body))
  }
}

/// Takes a header line from libcurl.
func curlReceivedLine(
  _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
  received(bytes, count, context) { $0.receivedLine($1) }
}

/// Takes a part of the body from libcurl.
func curlReceivedBody(
  _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
  received(bytes, count, context) { $0.receivedBody($1) }
}

/// libcurl goes on if it gets back the count that it gave; its size of one item is always 1.
private func received(
  _ bytes: UnsafeMutablePointer<CChar>?, _ count: Int, _ context: UnsafeMutableRawPointer?,
  _ take: (CurlTransfer, UnsafeRawBufferPointer) -> Bool
) -> Int {
  guard let bytes, let context, count > 0 else { return 0 }
  let transfer = Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue()
  return take(transfer, UnsafeRawBufferPointer(start: bytes, count: count)) ? count : 0
}

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif
#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// One connection of a `RawServer`, used by its own thread alone.
package final class RawConnection {
  private let descriptor: Int32
  private let note: (RawRequest) -> Void
  private let willClose: () -> Void
  private var pending: [UInt8] = []
  private var isOpen = true

  init(_ descriptor: Int32, note: @escaping (RawRequest) -> Void, willClose: @escaping () -> Void) {
    self.descriptor = descriptor
    self.note = note
    self.willClose = willClose
  }

  /// The next request, whole; nil once the peer has gone.
  package func readRequest() -> RawRequest? {
    guard let head = readHead() else { return nil }
    var request = RawRequest(head: head, body: Data())
    if let length = request.field("Content-Length").flatMap({ Int($0) }) {
      while pending.count < length { guard fill() else { return nil } }
      request.body = Data(pending[..<length])
      pending.removeFirst(length)
    } else if request.field("Transfer-Encoding") != nil {
      return nil
    }
    note(request)
    return request
  }

  private func readHead() -> String? {
    let end = Array("\r\n\r\n".utf8)
    while true {
      if let start = pending.indices.first(where: { pending[$0...].starts(with: end) }) {
        let head = String(decoding: pending[..<start], as: UTF8.self)
        pending.removeFirst(start + 4)
        return head
      }
      guard fill() else { return nil }
    }
  }

  private func fill() -> Bool {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    let count = recv(descriptor, &buffer, buffer.count, 0)
    guard count > 0 else { return false }
    pending.append(contentsOf: buffer[..<count])
    return true
  }

  /// Waits until the peer has closed its side.
  package func waitForClose() {
    while fill() { pending.removeAll() }
  }

  /// Writes everything; false once the peer has gone.
  @discardableResult
  package func write(_ text: String) -> Bool { write(Array(text.utf8)) }

  /// Writes everything; false once the peer has gone.
  @discardableResult
  package func write(_ bytes: [UInt8]) -> Bool {
    #if canImport(Darwin)
      let flags: Int32 = 0
    #else
      let flags = Int32(MSG_NOSIGNAL)
    #endif
    var start = 0
    while start < bytes.count {
      let count = bytes[start...].withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, flags) }
      guard count > 0 else { return false }
      start += count
    }
    return true
  }

  /// Ends with FIN.
  package func close() {
    guard isOpen else { return }
    isOpen = false
    willClose()
    shutdown(descriptor, Int32(SHUT_RDWR))
    closeDescriptor(descriptor)
  }

  /// Ends with RST.
  package func reset() {
    guard isOpen else { return }
    isOpen = false
    willClose()
    var linger = linger(l_onoff: 1, l_linger: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
    closeDescriptor(descriptor)
  }
}

func closeDescriptor(_ descriptor: Int32) {
  close(descriptor)
}

/// Threads for what blocks: a test's server must not hold the pool that the tests run on.
enum TestThread {
  private final class Body: Sendable {
    let run: @Sendable () -> Void

    init(_ run: @escaping @Sendable () -> Void) { self.run = run }

    static func start(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
      guard let context else { return nil }
      Unmanaged<Body>.fromOpaque(context).takeRetainedValue().run()
      return nil
    }
  }

  static func start(_ body: @escaping @Sendable () -> Void) throws {
    let context = Unmanaged.passRetained(Body(body))
    #if canImport(Darwin)
      var thread: pthread_t?
      let failure = pthread_create(&thread, nil, { Body.start($0) }, context.toOpaque())
      if failure == 0, let thread { pthread_detach(thread) }
    #else
      var thread = pthread_t()
      let failure = pthread_create(&thread, nil, { Body.start($0) }, context.toOpaque())
      if failure == 0 { pthread_detach(thread) }
    #endif
    guard failure == 0 else {
      context.release()
      throw ContractFailure("a test's server gets no thread: errno \(failure)")
    }
  }
}

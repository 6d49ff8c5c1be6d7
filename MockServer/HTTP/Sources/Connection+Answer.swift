import CLibevent
import Groundwork
import MockServerCore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension Connection {
  /// Sends an answer, or breaks it as its fault says.
  func answer(_ delivery: MockDelivery) {
    guard case .handling = phase, let request else { return }
    switch delivery.fault {
    case nil:
      if let stream = delivery.stream {
        begin(stream, reply: delivery.reply, to: request)
      } else {
        send(delivery.reply, to: request, bodyBytes: .max, then: nil)
      }
    case .close(nil):
      finish()
    case .close(let count?), .truncate(let count):
      send(delivery.reply, to: request, bodyBytes: count, then: .finish)
    case .reset(nil):
      reset()
    case .reset(let count?):
      send(delivery.reply, to: request, bodyBytes: count, then: .reset)
    case .garbage:
      write(Self.garbage)
      whenSent(.finish)
    case .tls:
      writePlain(Self.garbage)
      if !isClosed { finish(saysSo: false) }
    case .drip(let interval):
      drip(delivery.reply, to: request, every: interval)
    }
  }

  /// Bytes that no client can take for an answer: no `HTTP/`, a NUL, no line end.
  private static let garbage: [UInt8] = Array("\u{0}\u{1}not HTTP\u{7F}\u{0}".utf8) + [0xFF, 0xFE, 0xFD, 0x80, 0x81]

  /// Sends head and body, or so many bytes of the body; `then` nil is what the head says about the connection.
  private func send(_ reply: MockReply, to request: RequestParser.Parsed, bodyBytes: Int, then next: Next?) {
    var writer = ReplyWriter(reply, to: request, body: .whole)
    let body = writer.hasBody ? reply.body.prefix(max(0, bodyBytes)) : Data()
    front.withScratch { buffer in
      writer.writeHead(to: &buffer)
      // One call of the kernel for both, unless copying the body costs more than the second call.
      let isSmall = body.count <= 64 * 1024
      if isSmall { buffer.append(contentsOf: body) }
      write(buffer)
      if !isSmall, !isClosed { body.withUnsafeBytes { write($0) } }
    }
    whenSent(next ?? (writer.closes ? .finish : .read))
  }

  var isClosed: Bool {
    if case .closed = phase { return true }
    return false
  }

  // MARK: A byte at a time

  private func drip(_ reply: MockReply, to request: RequestParser.Parsed, every interval: Duration) {
    var writer = ReplyWriter(reply, to: request, body: .whole)
    front.withScratch { buffer in
      writer.writeHead(to: &buffer)
      write(buffer)
    }
    guard !isClosed else { return }
    phase = .dripping
    dripNext(writer.hasBody ? reply.body[...] : Data(), every: interval, then: writer.closes ? .finish : .read)
  }

  private func dripNext(_ rest: Data, every interval: Duration, then next: Next) {
    guard case .dripping = phase else { return }
    guard let byte = rest.first else { return whenSent(next) }
    write([byte])
    guard !isClosed else { return }
    front.loop.schedule(after: interval) { [front, id] in
      front.connection(id)?.dripNext(rest.dropFirst(), every: interval, then: next)
    }
  }

  // MARK: Events

  private func begin(_ stream: AsyncStream<Data>, reply: MockReply, to request: RequestParser.Parsed) {
    var writer = ReplyWriter(reply, to: request, body: request.isHTTP10 ? .untilClose : .chunks)
    front.withScratch { buffer in
      writer.writeHead(to: &buffer)
      write(buffer)
    }
    guard !isClosed else { return }
    guard writer.hasBody else { return whenSent(writer.closes ? .finish : .read) }
    guard !peerHasEnded else { return close() }
    phase = .streaming
    let isChunked = !request.isHTTP10
    let closes = writer.closes
    streamTask = front.tasks.start { [front, id, serial] in
      for await data in stream where !data.isEmpty {
        guard front.loop.post({ front.connection(id)?.append(data, isChunked: isChunked, serial: serial) }) else {
          return
        }
      }
      front.loop.post { front.connection(id)?.endStream(isChunked: isChunked, closes: closes, serial: serial) }
    }
  }

  private func append(_ data: Data, isChunked: Bool, serial: UInt64) {
    guard case .streaming = phase, serial == self.serial else { return }
    // A reader this slow would have us keep everything: it is let go, and sees a reset rather than a gap.
    guard waiting + data.count <= front.options.streamBacklog else { return reset(attempt: .max) }
    front.withScratch { buffer in
      if isChunked {
        ReplyWriter.append(chunk: data, to: &buffer)
      } else {
        buffer.append(contentsOf: data)
      }
      write(buffer)
    }
  }

  private func endStream(isChunked: Bool, closes: Bool, serial: UInt64) {
    guard case .streaming = phase, serial == self.serial else { return }
    streamTask = nil
    if isChunked { write(Array("0\r\n\r\n".utf8)) }
    whenSent(closes ? .finish : .read)
  }
}

import MockServerCore
import Testing

@testable import MockServerHTTP

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Feeds a text, all at once or in pieces, and returns everything that came of it.
private func parse(
  _ text: String, pieces: Int = .max, limits: RequestParser.Limits = .init()
) -> (requests: [RequestParser.Parsed], continues: Int, isInside: Bool) {
  parse(Array(text.utf8), pieces: pieces, limits: limits)
}

private func parse(
  _ bytes: [UInt8], pieces: Int = .max, limits: RequestParser.Limits = .init()
) -> (requests: [RequestParser.Parsed], continues: Int, isInside: Bool) {
  var parser = RequestParser(limits: limits)
  var pending: [UInt8] = []
  var requests: [RequestParser.Parsed] = []
  var continues = 0
  var rest = bytes[...]
  while !rest.isEmpty {
    let piece = rest.prefix(pieces)
    rest = rest.dropFirst(piece.count)
    pending += piece
    reading: while !pending.isEmpty {
      let (used, outcome) = pending.withUnsafeBytes { parser.consume($0) }
      pending.removeFirst(used)
      switch outcome {
      case .needsMore: break reading
      case .wantsContinue: continues += 1
      case .request(let parsed): requests.append(parsed)
      }
    }
  }
  return (requests, continues, parser.isInside)
}

/// The status with which a text is refused, at once and byte by byte; nil if it is taken or not complete.
private func refusal(_ text: String, limits: RequestParser.Limits = .init()) -> Int? {
  let whole = parse(text, limits: limits).requests.last?.request.malformation
  let bytewise = parse(text, pieces: 1, limits: limits).requests.last?.request.malformation
  #expect(whole == bytewise)
  return whole?.status
}

@Suite("Reading requests (RFC 9112)")
struct RequestParserTests {
  @Test("a request is read with its method, target, fields and body", arguments: [1, 2, 3, 7, 1000])
  func wholeRequest(pieces: Int) {
    let text =
      "POST /auth/login?x=1 HTTP/1.1\r\nHost: a:8080\r\nContent-Length: 5\r\nX-Odd:\t  two words \t\r\n\r\nhello"
    let (requests, _, isInside) = parse(text, pieces: pieces)
    #expect(requests.count == 1 && !isInside)
    let request = requests[0].request
    #expect(request.malformation == nil)
    #expect(request.method == "POST" && request.target == "/auth/login?x=1")
    #expect(request.headers.map(\.name) == ["Host", "Content-Length", "X-Odd"])
    #expect(request.header("x-odd") == "two words")
    #expect(request.body == Data("hello".utf8))
    #expect(requests[0].keepsAlive && !requests[0].isHTTP10)
  }

  @Test("requests one after another are read one after another", arguments: [1, 5, 1000])
  func pipelining(pieces: Int) {
    let one = "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nxy"
    let two = "GET /b HTTP/1.1\r\nHost: a\r\n\r\n"
    let (requests, _, isInside) = parse(one + two + one, pieces: pieces)
    #expect(requests.map(\.request.target) == ["/a", "/b", "/a"])
    #expect(requests.map(\.request.body.count) == [2, 0, 2])
    #expect(!isInside)
  }

  @Test("chunks become one body, their extensions and trailers are dropped", arguments: [1, 4, 1000])
  func chunks(pieces: Int) {
    let text =
      "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: Chunked\r\n\r\n"
      + "4;ext=1\r\nWiki\r\n5 ; q=\"a b\"\r\npedia\r\n00A\r\n0123456789\r\n0\r\nX-Trailer: 1\r\n\r\n"
      + "GET /next HTTP/1.1\r\nHost: a\r\n\r\n"
    let (requests, _, _) = parse(text, pieces: pieces)
    #expect(requests.count == 2)
    #expect(requests[0].request.body == Data("Wikipedia0123456789".utf8))
    #expect(requests[0].request.header("x-trailer") == nil)
    #expect(requests[1].request.target == "/next")
  }

  @Test(
    "a connection stays open as version and Connection say",
    arguments: [
      ("HTTP/1.1\r\nHost: a", true), ("HTTP/1.1\r\nHost: a\r\nConnection: close", false),
      ("HTTP/1.1\r\nHost: a\r\nConnection: x, Close ,y", false), ("HTTP/1.0", false),
      ("HTTP/1.0\r\nConnection: Keep-Alive", true), ("HTTP/1.0\r\nConnection: keep-alive, close", false),
      ("HTTP/1.1\r\nHost: a\r\nConnection: closed", true),
    ])
  func keepAlive(head: String, isKept: Bool) {
    let (requests, _, _) = parse("GET / \(head)\r\n\r\n")
    #expect(requests.first?.request.malformation == nil)
    #expect(requests.first?.keepsAlive == isKept)
  }

  @Test("a client that expects 100-continue is told to go on, once, and only if a body comes")
  func expectation() {
    let head = "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-Continue\r\n"
    #expect(parse(head + "Content-Length: 2\r\n\r\nxy").continues == 1)
    #expect(parse(head + "Content-Length: 2\r\n\r\nxy", pieces: 1).requests.count == 1)
    #expect(parse(head + "Content-Length: 0\r\n\r\n").continues == 0)
    #expect(parse(head + "\r\n").continues == 0)
    #expect(parse("POST / HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\nx").continues == 0)
    #expect(refusal("POST / HTTP/1.1\r\nHost: a\r\nExpect: tea\r\nContent-Length: 1\r\n\r\nx") == 417)
    #expect(refusal(head + "Content-Length: 9999999999\r\n\r\n") == 413)
  }

  @Test(
    "targets in the origin, absolute and asterisk forms are taken",
    arguments: [
      ("GET", "/a?b=c", "/a?b=c"), ("GET", "http://host:80/a?b", "/a?b"), ("GET", "HTTP://host", "/"),
      ("GET", "https://host?q", "/?q"), ("GET", "http://[::1]:80/a", "/a"),
      ("GET", "http://[::1]", "/"), ("OPTIONS", "*", "*"), ("GET", "//double", "//double"),
    ])
  func targets(method: String, target: String, path: String) {
    #expect(parse("\(method) \(target) HTTP/1.1\r\nHost: a\r\n\r\n").requests.first?.request.target == path)
    #expect(refusal("\(method) \(target) HTTP/1.1\r\nHost: a\r\n\r\n") == nil)
  }

  @Test(
    "heads that are not HTTP are refused",
    arguments: [
      ("GET /\r\nHost: a\r\n\r\n", 400), ("GET  / HTTP/1.1\r\nHost: a\r\n\r\n", 400),
      ("GET / HTTP/1.1 \r\nHost: a\r\n\r\n", 400), (" GET / HTTP/1.1\r\n", 400),
      ("GET / a HTTP/1.1\r\nHost: a\r\n\r\n", 400), ("GET a HTTP/1.1\r\nHost: a\r\n\r\n", 400),
      ("GET * HTTP/1.1\r\nHost: a\r\n\r\n", 400), ("GET /#f HTTP/1.1\r\nHost: a\r\n\r\n", 400),
      ("GET /é HTTP/1.1\r\nHost: a\r\n\r\n", 400), ("GET http:///x HTTP/1.1\r\nHost: a\r\n\r\n", 400),
      ("G@T / HTTP/1.1\r\nHost: a\r\n\r\n", 400), ("GET / http/1.1\r\nHost: a\r\n\r\n", 400),
      ("GET / HTTP/1.1x\r\nHost: a\r\n\r\n", 400), ("GET / HTTP/11\r\nHost: a\r\n\r\n", 400),
      ("GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505), ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505),
      ("GET / HTTP/0.9\r\nHost: a\r\n\r\n", 505), ("CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n", 501),
      ("\(String(repeating: "M", count: 33)) / HTTP/1.1\r\nHost: a\r\n\r\n", 501),
      ("GET / HTTP/1.1\nHost: a\n\n", 400), ("GET / HTTP/1.1\r\nHost: a\n\r\n", 400),
      ("GET / HTTP/1.1\rHost: a\r\r", 400), ("\u{16}\u{3}\u{1}\u{2}", 400), ("\r\n\r\nGET / HTTP/1.1\r\n", 400),
      ("GET / HTTP/1.1\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", 400),
      ("GET / HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: a b\r\n\r\n", 400),
      ("GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: u@a\r\n\r\n", 400),
      ("GET / HTTP/1.1\r\nHost : a\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: a\r\nX: 1\r\n folded\r\n\r\n", 400),
      ("GET / HTTP/1.1\r\nHost: a\r\n: x\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: a\r\nnothing\r\n\r\n", 400),
      ("GET / HTTP/1.1\r\nHost: a\r\nX\u{0}Y: 1\r\n\r\n", 400),
      ("GET / HTTP/1.1\r\nHost: a\r\nX: 1\u{0}2\r\n\r\n", 400),
      ("GET / HTTP/1.1\r\nHost: a\r\nX: 1\u{7F}\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: a\r\nX: 1\r2\r\n\r\n", 400),
      ("GET / HTTP/1.1\r\nHost: a\r\nX(: 1\r\n\r\n", 400),
      ("GET http://[::1 HTTP/1.1\r\nHost: a\r\n\r\n", 400), ("GET http://a]b/ HTTP/1.1\r\nHost: a\r\n\r\n", 400),
      ("GET http://:80/ HTTP/1.1\r\nHost: a\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: 127.0.0.1:x\r\n\r\n", 400),
      ("GET / HTTP/1.1\r\nHost: [::1]x\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: [1]\r\n\r\n", 400),
      ("GET / HTTP/1.1\r\nHost: ::1\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: a:65536\r\n\r\n", 400),
    ])
  func badHeads(text: String, status: Int) {
    #expect(refusal(text) == status)
  }

  @Test(
    "bodies whose end two servers could see in two places are refused",
    arguments: [
      ("Content-Length: 5\r\nTransfer-Encoding: chunked", 400),
      ("Transfer-Encoding: chunked\r\nContent-Length: 5", 400),
      ("Content-Length: 5\r\nContent-Length: 5", 400), ("Content-Length: 5\r\nContent-Length: 6", 400),
      ("Content-Length: 5, 5", 400), ("Content-Length: +3", 400), ("Content-Length: -3", 400),
      ("Content-Length: 0x3", 400), ("Content-Length: 3 3", 400), ("Content-Length:", 400),
      ("Content-Length: 3.0", 400), ("Content-Length: 99999999999999999999999", 413),
      ("Content-Length: 2097153", 413), ("Transfer-Encoding: gzip, chunked", 501),
      ("Transfer-Encoding: chunked, gzip", 400), ("Transfer-Encoding: chunked, chunked", 400),
      ("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", 400), ("Transfer-Encoding: xchunked", 400),
      ("Transfer-Encoding: identity", 400), ("Transfer-Encoding:", 400), ("Transfer-Encoding: , chunked", 400),
    ])
  func badFraming(fields: String, status: Int) {
    #expect(refusal("POST / HTTP/1.1\r\nHost: a\r\n\(fields)\r\n\r\n") == status)
  }

  @Test("hosts are taken by name, by address, with a port and with the colon alone; an empty line before is skipped")
  func hosts() {
    for host in ["a", "a:80", "a:", "127.0.0.1:65535", "[::1]", "[::ffff:1.2.3.4]:8080", "A-b.c_d:0", ""] {
      #expect(refusal("\r\nGET / HTTP/1.1\r\nHost: \(host)\r\n\r\n") == nil, "\(host)")
    }
  }

  @Test("a space after a chunk's size is refused, unless an extension follows", arguments: ["5 ", "5\t", " 5", "5 x"])
  func spaceAfterChunkSize(line: String) {
    #expect(
      refusal("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n\(line)\r\nhello\r\n0\r\n\r\n") == 400)
  }

  @Test("HTTP/1.0 has no chunks")
  func chunksInHTTP10() {
    #expect(refusal("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n") == 400)
  }

  @Test(
    "chunks that are none are refused",
    arguments: [
      ("+3\r\nabc\r\n", 400), ("-3\r\n", 400), ("0x3\r\nabc\r\n", 400), ("\r\n", 400), (" 3\r\nabc\r\n", 400),
      ("g\r\n", 400), ("3\nabc\n", 400), ("3\r\nabcd\r\n", 400), ("3\r\nabc\n", 400), ("3\r\nabc\rX", 400),
      ("3 3\r\nabc\r\n", 400), ("FFFFFFFFFFFFFFFFFF\r\n", 413), ("200001\r\n", 413), ("FFFFFFFFFFFFFFF\r\n", 413),
      ("0\r\nX : 1\r\n\r\n", 400), ("0\r\n folded\r\n\r\n", 400), ("3\u{0}\r\nabc\r\n", 400),
    ])
  func badChunks(chunks: String, status: Int) {
    #expect(refusal("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n\(chunks)") == status)
  }

  @Test("what never ends is refused when its limit is reached, not when it ends")
  func endlessParts() {
    let chunked = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
    #expect(refusal("GET /\(String(repeating: "a", count: 9000))") == 414)
    #expect(refusal(String(repeating: "A", count: 9000)) == 414)
    #expect(refusal("GET / HTTP/1.1\r\nHost: a\r\nX: \(String(repeating: "a", count: 40_000))") == 431)
    #expect(refusal(chunked + String(repeating: "0", count: 300)) == 400)
    #expect(refusal(chunked + "1;\(String(repeating: "e", count: 300))") == 400)
    let extensions = String(repeating: "1;\(String(repeating: "e", count: 200))\r\nx\r\n", count: 90)
    #expect(refusal(chunked + extensions) == 400)
    #expect(
      refusal(chunked + "0\r\n" + String(repeating: "T: \(String(repeating: "a", count: 1000))\r\n", count: 40)) == 431)
  }

  @Test("limits are met exactly")
  func limits() {
    var limits = RequestParser.Limits()
    limits.requestLine = 20
    limits.fields = 30
    limits.fieldCount = 3
    limits.body = 10
    let target = String(repeating: "a", count: 20 - "GET / HTTP/1.1".count)
    #expect(refusal("GET /\(target) HTTP/1.1\r\nHost: a\r\n\r\n", limits: limits) == nil)
    #expect(refusal("GET /\(target)a HTTP/1.1\r\nHost: a\r\n\r\n", limits: limits) == 414)
    #expect(refusal("GET / HTTP/1.1\r\nHost: a\r\nB: 12345678901234\r\n\r\n", limits: limits) == nil)
    #expect(refusal("GET / HTTP/1.1\r\nHost: a\r\nB: 1234567890123456789\r\n\r\n", limits: limits) == 431)
    #expect(refusal("GET / HTTP/1.1\r\nHost:a\r\nB:\r\nC:\r\n\r\n", limits: limits) == nil)
    #expect(refusal("GET / HTTP/1.1\r\nHost:a\r\nB:\r\nC:\r\nD:\r\n\r\n", limits: limits) == 431)
    let post = "POST / HTTP/1.1\r\nHost:a\r\n"
    #expect(parse(post + "Content-Length:10\r\n\r\n0123456789", limits: limits).requests.last?.request.body.count == 10)
    #expect(refusal(post + "Content-Length:11\r\n\r\n", limits: limits) == 413)
    limits.fields = 40
    let chunked = post + "Transfer-Encoding:chunked\r\n\r\n"
    #expect(refusal(chunked + "5\r\n01234\r\n5\r\n01234\r\n0\r\n\r\n", limits: limits) == nil)
    #expect(refusal(chunked + "5\r\n01234\r\n6\r\n", limits: limits) == 413)
  }

  @Test("a malformed request keeps what could be read, and nothing after it is read")
  func whatIsKept() {
    let text =
      "POST /auth/login HTTP/1.1\r\nHost: a\r\nX-Request-ID: 7\r\nBad Name: 1\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n"
    for pieces in [1, 1000] {
      let (requests, _, _) = parse(text, pieces: pieces)
      #expect(requests.count == 1)
      #expect(requests[0].request.method == "POST" && requests[0].request.target == "/auth/login")
      #expect(requests[0].request.header("x-request-id") == "7")
      #expect(!requests[0].keepsAlive)
    }
  }

  @Test("bytes that are no UTF-8 are taken in values and trap nowhere")
  func oddBytes() {
    let bytes = Array("GET / HTTP/1.1\r\nHost: a\r\nX: ".utf8) + [0xFF, 0xC3, 0x28] + Array("\r\n\r\n".utf8)
    #expect(parse(bytes).requests.first?.request.malformation == nil)
    #expect(parse(bytes).requests.first?.request.header("x") != nil)
  }

  @Test("noise traps nowhere and holds back at most one line", arguments: 1...50)
  func noise(seed: UInt64) {
    var state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
    func next(_ bound: Int) -> Int {
      state ^= state << 13
      state ^= state >> 7
      state ^= state << 17
      return Int(state % UInt64(bound))
    }
    let parts = [
      "GET / HTTP/1.1\r\n", "POST /x HTTP/1.1\r\n", "Host: a\r\n", "Content-Length: 3\r\n", "\r\n", "abc", "3\r\n",
      "0\r\n",
      "Transfer-Encoding: chunked\r\n", "\n", "\r", ":", " ", "\u{0}", "ffff", "Expect: 100-continue\r\n", "é",
    ]
    var text = ""
    for _ in 0..<200 { text += parts[next(parts.count)] }
    let whole = parse(text)
    let pieces = parse(text, pieces: 1 + next(9))
    #expect(whole.requests.map(\.request.target) == pieces.requests.map(\.request.target))
    #expect(whole.requests.map(\.request.malformation) == pieces.requests.map(\.request.malformation))
    #expect(whole.requests.map(\.request.body) == pieces.requests.map(\.request.body))
  }
}

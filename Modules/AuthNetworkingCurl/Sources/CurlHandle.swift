internal import AuthNetworking
internal import CLibcurl

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// One of libcurl's easy handles with what has to live as long as its request; on the driver thread alone. Used again and again.
final class CurlHandle {
  let easy: UnsafeMutableRawPointer
  private let lib: UnsafePointer<libcurl_functions>
  private let errorText: UnsafeMutablePointer<CChar>
  private var fields: UnsafeMutablePointer<curl_slist>?
  /// What is set for the requests of this kind and stays set: setting it anew costs as much as sending.
  private var kind: Kind?

  /// What requests without a body have in common as far as libcurl's options go.
  private struct Kind: Equatable {
    var method: HTTPMethod
    var isSecure: Bool
    var isLoopback: Bool
    var isFresh: Bool

    /// Nil for a request with a body, after which everything is forgotten.
    init?(_ job: CurlJob) {
      guard job.body == nil else { return nil }
      method = job.method
      isSecure = job.isSecure
      isLoopback = job.isLoopback
      isFresh = job.needsFreshConnection
    }
  }

  init?(_ library: CurlLibrary) {
    lib = library.functions
    guard let easy = libcurl_easy_init(lib) else { return nil }
    self.easy = easy
    errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
    errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
  }

  deinit {
    libcurl_easy_cleanup(lib, easy)
    libcurl_slist_free(lib, fields)
    errorText.deallocate()
  }

  /// Whether any byte of the request has left, or of one of its tries.
  var hasSent: Bool { libcurl_info_long(lib, easy, CURLINFO_REQUEST_SIZE) > 0 }

  /// libcurl's words for what went wrong, fit for one line of a terminal.
  func words(_ code: CURLcode) -> String {
    var text = String(cString: errorText)
    if text.isEmpty { text = libcurl_strerror(lib, code).map { String(cString: $0) } ?? "" }
    let visible = text.unicodeScalars.map { $0.value < 0x20 || 0x7F...0x9F ~= $0.value ? " " : $0 }
    text = String(String.UnicodeScalarView(visible.prefix(200)))
    return text.hasSuffix(".") ? String(text.dropLast()) : text
  }

  /// Forgets the request, its body and its credentials.
  func reset() {
    if kind == nil {
      libcurl_easy_reset(lib, easy)
    } else if libcurl_set_list(lib, easy, CURLOPT_HTTPHEADER, nil) != CURLE_OK {
      libcurl_easy_reset(lib, easy)
      kind = nil
    }
    libcurl_slist_free(lib, fields)
    fields = nil
    errorText[0] = 0
  }

  /// Tells libcurl what to send and whom to tell what comes.
  ///
  /// - Returns: `CURLE_OK`, or what libcurl did not take.
  func prepare(_ transfer: CurlTransfer, _ options: CurlTransport.Options) -> CURLcode {
    let job = transfer.job
    var settings = Settings(lib: lib, easy: easy)
    let kind = Kind(job)
    if self.kind == nil || self.kind != kind {
      libcurl_easy_reset(lib, easy)
      prepareKind(&settings, job, options)
    }
    let context = Unmanaged.passUnretained(transfer).toOpaque()
    settings.pointer(CURLOPT_PRIVATE, context)
    settings.pointer(CURLOPT_HEADERDATA, context)
    settings.pointer(CURLOPT_WRITEDATA, context)
    settings.string(CURLOPT_URL, job.url)
    settings.long(CURLOPT_TIMEOUT_MS, job.timeout.wholeMilliseconds)
    header(&settings, job)
    // What libcurl did not take whole is set anew the next time.
    self.kind = settings.code == CURLE_OK ? kind : nil
    return settings.code
  }

  private func prepareKind(_ settings: inout Settings, _ job: CurlJob, _ options: CurlTransport.Options) {
    settings.pointer(CURLOPT_ERRORBUFFER, errorText)
    settings.callback(CURLOPT_HEADERFUNCTION, curlReceivedLine)
    settings.callback(CURLOPT_WRITEFUNCTION, curlReceivedBody)
    settings.note(libcurl_set_web_only(lib, easy))
    settings.note(libcurl_set_quick_exit(lib, easy))
    // libcurl must not handle signals: the process may have other threads.
    settings.long(CURLOPT_NOSIGNAL, 1)
    settings.long(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
    settings.long(CURLOPT_PATH_AS_IS, 1)
    settings.string(CURLOPT_ACCEPT_ENCODING, "")
    settings.long(CURLOPT_CONNECTTIMEOUT_MS, options.connectTimeout.wholeMilliseconds)
    settings.long(CURLOPT_FRESH_CONNECT, job.needsFreshConnection ? 1 : 0)
    // What is for this machine does not leave it by way of a proxy, whatever the environment says (S24).
    if job.isLoopback { settings.string(CURLOPT_PROXY, "") }
    if job.isSecure { secure(&settings, job, options) }
    method(&settings, job)
  }

  private func method(_ settings: inout Settings, _ job: CurlJob) {
    if let body = job.body {
      settings.long(CURLOPT_POST, 1)
      settings.size(CURLOPT_POSTFIELDSIZE_LARGE, body.count)
      body.withUnsafeBytes { bytes in
        if let start = bytes.baseAddress, !bytes.isEmpty {
          settings.pointer(CURLOPT_COPYPOSTFIELDS, start)
        } else {
          settings.string(CURLOPT_COPYPOSTFIELDS, "")
        }
      }
    }
    if job.method == .head {
      settings.long(CURLOPT_NOBODY, 1)
    } else if job.method != .get {
      settings.string(CURLOPT_CUSTOMREQUEST, job.method.rawValue)
    }
  }

  private func header(_ settings: inout Settings, _ job: CurlJob) {
    for field in job.fields {
      guard let list = libcurl_slist_append(lib, fields, field) else {
        settings.note(CURLE_OUT_OF_MEMORY)
        return
      }
      fields = list
    }
    settings.note(libcurl_set_list(lib, easy, CURLOPT_HTTPHEADER, fields))
  }

  private func secure(_ settings: inout Settings, _ job: CurlJob, _ options: CurlTransport.Options) {
    if job.body == nil {
      settings.long(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2TLS))
      // Rather share a connection that is being made than make another one.
      settings.long(CURLOPT_PIPEWAIT, 1)
    } else {
      // Over HTTP/2, libcurl 7.88 loses an answer that comes before the whole body has left (code 92). A body has a connection of its
      // own in any case; it is not kept, so that no later request has to do with HTTP/1.1.
      settings.long(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
      settings.long(CURLOPT_FORBID_REUSE, 1)
    }
    settings.long(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
    settings.long(CURLOPT_SSL_VERIFYPEER, 1)
    settings.long(CURLOPT_SSL_VERIFYHOST, 2)
    if let file = options.certificateAuthorities {
      settings.string(CURLOPT_CAINFO, file)
      // Else the system's folder of authorities counts beside the file.
      settings.pointer(CURLOPT_CAPATH, nil)
    }
    if let certificate = options.clientCertificate {
      settings.string(CURLOPT_SSLCERT, certificate.certificateFile)
      settings.string(CURLOPT_SSLKEY, certificate.keyFile)
      // Else OpenSSL asks for a passphrase at the terminal.
      settings.string(CURLOPT_KEYPASSWD, "")
    }
  }
}

/// Sets options one by one and remembers the first that libcurl did not take.
private struct Settings {
  let lib: UnsafePointer<libcurl_functions>
  let easy: UnsafeMutableRawPointer
  private(set) var code = CURLE_OK

  init(lib: UnsafePointer<libcurl_functions>, easy: UnsafeMutableRawPointer) {
    self.lib = lib
    self.easy = easy
  }

  mutating func note(_ result: CURLcode) {
    if code == CURLE_OK { code = result }
  }

  mutating func long(_ option: CURLoption, _ value: Int) {
    note(libcurl_set_long(lib, easy, option, value))
  }

  mutating func size(_ option: CURLoption, _ value: Int) {
    note(libcurl_set_size(lib, easy, option, curl_off_t(value)))
  }

  mutating func string(_ option: CURLoption, _ value: String) {
    note(libcurl_set_string(lib, easy, option, value))
  }

  mutating func pointer(_ option: CURLoption, _ value: UnsafeRawPointer?) {
    note(libcurl_set_pointer(lib, easy, option, value))
  }

  mutating func callback(_ option: CURLoption, _ value: libcurl_data_callback) {
    note(libcurl_set_callback(lib, easy, option, value))
  }
}

extension Duration {
  /// In milliseconds, rounded up, from 1 to what fits into 32 bits (24 days): libcurl takes 0 for no limit.
  var wholeMilliseconds: Int {
    let (seconds, attoseconds) = components
    guard seconds < 2_000_000 else { return Int(Int32.max) }
    guard seconds >= 0, attoseconds >= 0 else { return 1 }
    return max(1, Int(seconds) * 1000 + Int((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000))
  }
}

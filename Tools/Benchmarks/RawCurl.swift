import CLibcurl

/// The least that a client in C would do over libcurl: kept handles, no Swift around them, the answers thrown away.
final class RawCurl {
  private let lib: UnsafeMutablePointer<libcurl_functions>
  private let url: String
  private var fields: UnsafeMutablePointer<curl_slist>?
  private let easy: UnsafeMutableRawPointer

  init(url: String, token: String) throws(BenchError) {
    lib = .allocate(capacity: 1)
    lib.initialize(to: libcurl_functions())
    if let problem = libcurl_open(lib, "libcurl.so.4") {
      throw BenchError("libcurl cannot be opened: \(String(cString: problem)).")
    }
    guard libcurl_global_init(lib) == CURLE_OK, let easy = libcurl_easy_init(lib) else {
      throw BenchError("libcurl does not start.")
    }
    self.easy = easy
    self.url = url
    fields = libcurl_slist_append(lib, nil, "Authorization: Bearer \(token)")
    prepare(easy)
  }

  deinit {
    libcurl_easy_cleanup(lib, easy)
    libcurl_slist_free(lib, fields)
    lib.deallocate()
  }

  private func prepare(_ easy: UnsafeMutableRawPointer) {
    _ = libcurl_set_string(lib, easy, CURLOPT_URL, url)
    _ = libcurl_set_list(lib, easy, CURLOPT_HTTPHEADER, fields)
    _ = libcurl_set_callback(lib, easy, CURLOPT_WRITEFUNCTION) { _, size, count, _ in size * count }
  }

  private func check(_ easy: UnsafeMutableRawPointer, _ code: CURLcode) throws(BenchError) {
    let status = libcurl_info_long(lib, easy, CURLINFO_RESPONSE_CODE)
    guard code == CURLE_OK, status == 200 else { throw BenchError("libcurl: code \(code.rawValue), status \(status).") }
  }

  /// One call after another with one handle.
  func oneByOne(_ count: Int) throws(BenchError) {
    for _ in 0..<count { try check(easy, libcurl_easy_perform(lib, easy)) }
  }

  /// `count` calls, `atOnce` on their way at any time, by one multi loop.
  func together(_ atOnce: Int, of count: Int) throws(BenchError) {
    guard let multi = libcurl_multi_init(lib) else { throw BenchError("libcurl has no memory left.") }
    var handles: [UnsafeMutableRawPointer] = []
    defer {
      for handle in handles {
        _ = libcurl_multi_remove(lib, multi, handle)
        libcurl_easy_cleanup(lib, handle)
      }
      libcurl_multi_cleanup(lib, multi)
    }
    for _ in 0..<min(atOnce, count) {
      guard let handle = libcurl_easy_init(lib) else { throw BenchError("libcurl has no memory left.") }
      handles.append(handle)
      prepare(handle)
      _ = libcurl_multi_add(lib, multi, handle)
    }
    var begun = handles.count
    var done = 0
    var code = CURLE_OK
    while done < count {
      _ = libcurl_multi_perform(lib, multi)
      var isIdle = true
      while let handle = libcurl_next_done(lib, multi, &code) {
        isIdle = false
        done += 1
        try check(handle, code)
        _ = libcurl_multi_remove(lib, multi, handle)
        guard begun < count else { continue }
        begun += 1
        _ = libcurl_multi_add(lib, multi, handle)
      }
      if isIdle, done < count { _ = libcurl_multi_poll(lib, multi, 1000) }
    }
  }
}

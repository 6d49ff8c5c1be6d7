internal import CLibcurl

/// libcurl, opened when the first request goes out and then kept for the life of the process.
///
/// Linking it would cost every start of a command 6 ms for the thirty libraries behind it, also where no request is sent.
// Safe because the table is filled before it is shared and never written again, and libcurl's functions may be called on any thread.
struct CurlLibrary: @unchecked Sendable {
  /// Why there is no libcurl, in words for people.
  struct Failure: Error, Sendable {
    var message: String
  }

  /// The one copy, or why there is none.
  static let shared: Result<CurlLibrary, Failure> = open()

  /// The functions, as the wrappers of `CLibcurl` take them.
  let functions: UnsafePointer<libcurl_functions>

  private static func open() -> Result<CurlLibrary, Failure> {
    #if canImport(Darwin)
      let name = "/usr/lib/libcurl.4.dylib"
    #else
      let name = "libcurl.so.4"
    #endif
    let functions = UnsafeMutablePointer<libcurl_functions>.allocate(capacity: 1)
    functions.initialize(to: libcurl_functions())
    if let problem = libcurl_open(functions, name) {
      let words = String(cString: problem)
      functions.deallocate()
      return .failure(Failure(message: "libcurl cannot be opened: \(words)."))
    }
    let code = libcurl_global_init(functions)
    guard code == CURLE_OK else { return .failure(Failure(message: "libcurl cannot start: code \(code.rawValue).")) }
    return .success(CurlLibrary(functions: UnsafePointer(functions)))
  }

  /// What a code means, in libcurl's words.
  func words(for code: CURLcode) -> String {
    libcurl_strerror(functions, code).map { String(cString: $0) } ?? "code \(code.rawValue)"
  }
}

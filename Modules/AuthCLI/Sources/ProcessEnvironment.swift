#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The environment that this process was started with.
public enum ProcessEnvironment: Sendable {
  /// The variables by name; one that is no UTF-8 is read with replacement characters.
  public static var variables: [String: String] {
    var variables: [String: String] = [:]
    var next = environ
    while let entry = next.pointee {
      let text = String(cString: entry)
      if let equals = text.firstIndex(of: "=") {
        variables[String(text[..<equals])] = String(text[text.index(after: equals)...])
      }
      next = next.successor()
    }
    return variables
  }

  /// The path of a program that is installed beside this one.
  public static func sibling(_ name: String) -> String {
    var bytes = [CChar](repeating: 0, count: 4096)
    #if canImport(Darwin)
      var count = UInt32(bytes.count)
      guard _NSGetExecutablePath(&bytes, &count) == 0 else { return name }
    #else
      guard readlink("/proc/self/exe", &bytes, bytes.count - 1) > 0 else { return name }
    #endif
    let own = String(decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return own.lastIndex(of: "/").map { own[...$0] + name } ?? name
  }
}

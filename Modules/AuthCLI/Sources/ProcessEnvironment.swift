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
}

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// An HTTP method (RFC 9110 §9), open.
public struct HTTPMethod: RawRepresentable, Sendable, Hashable, ExpressibleByStringLiteral {
  /// The method as it stands in the request line, upper case.
  public var rawValue: String
  /// Takes any method.
  public init(rawValue: String) { self.rawValue = rawValue }
  /// Takes any method.
  public init(stringLiteral value: String) { rawValue = value }

  public static let get: HTTPMethod = "GET"
  public static let head: HTTPMethod = "HEAD"
  public static let post: HTTPMethod = "POST"
  public static let put: HTTPMethod = "PUT"
  public static let patch: HTTPMethod = "PATCH"
  public static let delete: HTTPMethod = "DELETE"

  /// Whether sending the request twice does what sending it once does (RFC 9110 §9.2.2).
  public var isIdempotent: Bool {
    switch self {
    case .get, .head, .put, .delete, "OPTIONS", "TRACE": true
    default: false
    }
  }
}

/// One header field, in the order and spelling in which it is sent; names compare without case.
public struct HTTPField: Sendable, Hashable {
  /// The field's name.
  public var name: String
  /// The field's value, without the white space around it.
  public var value: String

  /// Makes a field.
  public init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }

  /// Whether the field's name is this one; case does not count (RFC 9110 §5.1).
  package func hasName(_ other: String) -> Bool {
    let left = name.utf8
    let right = other.utf8
    guard left.count == right.count else { return false }
    return left.withContiguousStorageIfAvailable { left in
      right.withContiguousStorageIfAvailable { right in
        for index in left.indices where !Self.same(left[index], right[index]) { return false }
        return true
      }
    }.flatMap(\.self) ?? zip(left, right).allSatisfy(Self.same)
  }

  private static func same(_ left: UInt8, _ right: UInt8) -> Bool {
    left == right || (left | 0x20 == right | 0x20 && 0x61...0x7A ~= left | 0x20)
  }
}

/// Header fields in order.
public struct HTTPFields: Sendable, Hashable, ExpressibleByDictionaryLiteral {
  /// The fields in the order in which they came or go.
  public var fields: [HTTPField]

  /// Takes fields in order.
  public init(_ fields: [HTTPField] = []) { self.fields = fields }
  /// Takes fields in order.
  public init(dictionaryLiteral elements: (String, String)...) {
    fields = elements.map { HTTPField($0.0, $0.1) }
  }

  /// The first value under a name; setting one replaces all of that name, nil removes them.
  public subscript(name: String) -> String? {
    get { fields.first { $0.hasName(name) }?.value }
    set {
      fields.removeAll { $0.hasName(name) }
      if let newValue { fields.append(HTTPField(name, newValue)) }
    }
  }
}

/// A request as a transport sends it.
public struct HTTPRequest: Sendable, Hashable {
  /// The method.
  public var method: HTTPMethod
  /// Where it goes: scheme `http` or `https`, a host, path and query.
  public var url: URL
  /// The header fields; the transport adds `Host` and `Content-Length`.
  public var headers: HTTPFields
  /// The body, if there is one.
  public var body: Data?
  /// Whether the body holds a credential (login, register, refresh, revoke): no redirect is followed at all then (S24).
  public var hasCredentialBody: Bool
  /// How long the whole exchange may take; nil for the transport's own default.
  public var timeout: Duration?

  /// Makes a request.
  public init(
    method: HTTPMethod, url: URL, headers: HTTPFields = [:], body: Data? = nil, hasCredentialBody: Bool = false,
    timeout: Duration? = nil
  ) {
    self.method = method
    self.url = url
    self.headers = headers
    self.body = body
    self.hasCredentialBody = hasCredentialBody
    self.timeout = timeout
  }
}

/// An answer as a transport gives it, whole.
public struct HTTPResponse: Sendable, Hashable {
  /// The status, 200 to 599.
  public var status: Int
  /// The header fields in the order in which they came.
  public var headers: HTTPFields
  /// The body, empty if there is none.
  public var body: Data

  /// Makes an answer.
  public init(status: Int, headers: HTTPFields = [:], body: Data = Data()) {
    self.status = status
    self.headers = headers
    self.body = body
  }
}

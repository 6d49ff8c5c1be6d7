#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Which item of the keychain is meant: a generic password by service and account (D3.1).
public struct KeychainQuery: Sendable, Hashable {
  /// `kSecAttrService`.
  public var service: String
  /// `kSecAttrAccount`.
  public var account: String
  /// `kSecAttrAccessGroup`: for apps of one team that share an item; nil for the app's own group.
  public var accessGroup: String?

  /// Makes a query.
  public init(service: String, account: String, accessGroup: String? = nil) {
    self.service = service
    self.account = account
    self.accessGroup = accessGroup
  }
}

/// The four calls of Apple's Security framework, typed: what ``KeychainTokenStore`` is made of, and what a test puts in
/// their place.
///
/// Each gives the call's `OSStatus`, 0 for success. A call may block; it comes on a thread of the store's own.
public protocol KeychainCalls: Sendable {
  /// `SecItemAdd`, readable after the first unlock, on this device only.
  func add(_ query: KeychainQuery, data: Data) -> Int32
  /// `SecItemUpdate`: the data and the accessibility.
  func update(_ query: KeychainQuery, data: Data) -> Int32
  /// `SecItemCopyMatching`: the data of one item.
  func copyMatching(_ query: KeychainQuery) -> (status: Int32, data: Data?)
  /// `SecItemDelete`.
  func delete(_ query: KeychainQuery) -> Int32
}

#if canImport(Security)
  import Security

  /// The real calls.
  ///
  /// Written from Apple's documentation; it has been compiled and run by nobody yet, since this project is built on
  /// Linux.
  public struct SecurityKeychainCalls: KeychainCalls {
    /// Makes the calls.
    public init() {}

    public func add(_ query: KeychainQuery, data: Data) -> Int32 {
      let attributes = attributes(of: query).merging(changes(data)) { _, new in new }
      return SecItemAdd(attributes as CFDictionary, nil)
    }

    public func update(_ query: KeychainQuery, data: Data) -> Int32 {
      SecItemUpdate(attributes(of: query) as CFDictionary, changes(data) as CFDictionary)
    }

    public func copyMatching(_ query: KeychainQuery) -> (status: Int32, data: Data?) {
      var attributes = attributes(of: query)
      attributes[kSecReturnData as String] = true
      attributes[kSecMatchLimit as String] = kSecMatchLimitOne
      var found: CFTypeRef?
      let status = SecItemCopyMatching(attributes as CFDictionary, &found)
      return (status, found as? Data)
    }

    public func delete(_ query: KeychainQuery) -> Int32 {
      SecItemDelete(attributes(of: query) as CFDictionary)
    }

    private func attributes(of query: KeychainQuery) -> [String: Any] {
      var attributes: [String: Any] = [
        kSecClass as String: kSecClassGenericPassword,
        kSecAttrService as String: query.service,
        kSecAttrAccount as String: query.account,
        // On macOS too: the file-based keychain knows neither accessibility nor access groups.
        kSecUseDataProtectionKeychain as String: true,
      ]
      if let group = query.accessGroup { attributes[kSecAttrAccessGroup as String] = group }
      return attributes
    }

    private func changes(_ data: Data) -> [String: Any] {
      [
        kSecValueData as String: data,
        kSecAttrAccessible as String: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
      ]
    }
  }
#endif

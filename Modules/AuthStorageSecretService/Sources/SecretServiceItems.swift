public import AuthStorage
import CLibsecret
import Groundwork

#if canImport(Glibc)
  import Glibc
#endif

/// The secrets of stores in the desktop's Secret Service, by libsecret: GNOME's keyring, KWallet, KeePassXC.
///
/// An item's attributes are the schema's name and a random id: they tell neither server nor account, and are no secret.
/// Every call has a deadline. A missing session bus or service is `unavailable`, a locked keyring that may not be
/// unlocked `locked`, a dismissed prompt `cancelled`. Calls block: they belong on a store's own thread, as
/// ``AuthStorage/KeyItemKeySource`` makes them.
///
/// ```swift
/// let source = KeyItemKeySource(items: SecretServiceItems())
/// let store = SQLiteSessionStore(folder: folder, time: SystemClock(), keySource: source)
/// ```
public struct SecretServiceItems: KeyItems {
  private static let schema = "com.chirp.StoreKey"
  private let deadline: Duration
  private let promptDeadline: Duration
  private let allowsPrompts: Bool

  /// Makes the items.
  ///
  /// - Parameters:
  ///   - deadline: how long one call may take.
  ///   - promptDeadline: how long a person may take to unlock the keyring.
  ///   - allowsPrompts: whether a locked keyring is unlocked by a prompt; otherwise it is `locked`.
  public init(
    deadline: Duration = .seconds(5), promptDeadline: Duration = .seconds(120), allowsPrompts: Bool = true
  ) {
    self.deadline = deadline
    self.promptDeadline = promptDeadline
    self.allowsPrompts = allowsPrompts
  }

  public func add(_ secret: SecretBytes, id: String) throws(StoreError) {
    try withService { (operation, service) throws(StoreError) in
      try openCollection(operation, service)
      let attributes = Self.attributes(id)
      defer { g_hash_table_unref(attributes) }
      var text = Self.hexadecimal(secret)
      defer { text.wipe() }
      let value = text.withUnsafeBytes {
        secret_value_new($0.baseAddress?.assumingMemoryBound(to: CChar.self), gssize($0.count), "text/plain")
      }
      defer { Self.letGo(value) }
      let isStored = try operation.call(within: deadline) { cancellable, callback, data in
        secret_service_store(
          service, nil, attributes, SECRET_COLLECTION_DEFAULT, "Key of a session store", value, cancellable, callback,
          data)
      } finish: { result, error in
        secret_service_store_finish(service, result, &error)
      }
      guard isStored != 0 else { throw StoreError(.cancelled, "The prompt of the desktop's key store was dismissed.") }
    }
  }

  public func find(_ id: String) throws(StoreError) -> SecretBytes? {
    try withService { (operation, service) throws(StoreError) -> SecretBytes? in
      let found = try search(id, operation, service)
      defer { Self.free(found) }
      guard let item = found?.pointee.data?.assumingMemoryBound(to: SecretItem.self) else { return nil }
      if secret_item_get_locked(item) != 0 { try unlock(item, operation, service) }
      _ = try operation.call(within: deadline) { cancellable, callback, data in
        secret_item_load_secret(item, cancellable, callback, data)
      } finish: { result, error in
        secret_item_load_secret_finish(item, result, &error)
      }
      guard let value = secret_item_get_secret(item) else {
        throw StoreError(
          .locked, "The desktop's key store (Secret Service) is locked.", hint: "Unlock it, and try again.")
      }
      defer { Self.letGo(value) }
      var count: gsize = 0
      let bytes = secret_value_get(value, &count)
      guard let secret = Self.secret(UnsafeRawBufferPointer(start: bytes, count: Int(clamping: count))) else {
        throw StoreError(.corrupted, "The item of the desktop's key store is no key of a session store.")
      }
      return secret
    }
  }

  public func remove(_ id: String) throws(StoreError) {
    try withService { (operation, service) throws(StoreError) in
      let found = try search(id, operation, service)
      defer { Self.free(found) }
      var next = found
      while let node = next {
        next = node.pointee.next
        guard let item = node.pointee.data?.assumingMemoryBound(to: SecretItem.self) else { continue }
        if secret_item_get_locked(item) != 0 { try unlock(item, operation, service) }
        _ = try operation.call(within: deadline) { cancellable, callback, data in
          secret_item_delete(item, cancellable, callback, data)
        } finish: { result, error in
          secret_item_delete_finish(item, result, &error)
        }
      }
    }
  }
}

extension SecretServiceItems {
  private typealias Service = UnsafeMutablePointer<SecretService>

  /// Connects, runs `body`, and lets everything go again: a service that was restarted is found anew.
  private func withService<Success>(
    _ body: (GLibOperation, Service) throws(StoreError) -> Success
  ) throws(StoreError) -> Success {
    guard Self.hasSessionBus else {
      throw StoreError(
        .unavailable, "There is no session bus, and so no desktop's key store (Secret Service).",
        hint: "Run this in a desktop session, or choose another key source.")
    }
    let operation = GLibOperation()
    defer { operation.end() }
    let bus = try operation.call(within: deadline) { cancellable, callback, data in
      g_bus_get(G_BUS_TYPE_SESSION, cancellable, callback, data)
    } finish: { result, error in
      g_bus_get_finish(result, &error)
    }
    guard let bus else { throw GLibOperation.noAnswer(deadline) }
    defer { g_object_unref(UnsafeMutableRawPointer(bus)) }
    // By default GLib ends the whole process when the bus goes away.
    g_dbus_connection_set_exit_on_close(bus, 0)
    let service = try operation.call(within: deadline) { cancellable, callback, data in
      secret_service_open(
        secret_service_get_type(), nil, SECRET_SERVICE_OPEN_SESSION, cancellable, callback, data)
    } finish: { result, error in
      secret_service_open_finish(result, &error)
    }
    guard let service else { throw GLibOperation.noAnswer(deadline) }
    defer { g_object_unref(service) }
    return try body(operation, service)
  }

  /// GLib would start a bus of its own by X11 where there is none: that is no desktop's key store.
  private static var hasSessionBus: Bool {
    if let address = getenv("DBUS_SESSION_BUS_ADDRESS"), address.pointee != 0 { return true }
    guard let folder = getenv("XDG_RUNTIME_DIR"), folder.pointee != 0 else { return false }
    return access(String(cString: folder) + "/bus", F_OK) == 0
  }

  private func search(
    _ id: String, _ operation: GLibOperation, _ service: Service
  ) throws(StoreError) -> UnsafeMutablePointer<GList>? {
    let attributes = Self.attributes(id)
    defer { g_hash_table_unref(attributes) }
    return try operation.call(within: deadline) { cancellable, callback, data in
      secret_service_search(service, nil, attributes, SECRET_SEARCH_ALL, cancellable, callback, data)
    } finish: { result, error in
      secret_service_search_finish(service, result, &error)
    }
  }

  /// Makes sure that there is a default collection, and that it is open.
  private func openCollection(_ operation: GLibOperation, _ service: Service) throws(StoreError) {
    let collection = try operation.call(within: deadline) { cancellable, callback, data in
      secret_collection_for_alias(
        service, SECRET_COLLECTION_DEFAULT, SECRET_COLLECTION_NONE, cancellable, callback, data)
    } finish: { result, error in
      secret_collection_for_alias_finish(result, &error)
    }
    guard let collection else {
      throw StoreError(
        .unavailable, "The desktop's key store (Secret Service) has no default keyring.",
        hint: "Make one, for example with Passwords and Keys (seahorse), or choose another key source.")
    }
    defer { g_object_unref(collection) }
    if secret_collection_get_locked(collection) != 0 { try unlock(collection, operation, service) }
  }

  /// Unlocks a collection or an item; a person may be asked.
  private func unlock(
    _ object: UnsafeMutableRawPointer, _ operation: GLibOperation, _ service: Service
  ) throws(StoreError) {
    guard allowsPrompts else {
      throw StoreError(
        .locked, "The desktop's key store (Secret Service) is locked.", hint: "Unlock it, and try again.")
    }
    let objects = g_list_append(nil, object)
    defer { g_list_free(objects) }
    let count = try operation.call(within: promptDeadline) { cancellable, callback, data in
      secret_service_unlock(service, objects, cancellable, callback, data)
    } finish: { result, error in
      secret_service_unlock_finish(service, result, nil, &error)
    }
    guard count > 0 else { throw StoreError(.cancelled, "The prompt of the desktop's key store was dismissed.") }
  }

  private static func attributes(_ id: String) -> OpaquePointer? {
    let table = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free)
    for (name, value) in [("xdg:schema", schema), ("id", id)] {
      g_hash_table_insert(table, g_strdup(name), g_strdup(value))
    }
    return table
  }

  private static func free(_ items: UnsafeMutablePointer<GList>?) {
    g_list_free_full(items) { object in
      if let object { g_object_unref(object) }
    }
  }

  private static func letGo(_ value: OpaquePointer?) {
    if let value { secret_value_unref(UnsafeMutableRawPointer(value)) }
  }

  /// As text: not every service keeps other bytes as they are.
  private static func hexadecimal(_ secret: SecretBytes) -> [UInt8] {
    let digits = Array("0123456789abcdef".utf8)
    return secret.withBytes { bytes in
      bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
    }
  }

  private static func secret(_ text: UnsafeRawBufferPointer) -> SecretBytes? {
    guard text.count == 64 else { return nil }
    var bytes: [UInt8] = []
    for index in stride(from: 0, to: 64, by: 2) {
      guard let high = digit(text[index]), let low = digit(text[index + 1]) else { return nil }
      bytes.append(high << 4 | low)
    }
    defer { bytes.wipe() }
    return SecretBytes(bytes)
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    default: nil
    }
  }
}

public import Groundwork

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The encrypted store on disk: many accounts and servers, many processes, one file.
///
/// Every record is sealed with AES-256-GCM, and bound to its place and revision; the folder is 0700, its files 0600,
/// and anything looser is refused. Once a write returns, neither `kill -9` nor a power cut loses it.
/// `Documentation/storage.md` has the format, what it protects and what not.
///
/// Nothing is opened before the first call, and a store that could not be opened is tried again by the next one.
/// Reading a store that is not there gives empty answers and makes no file; the first write makes it. All calls may
/// come from any task; the disk is touched on a thread of the store's own.
public final class SQLiteSessionStore: SessionStore {
  private let core: SQLiteStoreCore
  private let time: any TimeSource
  private let gate = SerialGate()
  /// The store's folder, as it was given.
  public let folder: String

  /// How long a write waits for another process's write before it gives up as `locked`; a write takes about a
  /// millisecond.
  private static let writeBound: Duration = .seconds(5)

  /// Makes a store over `folder`, which need not be there yet; its parent may be made too.
  ///
  /// - Parameters:
  ///   - folder: see ``StoreLocation/defaultFolder(environment:)``.
  ///   - time: what bounds and ages are measured with.
  ///   - keySource: what guards the data key: by default a key file beside the database.
  public init(folder: String, time: any TimeSource, keySource: any KeySource = KeyFileKeySource()) {
    let trimmed = folder.count > 1 && folder.hasSuffix("/") ? String(folder.dropLast()) : folder
    self.folder = trimmed
    self.time = time
    core = SQLiteStoreCore(path: trimmed, time: time, keySource: keySource)
  }

  public func read(_ slot: SessionSlot) async throws(StoreError) -> SlotState {
    try await core.read(slot)
  }

  public func update<Outcome: Sendable>(
    _ slot: SessionSlot, _ body: @escaping @Sendable (inout SlotChange) -> Outcome
  ) async throws(StoreError) -> (state: SlotState, outcome: Outcome) {
    try await writing { () throws(StoreError) in try await core.update(slot, body) }
  }

  public func acquireRefreshLock(
    _ slot: SessionSlot, bound: Duration
  ) async throws(StoreError) -> any RefreshLock {
    // A lock is named by a key of the store: there has to be one.
    _ = try await writing { () throws(StoreError) in try await core.prepare() ? true : nil }
    let lock = try await LockPolling().wait(for: bound, on: time) { () throws(StoreError) in
      try await core.takeRefreshLock(slot)
    }
    guard let lock else { throw .refreshLockBusy(after: bound) }
    return lock
  }

  public func changeCounter() async throws(StoreError) -> UInt64 {
    try await core.changeCounter()
  }

  public func pendingRevocations() async throws(StoreError) -> [PendingRevocation] {
    let (rows, overdue) = try await core.outbox()
    guard !overdue.isEmpty else { return rows }
    do throws(StoreError) {
      try await removePendingRevocations(overdue)
    } catch {
      // Overdue rows are given to nobody, deleted or not; the next write tries again, and reports what stands in its
      // way.
      return rows
    }
    return rows
  }

  public func removePendingRevocations(_ ids: [PendingRevocation.ID]) async throws(StoreError) {
    _ = try await writing { () throws(StoreError) in try await core.removePendingRevocations(ids) ? true : nil }
  }

  public func slots() async throws(StoreError) -> [SessionSlot] {
    try await core.slots()
  }

  public func lastSignedIn() async throws(StoreError) -> SessionSlot? {
    try await core.lastSignedIn()
  }

  /// Seals every session and every row of the outbox under a new data key, in one transaction.
  ///
  /// For when the database and what guards its key may have leaked. Interrupted anywhere, all stands under the old key
  /// or all under the new one. Other processes go on: they take the new key up at their next call.
  ///
  /// - Throws: `notFound` if there is no store yet.
  public func renewDataKey() async throws(StoreError) {
    _ = try await writing { () throws(StoreError) in try await core.renewDataKey() ? true : nil }
  }

  /// Makes a new guard of the same source: a new key file, a new salt.
  ///
  /// The data key stays: whoever knows it already still does. Interrupted anywhere, one of the two guards opens the
  /// store.
  ///
  /// - Throws: `notFound` if there is no store yet.
  public func renewGuard() async throws(StoreError) {
    _ = try await writing { () throws(StoreError) in try await core.renewGuard(movingTo: nil) ? true : nil }
  }

  /// Moves the store to another key source, in one transaction: the key is sealed by the new source and read back, the
  /// store is committed, then the old source's guard is removed.
  ///
  /// From then on this value uses `source`. The data key stays; ``renewDataKey()`` changes it, and should, if the old
  /// guard may be known to somebody.
  ///
  /// - Throws: `notFound` if there is no store yet; what the sources throw. After an error while the old guard was being
  ///   removed the store is sealed by the new source.
  public func changeKeySource(to source: any KeySource) async throws(StoreError) {
    _ = try await writing { () throws(StoreError) in try await core.renewGuard(movingTo: source) ? true : nil }
  }

  /// The kind of key source that is written in the store; nil if there is no store yet. Opens the store's key.
  public func keySourceInUse() async throws(StoreError) -> String? {
    try await core.keySourceInUse()
  }

  /// Writes of one process come one after the other, in the order they were asked for; then each waits for other
  /// processes.
  ///
  /// The first try is made in any case, cancelled or not: a task that was cancelled may still sign out.
  private func writing<Success: Sendable>(
    _ attempt: () async throws(StoreError) -> Success?
  ) async throws(StoreError) -> Success {
    let start = time.sinceBoot
    return try await gate.pass { () throws(StoreError) in
      if let done = try await attempt() { return done }
      let polling = LockPolling(first: .milliseconds(1), longest: .milliseconds(1))
      let left = Self.writeBound - (time.sinceBoot - start)
      do throws(StoreError) {
        if let done = try await polling.wait(for: left, on: time, attempt) { return done }
      } catch {
        await core.leaveQueue()
        throw error
      }
      await core.leaveQueue()
      throw StoreError(
        .locked,
        "Another process has been writing the session store in \(folder) for more than \(Self.writeBound.text).",
        hint: "Try again; if it stays so, look for a stopped process that uses the store.")
    }
  }
}

public import Groundwork

/// Looks at a store on disk, says what is wrong, and moves aside what cannot be read any more.
///
/// Looking changes nothing, but for what every opening of an SQLite file does: a write that a kill cut off is rolled
/// back. Both calls may come from any task; the disk is touched on a thread of the doctor's own.
public struct StoreDoctor: Sendable {
  private let examination: StoreExamination
  private let time: any TimeSource
  private let folder: String

  /// Makes a doctor for the store in `folder`, which need not be there.
  ///
  /// - Parameters:
  ///   - time: what the wait for another process's write is measured with.
  ///   - keySource: what opens the store; a ``KeySourceChoice`` where its kind is not known beforehand.
  public init(folder: String, time: any TimeSource, keySource: any KeySource = KeyFileKeySource()) {
    let trimmed = folder.count > 1 && folder.hasSuffix("/") ? String(folder.dropLast()) : folder
    self.folder = trimmed
    self.time = time
    examination = StoreExamination(path: trimmed, keySource: keySource)
  }

  /// Looks at everything; what stands in the way of looking is a finding too.
  ///
  /// - Parameter opensKey: whether the key source is asked, which may cost a passphrase; without, sessions and outbox
  ///   are not looked at.
  public func examine(opensKey: Bool = true) async -> StoreDiagnosis {
    await examination.run(opensKey: opensKey)
  }

  /// Looks again, under the store's lock, and does what the diagnosis says; afterwards a sign-in works again.
  ///
  /// Moved are a damaged database, one whose key file is lost, and a damaged key file. What only *you* can mend stays as
  /// it is: a passphrase that was mistyped, modes that let others in, a newer version's store.
  ///
  /// - Returns: what was moved: the old path and the new one; nothing if there was nothing to do.
  /// - Throws: `locked` if another process writes for more than 5 s, and what moving a file can meet.
  public func repair() async throws(StoreError) -> [(from: String, to: String)] {
    let polling = LockPolling()
    let moved = try await polling.wait(for: .seconds(5), on: time) { () throws(StoreError) in
      try await examination.repair()
    }
    guard let moved else {
      throw StoreError(
        .locked, "Another process has been writing the session store in \(folder) for more than 5s.",
        hint: "Try again; if it stays so, look for a stopped process that uses the store.")
    }
    return moved
  }
}

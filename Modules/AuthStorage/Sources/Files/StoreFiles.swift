/// The names in a store's folder.
enum StoreFiles {
  static let database = "sessions.db"
  static let journalSuffix = "-journal"
  static let key = KeyFileKeySource.fileName
  static let lock = "store.lock"
  static let queue = "store.queue"
  static let refreshPrefix = "refresh-"
  static let lockSuffix = ".lock"
  static let draftSuffix = ".new"
  /// Between a file's name and the number that a repair gives it.
  static let asideMark = ".damaged-"
  /// Where the journal of a database goes that somebody moved by hand, as `StoreError`'s hint says.
  static let orphanedJournal = "sessions.db.damaged-journal"

  enum Kind {
    case own
    case journal
    case draft
    case aside
    case unknown
  }

  static func kind(of name: String) -> Kind {
    switch name {
    case database, key, key + ".next", lock, queue, DiskReserve.fileName: return .own
    case database + journalSuffix: return .journal
    case database + draftSuffix, database + draftSuffix + journalSuffix, key + draftSuffix,
      key + ".next" + draftSuffix:
      return .draft
    default: break
    }
    if name.hasPrefix(refreshPrefix), name.hasSuffix(lockSuffix) { return .own }
    if name.hasPrefix(database + ".damaged") || name.hasPrefix(key + ".damaged") { return .aside }
    return .unknown
  }
}

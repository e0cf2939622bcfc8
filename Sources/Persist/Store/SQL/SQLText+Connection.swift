/// Transactions and pragmas.
extension SQLText {
  package static let begin: SQLText = "BEGIN"
  package static let beginWriting: SQLText = "BEGIN IMMEDIATE"
  package static let beginExclusive: SQLText = "BEGIN EXCLUSIVE"
  package static let commit: SQLText = "COMMIT"
  package static let rollback: SQLText = "ROLLBACK"
  package static let beginNested: SQLText = "SAVEPOINT persist"
  package static let commitNested: SQLText = "RELEASE persist"
  package static let rollbackNested: SQLText = "ROLLBACK TO persist"

  package static let lockingModeExclusive: SQLText = "PRAGMA locking_mode = EXCLUSIVE"
  package static let trustedSchemaOff: SQLText = "PRAGMA trusted_schema = OFF"
  package static let trustedSchemaOn: SQLText = "PRAGMA trusted_schema = ON"
  package static let cellSizeCheckOn: SQLText = "PRAGMA cell_size_check = ON"
  package static let recursiveTriggersOn: SQLText = "PRAGMA recursive_triggers = ON"
  package static let pageSize: SQLText = "PRAGMA page_size = 4096"
  package static let currentPageSize: SQLText = "PRAGMA page_size"
  package static let autoVacuumIncremental: SQLText = "PRAGMA auto_vacuum = INCREMENTAL"
  package static let autoVacuum: SQLText = "PRAGMA auto_vacuum"
  package static let journalModeWAL: SQLText = "PRAGMA journal_mode = WAL"
  /// Lets the log shrink to twice the size at which SQLite usually begins it anew, whenever that happens: beside a long
  /// reader it may have become much larger.
  package static let journalSizeLimit: SQLText = "PRAGMA journal_size_limit = 8388608"
  package static let journalModePersist: SQLText = "PRAGMA journal_mode = PERSIST"
  package static let journalModeDelete: SQLText = "PRAGMA journal_mode = DELETE"
  package static let journalMode: SQLText = "PRAGMA journal_mode"
  package static let emptyLog: SQLText = "PRAGMA wal_checkpoint(TRUNCATE)"
  /// Writes as much of the log into the file as is possible without waiting for anyone.
  ///
  /// The result has the number of pages in the log, and that of those written.
  package static let transferLog: SQLText = "PRAGMA wal_checkpoint(PASSIVE)"
  /// Lets commits of the connection leave the log as it is.
  package static let leaveLog: SQLText = transferLog(ofPages: 0)
  /// The number of pages from which a commit of the connection writes the log into the file; 0 for never.
  package static let transferredPages: SQLText = "PRAGMA wal_autocheckpoint"
  package static func transferLog(ofPages count: Int64) -> SQLText { "PRAGMA wal_autocheckpoint = \(number: count)" }
  /// The number of bytes to which the connection shortens the log's file when it begins it anew; negative for never.
  package static let logSizeLimit: SQLText = "PRAGMA journal_size_limit"
  package static func limitLog(toSize size: Int64) -> SQLText { "PRAGMA journal_size_limit = \(number: size)" }
  /// A cache of a megabyte, for creating an index: SQLite sorts as many bytes at a time, without asking whether to
  /// continue.
  package static let cacheForIndex: SQLText = "PRAGMA cache_size = -1024"
  /// A cache of eight megabytes, for dropping a column. The commit writes those of its pages that have changed; with
  /// half as many, SQLite would write some of them twice, and then read the whole log for its commit.
  package static let cacheForTable: SQLText = "PRAGMA cache_size = -8192"
  package static let integrityCheck: SQLText = "PRAGMA integrity_check(100)"
  package static let quickCheck: SQLText = "PRAGMA quick_check(100)"
  package static let encoding: SQLText = "PRAGMA encoding"
  /// Numbers with which programs mark their files, in the header.
  package static let userVersion: SQLText = "PRAGMA user_version"
  package static func setUserVersion(_ number: Int64) -> SQLText { "PRAGMA user_version = \(number: number)" }
  package static let applicationID: SQLText = "PRAGMA application_id"
  package static let synchronousFull: SQLText = "PRAGMA synchronous = FULL"
  package static let synchronousNormal: SQLText = "PRAGMA synchronous = NORMAL"

  /// Whether a statement may be run again: schema changes and pragmas run once.
  package static func isWorthKeeping(_ text: String) -> Bool {
    ["SELECT", "INSERT", "UPDATE", "DELETE", "BEGIN", "COMMIT"].contains { text.hasPrefix($0) }
  }

  /// A number that changes when another connection writes to the file.
  package static let dataVersion: SQLText = "PRAGMA data_version"

  /// A number that changes with the schema.
  package static let schemaVersion: SQLText = "PRAGMA schema_version"
  package static let createMarker: SQLText = "CREATE TABLE PERSIST_MARKER (Z)"
  package static let dropMarker: SQLText = "DROP TABLE PERSIST_MARKER"

  package static let objectCount: SQLText = "SELECT COUNT(*) FROM sqlite_master"
  /// Whether a database has no schema, and no program has marked it as its own.
  package static let isUnused: SQLText = """
    SELECT NOT EXISTS (SELECT 1 FROM sqlite_master) AND user_version = 0 AND application_id = 0 \
    FROM pragma_user_version, pragma_application_id
    """
}

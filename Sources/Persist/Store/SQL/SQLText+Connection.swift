/// Transactions and pragmas.
extension SQLText {
  static let begin: SQLText = "BEGIN"
  static let beginWriting: SQLText = "BEGIN IMMEDIATE"
  package static let beginExclusive: SQLText = "BEGIN EXCLUSIVE"
  package static let commit: SQLText = "COMMIT"
  package static let rollback: SQLText = "ROLLBACK"
  static let beginNested: SQLText = "SAVEPOINT persist"
  static let commitNested: SQLText = "RELEASE persist"
  static let rollbackNested: SQLText = "ROLLBACK TO persist"

  package static let lockingModeExclusive: SQLText = "PRAGMA locking_mode = EXCLUSIVE"
  static let trustedSchemaOff: SQLText = "PRAGMA trusted_schema = OFF"
  static let trustedSchemaOn: SQLText = "PRAGMA trusted_schema = ON"
  static let cellSizeCheckOn: SQLText = "PRAGMA cell_size_check = ON"
  static let recursiveTriggersOn: SQLText = "PRAGMA recursive_triggers = ON"
  static let pageSize: SQLText = "PRAGMA page_size = 4096"
  static let currentPageSize: SQLText = "PRAGMA page_size"
  static let autoVacuumIncremental: SQLText = "PRAGMA auto_vacuum = INCREMENTAL"
  static let autoVacuum: SQLText = "PRAGMA auto_vacuum"
  package static let journalModeWAL: SQLText = "PRAGMA journal_mode = WAL"
  /// Lets the log shrink to twice the size at which SQLite usually begins it anew, whenever that happens: beside a long
  /// reader it may have become much larger.
  static let journalSizeLimit: SQLText = "PRAGMA journal_size_limit = 8388608"
  static let journalModePersist: SQLText = "PRAGMA journal_mode = PERSIST"
  package static let journalModeDelete: SQLText = "PRAGMA journal_mode = DELETE"
  package static let journalMode: SQLText = "PRAGMA journal_mode"
  static let emptyLog: SQLText = "PRAGMA wal_checkpoint(TRUNCATE)"
  static let encoding: SQLText = "PRAGMA encoding"
  /// Numbers with which programs mark their files, in the header.
  static let userVersion: SQLText = "PRAGMA user_version"
  static let applicationID: SQLText = "PRAGMA application_id"
  static let synchronousFull: SQLText = "PRAGMA synchronous = FULL"
  static let synchronousNormal: SQLText = "PRAGMA synchronous = NORMAL"

  /// Whether a statement may be run again: schema changes and pragmas run once.
  static func isWorthKeeping(_ text: String) -> Bool {
    ["SELECT", "INSERT", "UPDATE", "DELETE", "BEGIN", "COMMIT"].contains { text.hasPrefix($0) }
  }

  /// A number that changes when another connection writes to the file.
  package static let dataVersion: SQLText = "PRAGMA data_version"

  /// A number that changes with the schema.
  static let schemaVersion: SQLText = "PRAGMA schema_version"
  static let createMarker: SQLText = "CREATE TABLE PERSIST_MARKER (Z)"
  static let dropMarker: SQLText = "DROP TABLE PERSIST_MARKER"

  package static let objectCount: SQLText = "SELECT COUNT(*) FROM sqlite_master"
  /// Whether a database has no schema, and no program has marked it as its own.
  static let isUnused: SQLText = """
    SELECT NOT EXISTS (SELECT 1 FROM sqlite_master) AND user_version = 0 AND application_id = 0 \
    FROM pragma_user_version, pragma_application_id
    """
}

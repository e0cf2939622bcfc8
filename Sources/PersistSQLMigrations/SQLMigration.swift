public import Foundation
import Persist

/// A migration of a database whose schema the application owns: SQL, or code that runs SQL.
///
/// Migrations have versions, which are numbers or time stamps, and run in their order. Each runs once in a database, in
/// the same transaction that records it as applied.
///
/// ```swift
/// let migrations = try SQLMigration.files(in: folder) + [
///   SQLMigration(20260312090000, "split_names") { database in
///     for row in try database.rows("SELECT id, name FROM person") {
///       let parts = row["name"].stringValue?.split(separator: " ") ?? []
///       try database.execute(
///         "UPDATE person SET first = ?, last = ? WHERE id = ?",
///         .text(String(parts.first ?? "")), .text(String(parts.last ?? "")), row["id"])
///     }
///   }
/// ]
/// ```
public struct SQLMigration: Sendable {
  /// The time at which foreign keys are checked.
  public enum ForeignKeys: String, Sendable, Hashable {
    /// Once, before the migration is committed: it mustn't increase the number of dangling rows. Foreign keys aren't
    /// enforced before that, so that a table can be rebuilt without affecting rows that refer to it. SQLite recommends
    /// this for schema changes.
    case checkedAtEnd
    /// At every commit and as declared by the tables, including `ON DELETE CASCADE`; and checked before the migration
    /// is committed.
    case enforced
  }

  /// The migration's position in the sequence. Not negative.
  public let version: Int64
  /// The migration's name; may be empty.
  public let name: String
  /// The file from which the migration was read.
  public let file: URL?
  /// Whether the migration runs in a transaction. If such a migration fails, the database is unchanged.
  ///
  /// Some statements, such as `VACUUM`, only run outside of transactions. If a migration without one fails, the
  /// statements before the failed one remain in effect, so it must be repeatable.
  public let runsInTransaction: Bool
  /// The time at which foreign keys are checked. A migration without a transaction isn't checked at its end.
  public let foreignKeys: ForeignKeys
  /// SHA-256 of the file or the SQL as 64 hexadecimal digits, for detecting an edited file; nil for code.
  ///
  /// Line endings are ignored, so that checkouts on different platforms have the same checksum.
  public let checksum: String?

  enum Work: Sendable {
    case script(SQLScript)
    case code(@Sendable (SQLDatabase) throws -> Void)
  }

  /// The work that undoes a migration, and how it runs.
  struct WayBack: Sendable {
    /// The file with the SQL; nil if it is part of the migration's own file.
    var file: URL?
    var runsInTransaction = true
    var foreignKeys = ForeignKeys.checkedAtEnd
    let script: SQLScript
  }

  let work: Work
  let wayBack: WayBack?
  /// The version as written in the file's name, with leading zeros.
  let versionText: String

  /// Creates a migration in code.
  ///
  /// - Parameters:
  ///   - version: the number that orders the migrations.
  ///   - name: the name of the migration.
  ///   - runsInTransaction: whether the migration runs in a transaction of its own.
  ///   - foreignKeys: when foreign keys are checked.
  ///   - body: runs the SQL; if the migration fails, only SQL is rolled back.
  public init(
    _ version: Int64, _ name: String, runsInTransaction: Bool = true, foreignKeys: ForeignKeys = .checkedAtEnd,
    _ body: @escaping @Sendable (SQLDatabase) throws -> Void
  ) {
    self.init(
      version, text: String(version), name, file: nil, runsInTransaction: runsInTransaction, foreignKeys: foreignKeys,
      checksum: nil, .code(body))
  }

  /// Creates a migration in SQL: one or more statements.
  ///
  /// - Parameters:
  ///   - version: the number that orders the migrations.
  ///   - name: the name of the migration.
  ///   - sql: the statements of the migration.
  ///   - downSQL: the statements that revert it; nil if it can't be reverted.
  ///   - runsInTransaction: whether the migration runs in a transaction of its own.
  ///   - foreignKeys: when foreign keys are checked.
  public init(
    _ version: Int64, _ name: String, sql: String, downSQL: String? = nil, runsInTransaction: Bool = true,
    foreignKeys: ForeignKeys = .checkedAtEnd
  ) {
    precondition(!sql.utf8.contains(0) && downSQL?.utf8.contains(0) != true, "SQL can't contain NUL characters.")
    self.init(
      version, text: String(version), name, file: nil, runsInTransaction: runsInTransaction, foreignKeys: foreignKeys,
      checksum: SQLMigrationFile.checksum(of: Array(sql.utf8)), .script(SQLScript(sql)),
      wayBack: downSQL.map {
        WayBack(runsInTransaction: runsInTransaction, foreignKeys: foreignKeys, script: SQLScript($0))
      })
  }

  init(
    _ version: Int64, text: String, _ name: String, file: URL?, runsInTransaction: Bool, foreignKeys: ForeignKeys,
    checksum: String?, _ work: Work, wayBack: WayBack? = nil
  ) {
    precondition(version >= 0, "The version of a migration can't be negative; this one is \(version).")
    self.version = version
    versionText = text
    self.name = name
    self.file = file
    self.runsInTransaction = runsInTransaction
    self.foreignKeys = foreignKeys
    self.checksum = checksum
    self.work = work
    self.wayBack = wayBack
  }

  /// Whether the migration has SQL that reverts it, for ``SQLMigrator/rollBack(storeAt:to:)``.
  public var canBeReverted: Bool { wayBack != nil }

  /// The migration's way back, as a migration of the same version; nil if it can't be reverted.
  func reversed() -> SQLMigration? {
    wayBack.map {
      SQLMigration(
        version, text: versionText, name, file: $0.file ?? file, runsInTransaction: $0.runsInTransaction,
        foreignKeys: $0.foreignKeys, checksum: checksum, .script($0.script))
    }
  }
}

extension SQLMigration: CustomStringConvertible {
  /// Version and name: `0003_add_prices`.
  public var description: String { name.isEmpty ? versionText : "\(versionText)_\(name)" }
}

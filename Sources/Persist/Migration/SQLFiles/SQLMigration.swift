public import Foundation

/// One step in the life of a database whose schema the application owns: SQL, or code that runs SQL.
///
/// Steps have versions, numbers or time stamps, and run in their order. Each runs once in a database, in one
/// transaction with the note that it did.
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
  /// When foreign keys are looked at.
  public enum ForeignKeys: String, Sendable, Hashable {
    /// Once, before the step is committed: no more rows may lead nowhere than before. Meanwhile nothing is enforced, so
    /// that a table can be made anew without its rows taking others with them. This is what SQLite advises for changes
    /// of tables.
    case checkedAtEnd
    /// With every commit and as the tables say, `ON DELETE CASCADE` included; and checked before the step is committed.
    case enforced
  }

  /// Where the step stands in the sequence. Not negative.
  public let version: Int64
  /// What the step is called; may be empty.
  public let name: String
  /// The file that the step was read from.
  public let file: URL?
  /// Whether the step runs in a transaction of its own. A step that does leaves the database as it was when it fails.
  ///
  /// Some statements run outside of transactions only, such as `VACUUM`. A step without one keeps the statements that
  /// ran before the one that failed, and has to bear being run again.
  public let runsInTransaction: Bool
  public let foreignKeys: ForeignKeys
  /// SHA-256 of the file or the SQL as 64 hexadecimal digits, by which an edited file is noticed; nil for code.
  ///
  /// Line ends don't count, so that a checkout on another platform has the same.
  public let checksum: String?

  enum Work: Sendable {
    case script(SQLScript)
    case code(@Sendable (SQLDatabase) throws -> Void)
  }

  let work: Work
  /// The version as the file's name has it, with its zeros.
  let versionText: String

  /// A step in code.
  ///
  /// - Parameter body: may run SQL, and nothing else of it is undone when the step fails.
  public init(
    _ version: Int64, _ name: String, runsInTransaction: Bool = true, foreignKeys: ForeignKeys = .checkedAtEnd,
    _ body: @escaping @Sendable (SQLDatabase) throws -> Void
  ) {
    self.init(
      version, text: String(version), name, file: nil, runsInTransaction: runsInTransaction, foreignKeys: foreignKeys,
      checksum: nil, .code(body))
  }

  /// A step in SQL: one or more statements.
  public init(
    _ version: Int64, _ name: String, sql: String, runsInTransaction: Bool = true,
    foreignKeys: ForeignKeys = .checkedAtEnd
  ) {
    precondition(!sql.utf8.contains(0), "SQL has no zero characters.")
    self.init(
      version, text: String(version), name, file: nil, runsInTransaction: runsInTransaction, foreignKeys: foreignKeys,
      checksum: SQLMigrationFile.checksum(of: Array(sql.utf8)), .script(SQLScript(sql)))
  }

  init(
    _ version: Int64, text: String, _ name: String, file: URL?, runsInTransaction: Bool, foreignKeys: ForeignKeys,
    checksum: String?, _ work: Work
  ) {
    precondition(version >= 0, "The version of a migration isn't negative; this one is \(version).")
    self.version = version
    versionText = text
    self.name = name
    self.file = file
    self.runsInTransaction = runsInTransaction
    self.foreignKeys = foreignKeys
    self.checksum = checksum
    self.work = work
  }
}

extension SQLMigration: CustomStringConvertible {
  /// Version and name: `0003_add_prices`.
  public var description: String { name.isEmpty ? versionText : "\(versionText)_\(name)" }
}

public import Foundation
public import Persist

/// The status of a database in a sequence of migrations.
///
/// ```swift
/// let status = try migrator.status(ofStoreAt: url)
/// print(status.pending.map(\.name), status.problems)
/// ```
public struct SQLMigrationStatus: Sendable, Hashable {
  /// The state of a migration.
  public enum State: String, Sendable, Hashable {
    /// The migration has been applied.
    case applied
    /// The migration has been applied, but its SQL has changed since.
    case changed
    /// The migration hasn't been applied.
    case pending
    /// The migration has been applied, but isn't part of the sequence.
    case unknown
  }

  /// A migration and its state.
  public struct Entry: Sendable, Hashable {
    /// Nil if the database doesn't identify it by a number.
    public var version: Int64?
    /// The migration's name; for an unknown migration, the name in the database.
    public var name: String
    /// The file of the migration; nil for one in code or one that isn't part of the sequence.
    public var file: URL?
    /// Whether the migration was applied, is pending, was edited, or is unknown.
    public var state: State
    /// Whether it is pending although a later one has been applied.
    public var isOutOfOrder: Bool
    /// The time at which Persist ran it; nil if it is pending or another tool ran it.
    public var appliedAt: Date?
  }

  /// All migrations of the sequence and the database, ordered by version.
  public internal(set) var entries: [Entry]
  /// The table in which the database records versions; it may not exist yet.
  public internal(set) var table: String
  /// The reasons for which no migration would run: edited files, a database of a newer application and so on.
  public internal(set) var problems: [PersistenceError]

  /// The applied migrations, whether or not their SQL has changed.
  public var applied: [Entry] { entries.filter { [.applied, .changed].contains($0.state) } }
  /// The migrations that haven't been applied.
  public var pending: [Entry] { entries.filter { $0.state == .pending } }
  /// The greatest applied version; nil if there is none.
  public var currentVersion: Int64? { entries.filter { $0.state != .pending }.compactMap(\.version).max() }
}

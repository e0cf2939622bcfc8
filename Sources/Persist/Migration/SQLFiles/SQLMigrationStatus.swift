public import Foundation

/// Where a database stands in a sequence of migrations.
///
/// ```swift
/// let status = try migrator.status(ofStoreAt: url)
/// print(status.pending.map(\.name), status.problems)
/// ```
public struct SQLMigrationStatus: Sendable, Hashable {
  /// How it stands with one migration.
  public enum State: String, Sendable, Hashable {
    /// The database has been through it.
    case applied
    /// The database has been through it, and its SQL is another now.
    case changed
    /// It is still to run.
    case pending
    /// The database has been through it, and the sequence doesn't have it.
    case unknown
  }

  /// One migration and how it stands with it.
  public struct Entry: Sendable, Hashable {
    /// Nil where the database calls it by something else than a number.
    public var version: Int64?
    /// What it is called; for one that isn't known, what the database calls it.
    public var name: String
    public var file: URL?
    public var state: State
    /// Whether it is pending though a later one has been applied.
    public var isOutOfOrder: Bool
    /// When Persist ran it; nil where it is pending or where another tool did.
    public var appliedAt: Date?
  }

  /// Every migration of the sequence and of the database, in the order of their versions.
  public internal(set) var entries: [Entry]
  /// The table in which the database keeps the versions; it needn't be there yet.
  public internal(set) var table: String
  /// Why nothing would be run as it stands: files that were edited, a database of a newer application and the like.
  public internal(set) var problems: [PersistenceError]

  /// What the database has been through, whether its SQL is the same or another now.
  public var applied: [Entry] { entries.filter { [.applied, .changed].contains($0.state) } }
  /// What is still to run.
  public var pending: [Entry] { entries.filter { $0.state == .pending } }
  /// The greatest version that the database has been through; nil before the first.
  public var currentVersion: Int64? { entries.filter { $0.state != .pending }.compactMap(\.version).max() }
}

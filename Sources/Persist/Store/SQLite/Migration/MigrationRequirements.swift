import Foundation

/// The checks before a migration writes anything, so that problems aren't discovered halfway.
///
/// - The store's file and its folder must be writable.
/// - The store must be intact. A small one is read completely. Reading a larger one would take longer than many
///   migrations: the data that a migration reads is verified cell by cell as it is read, and by the number of rows that
///   arrive; data that it doesn't read isn't changed.
///
/// Disk space is checked where the amount of written data is known.
struct MigrationRequirements {
  let store: URL
  /// The maximum size of a store that is read completely, which takes some hundredths of a second.
  private static let smallSize: Int64 = 8 * 1024 * 1024

  /// - Parameter connection: a connection that reads the store.
  /// - Throws: ``PersistenceError/Code/storeReadOnly`` with the names of what can't be written,
  ///   ``PersistenceError/Code/storeDamaged`` with SQLite's findings.
  func check(_ connection: SQLiteConnection) throws {
    try checkPermissions()
    try checkIntegrity(connection)
  }

  private func checkPermissions() throws {
    let folder = store.deletingLastPathComponent()
    let locked = [store, folder].filter { !FileManager.default.isWritableFile(atPath: $0.path) }
    guard !locked.isEmpty else { return }
    throw PersistenceError(
      .storeReadOnly, at: .store(store),
      "A migration writes the store and files next to it, but has no permission to write "
        + locked.map { $0 == store ? "'\($0.lastPathComponent)'" : "its folder" }.joined(separator: " and ") + ".",
      fix: "Give the program permission to write '\(store.lastPathComponent)' and its folder '\(folder.path)'.")
  }

  private func checkIntegrity(_ connection: SQLiteConnection) throws {
    guard let size = FileState(store)?.size, size <= Self.smallSize else { return }
    let damages = try connection.all(.quickCheck) { $0.text(0) }.filter(Self.isDamage)
    guard let first = damages.first else { return }
    throw PersistenceError(
      .storeDamaged, at: .store(store), "The store is damaged and wasn't migrated: \(first)",
      fix: "Restore it from a backup, or recover readable data with the sqlite3 command's .recover.")
  }

  /// Whether SQLite's finding is about the file itself; values that violate a table's constraints, and unused pages,
  /// don't prevent a migration.
  private static func isDamage(_ finding: String) -> Bool {
    let harmless = [
      "NULL value in", "CHECK constraint", "TEXT value in", "NUMERIC value in", "non-unique entry", "row ",
    ]
    return finding != "ok" && !finding.hasSuffix("never used") && !harmless.contains { finding.hasPrefix($0) }
  }
}

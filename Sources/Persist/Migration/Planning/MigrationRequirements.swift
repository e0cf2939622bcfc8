import Foundation

/// What is looked at before a migration writes anything, so that it isn't found out half-way.
///
/// - Whether the store's file and its folder may be written.
/// - Whether the store is whole. A small one is read from end to end. Of a larger one that would take longer than many
///   a migration: what a migration reads it checks by reading, cell by cell, and by the number of rows that arrive;
///   what it doesn't read it doesn't change.
///
/// The room on the disk is looked at where it is known how much is written.
struct MigrationRequirements {
  let store: URL
  /// Up to this size a store is read as a whole: some hundredths of a second.
  private static let smallSize: Int64 = 8 * 1024 * 1024

  /// - Throws: ``PersistenceError/Code/storeReadOnly`` with the names of what can't be written,
  ///   ``PersistenceError/Code/storeDamaged`` with what SQLite found.
  /// - Parameter connection: reads the store.
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
      "A migration writes the store and files beside it, and may not write "
        + locked.map { $0 == store ? "'\($0.lastPathComponent)'" : "its folder" }.joined(separator: " and ") + ".",
      fix: "Give the program the permission to write '\(store.lastPathComponent)' and its folder '\(folder.path)'.")
  }

  private func checkIntegrity(_ connection: SQLiteConnection) throws {
    guard let size = FileState(store)?.size, size <= Self.smallSize else { return }
    let damages = try connection.all(.quickCheck) { $0.text(0) }.filter(Self.isDamage)
    guard let first = damages.first else { return }
    throw PersistenceError(
      .storeDamaged, at: .store(store), "The store isn't whole, and isn't migrated: \(first)",
      fix: "Restore it from a backup, or save what can be read with the sqlite3 command's .recover.")
  }

  /// Whether what SQLite says is about the file itself; values that a table's own rules don't allow, and pages that
  /// nobody uses, stop no migration.
  private static func isDamage(_ finding: String) -> Bool {
    let harmless = [
      "NULL value in", "CHECK constraint", "TEXT value in", "NUMERIC value in", "non-unique entry", "row ",
    ]
    return finding != "ok" && !finding.hasSuffix("never used") && !harmless.contains { finding.hasPrefix($0) }
  }
}

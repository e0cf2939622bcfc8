public import Foundation

extension SQLMigration {
  /// Every migration in a folder, in the order of their versions.
  ///
  /// A file is called by its version and, behind `_` or `-`, its name: `0003_add_prices.sql`,
  /// `20260312090000_split.sql`, `3.sql`; also `….up.sql`, in which case `….down.sql` beside it undoes it and is left
  /// alone. A folder of such a name that contains an `up.sql` is one too. Hidden files, files that aren't SQL, and SQL
  /// files without a version in their names, such as a `schema.sql`, are skipped; ``SQLMigrator/skippedFiles`` lists
  /// the last.
  ///
  /// - Throws: ``PersistenceError/Code/fileAccess`` where the folder can't be read,
  ///   ``PersistenceError/Code/malformedFile`` for a file that isn't UTF-8 text.
  public static func files(in folder: URL) throws -> [SQLMigration] {
    try contents(of: folder).migrations
  }

  /// The migrations in a folder, and the SQL files whose names have no version.
  static func contents(of folder: URL) throws -> (migrations: [SQLMigration], skipped: [URL]) {
    let names: [String]
    do {
      names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    } catch {
      throw PersistenceError(
        .fileAccess, at: .file(folder), "The folder can't be read: \(error.localizedDescription)",
        fix: "Give the folder that the SQL files are in.")
    }
    let files = names.sorted().filter { !$0.hasPrefix(".") }.map { folder.appendingPathComponent($0) }
      .compactMap { url in
        if url.pathExtension.lowercased() == "sql" { return isWayBack(url) ? nil : url }
        let inner = url.appendingPathComponent("up.sql")
        return FileManager.default.fileExists(atPath: inner.path) ? inner : nil
      }
    let numbered = files.filter { parts(of: stem(of: $0)) != nil }
    return (
      try numbered.map { try SQLMigration(contentsOf: $0) }.sorted { $0.version < $1.version },
      files.filter { !numbered.contains($0) }
    )
  }

  /// Reads one SQL file, whose name has the version.
  ///
  /// - Throws: ``PersistenceError/Code/fileAccess``, and ``PersistenceError/Code/malformedFile`` where the name has no
  ///   version or the file isn't UTF-8 text.
  public init(contentsOf url: URL) throws {
    guard let (version, text, name) = Self.parts(of: Self.stem(of: url)) else {
      throw PersistenceError(
        .malformedFile, at: .file(url), "The name '\(url.lastPathComponent)' has no version.",
        fix: "Call it by a number or a time stamp and a name, such as '0001_create.sql'.")
    }
    let file = try SQLMigrationFile(contentsOf: url)
    self.init(
      version, text: text, name, file: url, runsInTransaction: file.runsInTransaction, foreignKeys: file.foreignKeys,
      checksum: SQLMigrationFile.checksum(of: file.text),
      .script(SQLScript(file.text, range: file.range, file: url)))
  }

  /// The part of the name that tells version and name: of the folder where the file is just called `up.sql`.
  private static func stem(of url: URL) -> String {
    let stem = url.deletingPathExtension().lastPathComponent
    if stem.lowercased() == "up" { return url.deletingLastPathComponent().lastPathComponent }
    return stem.lowercased().hasSuffix(".up") ? String(stem.dropLast(3)) : stem
  }

  private static func isWayBack(_ url: URL) -> Bool {
    let stem = url.deletingPathExtension().lastPathComponent.lowercased()
    return stem == "down" || stem.hasSuffix(".down")
  }

  /// Time stamps may be written with dashes, `2026-03-12-090000_split`, as Diesel does; those don't count.
  private static func parts(of stem: String) -> (version: Int64, text: String, name: String)? {
    guard
      let match = stem.wholeMatch(of: /([0-9]{4}-[0-9]{2}-[0-9]{2}(?:-[0-9]+)?|[0-9]+)(?:[_-]+(.*))?/),
      let version = Int64(match.1.filter { $0 != "-" })
    else { return nil }
    return (version, match.1.filter { $0 != "-" }, String(match.2 ?? ""))
  }
}

public import Foundation
import Persist

extension SQLMigration {
  /// Returns all migrations in a folder, ordered by version.
  ///
  /// A file's name consists of its version and, after `_` or `-`, the migration's name: `0003_add_prices.sql`,
  /// `20260312090000_split.sql`, `3.sql`; also `….up.sql`. A folder with such a name that contains an `up.sql` is a
  /// migration too. The SQL that reverts a migration is in its file after a line `-- down`, or in a separate file
  /// beside it: `….down.sql`, or `down.sql` in the folder. Hidden files, files that aren't SQL, and SQL files without a
  /// version in their names, such as a `schema.sql`, are skipped; ``SQLMigrator/skippedFiles`` lists the latter.
  ///
  /// - Throws: `PersistenceError.Code.fileAccess` if the folder can't be read,
  ///   `PersistenceError.Code.malformedFile` for a file that isn't UTF-8 text.
  public static func files(in folder: URL) throws -> [SQLMigration] {
    try contents(of: folder).migrations
  }

  /// The migrations in a folder, and the SQL files without a version in their names.
  static func contents(of folder: URL) throws -> (migrations: [SQLMigration], skipped: [URL]) {
    let names: [String]
    do {
      names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    } catch {
      let isThere = FileManager.default.fileExists(atPath: folder.path)
      throw PersistenceError(
        .fileAccess, at: .file(folder),
        isThere ? "The folder can't be read: \(error.localizedDescription)" : "There is no such folder.",
        fix: "Specify the folder that contains the SQL files.")
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

  /// Reads an SQL file whose name contains the version.
  ///
  /// - Throws: `PersistenceError.Code.fileAccess`, and `PersistenceError.Code.malformedFile` if the name has no
  ///   version or the file isn't UTF-8 text.
  public init(contentsOf url: URL) throws {
    guard let (version, text, name) = Self.parts(of: Self.stem(of: url)) else {
      throw PersistenceError(
        .malformedFile, at: .file(url), "The name '\(url.lastPathComponent)' has no version.",
        fix: "Name it with a number or a time stamp and a name, such as '0001_create.sql'.")
    }
    let file = try SQLMigrationFile(contentsOf: url)
    self.init(
      version, text: text, name, file: url, runsInTransaction: file.runsInTransaction, foreignKeys: file.foreignKeys,
      checksum: SQLMigrationFile.checksum(of: file.text),
      .script(SQLScript(file.text, range: file.range, file: url)), wayBack: try Self.wayBack(of: url, file))
  }

  /// The separate file that reverts a migration, or else the part of its own file.
  private static func wayBack(of url: URL, _ file: SQLMigrationFile) throws -> WayBack? {
    let folder = url.deletingLastPathComponent()
    let stem = url.deletingPathExtension().lastPathComponent
    let base = stem.lowercased().hasSuffix(".up") ? String(stem.dropLast(3)) : stem
    let name = stem.lowercased() == "up" ? "down.sql" : "\(base).down.sql"
    let other = folder.appendingPathComponent(name)
    if FileManager.default.fileExists(atPath: other.path) {
      let down = try SQLMigrationFile(contentsOf: other)
      // A file of another tool may mark its only part as well.
      let range = down.wayBack ?? down.range
      let script = SQLScript(down.text, range: range, file: other)
      guard !script.isEmpty else { return nil }
      return WayBack(
        file: other,
        runsInTransaction: down.wayBack == nil ? down.runsInTransaction : down.wayBackRunsInTransaction,
        foreignKeys: down.foreignKeys, script: script)
    }
    return file.wayBack.map { range in
      WayBack(
        runsInTransaction: file.wayBackRunsInTransaction, foreignKeys: file.foreignKeys,
        script: SQLScript(file.text, range: range, file: url))
    }
  }

  /// The part of the name with the version and the migration's name: that of the folder if the file is just named
  /// `up.sql`.
  private static func stem(of url: URL) -> String {
    let stem = url.deletingPathExtension().lastPathComponent
    if stem.lowercased() == "up" { return url.deletingLastPathComponent().lastPathComponent }
    return stem.lowercased().hasSuffix(".up") ? String(stem.dropLast(3)) : stem
  }

  private static func isWayBack(_ url: URL) -> Bool {
    let stem = url.deletingPathExtension().lastPathComponent.lowercased()
    return stem == "down" || stem.hasSuffix(".down")
  }

  /// Splits a name into its parts. Time stamps may contain dashes, `2026-03-12-090000_split`, as in Diesel, which are
  /// ignored.
  private static func parts(of stem: String) -> (version: Int64, text: String, name: String)? {
    guard
      let match = stem.wholeMatch(of: /([0-9]{4}-[0-9]{2}-[0-9]{2}(?:-[0-9]+)?|[0-9]+)(?:[_-]+(.*))?/),
      let version = Int64(match.1.filter { $0 != "-" })
    else { return nil }
    return (version, match.1.filter { $0 != "-" }, String(match.2 ?? ""))
  }
}

import Foundation
@testable import PersistCore
@testable import PersistModel
@testable import PersistSQLMigrations
import PersistTestSupport
import Testing

@testable import Persist

/// A folder of SQL files and a database beside it.
struct SQLFolder {
  let folder: URL
  let url: URL

  /// - Parameter files: Contents by name; a name may contain a folder.
  static func with<Result>(_ files: [String: String], _ body: (SQLFolder) throws -> Result) throws -> Result {
    try withTemporaryFolder { root in
      let folder = SQLFolder(folder: root.appendingPathComponent("sql"), url: root.appendingPathComponent("App.db"))
      try FileManager.default.createDirectory(at: folder.folder, withIntermediateDirectories: true)
      for (name, text) in files { try folder.write(text, to: name) }
      return try body(folder)
    }
  }

  func write(_ text: String, to name: String) throws {
    let file = folder.appendingPathComponent(name)
    try FileManager.default.createDirectory(
      at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: file)
  }

  /// A migrator of the current files.
  func migrator(and others: [SQLMigration] = []) throws -> SQLMigrator { try SQLMigrator(filesIn: folder, and: others) }

  /// Runs SQL without Persist, as another program would.
  func run(_ sql: String) throws {
    if !FileManager.default.fileExists(atPath: url.path) { try Data().write(to: url) }
    try BuiltProgram.run("SQLRunner", url.path, sql)
  }

  func rows(_ query: String) throws -> [[String]] { try MadeStore.rows(query, at: url) }

  /// Empty if the file is still empty.
  func tables() throws -> [String] {
    guard try !Data(contentsOf: url).isEmpty else { return [] }
    return try rows("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").map { $0[0] }
  }

  func expectWhole(sourceLocation: SourceLocation = #_sourceLocation) throws {
    try #expect(rows("PRAGMA integrity_check") == [["ok"]], sourceLocation: sourceLocation)
  }
}

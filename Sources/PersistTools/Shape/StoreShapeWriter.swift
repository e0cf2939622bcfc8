package import Foundation
import Persist

/// Builds a store of a shape, in a new file.
package final class StoreShapeWriter {
  private let connection: SQLiteConnection
  private let files: ExternalDataFolder

  private init(_ url: URL) throws {
    connection = try SQLiteConnection(url, mode: .application)
    files = ExternalDataFolder(storeAt: url)
  }

  /// Creates a store in one transaction.
  ///
  /// - Parameter body: Defines tables, inserts rows, and defines the rest.
  /// - Throws: ``PersistenceError/Code/fileAccess`` if there is a file already.
  package static func createStore(at url: URL, _ body: (StoreShapeWriter) throws -> Void) throws {
    guard FileState(url) == nil else {
      throw PersistenceError(.fileAccess, at: .store(url), "The file already exists.", fix: "Choose another file.")
    }
    let writer = try StoreShapeWriter(url)
    defer { writer.connection.close() }
    try writer.connection.transaction { try body(writer) }
  }

  /// Runs a definition of a table, an index, a view or a trigger.
  ///
  /// - Throws: ``PersistenceError/Code/malformedFile`` for any other statement: a shape may come from elsewhere.
  package func define(_ sql: String) throws {
    let words = sql.uppercased().split(maxSplits: 3, omittingEmptySubsequences: true) { !$0.isLetter }
    guard words.first == "CREATE", words.count > 1,
      ["TABLE", "INDEX", "UNIQUE", "VIEW", "TRIGGER"].contains(words[1])
    else {
      throw PersistenceError(
        .malformedFile, "This isn't the definition of a table, an index, a view or a trigger: \(sql.prefix(60))")
    }
    try connection.execute(SQLText(storedIn: StoredDefinition(sql: sql)))
  }

  package func insert(_ cells: [StoreShape.Cell], into table: String, _ columns: [String]) throws {
    var values: [SQLValue] = []
    for cell in cells { values.append(try value(of: cell)) }
    try connection.execute(.insert([values], into: table, columns))
  }

  private func value(of cell: StoreShape.Cell) throws -> SQLValue {
    switch cell {
    case .value(let value): return value
    case .text(let count, let seed): return .text(NoiseText.text(count: count, seed: seed))
    case .bytes(let count, let seed, let isMarked):
      return .blob((isMarked ? Data([1]) : Data()) + NoiseText.bytes(count: count, seed: seed))
    case .file(let name, let count, let seed):
      guard UUID(uuidString: name) != nil else {
        throw PersistenceError(.malformedFile, "'\(name.prefix(60))' isn't the name of a large value's file.")
      }
      if let count {
        try files.make()
        try NoiseText.bytes(count: count, seed: seed).write(to: files.url.appendingPathComponent(name))
      }
      return .blob(Data([2]) + Data(name.utf8) + [0])
    }
  }
}

import Foundation
import PersistTestSupport

@testable import Persist
@testable import PersistCore
@testable import PersistModel

#if canImport(PersistPostgreSQL)
  @testable import PersistPostgreSQL
#endif

/// The names that the layout of a server has for names of Core Data's layout, so that tests of both engines can write
/// `SELECT ZNAME FROM ZPERSON ORDER BY Z_PK`.
struct StoreWords {
  /// A model that a store has although it isn't recorded in it.
  @TaskLocal static var model: ManagedObjectModel?

  private var words: [String: String] = [:]
  /// A column may have the name of a table.
  private var tables: [String: String] = [:]

  private init() {}

  init(_ model: ManagedObjectModel) {
    let (old, new) = (TableMap.forNewStore(model), TableMap.forNewStore(model, names: .snakeCase))
    for (first, second) in zip(old.tables, new.tables) {
      tables[first.table] = second.table
      for (own, other) in zip(sorted(first.columns), sorted(second.columns)) { words[own.name] = other.name }
      for (slot, column) in first.orderColumns { words[column] = second.orderColumns[slot] }
      for case (let slot, .foreignKey(let key)) in first.toMany {
        guard case .foreignKey(let other)? = second.toMany[slot] else { continue }
        words[key.column] = other.column
        if let column = key.entityColumn { words[column] = other.entityColumn }
        if let column = key.orderColumn { words[column] = other.orderColumn }
      }
    }
    for (first, second) in zip(old.joinTables, new.joinTables) {
      tables[first.name] = second.name
      for (side, other) in [(first.first, second.first), (first.second, second.second)] {
        words[side.column] = other.column
        if let column = side.orderColumn { words[column] = other.orderColumn }
      }
    }
    for (first, second) in zip(old.indexDefinitions, new.indexDefinitions) { words[first.name] = second.name }
  }

  private func sorted(_ columns: [TableMap.Column]) -> [TableMap.Column] {
    columns.sorted { ($0.slot, $0.role == .toOneEntity ? 1 : 0) < ($1.slot, $1.role == .toOneEntity ? 1 : 0) }
  }

  /// The words of a store; none for one in a file.
  ///
  /// - Parameter model: Its model; nil for the recorded one.
  init(_ model: ManagedObjectModel? = nil, at url: URL) throws {
    guard !url.isFileURL else {
      self.init()
      return
    }
    let location = StoreLocation(url)
    self.init(try model ?? Self.model ?? location.engine.identifyStore(at: location, registry: nil).model)
  }

  /// The name of a column, or of a table.
  subscript(_ name: String) -> String { words[name] ?? tables[name] ?? name }

  /// SQL with the model's names.
  func sql(_ text: String) -> String { replacing(text) { $0 } }

  /// A name as it is on a server; itself if the tests were built without libpq.
  static func serverName(_ name: String) -> String {
    #if canImport(PersistPostgreSQL)
      ServerText.name(name)
    #else
      name
    #endif
  }

  /// SQL with all names of a server.
  func serverSQL(_ text: String) -> String {
    #if canImport(PersistPostgreSQL)
      replacing(text) { word in ServerNames.name(word) == word.foldedIdentifier ? nil : ServerNames.name(word) }
    #else
      text
    #endif
  }

  /// - Parameter other: The name for a word that isn't one of the model; nil or the word itself to leave it.
  private func replacing(_ text: String, _ other: (String) -> String?) -> String {
    var previous = ""
    return text.replacing(#/'(?:[^']|'')*'|[A-Za-z_][A-Za-z0-9_]*/#) { match in
      let word = String(match.output)
      defer { previous = word }
      guard word.first?.isLetter == true else { return word }
      let isTable = ["FROM", "INTO", "UPDATE", "JOIN", "TABLE", "ON"].contains(previous)
      let own = isTable ? tables[word] ?? words[word] : words[word] ?? tables[word]
      guard let name = own ?? other(word), name != word else { return word }
      return "\"\(name)\""
    }
  }
}

extension ForeignSQL {
  /// Runs statements with Core Data's names on a store of either engine.
  @discardableResult
  static func run(named statements: String..., at url: URL) throws -> [[String]] {
    guard !url.isFileURL else { return try run(statements, at: url) }
    var rows: [[String]] = []
    for statement in statements { rows = try run([StoreWords(at: url).serverSQL(statement)], at: url) }
    return rows
  }
}

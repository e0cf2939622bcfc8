import Foundation
import PersistTestSupport

@testable import Persist
@testable import PersistCore
@testable import PersistModel

#if canImport(PersistPostgreSQL)
  @testable import PersistPostgreSQL
#endif

/// A store of either engine that tests read and write by SQL alone.
///
/// Statements are those of ``SQLText``, which both engines understand, with the names of Core Data's layout. Rows are
/// read through the client library of the engine, and have the same values in both: SQLite stores whole numbers of
/// dates and decimals as integers.
final class RawStore {
  private enum Connection {
    case file(SQLiteConnection)
    #if canImport(PersistPostgreSQL)
      case server(ForeignSQL.Session, ServerAddress)
    #endif
  }

  struct Row {
    let names: [String]
    let values: [SQLValue]
    var words: StoreWords?

    func value(named name: String) -> SQLValue? {
      let own = words?[name] ?? name
      return names.firstIndex { $0.foldedIdentifier == own.foldedIdentifier || $0 == StoreWords.serverName(own) }
        .map { values[$0] }
    }

    func integer(_ index: Int) -> Int64 { values[index].integerValue ?? 0 }
  }

  let url: URL
  private let connection: Connection

  init(_ url: URL, mode: SQLiteConnection.Mode = .readWrite) throws {
    self.url = url
    #if canImport(PersistPostgreSQL)
      if let address = ServerAddress(url) {
        connection = .server(try ForeignSQL.Session(url), address)
        return
      }
    #endif
    connection = .file(try SQLiteConnection(url, mode: mode))
  }

  func close() { if case .file(let connection) = connection { connection.close() } }

  /// The store's catalog as others see it.
  func catalog() throws -> StoreCatalog {
    if case .file(let connection) = connection { return try StoreCatalog(connection) }
    return try StoreLocation(url).inspect { try $0.catalog() }
  }

  func transaction(_ body: () throws -> Void) throws {
    switch connection {
    case .file(let connection): try connection.transaction(body)
    #if canImport(PersistPostgreSQL)
      case .server(let session, _):
        try session.run("BEGIN")
        try body()
        try session.run("COMMIT")
    #endif
    }
  }

  func execute(_ sql: SQLText) throws { _ = try rows(sql) }

  func rows(_ sql: SQLText) throws -> [Row] {
    switch connection {
    case .file(let connection):
      return try connection.all(sql) { row in
        let columns = 0..<row.columnCount
        return Row(names: columns.map { row.columnName($0) }, values: columns.map { row.value($0) })
      }
    #if canImport(PersistPostgreSQL)
      case .server(let session, let address):
        let words = try StoreWords(at: url)
        let text = SQLText(checked: words.sql(sql.text)).binding(sql.values)
        let statement = try Self.typed(ServerText(translating: text).statement(in: address.schema), session)
        let found = try session.query(
          statement.text, statement.parameters.map { (type: $0.type.rawValue, bytes: $0.bytes) })
        return found.rows.map { Row(names: found.names, values: $0.map(Self.value), words: words) }
    #endif
    }
  }

  /// Makes sure that objects inserted later get keys above those of rows inserted by SQL.
  func raiseKeys(of table: String, number: Int, to maximum: Int64) throws {
    try execute("UPDATE Z_PRIMARYKEY SET Z_MAX = \(number: maximum) WHERE Z_ENT = \(number: Int64(number))")
    #if canImport(PersistPostgreSQL)
      if case .server(let session, _) = connection {
        let own = try StoreWords(at: url)[table]
        try session.run("SELECT setval('\"\(ServerText.name(ServerText.keySequence(of: own)))\"', \(maximum))")
      }
    #endif
  }

  #if canImport(PersistPostgreSQL)
    /// An insertion with numbers and bytes as the truth values and UUIDs that the server's columns contain.
    private static func typed(_ statement: ServerStatement, _ session: ForeignSQL.Session) throws -> ServerStatement {
      let insertion = /INSERT INTO (?:[^ ]*\.)?"?([^" .]+)"? ?\((.+?)\) VALUES ?\((.+)\)/
      guard let match = statement.text.wholeMatch(of: insertion) else { return statement }
      let rows = try session.run(
        """
        SELECT column_name, data_type FROM information_schema.columns \
        WHERE table_schema = current_schema() AND table_name = '\(match.1)'
        """)
      let types = Dictionary(rows.map { ($0[0], $0[1]) }, uniquingKeysWith: { first, _ in first })
      var (text, parameters) = (statement.text, statement.parameters)
      for (column, value) in zip(match.2.split(separator: ", "), match.3.split(separator: ", ")) {
        guard let place = value.wholeMatch(of: /\$(\d+)::(bigint|bytea)/), let number = Int(place.1) else { continue }
        let bytes = parameters[number - 1].bytes ?? []
        let parameter: ServerParameter? =
          switch types[String(column.filter { $0 != "\"" })] {
          case "boolean": ServerParameter(type: .boolean, bytes: [bytes.allSatisfy { $0 == 0 } ? 0 : 1])
          case "uuid": ServerParameter.uuid(Data(bytes))
          default: nil
          }
        guard let parameter else { continue }
        parameters[number - 1] = parameter
        text = text.replacing(value, with: "$\(number)::\(parameter.type == .uuid ? "uuid" : "boolean")")
      }
      return ServerStatement(text, parameters)
    }

    private static func value(_ value: ForeignSQL.Value) -> SQLValue {
      switch value {
      case .null: .null
      case .integer(let number): .integer(number)
      case .double(let number): .double(number)
      case .text(let text): .text(text)
      case .bytes(let data): .blob(data)
      case .decimal(let text): Decimal(string: text).flatMap(DecimalColumn.init).map { SQLValue($0) } ?? .text(text)
      }
    }
  #endif
}

extension SQLValue {
  /// The value as SQLite stores it in a column of a type: whole numbers of dates and decimals are integers.
  func stored(as type: TableMap.ColumnType) -> SQLValue {
    guard case .double(let number) = self, [.timestamp, .decimal].contains(type), let whole = Int64(exactly: number)
    else { return self }
    return .integer(whole)
  }
}

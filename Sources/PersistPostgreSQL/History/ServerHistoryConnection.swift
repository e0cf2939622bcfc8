import Foundation
import Persist

/// A session with a server, within a transaction, that reads and changes the history.
///
/// A server's columns have types, so that the values that the history keeps are bytes, of which the first is the kind
/// of value:
///
/// | first byte | value |
/// |---|---|
/// | 1 | an integer of 8 bytes |
/// | 2 | a floating-point number of 8 bytes |
/// | 3 | a text, or a decimal number as text |
/// | 4 | bytes |
struct ServerHistoryConnection: HistoryConnection {
  let session: ServerSession
  var url: URL? { session.url }

  init(_ session: ServerSession) { self.session = session }

  @discardableResult
  func execute(_ sql: SharedSQL) throws -> Int { try session.execute(ServerText(sql)) }

  func execute(all statements: [SharedSQL]) throws { try session.run(statements.map { ServerText($0) }) }

  func forEachRow(of sql: SharedSQL, _ body: (any StatementRow) throws -> Void) throws {
    let result = try session.query(ServerText(sql))
    for row in 0..<result.rowCount { try body(ServerHistoryRow(result: result, row: row)) }
  }

  func hasTable(named name: String) throws -> Bool {
    try session.first(
      """
      SELECT 1 FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace \
      WHERE n.nspname = \(text: session.schema) AND c.relname = \(text: ServerText.name(name))
      """
    ) { _, _ in true } ?? false
  }

  func storeSchema() throws -> StoreSchema { try StoreSchema(session) }
  func storeMetadata() throws -> StoreMetadata { try StoreMetadata(session) }

  /// Programs that have the store open notice the new mark, and follow the settings of the history.
  func replace(_ metadata: StoreMetadata) throws {
    try session.run([ServerText.lock(session.schema), metadata.update()] + ServerMark.renewal)
  }

  func create(_ table: TableDefinition) throws {
    // The counter of a row that Persist wrote is 1, and null in a row of Core Data.
    try session.run(
      ServerText.create(table) + [
        "ALTER TABLE \(table: table.name) ALTER COLUMN version DROP NOT NULL, ALTER COLUMN version DROP DEFAULT"
      ])
  }

  func create(_ index: IndexDefinition) throws { try session.run(ServerText.make(index)) }

  func lastHistoryNumbers() throws -> (change: Int64, transaction: Int64) {
    var numbers: [Int64: Int64] = [:]
    let entities = [HistoryLayout.EntityNumber.change, HistoryLayout.EntityNumber.transaction]
    for (entity, number) in try session.all(
      "SELECT entity, greatest_key FROM \(table: "Z_PRIMARYKEY") WHERE entity IN (\(numbers: entities))",
      { ($0.integer($1, 0), $0.integer($1, 1)) })
    {
      numbers[entity] = number
    }
    return (numbers[Int64(entities[0])] ?? 0, numbers[Int64(entities[1])] ?? 0)
  }

  func setLastNumber(_ number: Int64, ofEntity entity: Int) throws {
    try session.execute(
      """
      INSERT INTO \(table: "Z_PRIMARYKEY") (entity, name, parent, greatest_key) \
      VALUES (\(number: Int64(entity)), \(text: HistoryLayout.entityNames[entity] ?? ""), 0, \(integer: number)) \
      ON CONFLICT (entity) DO UPDATE SET greatest_key = excluded.greatest_key
      """)
  }

  func kept(_ value: SQLValue) -> SQLValue { value.keptBytes.map(SQLValue.blob) ?? .null }

  func keepOldValues(of map: TableMap?) throws {
    // Before the tables are locked, so that writers are waited for in the order in which they wait for others.
    try session.run([ServerText.lock(session.schema)])
    if let map { try session.makeOldValueTriggers(in: map) } else { try session.dropOldValueTriggers() }
  }

  func recordTransaction(by author: String, in history: HistoryMap) throws {
    var writer = ServerHistoryWriter(history, by: HistoryOrigin(author: author), in: session.schema)
    try session.run(writer.statements(evenWithoutChanges: true))
  }
}

/// A row of the history on a server.
private struct ServerHistoryRow: StatementRow {
  let result: any ServerResult
  let row: Int

  func isNull(_ column: Int32) -> Bool { result.isNull(row, Int(column)) }
  func integer(_ column: Int32) -> Int64 { result.integer(row, Int(column)) }
  func double(_ column: Int32) -> Double { result.double(row, Int(column)) }
  func text(_ column: Int32) -> String { result.text(row, Int(column)) }
  func data(_ column: Int32) -> Data { result.data(row, Int(column)) }

  func keptValue(_ column: Int32) -> SQLValue { SQLValue(keptBytes: data(column)) }
}

extension SQLValue {
  /// The value that a server's history keeps; null for bytes of no known kind.
  fileprivate init(keptBytes bytes: Data) {
    let content = Data(bytes.dropFirst())
    let number = content.count == 8 ? content.reduce(Int64(0)) { $0 << 8 | Int64($1) } : nil
    switch (bytes.first, number) {
    case (1, let number?): self = .integer(number)
    case (2, let number?): self = .double(Double(bitPattern: UInt64(bitPattern: number)))
    case (3, _): self = .text(String(decoding: content, as: UTF8.self))
    case (4, _): self = .blob(content)
    default: self = .null
    }
  }

  /// The bytes with which a server's history keeps the value; nil for null.
  fileprivate var keptBytes: Data? {
    func bigEndian(_ bits: UInt64) -> Data { withUnsafeBytes(of: bits.bigEndian) { Data($0) } }
    return switch self {
    case .null: nil
    case .integer(let number): Data([1]) + bigEndian(UInt64(bitPattern: number))
    case .double(let number): Data([2]) + bigEndian(number.bitPattern)
    case .text(let text): Data([3]) + Data(text.utf8)
    case .blob(let data): Data([4]) + data
    }
  }
}

import Foundation
import Persist

/// Reads a store on a server for the planning of a migration, from one state of it.
class ServerInspector: StoreInspector {
  let session: ServerSession
  /// Whether the connection is that of an online migration, which alone changes a store that serves two models.
  var isOnline = false
  var url: URL? { session.url }

  init(_ session: ServerSession) { self.session = session }

  // MARK: The model

  func catalog() throws -> StoreCatalog { try mapped { try StoreCatalog(session) } }

  func isCurrent(_ catalog: StoreCatalog) throws -> Bool {
    let current = try self.catalog()
    return current.mark == catalog.mark && current.entityRows == catalog.entityRows
      && current.record?.modelDigest == catalog.record?.modelDigest
  }

  func identify(among registry: ModelRegistry?, known: StoreCatalog?) throws -> IdentifiedStore {
    let known = try known.flatMap { try isCurrent($0) ? $0 : nil }
    return try mapped { try session.identify(among: registry, known: known) }
  }

  // MARK: The rows

  func count(_ count: RowCount) throws -> Int {
    switch count {
    case .outside(let range, let table, let column, let rows):
      return try number(
        """
        SELECT count(CASE WHEN \(name: column) NOT BETWEEN \(number: range.lowerBound) AND \
        \(number: range.upperBound) THEN 1 END) FROM \(table: table)\(ServerText.condition(rows))
        """)
    // On a server, all values are in their rows.
    case .missingFiles, .rejectedNumbers: return 0
    case .otherThanURIs(let table, let column, let rows):
      let texts = ServerText(.texts(in: table, column: column, rows))
      return try mapped { try session.all(texts) { ($0.text($1, 0), Int(clamping: $0.integer($1, 1))) } }
        .filter { !StoredValue.isURI($0.0) }.reduce(0) { $0 + $1.1 }
    case .duplicates(let table, let values, let rows):
      let kinds = try mapped { try columnKinds(of: table) }
      return try number(.duplicates(of: values, in: table, rows, kinds))
    case .parkedOutside(let range, let slot): return try number(.parkedOutside(range, slot: slot))
    case .parkedDuplicates(let slot, let slots, let table, let values, let rows):
      let kinds = try mapped { try columnKinds(of: table) }
      return try number(.parkedDuplicates(slot: slot, slots, of: table, values: values, rows: rows, kinds))
    case .rows, .unknown, .present, .related, .crowded, .conflicting, .unmatched, .unrelated, .unparked:
      return try SharedSQL.count(count).map { try number(ServerText($0)) } ?? 0
    }
  }

  func count(_ count: ConditionCount, in map: TableMap) throws -> Int? {
    let terms = ServerTerms(map.serverKinds, tables: count.tables)
    guard let condition = terms.condition(count.condition)?.bounded else { return nil }
    return try number("\(ServerText(count.start))\(condition)")
  }

  func firstNumber(_ sql: SharedSQL) throws -> Int { try number(ServerText(sql)) }

  private func number(_ sql: ServerText) throws -> Int {
    // The server's sums are decimal numbers.
    try mapped { try session.first("SELECT (\(sql))::bigint") { Int(clamping: $0.integer($1, 0)) } ?? 0 }
  }

  func greatestRow(of table: String) throws -> Int64 {
    let hasKey = try catalog().schema.column("Z_PK", of: table) != nil
    return Int64(
      try number(
        hasKey
          ? "SELECT coalesce(max(id), 0) FROM \(table: table)" : "SELECT count(*) FROM \(table: table)"))
  }

  func forEachFinding(_ step: CheckStep, _ body: (CheckStep.Finding) throws -> Void) throws {
    try mapped { try session.forEachFinding(step, body) }
  }

  func largeValueNames(in table: String, column: String, _ rows: RowCondition) throws -> [String] { [] }
  func requireMigratable() throws { try requireOneModel() }

  /// - Throws: ``PersistenceError/Code/migrationFailed`` if an online migration isn't complete.
  func requireOneModel() throws {
    guard !isOnline, let record = try mapped({ try OnlineRecord(session) }) else { return }
    throw record.exclusion(at: url)
  }

  // MARK: Parked values

  func parkedSlots() throws -> [ParkedSlot] {
    try mapped { try ServerHistoryConnection(session).storedParkedSlots() }
  }

  func servedModels() throws -> ServedModels? {
    guard !isOnline, let record = try mapped({ try OnlineRecord(session) }) else { return nil }
    return ServedModels(first: record.from, second: record.to, isServingBoth: record.state == .serving)
  }

  func parkedModel(_ digest: String) throws -> Data? {
    try mapped {
      guard try session.hasTable(ParkedSlot.Table.slots) else { return nil }
      return try session.first(ServerText(.parkedModel(digest))) { $0.data($1, 0) }
    }
  }

  /// The types of a table's columns, by their folded names.
  func columnKinds(of table: String) throws -> ServerText.ColumnKinds {
    let rows = try session.all(
      """
      SELECT attname::text, format_type(atttypid, atttypmod) FROM pg_attribute \
      WHERE attrelid = to_regclass(\(text: ServerText.quoted(table))) AND attnum > 0 AND NOT attisdropped
      """
    ) { (name: $0.text($1, 0), kind: ServerTerms.Kind(typeName: $0.text($1, 1))) }
    let long = try session.all("SELECT short, name FROM \(table: "PERSIST_NAMES")") { ($0.text($1, 0), $0.text($1, 1)) }
    let names = Dictionary(long, uniquingKeysWith: { first, _ in first })
    return Dictionary(
      rows.map { ((names[$0.name] ?? ServerNames.column($0.name, of: table)).foldedIdentifier, $0.kind) },
      uniquingKeysWith: { first, _ in first })
  }

  @discardableResult
  func mapped<T>(_ body: () throws -> T) throws -> T {
    do { return try body() } catch let failure as ServerFailure {
      throw PersistenceError(failure, at: url, during: work)
    }
  }

  /// The work for which the connection is used.
  var work: ServerWork { .reading }
}

extension ServerSession {
  /// Calls `body` for each problem that a step of a check finds.
  func forEachFinding(_ step: CheckStep, _ body: (CheckStep.Finding) throws -> Void) throws {
    guard case .shared(let sql) = step.query else { return }
    // The types of the last two columns depend on the step.
    let result = try query(
      "SELECT a::bigint, b::bigint, c::text, d::text, pg_typeof(c)::text, pg_typeof(d)::text "
        + "FROM (\(ServerText(sql))) AS found(a, b, c, d) ORDER BY a")
    func value(_ row: Int, _ column: Int) -> SQLValue {
      guard !result.isNull(row, column) else { return .null }
      let text = result.text(row, column)
      switch result.text(row, column + 2) {
      case "smallint", "integer", "bigint": return Int64(text).map { .integer($0) } ?? .text(text)
      case "boolean": return .integer(text == "true" ? 1 : 0)
      case "double precision", "numeric": return Double(text).map { .double($0) } ?? .text(text)
      // In hexadecimal, after a backslash and an x.
      case "bytea": return .blob(Data(count: max(0, text.utf8.count - 2) / 2))
      default: return .text(text)
      }
    }
    for row in 0..<result.rowCount {
      try body(
        CheckStep.Finding(
          row: result.integer(row, 0), entityNumber: result.integer(row, 1), values: (value(row, 2), value(row, 3))))
    }
  }
}

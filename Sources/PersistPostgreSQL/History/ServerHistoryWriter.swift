import Foundation
import Persist

/// Collects the changes of one transaction. The statements that record them in the history run together with the
/// transaction's last ones.
///
/// The first statement locks the counter of transactions until the commit, so that their numbers are in the order of
/// the commits: a reader never sees a number before a smaller one. It comes as late as possible, because from then on
/// other transactions wait.
struct ServerHistoryWriter {
  let map: HistoryMap
  private let channel: String
  private let entities: [HistoryMap.EntityColumns]
  private let origin: HistoryOrigin
  private var types: [Int64] = []
  private var numbers: [Int64] = []
  private var keys: [Int64] = []
  private var columns: [Data?] = []
  private var bits: (entity: Int, slots: [Int], columns: Data)?
  private(set) var hasBegun = false
  /// The time of the transaction, once its statements were made.
  private(set) var time: TimeInterval?
  /// Whether statements were already returned that record changes.
  private var hasRecorded = false

  /// - Parameter schema: The schema of the store.
  init(_ map: HistoryMap, by origin: HistoryOrigin?, in schema: String) {
    self.map = map
    channel = ServerStoreMonitor.channel(of: schema)
    self.origin = origin ?? HistoryOrigin()
    entities = map.entities.value
  }

  // MARK: Changes

  /// Records an insertion, or a deletion without values to keep.
  ///
  /// - Parameter entity: The entity's index in the model.
  mutating func record(_ type: HistoryChangeType, _ entity: Int, key: Int64, columns: Data? = nil) {
    types.append(Int64(type.rawValue))
    numbers.append(Int64(entities[entity].number))
    keys.append(key)
    self.columns.append(columns)
  }

  /// - Parameter slots: The slots of the changed properties.
  mutating func recordUpdate(of key: Int64, _ entity: Int, changing slots: [Int]) {
    if bits?.entity != entity || bits?.slots != slots {
      bits = (entity, slots, entities[entity].changedColumns.bytes(changing: slots))
    }
    record(.update, entity, key: key, columns: bits?.columns)
  }

  /// Records the deletion of rows of one entity.
  ///
  /// - Parameter kinds: The types of the columns, by table and name.
  /// - Returns: The statements that keep the rows' values, to be run while the rows exist.
  mutating func recordDeletions(
    of keys: [Int64], _ entity: Int, _ kinds: [String: [String: ServerTerms.Kind]]
  ) -> [ServerText] {
    let own = entities[entity]
    guard !own.preserved.isEmpty else {
      for key in keys { record(.delete, entity, key: key) }
      return []
    }
    guard !keys.isEmpty else { return [] }
    hasRecorded = true
    let places = map.layout.tombstones.prefix(own.preserved.count).map { ", \(name: $0)" as ServerText }
    let values = own.preserved.map { attribute -> ServerText in
      ", \((kinds[own.table]?[attribute.column] ?? ServerTerms.Kind(attribute.type)).kept(attribute.column))"
    }
    return begin() + [
      """
      INSERT INTO \(Self.changes) (\(Self.changeColumns)\(places.joined(separator: ""))) \
      SELECT \(Self.lastChange) + row_number() OVER (ORDER BY id), \
      \(number: Int64(HistoryLayout.EntityNumber.change)), \(number: Int64(HistoryChangeType.delete.rawValue)), \
      \(number: Int64(own.number)), id, \(Self.number)\(values.joined(separator: "")) \
      FROM \(table: own.table) WHERE id = ANY(\(integers: keys))
      """,
      Self.countChanges,
    ]
  }

  // MARK: Statements

  private static let changes: ServerText = "\(table: HistoryLayout.changeTable)"
  private static let texts: ServerText = "\(table: HistoryLayout.textTable)"
  private static let counters: ServerText = "\(table: "Z_PRIMARYKEY")"
  private static let changeColumns: ServerText = "id, entity, kind, changed_entity, changed_id, transaction_id"
  private static let lastChange = counter(of: HistoryLayout.EntityNumber.change)
  /// The number of the transaction.
  private static let number = counter(of: HistoryLayout.EntityNumber.transaction)

  private static func counter(of entity: Int) -> ServerText {
    "(SELECT greatest_key FROM \(counters) WHERE entity = \(number: Int64(entity)))"
  }

  private static let countChanges: ServerText = """
    UPDATE \(counters) SET greatest_key = (SELECT max(id) FROM \(changes)) \
    WHERE entity = \(number: Int64(HistoryLayout.EntityNumber.change)) AND EXISTS (SELECT 1 FROM \(changes))
    """

  /// Locks the counter of transactions until the end of the transaction.
  static let lockCounter: ServerText = """
    UPDATE \(counters) SET greatest_key = greatest_key \
    WHERE entity = \(number: Int64(HistoryLayout.EntityNumber.transaction))
    """

  private mutating func begin() -> [ServerText] {
    guard !hasBegun else { return [] }
    hasBegun = true
    return [
      """
      UPDATE \(Self.counters) SET greatest_key = greatest_key + 1 \
      WHERE entity = \(number: Int64(HistoryLayout.EntityNumber.transaction))
      """
    ]
  }

  /// The statements that record the transaction, to be run last; none without changes. The result of the last one is
  /// the number of the transaction.
  ///
  /// - Parameter evenWithoutChanges: Whether to record a transaction without changes.
  mutating func statements(evenWithoutChanges: Bool = false) -> [ServerText] {
    guard evenWithoutChanges || hasRecorded || !keys.isEmpty else { return [] }
    var statements = begin()
    statements += takeChanges()
    let written = map.layout.writtenTexts.compactMap { text in
      origin.value(of: text.text).map { (column: text.column, isReference: text.isReference, text: $0) }
    }
    let known = written.filter(\.isReference).map(\.text)
    if !known.isEmpty { statements += Self.insertTexts(Set(known).sorted()) }
    let values = written.map { text -> ServerText in
      text.isReference ? "(SELECT id FROM \(Self.texts) WHERE text = \(text: text.text))" : "\(text: text.text)"
    }
    let named: ServerText = map.oldValues == nil ? "" : ", \(OldValueTriggers.name(byNumberIn: "id"))"
    let time = Date().timeIntervalSinceReferenceDate
    self.time = time
    statements.append("SELECT pg_notify(\(text: channel), '')")
    statements.append(
      """
      INSERT INTO \(table: HistoryLayout.transactionTable) (id, entity, version, time\
      \(written.map { ", \(name: $0.column)" as ServerText }.joined(separator: ""))) \
      VALUES (\(Self.number), \(number: Int64(HistoryLayout.EntityNumber.transaction)), 1, \
      \(double: time)\(values.map { ", \($0)" as ServerText }.joined(separator: ""))) \
      RETURNING id\(named)
      """)
    return statements
  }

  /// The statements that record many changes before the end of the transaction, so that memory use is bounded; none for
  /// few changes.
  mutating func takeManyChanges() -> [ServerText] {
    guard keys.count >= Self.capacity else { return [] }
    return begin() + takeChanges()
  }

  private static let capacity = 50_000

  private mutating func takeChanges() -> [ServerText] {
    guard !keys.isEmpty else { return [] }
    hasRecorded = true
    defer {
      (types, numbers, keys) = ([], [], [])
      columns = []
    }
    return [insertChanges(), Self.countChanges]
  }

  private func insertChanges() -> ServerText {
    var bytes = ArrayParameter(.byteStrings, of: .bytes, count: columns.count)
    for value in columns { if let value { bytes.append(value) } else { bytes.appendNull() } }
    let (column, value): (ServerText, ServerText) =
      map.layout.hasChangedColumns ? (", changed_columns", ", u.c") : ("", "")
    return """
      INSERT INTO \(Self.changes) (\(Self.changeColumns)\(column)) \
      SELECT \(Self.lastChange) + u.n, \(number: Int64(HistoryLayout.EntityNumber.change)), u.t, u.e, u.k, \
      \(Self.number)\(value) FROM unnest(\(integers: types), \(integers: numbers), \(integers: keys), \
      \(parameter: bytes.parameter)) WITH ORDINALITY AS u(t, e, k, c, n)
      """
  }

  private static func insertTexts(_ new: [String]) -> [ServerText] {
    var array = ArrayParameter(.texts, of: .text, count: new.count)
    for text in new { array.append(text) }
    let number = ServerText.integer(HistoryLayout.EntityNumber.text)
    return [
      """
      INSERT INTO \(texts) (id, entity, text) \
      SELECT \(counter(of: HistoryLayout.EntityNumber.text)) + row_number() OVER (), \(number), t \
      FROM unnest(\(parameter: array.parameter)) AS u(t) WHERE NOT EXISTS (SELECT 1 FROM \(texts) WHERE text = t)
      """,
      """
      UPDATE \(counters) SET greatest_key = (SELECT max(id) FROM \(texts)) WHERE entity = \(number) \
      AND greatest_key IS DISTINCT FROM (SELECT max(id) FROM \(texts)) AND EXISTS (SELECT 1 FROM \(texts))
      """,
    ]
  }

  /// The entries of a product that are written with the transaction.
  var attached: AttachedEntries? { origin.attached }
}

extension ServerText {
  fileprivate static func integer(_ number: Int) -> ServerText { "\(number: Int64(number))" }
}

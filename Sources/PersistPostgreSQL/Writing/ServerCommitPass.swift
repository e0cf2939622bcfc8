import Foundation
import Persist

/// One attempt to write a save in a transaction, with statements that insert or update up to 5,000 rows or 64 MB of a
/// kind.
struct ServerCommitPass {
  let store: PostgreSQLStore
  let writes: RowWrites
  let plans: LazyList<WritePlan>
  let kinds: [String: [String: ServerTerms.Kind]]
  private(set) var insertedKeys: [Int64] = []
  private var temporaryKeys = TemporaryKeys()
  private var overtakenTouches: [Int] = []
  /// Records the save in the history; nil if changes aren't recorded.
  var history: ServerHistoryWriter?
  /// The statements that write, in order.
  var statements: [ServerText] = []
  /// A change that is made before these.
  private var first: CheckedChange?
  /// New members of ordered relationships that have no position yet.
  private(set) var withoutPlace: [OrderedOwner: [Int64]] = [:]

  /// Whether the server allows copying rows into a table, by name, as far as it was asked.
  var allowsCopying: [String: Bool] = [:]

  /// The number of rows that one statement inserts or updates.
  static let rowsPerStatement = 5000
  /// The size in bytes of values after which another statement begins: the server accepts less than 1 GB.
  static let bytesPerStatement = 64 << 20

  init(_ writes: RowWrites, store: PostgreSQLStore) {
    self.writes = writes
    self.store = store
    plans = store.plans.writes
    kinds = store.kinds.value
  }

  /// The way in which a save writes its rows.
  enum Method {
    /// The statements check the versions themselves, for saves that ``RowWrites/needNoLocks``.
    case checking
    /// All rows that the save depends on are locked and checked before the first is written.
    case locking
    /// Like locking, and clears unique values before others are written: the server checks row by row, and a value may
    /// move from a deleted or changed row to another one.
    case freeingValues
  }

  mutating func run(_ transaction: ServerTransaction, _ method: Method) throws {
    try assignKeys(store.keys(for: writes.inserts, transaction))
    if method != .checking { try checkVersions(transaction) }
    if method == .freeingValues {
      try deleteRows(checkingVersions: false, transaction)
      try freeUniqueValues()
      try updateRows(leavingFirst: true)
      try insertRows(transaction)
    } else {
      try insertRows(transaction)
      if method == .checking { try writes.updates.forEach { try checkAndUpdateRow($0) } } else { try updateRows() }
    }
    try touchRows()
    try linkRows()
    if !writes.orderings.isEmpty || !withoutPlace.isEmpty {
      try transaction.run(statements, areReused: true)
      statements = []
      try orderRows(transaction)
    }
    if method != .freeingValues { try deleteRows(checkingVersions: method == .checking, transaction) }
    try recordChanges()
    if let first { transaction.runLast(first) }
    transaction.runLast(statements)
  }

  /// Records everything but deletions in the history.
  mutating func recordChanges() throws {
    guard var writer = history else { return }
    for (insert, key) in zip(writes.inserts, insertedKeys) {
      writer.record(.insert, insert.entity.index, key: key)
    }
    try writes.forEachRecordedUpdate { rowKey, entity, slots in
      writer.recordUpdate(of: try key(of: rowKey, entity), entity.index, changing: slots)
    }
    history = writer
  }

  /// - Parameter historyNumber: The number of the transaction in the history, if any.
  func receipt(historyNumber: Int64?) -> CommitReceipt {
    var receipt = CommitReceipt(
      insertedKeys: insertedKeys, overtakenTouches: overtakenTouches, historyNumber: historyNumber)
    receipt.historyMark = historyNumber.map { _ in HistoryMark(life: store.life, time: history?.time) }
    return receipt
  }

  mutating func add(_ statement: ServerText) { statements.append(statement) }

  /// Adds a change, before all statements if it is the first one.
  mutating func addFirst(_ change: CheckedChange) {
    if first == nil { first = change } else { add(change.statement(store.pool.texts)) }
  }

  mutating func recordMissingPlaces(of owner: OrderedOwner, _ members: [Int64]) {
    withoutPlace[owner, default: []] += members
  }

  func plan(_ entity: Entity) throws -> WritePlan { try store.plans.plan(forWriting: entity) }

  // MARK: Keys

  /// - Parameter keys: A key for each insert.
  mutating func assignKeys(_ keys: [Int64]) {
    insertedKeys = keys
    temporaryKeys = TemporaryKeys(
      zip(writes.inserts, keys).compactMap { insert, key in
        if case .temporary(let number) = insert.key { (number, key) } else { nil }
      })
  }

  /// The key of a row that another row refers to; see ``TemporaryKeys``.
  func key(of id: ManagedObjectID) throws -> Int64 {
    try temporaryKeys.key(of: id, inStore: store.identifier, at: store.url)
  }

  /// The key of a row to update or delete; see ``TemporaryKeys``.
  func key(of key: ManagedObjectID.Key, _ entity: Entity) throws -> Int64 {
    try temporaryKeys.key(of: key, entity, at: store.url)
  }

  // MARK: Versions

  /// Locks all rows that are changed, deleted or checked, in the order of their keys, and compares their versions.
  ///
  /// Every save locks in the same order, so that no two wait for each other.
  private mutating func checkVersions(_ transaction: ServerTransaction) throws {
    var keys: [String: Set<Int64>] = [:]
    func addKey(_ key: ManagedObjectID.Key, _ entity: Entity) throws {
      try keys[plan(entity).table, default: []].insert(self.key(of: key, entity))
    }
    for row in writes.updates { try addKey(row.key, row.entity) }
    for row in writes.touches + writes.deletes + writes.checks { try addKey(row.key, row.entity) }
    let tables = keys.sorted { $0.key < $1.key }
    let results = try transaction.run(
      tables.map { table, keys in
        """
        SELECT id, version FROM \(table: table) WHERE id = ANY(\(integers: keys)) \
        ORDER BY id FOR NO KEY UPDATE
        """
      }, areReused: true)
    var versions: [String: [Int64: Int64]] = [:]
    for ((table, _), result) in zip(tables, results) {
      var own: [Int64: Int64] = [:]
      for row in 0..<result.rowCount { own[result.integer(row, 0)] = result.integer(row, 1) }
      versions[table] = own
    }
    var conflicts: [RowConflict] = []
    func compare(_ key: ManagedObjectID.Key, of entity: Entity, to expected: Int64?) throws -> Bool {
      // A row that this save inserts has no version to compare.
      if case .temporary = key { return true }
      let (plan, key) = (try plan(entity), try self.key(of: key, entity))
      let stored = versions[plan.table]?[key]
      if let stored, stored == expected ?? stored { return true }
      conflicts.append(
        RowConflict(
          id: ManagedObjectID(entityName: entity.name, storeIdentifier: store.identifier, key: .permanent(key)),
          entity: entity, expectedVersion: expected ?? 0, storedVersion: stored))
      return false
    }
    for row in writes.updates { _ = try compare(row.key, of: row.entity, to: row.version) }
    for (index, row) in writes.touches.enumerated() where try !compare(row.key, of: row.entity, to: row.version) {
      guard conflicts.last?.storedVersion != nil else { continue }
      conflicts.removeLast()
      overtakenTouches.append(index)
    }
    for row in writes.checks + writes.deletes { _ = try compare(row.key, of: row.entity, to: row.version) }
    if !conflicts.isEmpty { throw RowConflicts(conflicts: conflicts) }
  }

  // MARK: Rows

  /// - Parameter leavingFirst: Whether rows that leave those of a uniqueness constraint are written before others.
  private mutating func updateRows(leavingFirst: Bool = false) throws {
    let updates =
      leavingFirst
      ? try writes.updates(beginningWith: { try plan($0.entity).isLeavingConstraint($0) }) : writes.updates
    var start = 0
    while start < updates.count {
      let first = updates[start]
      let plan = try plan(first.entity)
      // The server checks row by row within a statement, too.
      let isLeaving = leavingFirst && plan.isLeavingConstraint(first)
      var end = start
      while end < updates.count, end - start < Self.rowsPerStatement,
        updates[end].entity === first.entity, updates[end].slots == first.slots,
        !leavingFirst || plan.isLeavingConstraint(updates[end]) == isLeaving
      { end += 1 }
      start += try updateRows(updates[start..<end], by: plan, setting: first.slots)
    }
  }

  /// Updates the first rows, as many as one statement should contain.
  ///
  /// - Returns: The number of these rows.
  private mutating func updateRows(
    _ rows: ArraySlice<RowWrites.Update>, by plan: WritePlan, setting slots: [Int]
  ) throws -> Int {
    let update = plan.update(of: slots)
    var columns = columns(update.columns, of: plan, count: rows.count)
    var keys: [Int64] = []
    for row in rows {
      guard Self.size(columns) < Self.bytesPerStatement else { break }
      let key = try key(of: row.key, row.entity)
      keys.append(key)
      try append(row.values, to: &columns, plan, row: key)
      for slot in row.slots where plan.orderedSlots.contains(slot) {
        if case .objectID(let owner)? = row.values[slot] {
          try recordMissingPlace(in: plan, slot: slot, of: owner, member: key)
        }
      }
    }
    let assignments = columns.enumerated().map { index, column -> ServerText in
      ", \(name: column.column.name) = u.c\(number: Int64(index))\(column.cast)"
    }.joined(separator: "")
    add(
      """
      UPDATE \(table: plan.table) AS t SET \(.countingUp(of: "t"))\(assignments) \
      FROM unnest(\(integers: keys)\(Self.parameters(columns))) AS u(k\(Self.aliases(columns))) WHERE t.id = u.k
      """)
    return keys.count
  }

  private mutating func touchRows() throws {
    var keys: [String: [Int64]] = [:]
    for row in writes.touches { try keys[plan(row.entity).table, default: []].append(key(of: row.key, row.entity)) }
    for (table, keys) in keys.sorted(by: { $0.key < $1.key }) {
      add("UPDATE \(table: table) SET \(.countingUp) WHERE id = ANY(\(integers: keys))")
    }
  }

  /// Clears unique columns that are about to change, so that rows can exchange values.
  private mutating func freeUniqueValues() throws {
    for row in writes.updates {
      let plan = try plan(row.entity)
      let cleared = row.slots.flatMap { plan.uniqueColumns[$0] ?? [] }
      guard !cleared.isEmpty else { continue }
      let assignments = cleared.map { "\(name: $0) = NULL" as ServerText }.joined(separator: ", ")
      add("UPDATE \(table: plan.table) SET \(assignments) WHERE id = \(integer: try key(of: row.key, row.entity))")
    }
  }

  // MARK: Values

  func columns(_ columns: [WritePlan.Column], of plan: WritePlan, count: Int) -> [ServerColumn] {
    columns.map { ServerColumn($0, kinds[plan.table]?[$0.name] ?? .bytes, count: count) }
  }

  /// Appends the values of a row.
  func append(
    _ values: SlotValues, to columns: inout [ServerColumn], _ plan: WritePlan, row: Int64
  ) throws {
    for index in columns.indices {
      let value = values[columns[index].column.slot] ?? .null
      if value.hasNullCharacter { throw nullCharacter(in: columns[index].column, of: plan, row: row) }
      guard try append(value, to: &columns[index]) else {
        throw mismatch(value, in: columns[index].column, plan, row: row)
      }
    }
  }

  private func append(_ value: StoredValue, to column: inout ServerColumn) throws -> Bool {
    switch column.column.source {
    case .attribute(let form): return column.append(value, as: form)
    case .element(let path, let form): return column.append(value.element(at: path), as: form)
    case .key:
      switch value {
      case .null: column.appendNull()
      case .objectID(let id): column.append(try key(of: id))
      default: return false
      }
    case .entityNumber:
      guard case .objectID(let id) = value else {
        column.appendNull()
        return true
      }
      guard let entity = store.model.entitiesByName[id.entityName] else {
        throw PersistenceError.unknownDestination(id.entityName)
      }
      column.append(Int64(store.map.numbers[entity]))
    case .place: column.appendNull()
    }
    return true
  }

  private func mismatch(
    _ value: StoredValue, in column: WritePlan.Column, _ plan: WritePlan, row: Int64
  ) -> PersistenceError {
    let error = PersistenceError.mismatch(value, in: column, of: plan.entity, row: row, at: store.url)
    let property = plan.entity.properties[column.slot]
    if case .integer(let number) = value, let type = property.attribute?.type, !type.integerRange.contains(number) {
      return type.outOfRange(number, property.name, at: error.place)
    }
    return error
  }

  private func nullCharacter(in column: WritePlan.Column, of plan: WritePlan, row: Int64) -> PersistenceError {
    let name = plan.entity.properties[column.slot].name
    return PersistenceError(
      .validationRule, at: PersistenceError.Place(entity: plan.entity.name, property: name, row: row, store: store.url),
      "The text of '\(name)' contains the character U+0000, which PostgreSQL's texts can't contain.",
      fix: "Remove the character, or store the text as binary data.")
  }

  /// The size of all values, in bytes.
  static func size(_ columns: [ServerColumn]) -> Int { columns.reduce(0) { $0 + $1.size } }

  static func parameters(_ columns: [ServerColumn]) -> ServerText {
    columns.map { ", \(parameter: $0.parameter)" as ServerText }.joined(separator: "")
  }

  static func aliases(_ columns: [ServerColumn]) -> ServerText {
    columns.indices.map { ", c\(number: Int64($0))" as ServerText }.joined(separator: "")
  }

  /// - Parameter aliases: The names of the values; none if empty.
  static func values(_ columns: [ServerColumn], aliases: [String] = []) -> ServerText {
    columns.enumerated().map { index, column -> ServerText in
      let value: ServerText = ", c\(number: Int64(index))\(column.cast)"
      return aliases.isEmpty ? value : "\(value) AS \(name: aliases[index])"
    }.joined(separator: "")
  }

  mutating func recordMissingPlace(
    in plan: WritePlan, slot: Int, of id: ManagedObjectID, member: Int64
  ) throws {
    guard let owner = try OrderedOwner(at: slot, in: store.map[plan.entity], key: { try key(of: id) }) else { return }
    recordMissingPlaces(of: owner, [member])
  }
}

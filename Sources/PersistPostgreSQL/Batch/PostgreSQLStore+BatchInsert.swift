import Foundation
import Persist

extension PostgreSQLStore {
  /// Inserts rows as they are produced, in one transaction: all of them, or none if any is invalid.
  func insert(_ batch: BatchInsert) throws -> BatchOutcome {
    try writeOnce { transaction in
      var pass = try ServerBatchInsertPass(batch, store: self, transaction)
      try pass.run(transaction)
      try transaction.record(&pass.history)
      return pass.outcome
    }
  }

  /// Writes rows that can't be produced again if the transaction fails, and reports the change to readers.
  func writeOnce<Outcome>(_ body: (ServerTransaction) throws -> Outcome) throws -> Outcome {
    do {
      let outcome = try pool.write(once: true, body)
      recordChange()
      return outcome
    } catch let error as PersistenceError where error.code == .constraintConflict {
      throw described(error)
    }
  }
}

/// The steps of one batch insert, inside a transaction.
private struct ServerBatchInsertPass {
  private let batch: BatchInsert
  private let store: PostgreSQLStore
  private let plan: WritePlan
  private let required: RequiredValues
  /// By property slot, the conversions to the types of the attributes.
  private let conversions: [ValueConversion?]
  private(set) var outcome = BatchOutcome()
  /// Records the batch in the history; nil if changes aren't recorded.
  var history: ServerHistoryWriter?
  private var rowCount = 0

  /// The rows that are sent together.
  private struct Group {
    var values: [SlotValues] = []
    var given: [[Int]] = []

    func rows(at indexes: [Int]) -> Group {
      Group(values: indexes.map { values[$0] }, given: indexes.map { given[$0] })
    }
  }

  init(_ batch: BatchInsert, store: PostgreSQLStore, _ transaction: ServerTransaction) throws {
    self.batch = batch
    self.store = store
    // Rows consumed from the batch can't be inserted again under other keys, so their keys must not be in use.
    try store.discardUsedKeys(of: batch.entity, transaction)
    history = try store.historyWriter(by: batch.origin, transaction)
    plan = try ServerCommitPass(RowWrites(), store: store).plan(batch.entity)
    required = RequiredValues(of: batch.entity)
    conversions = batch.entity.properties.map { property in
      guard let attribute = property.attribute, !attribute.isTransient, attribute.type != .composite else { return nil }
      return ValueConversion(attribute, at: .property(batch.entity.name, property.name))
    }
  }

  mutating func run(_ transaction: ServerTransaction) throws {
    var row = BatchInsertRow(batch.entity)
    var group = Group()
    // Each upsert is a statement, so that it finds earlier rows of the same batch: fewer of them are sent together.
    let size = batch.conflict == .fail ? ServerCommitPass.rowsPerStatement : 500
    while try batch.next(&row) {
      rowCount += 1
      try required.check(row, number: rowCount)
      group.values.append(try converted(row))
      group.given.append(row.given.sorted)
      row.begin()
      if group.values.count == size {
        try write(group, transaction)
        group = Group()
      }
    }
    try write(group, transaction)
  }

  /// Values with an equivalent in the attribute's type are accepted, as from a dictionary.
  private func converted(_ row: BatchInsertRow) throws -> SlotValues {
    var values = SlotValues()
    for slot in batch.entity.properties.indices {
      guard let value = row.value(at: slot) else { continue }
      values[slot] = try value.isNull ? value : conversions[slot].map { try $0.stored(value) } ?? value
    }
    return values
  }

  private mutating func write(_ group: Group, _ transaction: ServerTransaction) throws {
    guard !group.values.isEmpty else { return }
    var writes = RowWrites()
    writes.inserts = group.values.enumerated().map { index, values in
      RowWrites.Insert(key: .temporary(UInt64(index)), entity: batch.entity, values: values)
    }
    let keys = try store.keys(for: writes.inserts, transaction)
    var pass = ServerCommitPass(writes, store: store)
    pass.assignKeys(keys)
    guard batch.conflict != .fail else {
      try pass.insertRows(transaction)
      try transaction.run(pass.statements, areReused: true)
      for key in keys { record(key, batch.entity, isNew: true) }
      try transaction.run(history?.takeManyChanges() ?? [])
      return
    }
    let statements = try zip(zip(group.values, group.given), keys).map { row, key in
      try upsert(row.0, given: row.1, key: key, pass)
    }
    let results = try transaction.run(statements, areReused: true)
    var omitted: [Int64: Int] = [:]
    for (index, (result, key)) in zip(results, keys).enumerated() {
      guard result.rowCount > 0 else {
        omitted[key] = index
        continue
      }
      // A changed row may belong to another entity of the hierarchy.
      let entity = store.map.table(ofNumber: Int(truncatingIfNeeded: result.integer(0, 1)))?.entity ?? batch.entity
      record(result.integer(0, 0), entity, isNew: result.integer(0, 0) == key, given: group.given[index])
    }
    try transaction.run(history?.takeManyChanges() ?? [])
    try write(group.rows(at: keysInUse(omitted.keys, transaction).compactMap { omitted[$0] }), transaction)
  }

  /// Those of the keys that are in use, because other programs chose them. Rows with these keys were omitted because of
  /// their keys, not because of their values.
  private func keysInUse(_ keys: some Collection<Int64>, _ transaction: ServerTransaction) throws -> [Int64] {
    guard !keys.isEmpty else { return [] }
    let used = try transaction.all(
      "SELECT id FROM \(table: plan.table) WHERE id = ANY(\(integers: Array(keys))) ORDER BY id"
    ) { $0.integer($1, 0) }
    if !used.isEmpty { store.discardFreeKeys(of: [batch.entity]) }
    return used
  }

  /// Inserts a row, or changes the one that has its unique values, and returns the key and the entity number of
  /// either; nothing if the stored row is kept.
  private func upsert(
    _ values: SlotValues, given: [Int], key: Int64, _ pass: ServerCommitPass
  ) throws -> ServerText {
    var columns = pass.columns(plan.columns, of: plan, count: 1)
    try pass.append(values, to: &columns, plan, row: key)
    let names = columns.map(\.column.name)
    let rows: ServerText = """
      new AS (SELECT \(integer: key) AS persist_key\(ServerCommitPass.values(columns, aliases: names)) FROM \
      unnest(ARRAY[1]\(ServerCommitPass.parameters(columns))) AS u(n\(ServerCommitPass.aliases(columns))))
      """
    let list: ServerText = names.isEmpty ? "" : ", \(names: names)"
    let insert: ServerText = """
      INSERT INTO \(table: plan.table) (id, entity, version\(list)) \
      SELECT persist_key, \(number: Int64(plan.number)), 1\(list) FROM new
      """
    let changed: [String]
    switch batch.conflict {
    case .fail, .keepStored: return "WITH \(rows) \(insert) ON CONFLICT DO NOTHING RETURNING id, entity"
    case .updateGiven: changed = plan.columns.filter { given.contains($0.slot) }.map(\.name)
    case .overwrite: changed = names
    }
    guard let isSame = sameRow() else { return "WITH \(rows) \(insert) RETURNING id, entity" }
    let assignments = changed.map { ", \(name: $0) = new.\(name: $0)" as ServerText }.joined(separator: "")
    return """
      WITH \(rows), \
      found AS (SELECT t.id FROM \(table: plan.table) AS t, new WHERE \(isSame) LIMIT 1 FOR UPDATE OF t), \
      changed AS (UPDATE \(table: plan.table) AS t SET \(.countingUp(of: "t"))\(assignments) FROM new, found \
      WHERE t.id = found.id RETURNING t.id, t.entity), \
      added AS (\(insert) WHERE NOT EXISTS (SELECT 1 FROM found) RETURNING id, entity) \
      SELECT id, entity FROM changed UNION ALL SELECT id, entity FROM added
      """
  }

  /// The condition that a stored row has unique values of the new one; nil if the entity has no constraint.
  private func sameRow() -> ServerText? {
    let table = store.map[batch.entity].table
    let number = store.map.numbers[batch.entity]
    let indexes = store.map.indexDefinitions.filter { index in
      index.isUnique && index.table == table && (index.entityNumbers?.contains(number) ?? true)
    }
    guard !indexes.isEmpty else { return nil }
    let conditions = indexes.map { index -> ServerText in
      var parts = index.columns.map { "t.\(name: $0.name) = new.\(name: $0.name)" as ServerText }
      if let numbers = index.entityNumbers { parts.append("t.entity IN (\(numbers: numbers))") }
      // Both rows must be among those of the constraint.
      parts += index.conditions.flatMap { test in ["t", "new"].map { ServerText(.condition(test, of: $0)) } }
      return "(\(parts.joined(separator: " AND ")))"
    }
    return "(\(conditions.joined(separator: " OR ")))"
  }

  private mutating func record(_ key: Int64, _ entity: Entity, isNew: Bool, given: [Int] = []) {
    outcome.count += 1
    let index = entity.index
    if isNew {
      history?.record(.insert, index, key: key)
    } else {
      let slots = batch.conflict == .updateGiven ? given : plan.columns.map(\.slot)
      history?.recordUpdate(of: key, index, changing: batch.entity.slots(slots, sharedWith: entity))
    }
    guard batch.wantsIdentifiers else { return }
    outcome.record(key, of: entity, inStore: store.identifier, isNew: isNew)
  }
}

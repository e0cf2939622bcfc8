import Foundation

extension SQLiteStore {
  /// Inserts rows as they are produced, in one transaction: all of them, or none if any is invalid.
  func insert(_ batch: BatchInsert) throws -> BatchOutcome {
    var files = LargeValueFiles(nil)
    var isWritten = false
    do {
      let outcome = try pool.write { connection in
        var pass = try BatchInsertPass(batch, store: self, connection: connection)
        defer { files = pass.files }
        try pass.insertRows()
        try pass.finish()
        isWritten = true
        return pass.outcome
      }
      discardReplaced(files)
      return outcome
    } catch {
      if !isWritten { files.discardWritten() }
      throw error
    }
  }
}

/// The steps of one batch insert, inside a transaction.
private struct BatchInsertPass {
  private let batch: BatchInsert
  private let store: SQLiteStore
  private let connection: SQLiteConnection
  private let plan: WritePlan
  /// Binds values as a save does, and manages the files of large ones.
  private var binder: CommitPass
  private var lastKey: Int64
  private let required: RequiredValues
  /// By property slot, the conversions to types narrower than their columns.
  private let narrows: [ValueConversion?]
  private var upserts: [GivenSlots: PreparedSQL] = [:]
  private var history: HistoryWriter?
  private(set) var outcome = BatchOutcome()

  var files: LargeValueFiles { binder.files }

  init(_ batch: BatchInsert, store: SQLiteStore, connection: SQLiteConnection) throws {
    self.batch = batch
    self.store = store
    self.connection = connection
    binder = CommitPass(RowWrites(), store: store, connection: connection)
    history = try store.historyWriter(by: batch.origin, connection)
    plan = try binder.plan(batch.entity)
    lastKey = try binder.greatestKey(batch.entity.root.number - 1)
    required = RequiredValues(of: batch.entity)
    narrows = batch.entity.properties.map { property in
      guard let attribute = property.attribute, [.int16, .int32, .float].contains(attribute.type) else { return nil }
      return ValueConversion(attribute, at: .property(batch.entity.name, property.name))
    }
  }

  mutating func insertRows() throws {
    var row = BatchInsertRow(batch.entity)
    let insert = batch.conflict == .fail ? try connection.statement(plan.insert) : nil
    // Bound values are in the memory of rows.
    defer { insert?.forgetValues() }
    while try batch.next(&row) {
      try required.check(row, number: outcome.count + 1)
      let statement = try insert ?? connection.statement(upsert(of: row.given))
      if let insert, outcome.count > 0 { insert.beginAgain() }
      let (key, overflow) = lastKey.addingReportingOverflow(1)
      guard !overflow else { throw noKeyLeft }
      defer { if insert == nil { statement.forgetValues() } }
      try bind(row, key, to: statement)
      try run(statement, row, key)
      row.begin()
    }
  }

  /// Updates the hierarchy's key counter, once for all rows.
  mutating func finish() throws {
    let root = batch.entity.root
    try connection.execute(.setGreatestKey(lastKey, entity: store.map.numbers[root], name: root.name))
    _ = try history?.finish()
    try files.synchronizeFolder()
  }

  private mutating func bind(_ row: BatchInsertRow, _ key: Int64, to statement: SQLiteStatement) throws {
    statement.bind(key, at: 1)
    statement.bind(Int64(plan.number), at: 2)
    binder.bind(
      row.values.row, slotCount: batch.entity.rowSlotCount, plan.bindings, of: statement, from: 3, bindsNulls: true)
    guard row.values.hasLooseValues else { return }
    for (position, binding) in plan.bindings.enumerated() {
      guard let value = row.values.looseValue(at: binding.slot) else { continue }
      try bind(value, at: position, key, to: statement)
    }
  }

  /// Binds a value that may need conversion.
  private mutating func bind(
    _ value: StoredValue?, at position: Int, _ key: Int64, to statement: SQLiteStatement
  ) throws {
    let (binding, index) = (plan.bindings[position], Int32(truncatingIfNeeded: position) + 3)
    guard let value else { return statement.bindNull(at: index) }
    if let form = binding.form {
      let narrow = try narrows[binding.slot].map { try $0.narrowed(value) } ?? value
      if try binder.bind(narrow, as: form, to: statement, at: index) { return }
      // Accepts values with an equivalent in the attribute's type, as from a dictionary.
      let converted = try conversion(of: binding.slot).map { try $0.stored(value) } ?? value
      if try binder.bind(converted, as: form, to: statement, at: index) { return }
    }
    try binder.bind(value, plan.columns[position], to: statement, at: index, plan: plan, row: key)
  }

  private func conversion(of slot: Int) -> ValueConversion? {
    let property = batch.entity.properties[slot]
    return property.attribute.map { ValueConversion($0, at: .property(batch.entity.name, property.name)) }
  }

  private mutating func run(_ statement: SQLiteStatement, _ row: BatchInsertRow, _ key: Int64) throws {
    guard batch.conflict != .fail else {
      do { try statement.run() } catch let error as PersistenceError where error.code == .constraintConflict {
        throw binder.describe(error, plan, row: key) { row.value(at: $0) }
      }
      try record(key, row, isNew: true)
      return
    }
    if try statement.step() {
      let written = statement.integer(0)
      statement.reset()
      try record(written, row, isNew: written == key)
    } else {
      statement.reset()
    }
  }

  private mutating func record(_ key: Int64, _ row: BatchInsertRow, isNew: Bool) throws {
    outcome.count += 1
    if isNew { lastKey = key }
    if history != nil {
      let index = batch.entity.number - 1
      if isNew {
        try history?.record(.insert, index, key: key)
      } else {
        let slots = batch.conflict == .updateGiven ? row.given.sorted : plan.columns.map(\.slot)
        try history?.recordUpdate(of: key, index, changing: slots)
      }
    }
    guard batch.wantsIdentifiers else { return }
    let id = ManagedObjectID(
      entityName: batch.entity.name, storeIdentifier: store.identifier, key: .permanent(key))
    if isNew {
      outcome.changes.insertedObjectIDs.insert(id)
    } else {
      outcome.changes.updatedObjectIDs.insert(id)
    }
  }

  /// The statement for a row in which these slots have been set.
  private mutating func upsert(of given: GivenSlots) -> PreparedSQL {
    let slots = batch.conflict == .updateGiven ? given : GivenSlots()
    if let known = upserts[slots] { return known }
    let changing: [String]? =
      switch batch.conflict {
      case .fail, .keepStored: nil
      case .updateGiven: plan.columns.filter { slots.contains($0.slot) }.map(\.name)
      case .overwrite: plan.columns.map(\.name)
      }
    let upsert = SQLText.upsert(into: plan.table, plan.columns.map(\.name), changing: changing)
    let sql = PreparedSQL(upsert)
    upserts[slots] = sql
    return sql
  }

  private var noKeyLeft: PersistenceError {
    PersistenceError(
      .storeDamaged, at: PersistenceError.Place(entity: batch.entity.name, store: store.url),
      "All keys for new objects are used up.", fix: "Correct the store's key counters.")
  }
}

extension ValueConversion {
  /// Converts a number to a type narrower than its column; other values are unchanged.
  fileprivate func narrowed(_ value: StoredValue) throws -> StoredValue {
    switch value {
    case .integer(let number) where attribute.type != .float && attribute.type.integerRange.contains(number): value
    case .double(let number) where attribute.type == .float && Double(Float(number)) == number: value
    case .integer where attribute.type != .float: try stored(value)
    case .double(let number) where attribute.type == .float && !number.isNaN: try stored(value)
    default: value
    }
  }
}

import Foundation

extension SQLiteStore {
  /// Inserts rows as they are produced, in one transaction: all of them, or none if any is invalid.
  func insert(_ batch: BatchInsert) throws -> BatchOutcome {
    var files = LargeValueFiles(nil)
    var isWritten = false
    do {
      if batch.conflict != .fail { try convertRows(of: map[batch.entity].table) }
      let outcome = try pool.write { connection in
        if batch.conflict != .fail { try finishConversion(of: map[batch.entity].table, connection) }
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
private struct BatchInsertPass: ~Copyable {
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
  private var upserts: [GivenSlots: Upsert] = Dictionary()
  private let history: HistoryWriter?
  private(set) var outcome = BatchOutcome()

  var files: LargeValueFiles { binder.files }

  /// The statement for rows in which the same slots have been set.
  private struct Upsert {
    let sql: SQLText
    /// The columns to update in a conflicting row whose values may be stored in files.
    let fileColumns: [String]
  }

  /// A row that an upsert has inserted or updated.
  private struct WrittenRow {
    let key: Int64
    /// Its entity number.
    let number: Int64
    /// The old and new values of its columns that may name files, if it existed before.
    let values: [(old: Data, new: SQLValue)]
  }

  init(_ batch: BatchInsert, store: SQLiteStore, connection: SQLiteConnection) throws {
    // Calls that throw come first, because a noncopyable value must be initialized completely or not at all.
    let binder = CommitPass(RowWrites(), store: store, connection: connection)
    let history = try store.historyWriter(by: batch.origin, connection)
    let plan = try binder.plan(batch.entity)
    let lastKey = try binder.greatestKey(batch.entity.root.index)
    (self.batch, self.store, self.connection) = (batch, store, connection)
    (self.history, self.plan, self.lastKey) = (history, plan, lastKey)
    self.binder = binder
    required = RequiredValues(of: batch.entity)
    narrows = batch.entity.properties.map { property in
      guard let attribute = property.attribute, [.int16, .int32, .float].contains(attribute.type) else { return nil }
      return ValueConversion(attribute, at: .property(batch.entity.name, property.name))
    }
  }

  mutating func insertRows() throws {
    var row = BatchInsertRow(batch.entity)
    let insert = batch.conflict == .fail ? try connection.statement(plan.insert) : nil
    // Bound values refer to the memory of rows, which isn't kept.
    defer { insert?.forgetValues() }
    while try batch.next(&row) {
      try required.check(row, number: outcome.count + 1)
      let (key, overflow) = lastKey.addingReportingOverflow(1)
      guard !overflow else { throw PersistenceError.noKeyLeft(for: batch.entity, at: store.url) }
      if let insert {
        if outcome.count > 0 { insert.beginAgain() }
        try bind(row, key, to: insert)
        try run(insert, with: row, key: key)
      } else {
        try upsert(row, key)
      }
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

  private mutating func run(_ insert: SQLiteStatement, with row: BatchInsertRow, key: Int64) throws {
    do { try insert.run() } catch let error as PersistenceError where error.code == .constraintConflict {
      throw binder.describe(
        error, in: plan, row: key, written: SlotValues(batch.entity.properties.indices.map(row.value)))
    }
    try record(key: key, of: batch.entity, row: row, isNew: true)
  }

  /// Inserts a row, or updates the one that conflicts with it.
  private mutating func upsert(_ row: BatchInsertRow, _ key: Int64) throws {
    let upsert = upsert(of: row.given)
    let fileCount = files.writtenCount
    let written: WrittenRow? = try connection.withStatement(upsert.sql) { statement in
      defer { statement.forgetValues() }
      try bind(row, key, to: statement)
      guard try statement.step() else { return nil }
      let values = upsert.fileColumns.indices.map { index in
        let column = 2 + 2 * Int32(truncatingIfNeeded: index)
        return (old: statement.data(column), new: statement.value(column + 1))
      }
      return WrittenRow(key: statement.integer(0), number: statement.integer(1), values: values)
    }
    guard let written else {
      // The stored row is kept, so no row names the files.
      return binder.files.discardWritten(since: fileCount)
    }
    guard written.key != key else { return try record(key: key, of: batch.entity, row: row, isNew: true) }
    for (column, value) in zip(upsert.fileColumns, written.values) {
      binder.files.replace(columnContent: value.old)
      try connection.execute(.setValue(value.new, of: column, in: plan.table, key: written.key))
    }
    // The row may belong to another entity of the hierarchy.
    let entity = store.map.table(ofNumber: Int(truncatingIfNeeded: written.number))?.entity ?? batch.entity
    try record(key: written.key, of: entity, row: row, isNew: false)
  }

  private mutating func record(key: Int64, of entity: Entity, row: BatchInsertRow, isNew: Bool) throws {
    outcome.count += 1
    if isNew { lastKey = key }
    if history != nil {
      let index = entity.index
      if isNew {
        try history?.record(.insert, index, key: key)
      } else {
        let slots = batch.conflict == .updateGiven ? row.given.sorted : plan.columns.map(\.slot)
        let changed = batch.entity.slots(slots, sharedWith: entity)
        try history?.recordUpdate(of: key, index, changing: changed)
      }
    }
    guard batch.wantsIdentifiers else { return }
    outcome.record(key, of: entity, inStore: store.identifier, isNew: isNew)
  }

  private mutating func upsert(of given: GivenSlots) -> Upsert {
    let slots = batch.conflict == .updateGiven ? given : GivenSlots()
    if let known = upserts[slots] { return known }
    let changing: [WritePlan.Column]? =
      switch batch.conflict {
      case .fail, .keepStored: nil
      case .updateGiven: plan.columns.filter { slots.contains($0.slot) }
      case .overwrite: plan.columns
      }
    let fileColumns = changing?.filter(\.mayBeInFile).map(\.name) ?? []
    let sql = SQLText.upsert(
      into: plan.table, plan.columns.map(\.name), changing: changing?.map(\.name), files: fileColumns)
    let upsert = Upsert(sql: sql, fileColumns: fileColumns)
    upserts[slots] = upsert
    return upsert
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

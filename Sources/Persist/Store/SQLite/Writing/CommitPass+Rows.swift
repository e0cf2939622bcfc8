import Foundation

/// Inserting, updating and deleting rows.
extension CommitPass {
  mutating func insertRows() throws {
    var rest = writes.inserts.indices
    while let first = rest.first {
      let entity = writes.inserts[first].entity
      let end = writes.inserts[rest].firstIndex { $0.entity !== entity } ?? rest.upperBound
      try insertRows(first..<end, of: plan(entity))
      rest = end..<rest.upperBound
    }
  }

  /// Inserts consecutive rows of one entity.
  private mutating func insertRows(_ places: Range<Int>, of plan: WritePlan) throws {
    let statement = try connection.statement(plan.insert)
    // A statement must not refer to a row's memory any longer than the row exists.
    defer { statement.forgetValues() }
    let (slotCount, bindings) = (plan.entity.rowSlotCount, plan.bindings)
    // By index, because copies of the elements would cost reference counts.
    for place in places {
      let key = insertedKeys[place]
      let row = writes.inserts[place].row?.view
      if place > places.lowerBound { statement.beginAgain() }
      statement.bind(key, at: 1)
      statement.bind(Int64(plan.number), at: 2)
      if let row { bind(row, slotCount: slotCount, bindings, of: statement, from: 3, bindsNulls: true) }
      if row == nil || !writes.inserts[place].values.isEmpty {
        try bind(
          writes.inserts[place].values, to: plan.columns, bindings, of: statement, from: 3, plan: plan, row: key,
          bindsNulls: row == nil)
      }
      do { try statement.run() } catch let error as PersistenceError where error.code == .constraintConflict {
        throw describe(error, in: plan, row: key, written: writes.inserts[place].allValues)
      }
      let version = writes.inserts[place].version
      if version != 1 { try connection.execute(.setVersion(version, of: key, in: plan.table)) }
      for slot in plan.orderedSlots {
        guard case .objectID(let owner)? = writes.inserts[place].value(at: slot) else { continue }
        try recordMissingPlace(in: plan, slot: slot, of: owner, member: key)
      }
    }
  }

  /// - Parameter leavingFirst: Whether rows that leave those of a uniqueness constraint are written before others.
  mutating func updateRows(leavingFirst: Bool = false) throws {
    let updates =
      leavingFirst
      ? try writes.updates(beginningWith: { try self.plan($0.entity).isLeavingConstraint($0) }) : writes.updates
    var rest = updates.indices
    // By index, because copies of the elements would cost reference counts.
    while let first = rest.first {
      let (entity, slots) = (updates[first].entity, updates[first].slots)
      let isUnread = updates[first].version == nil
      var end = first + 1
      while end < rest.upperBound, updates[end].entity === entity, updates[end].slots == slots,
        (updates[end].version == nil) == isUnread
      { end += 1 }
      let plan = try self.plan(entity)
      let update = plan.update(of: slots)
      let statement = try connection.statement(isUnread ? update.ofUnreadRow.value : update.sql)
      for place in first..<end {
        if place > first { statement.beginAgain() }
        try write(updates[place], by: update, of: plan, with: statement)
      }
      rest = end..<rest.upperBound
    }
  }

  private mutating func write(
    _ row: RowWrites.Update, by update: WritePlan.Update, of plan: WritePlan, with statement: SQLiteStatement
  ) throws {
    let key = try key(of: row.key, row.entity)
    if !update.fileColumns.isEmpty { try recordFiles(of: key, plan) { update.fileColumns.contains($0) } }
    try bind(
      row.values, to: update.columns, update.bindings, of: statement, from: 1, plan: plan, row: key, bindsNulls: true)
    let last = Int32(truncatingIfNeeded: update.bindings.count)
    statement.bind(key, at: last + 1)
    if let version = row.version { statement.bind(version, at: last + 2) }
    let total = connection.totalChanges
    do { try statement.run() } catch let error as PersistenceError where error.code == .constraintConflict {
      var changed = SlotValues()
      for slot in row.slots { changed[slot] = row.values[slot] }
      throw describe(error, in: plan, row: key, written: changed)
    }
    guard connection.changes(since: total) > 0 else {
      return try recordConflict(plan, key, expected: row.version ?? 0)
    }
    guard update.hasPlaces else { return }
    for slot in row.slots where plan.orderedSlots.contains(slot) {
      if case .objectID(let owner)? = row.values[slot] {
        try recordMissingPlace(in: plan, slot: slot, of: owner, member: key)
      }
    }
  }

  /// Increments the versions of rows of which only members changed.
  mutating func touchRows() throws {
    for (index, row) in writes.touches.enumerated() {
      let plan = try plan(row.entity)
      let key = try key(of: row.key, row.entity)
      let statement = try connection.statement(plan.update(of: []).sql)
      statement.bind(key, at: 1)
      statement.bind(row.version, at: 2)
      let total = connection.totalChanges
      try statement.run()
      if connection.changes(since: total) > 0 { continue }
      if try connection.execute(.countVersionUp(of: key, in: plan.table)) > 0 {
        overtakenTouches.append(index)
      } else {
        try recordConflict(plan, key, expected: row.version)
      }
    }
  }

  /// Checks that rows are unchanged since they were read.
  mutating func checkRows() throws {
    for row in writes.checks {
      let plan = try plan(row.entity)
      let key = try key(of: row.key, row.entity)
      if try storedVersion(plan, key) != row.version { try recordConflict(plan, key, expected: row.version) }
    }
  }

  /// Clears unique columns that are about to change, so that rows can exchange values.
  func freeUniqueValues() throws {
    for row in writes.updates {
      let plan = try plan(row.entity)
      let columns = row.slots.flatMap { plan.uniqueColumns[$0] ?? [] }
      guard !columns.isEmpty else { continue }
      let key = try key(of: row.key, row.entity)
      let sql = SQLText.clear(columns, of: plan.table)
      try connection.withStatement(sql) { statement in
        statement.bind(key, at: 1)
        try statement.run()
      }
    }
  }

  mutating func recordConflict(_ plan: WritePlan, _ key: Int64, expected: Int64) throws {
    conflicts.append(
      RowConflict(
        id: ManagedObjectID(entityName: plan.entity.name, storeIdentifier: store.identifier, key: .permanent(key)),
        entity: plan.entity, expectedVersion: expected, storedVersion: try storedVersion(plan, key)))
  }

  /// The present version of the last updated row; nil if it follows from the version that was read.
  func unreadVersion() throws -> Int64? {
    guard let row = writes.updates.last, row.version == nil else { return nil }
    return try storedVersion(plan(row.entity), key(of: row.key, row.entity))
  }

  /// Nil if there is no such row.
  private func storedVersion(_ plan: WritePlan, _ key: Int64) throws -> Int64? {
    let statement = try connection.statement(plan.version)
    statement.bind(key, at: 1)
    defer { statement.reset() }
    return try statement.step() ? statement.integer(0) : nil
  }

  mutating dynamic func recordFiles(of key: Int64, _ plan: WritePlan, where isWanted: (String) -> Bool) throws {
    guard let sql = plan.fileNames else { return }
    let statement = try connection.statement(sql)
    statement.bind(key, at: 1)
    if try statement.step() {
      for (index, column) in plan.fileColumns.enumerated() where isWanted(column) {
        files.replace(columnContent: statement.data(Int32(index)))
      }
    }
    statement.reset()
  }

  /// Describes a violated uniqueness constraint in terms of the model, where SQLite names the columns.
  ///
  /// - Parameters:
  ///   - error: SQLite's error.
  ///   - plan: The plan of the row that violates the constraint.
  ///   - row: The key of the row.
  ///   - written: The values of the row, as far as they were written.
  @inline(never)
  func describe(
    _ error: PersistenceError, in plan: WritePlan, row: Int64, written: SlotValues
  ) -> PersistenceError {
    guard let columns = error.engineMessage?.firstMatch(of: /UNIQUE constraint failed: ([^()]+) \(/)?.1 else {
      return error
    }
    let properties = columns.split(separator: ", ").compactMap { column in
      column.split(separator: ".").last.flatMap { plan.property(ofColumn: String($0)) }
    }
    guard !properties.isEmpty else { return error }
    let values = properties.map { written[$0.slot]?.description ?? "its value" }.joined(separator: ", ")
    return .notUnique(values, of: properties.map(\.name), plan.entity, row: row, at: store.url)
  }
}

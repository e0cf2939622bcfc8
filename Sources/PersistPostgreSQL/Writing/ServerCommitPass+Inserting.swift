import Persist

/// Insertions.
extension ServerCommitPass {
  mutating func insertRows(_ transaction: ServerTransaction) throws {
    var start = 0
    while start < writes.inserts.count {
      let entity = writes.inserts[start].entity
      var end = start
      while end < writes.inserts.count, end - start < Self.rowsPerStatement, writes.inserts[end].entity === entity {
        end += 1
      }
      start = try insertRows(start..<end, by: plan(entity), in: transaction)
    }
  }

  /// Inserts as many rows of a range as one statement should contain.
  ///
  /// - Returns: The end of these rows.
  private mutating func insertRows(
    _ rows: Range<Int>, by plan: WritePlan, in transaction: ServerTransaction
  ) throws -> Int {
    var columns = columns(plan.columns, of: plan, count: rows.count)
    var range = rows.lowerBound..<rows.lowerBound
    while range.upperBound < rows.upperBound, Self.size(columns) < Self.bytesPerStatement {
      let index = range.upperBound
      try append(writes.inserts[index].allValues, to: &columns, plan, row: insertedKeys[index])
      range = range.lowerBound..<index + 1
    }
    let versions = range.map { writes.inserts[$0].version }
    let isCopied =
      try range.count >= CopiedRows.minimumCount
      && copyRows(range, versions: versions, columns: columns, by: plan, in: transaction)
    if !isCopied {
      let names: ServerText = columns.isEmpty ? "" : ", \(names: columns.map(\.column.name))"
      add(
        """
        INSERT INTO \(table: plan.table) (id, entity, version\(names)) \
        SELECT k, \(number: Int64(plan.number)), v\(Self.values(columns)) \
        FROM unnest(\(integers: insertedKeys[range]), \(integers: versions)\
        \(Self.parameters(columns))) AS u(k, v\(Self.aliases(columns)))
        """)
    }
    for slot in plan.orderedSlots {
      for index in range {
        guard case .objectID(let owner)? = writes.inserts[index].value(at: slot) else { continue }
        try recordMissingPlace(in: plan, slot: slot, of: owner, member: insertedKeys[index])
      }
    }
    return range.upperBound
  }

  /// Copies rows into their table, after the statements so far.
  ///
  /// - Returns: False if the server doesn't allow it, because the user's rows are restricted by a policy.
  private mutating func copyRows(
    _ range: Range<Int>, versions: [Int64], columns: [ServerColumn], by plan: WritePlan,
    in transaction: ServerTransaction
  ) throws -> Bool {
    guard try allowsCopying(into: plan.table, transaction) else { return false }
    if !statements.isEmpty {
      try transaction.run(statements, areReused: true)
      statements = []
    }
    let names: ServerText = columns.isEmpty ? "" : ", \(names: columns.map(\.column.name))"
    let rows = CopiedRows(keys: insertedKeys[range], number: Int64(plan.number), versions: versions, columns)
    try transaction.copy(
      "COPY \(table: plan.table) (id, entity, version\(names)) FROM STDIN (FORMAT binary)", rows.bytes)
    return true
  }

  /// Whether the server allows copying rows into a table, which it is asked once, after the statements so far.
  private mutating func allowsCopying(into table: String, _ transaction: ServerTransaction) throws -> Bool {
    if let known = allowsCopying[table] { return known }
    let name = ServerText.fullName(table, in: store.pool.address.schema)
    let results = try transaction.run(
      statements + ["SELECT row_security_active(\(text: name))"], areReused: true)
    statements = []
    let isAllowed = results.last?.integer(0, 0) == 0
    allowsCopying[table] = isAllowed
    return isAllowed
  }
}

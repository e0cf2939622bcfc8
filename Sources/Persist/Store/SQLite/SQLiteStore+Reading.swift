import Foundation

extension SQLiteStore {
  func rows(_ query: RowQuery, monitor: ReadMonitor?, held: KnownRows?) throws -> RowBatch {
    let plan = try plan(for: query)
    guard !map.absent.contains(query.entity.name) else { return RowReader(plan, map: map, expectedRows: 0).batch }
    if let keys = query.keys, query.sort.isEmpty, query.limit == nil, query.offset == 0, query.afterKey == nil,
      query.predicate == nil, let index = RowPlan.keyCounts.lastIndex(where: { $0 >= keys.count })
    {
      return try rows(plan, keys: keys, keysOnly: query.keysOnly, statement: index)
    }
    return try withStatement(for: query, by: plan, monitor: monitor) { statement, isSorted in
      var reader = RowReader(plan, map: map, expectedRows: query.limit ?? query.keys?.count)
      (reader.monitor, reader.held) = (monitor, held)
      try query.keysOnly ? reader.readKeys(statement) : reader.readRows(statement)
      monitor?.count(rows: reader.batch.count % RowReader.rowsBetweenReports)
      if !isSorted { reader.sortByKey() }
      return reader.batch
    }
  }

  /// The number of rows that the calling thread reads before another one continues; reading them takes a few
  /// milliseconds. A multiple of ``RowReader/rowsBetweenReports``, as is ``partSize``.
  private static let firstPartSize = 2 * RowReader.rowsBetweenReports
  private static let partSize = 4 * RowReader.rowsBetweenReports

  func forEachPart(
    of query: RowQuery, monitor: ReadMonitor?, held: KnownRows?, on threads: ThreadPool,
    _ body: (RowBatch) throws -> Void
  ) throws {
    // A held state's only connection, and that of a store in memory, may be needed by the caller meanwhile.
    guard pool.hasSeveralReaders, !query.keysOnly, query.keys == nil, query.limit ?? .max > Self.firstPartSize,
      !map.absent.contains(query.entity.name)
    else { return try body(rows(query, monitor: monitor, held: held)) }
    let plan = try plan(for: query)
    try withStatement(for: query, by: plan, monitor: monitor) { statement, isSorted in
      var reader = RowReader(plan, map: map, expectedRows: query.limit)
      (reader.monitor, reader.held) = (monitor, held)
      // Rows can only be sorted together.
      var size = isSorted ? Self.firstPartSize : .max
      let produce = {
        let isLast = try reader.readPart(statement, upTo: size)
        if isLast { monitor?.count(rows: reader.batch.count % RowReader.rowsBetweenReports) }
        if !isSorted { reader.sortByKey() }
        size = Self.partSize
        return (part: reader.takeRows(expecting: isLast ? 0 : size), isLast: isLast)
      }
      // The known rows may be used only on the caller's thread, so the caller consumes.
      try Pipeline.run(
        on: held == nil && pool.readsConcurrently(ownReaders: 1) ? threads : nil, producing: produce, consuming: body)
    }
  }

  /// Provides the statement of a query, and whether it sorts the rows.
  @_semantics("optimize.sil.specialize.generic.never") @inline(never)
  private func withStatement<T>(
    for query: RowQuery, by plan: RowPlan, monitor: ReadMonitor?,
    _ body: (_ statement: SQLiteStatement, _ isSorted: Bool) throws -> T
  ) throws -> T {
    let (sql, isSorted) = try statement(for: query, plan)
    return try pool.readOnce { connection in
      try connection.watched(by: monitor) { try connection.withStatement(sql) { try body($0, isSorted) } }
    }
  }

  func rowsWithMoment(_ query: RowQuery) throws -> (rows: RowBatch, moment: ReadMoment?) {
    try pool.readingWithMoment { try rows(query) }
  }

  func isRecent(_ moment: ReadMoment) -> Bool { pool.isRecent(moment) }

  var readsConcurrently: Bool { pool.readsConcurrently(ownReaders: 0) }

  func keys(_ query: RowQuery, monitor: ReadMonitor?) throws -> RowKeys {
    var query = query
    query.keysOnly = true
    let plan = try plan(for: query)
    let (sql, isSorted) = try statement(for: query, plan)
    guard isSorted, !map.absent.contains(query.entity.name) else {
      return RowKeys(try rows(query, monitor: monitor))
    }
    return try pool.readOnce { connection in
      var keys = RowKeys()
      try connection.watched(by: monitor) {
        try connection.query(sql) { row in
          guard let variant = plan.variant(ofNumber: row.integer(1)) else { return }
          keys.append(row.integer(0), entityIndex: variant.entityIndex)
          if keys.count.isMultiple(of: RowReader.rowsBetweenReports) {
            monitor?.count(rows: RowReader.rowsBetweenReports)
          }
        }
      }
      return keys
    }
  }

  func count(_ query: RowQuery, monitor: ReadMonitor?) throws -> Int {
    let (sql, _) = try statement(for: query, returning: .count, plan(for: query))
    guard !map.absent.contains(query.entity.name) else { return 0 }
    return try pool.readOnce { connection in
      try connection.watched(by: monitor) {
        Int(clamping: try connection.first(sql) { $0.integer(0) } ?? 0)
      }
    }
  }

  func related(by relationship: Property, of entity: Entity, key: Int64) throws -> [ManagedObjectID] {
    guard !map.absent.contains(entity.name), let sql = try relatedSQL(relationship, of: entity) else { return [] }
    return try pool.readOnce { connection in
      let statement = try connection.statement(sql)
      statement.bind(key, at: 1)
      var members: [ManagedObjectID] = []
      while try statement.step() {
        guard let table = map.table(ofNumber: Int(truncatingIfNeeded: statement.integer(1))) else { continue }
        members.append(
          ManagedObjectID(
            entityName: table.entity.name, storeIdentifier: identifier, key: .permanent(statement.integer(0))))
      }
      statement.reset()
      return members
    }
  }

  func externalData(named name: String) throws -> Data {
    guard let externalFolder else {
      throw PersistenceError(
        .fileAccess, "The value's file '\(name)' can't be read, because a store in memory has no files.",
        fix: "Read it from the store that the value was read from.")
    }
    return try externalFolder.data(named: name)
  }

  func externalData(named name: String, equals data: Data) throws -> Bool {
    // A file of another size isn't read.
    if let file = try externalFolder?.file(named: name), FileState(file)?.size != Int64(data.count) { return false }
    return try externalData(named: name) == data
  }

  /// Reads rows by key, in key order, with a single statement that has one of a few fixed numbers of parameters.
  /// Parameters without a key are null, which matches no row.
  private func rows(_ plan: RowPlan, keys: [Int64], keysOnly: Bool, statement place: Int) throws -> RowBatch {
    var reader = RowReader(plan, map: map, expectedRows: keys.count)
    let sql = (keysOnly ? plan.keysByKeys : plan.byKeys)[place]
    try pool.readOnce { connection in
      let statement = try connection.statement(sql)
      var index: Int32 = 1
      for key in keys {
        statement.bind(key, at: index)
        index += 1
      }
      try keysOnly ? reader.readKeys(statement) : reader.readRows(statement)
    }
    return reader.batch
  }

  func plan(for query: RowQuery) throws -> RowPlan { try plans.plan(for: query) }

  /// The statement for the rows of a query, and whether it sorts them.
  func statement(for query: RowQuery, _ plan: RowPlan) throws -> (sql: SQLText, isSorted: Bool) {
    try statement(for: query, returning: query.keysOnly ? .keys : .rows, plan)
  }

  private func statement(
    for query: RowQuery, returning result: PredicateTemplate.StatementShape.Result, _ plan: RowPlan
  ) throws -> (sql: SQLText, isSorted: Bool) {
    if let statement = try templateStatement(for: query, returning: result, plan) { return statement }
    let selection = try selection(query, plan)
    return (plan.statement(result, of: selection), selection.isSorted)
  }

  func selection(_ query: RowQuery, _ plan: RowPlan) throws -> SQLText.RowSelection {
    try selection(for: query, plan: plan, condition: condition(of: query))
  }

  func selection(for query: RowQuery, plan: RowPlan, condition: SQLTerm?) throws -> SQLText.RowSelection {
    try query.requireValidLimits()
    var selection = plan.selection
    selection.order = try query.sort.map { try term($0, of: query) }
    selection.keys = query.keys.map(SQLText.json)
    selection.afterKey = query.afterKey
    selection.condition = condition.map { relatedRowsFirst($0, query) }
    selection.limit = query.limit
    selection.offset = query.offset
    selection.isSorted =
      !query.sort.isEmpty || query.limit != nil || query.offset > 0 || query.afterKey != nil
      || selection.condition == nil
    return selection
  }

  private func relatedSQL(_ property: Property, of entity: Entity) throws -> PreparedSQL? {
    try prepared(RelatedStatements.Key(entity: entity.index, slot: property.slot)) {
      guard let relationship = property.relationship, relationship.isToMany else {
        throw PersistenceError(
          .invalidRequest, at: .property(entity.name, property.name),
          "'\(property.name)' isn't a to-many relationship.", fix: "Read a to-one relationship from its own row.")
      }
      let destination = model.destination(of: relationship)
      return switch map[entity].toMany[property.slot] {
      case nil: nil
      case .foreignKey(let place):
        .members(
          of: place.table, onlyOf: map.onlyNumber(ofTableOf: destination), owner: place.column,
          order: place.orderColumn)
      case .join(let join):
        .members(
          of: map[destination].table, joinedBy: join.table, owner: join.ownColumn, member: join.memberColumn,
          order: join.orderColumn)
      }
    }
  }
}

import Foundation
import Persist

extension PostgreSQLStore {
  func rows(_ query: RowQuery, monitor: ReadMonitor?, held: KnownRows?) throws -> RowBatch {
    let plan = try plan(for: query)
    guard !isEmpty(query) else { return RowBatch() }
    // The reader omits rows of unknown entities, unless the server selects some of all rows.
    func statement() throws -> (sql: ServerText, isSorted: Bool) {
      try self.statement(
        query.keysOnly ? keyList(plan) : columnList(plan), query,
        includingUnknownEntities: query.limit == nil && query.offset == 0)
    }
    let sql: ServerText
    let isSorted: Bool
    if let keys = query.onlyKeys {
      let key = ServerTexts.Key.rows(
        entity: query.entity.number, includesSubentities: query.includesSubentities, keysOnly: query.keysOnly)
      (sql, isSorted) = (try pool.texts.statement(key, binding: [.integers(keys)]) { try statement().sql }, false)
    } else {
      (sql, isSorted) = try statement()
    }
    return try pool.read { session in
      try session.watched(by: monitor) {
        let result = try session.query(sql, isReused: query.isPlain)
        var reader = ServerRowReader(plan, map: map, expectedRows: result.rowCount)
        reader.held = held
        if query.keysOnly { reader.readKeys(result) } else { try reader.readRows(result) }
        monitor?.count(rows: result.rowCount)
        if !isSorted { reader.sortByKey() }
        return reader.batch
      }
    }
  }

  func rowsWithMoment(_ query: RowQuery) throws -> (rows: RowBatch, moment: ReadMoment?) {
    try readingWithMoment { try rows(query) }
  }

  func keys(_ query: RowQuery, monitor: ReadMonitor?) throws -> RowKeys {
    var query = query
    query.keysOnly = true
    return RowKeys(try rows(query, monitor: monitor))
  }

  func count(_ query: RowQuery, monitor: ReadMonitor?) throws -> Int {
    let plan = try plan(for: query)
    guard !isEmpty(query) else { return 0 }
    var unordered = query
    unordered.sort = []
    let hasWindow = query.limit != nil || query.offset > 0
    let sql: ServerText =
      hasWindow
      ? "SELECT count(*) FROM (SELECT 1\(try clauses(unordered, plan))\(window(query))) AS found"
      : "SELECT count(*)\(try clauses(unordered, plan))"
    return try pool.read { session in
      try session.watched(by: monitor) { try session.first(sql) { Int(clamping: $0.integer($1, 0)) } ?? 0 }
    }
  }

  func versions(of keys: [Int64], in entity: Entity) throws -> [Int64: Int64] {
    guard !keys.isEmpty else { return [:] }
    let sql: ServerText = """
      SELECT id, version FROM \(table: map[entity].table) WHERE id = ANY(\(integers: keys))
      """
    return try pool.read { session in
      Dictionary(
        try session.all(sql) { ($0.integer($1, 0), $0.integer($1, 1)) }, uniquingKeysWith: { first, _ in first })
    }
  }

  func greatestKey(inHierarchyOf entity: Entity) throws -> Int64 {
    let sql: ServerText = "SELECT coalesce(max(id), 0) FROM \(table: map[entity].table)"
    return try pool.read { try $0.first(sql) { $0.integer($1, 0) } ?? 0 }
  }

  func lengths(atSlot slot: Int, of entity: Entity, keys: [Int64]) throws -> [Int64: Int?] {
    guard let column = map[entity].column(slot: slot) else { return [:] }
    let attribute = entity.properties.lazy.compactMap { property in
      property.slot == slot ? property.attribute : property.elements.first { $0.slot == slot }?.attribute
    }.first
    let mark: Int64 = attribute.map { SlotForm($0) == .externalData } == true ? 1 : 0
    let sql: ServerText = """
      SELECT id, octet_length(\(name: column.name)) - \(number: mark) FROM \(table: map[entity].table) \
      WHERE id = ANY(\(integers: keys)) AND \(name: column.name) IS NOT NULL
      """
    return try pool.read { session in
      Dictionary(
        try session.all(sql) { ($0.integer($1, 0), Int(clamping: $0.integer($1, 1))) },
        uniquingKeysWith: { first, _ in first })
    }
  }

  // MARK: Statements

  func plan(for query: RowQuery) throws -> RowPlan {
    let plan = try plans.plan(for: query)
    try query.requireValidLimits()
    return plan
  }

  /// Whether a query selects nothing, because the store has no place for its entity or it names no keys.
  private func isEmpty(_ query: RowQuery) -> Bool {
    map.absent.contains(query.entity.name) || query.keys?.isEmpty == true
  }

  /// The columns of a plan.
  func columnList(_ plan: RowPlan, of alias: SQLRow = SQLText.RowSelection.root) -> ServerText {
    let completed = readColumns.value[map[plan.entity].table] ?? [:]
    return plan.columns.map { column -> ServerText in
      completed[column]?.value(of: column, "\(row: alias)") ?? "\(row: alias).\(name: column)"
    }.joined(separator: ", ")
  }

  private func keyList(_ plan: RowPlan) -> ServerText { "r0.id, r0.entity" }

  /// - Parameter includesUnknown: Whether rows whose entity number is missing or unknown may be selected too.
  func statement(
    _ columns: ServerText, _ query: RowQuery, includingUnknownEntities includesUnknown: Bool = false
  ) throws -> (sql: ServerText, isSorted: Bool) {
    let isSorted = !query.sort.isEmpty || query.limit != nil || query.offset > 0 || query.afterKey != nil
    let plan = try plan(for: query)
    let clauses = try clauses(query, plan, includingUnknownEntities: includesUnknown)
    var sql: ServerText = "SELECT \(columns)\(clauses)"
    if isSorted { sql += "\(try sorting(query))\(window(query))" }
    return (sql, isSorted)
  }

  /// The clauses from `FROM` up to `ORDER BY`.
  ///
  /// Other programs can insert rows whose entity number is missing or unknown. Such rows aren't objects.
  ///
  /// - Parameter includesUnknown: Whether they may be selected too.
  func clauses(
    _ query: RowQuery, _ plan: RowPlan, includingUnknownEntities includesUnknown: Bool = false
  ) throws -> ServerText {
    var conditions: [ServerText] = []
    switch plan.selection.entities {
    case .all where includesUnknown: break
    case .all:
      let numbers = map.model.hierarchy(of: plan.entity).map { map.numbers[$0] }
      conditions.append("r0.entity IN (\(numbers: numbers))")
    case .known(let numbers), .some(let numbers): conditions.append("r0.entity IN (\(numbers: numbers))")
    }
    if let keys = query.keys { conditions.append("r0.id = ANY(\(integers: keys))") }
    if let key = query.afterKey { conditions.append("r0.id > \(integer: key)") }
    if let predicate = query.predicate {
      guard let condition = condition(predicate, over: query.entity, now: query.now) else {
        throw PersistenceError(
          .invalidRequest, at: .entity(query.entity.name),
          "The server can't evaluate '\(ValueWords.format(predicate))' exactly.",
          fix: "Divide the predicate first.")
      }
      conditions.append(condition)
    }
    if let narrowing = query.narrowing {
      // As many parts as the statement's limits allow.
      var effort = conditions.joined(separator: " AND ").effort
      for part in narrowing.conjuncts {
        guard let wider = widerCondition(part, over: query.entity, now: query.now), (effort + wider.effort).isBounded
        else { continue }
        conditions.append(wider)
        effort = effort + wider.effort
      }
    }
    let filter: ServerText = conditions.isEmpty ? "" : " WHERE \(conditions.joined(separator: " AND "))"
    return " FROM \(table: plan.selection.table) AS r0\(filter)"
  }

  private func sorting(_ query: RowQuery) throws -> ServerText {
    let terms = try query.sort.map { descriptor -> ServerText in
      if let term = sortTerm(descriptor, over: query.entity) { return term }
      throw PersistenceError(
        .invalidRequest, at: .property(query.entity.name, descriptor.key),
        "The store can't sort by '\(descriptor.key)'.", fix: "Sort the results in memory.")
    }
    return " ORDER BY \((terms + ["r0.id"]).joined(separator: ", "))"
  }

  private func window(_ query: RowQuery) -> ServerText {
    var sql: ServerText = query.limit.map { " LIMIT \(integer: Int64($0))" } ?? ""
    if query.offset > 0 { sql += " OFFSET \(integer: Int64(query.offset))" }
    return sql
  }
}

extension RowQuery {
  /// Whether the statement has no condition but keys, so that one plan of the server's serves all values.
  fileprivate var isPlain: Bool { keys != nil && predicate == nil && narrowing == nil && sort.isEmpty }

  /// The keys, if the statement depends on nothing else.
  fileprivate var onlyKeys: [Int64]? { isPlain && limit == nil && offset == 0 && afterKey == nil ? keys : nil }
}

extension ServerSession {
  /// Runs a read that a monitor can cancel.
  func watched<T>(by monitor: ReadMonitor?, _ body: () throws -> T) throws -> T {
    guard let monitor else { return try body() }
    return try monitor.run(interrupting: connection.cancel) {
      do { return try body() } catch let failure as ServerFailure where failure.state == "57014" {
        throw PersistenceError(failure, at: url)
      }
    }
  }
}

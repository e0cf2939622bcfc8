package import Persist

/// The statements of an online migration.
package enum OnlineStatements {
  /// Creates the places of the second model, and the triggers that keep both in step, in constant time.
  ///
  /// - Parameter second: The second model.
  static func places(of expansion: OnlineExpansion, for second: ManagedObjectModel) -> [ServerText] {
    var statements = expansion.tables.flatMap { ServerText.make($0) }
    statements += expansion.joins.flatMap { ServerText.make($0.second) }
    for column in expansion.columns {
      let kind = ServerTerms.Kind(column.column.type)
      let standard: ServerText = column.value == .null ? "" : " DEFAULT \(kind.literal(column.value))"
      statements.append(add(column.column, to: column.table, standard))
    }
    for pair in expansion.pairs {
      statements.append(add(.init(name: pair.second, type: pair.type), to: pair.table, ""))
    }
    for reference in expansion.references {
      statements += reference.second.columns.map { add(.init(name: $0, type: .integer), to: reference.table, "") }
    }
    let names = expansion.columns.map(\.column.name) + expansion.pairs.map(\.second)
      + expansion.references.flatMap(\.second.columns)
    statements += names.compactMap { ServerText.record(name: $0) }
    let digest = ServerPresence.digest(of: second)
    statements += expansion.triggeredTables.flatMap { OnlineTriggers.make(of: $0, expansion, second: digest) }
    statements += Set(expansion.required.map(\.table)).sorted().flatMap {
      OnlineTriggers.requireValues(of: $0, expansion, second: digest)
    }
    statements += expansion.joins.flatMap { OnlineTriggers.make(of: $0) }
    statements += expansion.keyJoins.flatMap { OnlineTriggers.make(of: $0) }
    return statements
  }

  private static func add(_ column: TableDefinition.Column, to table: String, _ standard: ServerText) -> ServerText {
    "ALTER TABLE \(table: table) ADD COLUMN \(name: column.name) \(ServerText.type(column.type))\(standard)"
  }

  /// Completes the next rows by key. The newest state of each row counts, even if it changes meanwhile.
  static func backfill(
    _ table: String, _ expansion: OnlineExpansion, after key: Int64, limit: Int
  ) -> ServerText {
    var values: [ServerText] = []
    var conditions: [ServerText] = []
    for pair in expansion.pairs where pair.table == table {
      let value = pair.secondValue(of: "r.")
      values.append("\(name: pair.second) = \(value)")
      conditions.append("r.\(name: pair.second) IS DISTINCT FROM \(value)")
    }
    for reference in expansion.references where reference.table == table {
      for (column, value) in reference.values(for: .second, of: "r.") {
        values.append("\(name: column) = \(value)")
        conditions.append("r.\(name: column) IS DISTINCT FROM \(value)")
      }
    }
    let composites = expansion.composites.filter { $0.table == table }.flatMap { $0.backfilled(in: "r.") }
    for (column, value) in composites + expansion.computedValues(of: table, for: .second, in: "r.") {
      values.append("\(name: column) = \(value)")
      conditions.append("r.\(name: column) IS DISTINCT FROM \(value)")
    }
    var fills: [String: [OnlineExpansion.Fill]] = [:]
    for fill in expansion.fills where fill.table == table && fill.side == .second {
      fills[fill.column.name, default: []].append(fill)
    }
    for (column, parts) in fills.sorted(by: { $0.key < $1.key }) {
      let cases = parts.map { fill -> ServerText in
        let rows: ServerText = fill.numbers.map { "r.entity IN (\(numbers: $0))" } ?? "true"
        return "WHEN \(rows) THEN \(ServerTerms.Kind(fill.column.type).literal(fill.value))"
      }
      values.append("\(name: column) = coalesce(r.\(name: column), CASE \(cases.joined(separator: " ")) END)")
      conditions.append("r.\(name: column) IS NULL")
    }
    return """
      WITH part AS (SELECT id FROM \(table: table) WHERE id > \(integer: key) \
      ORDER BY id LIMIT \(number: Int64(limit))), \
      done AS (UPDATE \(table: table) AS r SET \(values.joined(separator: ", ")) FROM part WHERE r.id = part.id \
      AND (\(conditions.joined(separator: " OR "))) RETURNING 1) \
      SELECT coalesce(max(id), 0), count(*), (SELECT count(*) FROM done) FROM part
      """
  }

  /// Copies the next pairs that the second join table lacks.
  static func backfill(_ join: OnlineExpansion.JoinPair, limit: Int) -> ServerText {
    let names = join.second.columns.map(\.name)
    let own = names.map { "r.\(name: join.columns[$0] ?? $0)" as ServerText }.joined(separator: ", ")
    let same = join.second.primaryKey.map { "t.\(name: $0) = r.\(name: join.columns[$0] ?? $0)" as ServerText }
    // A pair that is deleted meanwhile must not return: its row is locked until both are written.
    return """
      INSERT INTO \(table: join.second.name) (\(names: names)) \
      SELECT \(own) FROM \(table: join.first) AS r WHERE NOT EXISTS \
      (SELECT 1 FROM \(table: join.second.name) AS t WHERE \(same.joined(separator: " AND "))) \
      LIMIT \(number: Int64(limit)) FOR KEY SHARE OF r ON CONFLICT DO NOTHING
      """
  }

  /// Copies the next keys that the join table lacks as pairs.
  private static func backfillPairs(_ join: OnlineExpansion.KeyJoin, limit: Int) -> ServerText {
    let (own, member): (ServerText, ServerText) = ("\(name: join.own)", "\(name: join.member)")
    // The row is locked until both are written, so that its key can't change in between.
    return """
      INSERT INTO \(table: join.join.name) (\(own), \(member)) \
      SELECT r.id, r.\(name: join.key) FROM \(table: join.table) AS r WHERE r.\(name: join.key) IS NOT NULL \
      AND NOT EXISTS (SELECT 1 FROM \(table: join.join.name) AS t WHERE t.\(own) = r.id) \
      LIMIT \(number: Int64(limit)) FOR NO KEY UPDATE OF r ON CONFLICT DO NOTHING
      """
  }

  /// Locks the next rows that have members and no key. Only a later statement sees the members that others have added
  /// or removed until then.
  static func rowsWithoutKey(_ join: OnlineExpansion.KeyJoin, limit: Int) -> ServerText {
    """
    SELECT r.id FROM \(table: join.table) AS r WHERE r.\(name: join.key) IS NULL \
    AND EXISTS (SELECT 1 FROM \(table: join.join.name) AS t \
    WHERE t.\(name: join.own) = r.id\(join.isKnown(in: "\(table: join.members)"))) \
    LIMIT \(number: Int64(limit)) FOR NO KEY UPDATE OF r
    """
  }

  /// Gives locked rows the key of their first member.
  ///
  /// - Parameter rows: The keys of the rows, or a statement that selects them.
  static func assignKeys(_ join: OnlineExpansion.KeyJoin, of rows: ServerText) -> ServerText {
    let first: ServerText = """
      SELECT t.\(name: join.member) FROM \(table: join.join.name) AS t \
      WHERE t.\(name: join.own) = r.id\(join.isKnown(in: "\(table: join.members)")) \
      ORDER BY \(join.order)t.\(name: join.member) LIMIT 1
      """
    let number: ServerText = join.number.map { number in
      """
      , \(name: number.column) = \
      (SELECT there.entity FROM \(table: number.target) AS there WHERE there.id = (\(first)))
      """
    } ?? ""
    return "UPDATE \(table: join.table) AS r SET \(name: join.key) = (\(first))\(number) WHERE r.id = ANY(\(rows))"
  }

  /// Completes the next rows, in one statement or as a plan shows it.
  static func backfill(_ join: OnlineExpansion.KeyJoin, limit: Int) -> ServerText {
    join.side == .first
      ? backfillPairs(join, limit: limit)
      : assignKeys(join, of: "ARRAY(\(rowsWithoutKey(join, limit: limit)))")
  }

  /// Gives the next members without a position the last ones of their lists, in the order of their keys.
  static func backfill(_ positions: OnlineExpansion.Positions, limit: Int) -> ServerText {
    let (table, place): (ServerText, ServerText) = ("\(table: positions.table)", "\(name: positions.place)")
    let (owner, member): (ServerText, ServerText) = ("\(name: positions.owner)", "\(name: positions.member)")
    return """
      WITH part AS (SELECT ctid AS place_of_row, \(owner) AS o, \(member) AS m FROM \(table) \
      WHERE \(owner) IS NOT NULL AND \(place) IS NULL LIMIT \(number: Int64(limit)) FOR NO KEY UPDATE), \
      placed AS (SELECT p.place_of_row, \
      (SELECT coalesce(max(t.\(place)), \(number: OrderPlaces.first - OrderPlaces.distance)) FROM \(table) AS t \
      WHERE t.\(owner) = p.o) + \(number: OrderPlaces.distance) * row_number() OVER (PARTITION BY p.o ORDER BY p.m) \
      AS position FROM part AS p) \
      UPDATE \(table) AS r SET \(place) = placed.position FROM placed WHERE r.ctid = placed.place_of_row
      """
  }

  // MARK: For plans

  /// The statements of an expansion, as plans show them.
  package static func shown(_ expansion: OnlineExpansion, for second: ManagedObjectModel) -> [String] {
    (places(of: expansion, for: second) + expansion.keys.map { ServerText.create($0, checkingRows: false) })
      .map(\.shown)
  }

  /// The statements of the changes that remain for the end.
  package static func shown(_ changes: [SchemaChange]) -> [String] {
    changes.flatMap { ServerText.statements($0, kinds: { _ in [:] }) }.map(\.shown)
  }

  /// The statement that drops a table.
  package static func shownDrop(_ table: String) -> String { ("DROP TABLE \(table: table)" as ServerText).shown }

  /// The statements of the work that takes time in proportion to the rows, as plans show them.
  package static func shownBackfill(_ expansion: OnlineExpansion, limit: Int) -> [String] {
    expansion.backfilledTables.map { backfill($0, expansion, after: 0, limit: limit).shown }
      + expansion.joins.map { backfill($0, limit: limit).shown }
      + expansion.keyJoins.map { backfill($0, limit: limit).shown }
      + expansion.secondPositions.map { backfill($0, limit: limit).shown }
      + expansion.derived.map { ServerText.fill($0).shown }
      + expansion.keys.map { key in
        ("ALTER TABLE \(table: key.table) VALIDATE CONSTRAINT \(name: ServerText.name(of: key))" as ServerText).shown
      } + expansion.indexes.map { ServerText.create($0.present, concurrently: true).shown }
  }
}

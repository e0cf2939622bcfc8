import Persist

/// The triggers that keep the places of two models in step.
///
/// A trigger has to know which of two columns a statement meant. An update shows it by the value that changes. For a
/// new row, the setting ``setting`` announces a program with the second model; without it, the columns of the first
/// model count, unless only those of the second have a value, as in statements by hand.
enum OnlineTriggers {
  static let prefix = "PERSIST_ONLINE_"

  /// The setting with the digest of the model of the program that writes.
  static let setting = "persist.model"

  /// Announces the model of a program, as part of a `SELECT`.
  static func announcement(of model: String) -> ServerText {
    "set_config(\(literal: setting), \(literal: model), true)"
  }

  // MARK: Rows of entities

  /// The statements that make the trigger of a table.
  ///
  /// - Parameter second: The digest of the second model.
  static func make(of table: String, _ expansion: OnlineExpansion, second: String) -> [ServerText] {
    let pairs = expansion.pairs.filter { $0.table == table }
    let references = expansion.references.filter { $0.table == table }
    let fills = expansion.fills.filter { $0.table == table }
    let positions = expansion.positions.filter { $0.table == table }
    let groups = expansion.formulaGroups(of: table)
    let composites = expansion.composites.filter { $0.table == table }
    let hidden = expansion.unknownToFirst
    var inserted = pairs.map { copyInserted($0, hidden) } + composites.map { $0.followInserted(hidden: hidden) }
    inserted += references.map(copyInserted) + groups.map(computeInserted) + fills.map(fill)
    inserted += positions.map { append($0, if: "NEW.\(name: $0.place) IS NULL") }
    var copied = pairs.map { copyUpdated($0, hidden) } + composites.map { $0.followUpdated(hidden: hidden) }
    copied += references.map(copyUpdated) + groups.map(computeUpdated)
    let updated = copied + positions.map { positions in
      let (owner, place): (ServerText, ServerText) = ("\(name: positions.owner)", "\(name: positions.place)")
      return append(
        positions,
        if: """
          NEW.\(place) IS NULL OR NEW.\(owner) IS DISTINCT FROM OLD.\(owner) \
          AND NEW.\(place) IS NOT DISTINCT FROM OLD.\(place)
          """)
    }
    let body: ServerText = """
      DECLARE is_second boolean := coalesce(current_setting(\(literal: setting), true), '') = \(literal: second); \
      BEGIN IF TG_OP = 'INSERT' THEN \(inserted.joined(separator: " ")) \
      ELSE \(updated.isEmpty ? "NULL;" : updated.joined(separator: " ")) END IF; RETURN NEW; END
      """
    let name = prefix + table
    return [
      """
      CREATE OR REPLACE FUNCTION \(table: name)() RETURNS trigger LANGUAGE plpgsql \
      AS \(literal: body.statement(in: "").text)
      """,
      """
      CREATE TRIGGER \(name: name) BEFORE INSERT OR UPDATE ON \(table: table) FOR EACH ROW \
      EXECUTE FUNCTION \(table: name)()
      """,
    ]
  }

  private static func copyInserted(_ pair: OnlineExpansion.Pair, _ hidden: [Int]) -> ServerText {
    """
    IF is_second OR NEW.\(name: pair.second) IS NOT NULL THEN \(copyBack(pair, hidden)) \
    ELSE NEW.\(name: pair.second) := \(pair.secondValue(of: "NEW.")); END IF;
    """
  }

  private static func copyUpdated(_ pair: OnlineExpansion.Pair, _ hidden: [Int]) -> ServerText {
    let (first, second): (ServerText, ServerText) = ("\(name: pair.first)", "\(name: pair.second)")
    // A value that takes the place of a missing one doesn't mean that the other program has assigned it.
    // In parentheses, because PL/pgSQL would take a THEN of the value for its own.
    let isOwn: ServerText = pair.isPlain
      ? "" : " AND NEW.\(second) IS DISTINCT FROM (\(pair.secondValue(of: "NEW.")))"
    return """
      IF NEW.\(second) IS DISTINCT FROM OLD.\(second) \
      AND (is_second OR NEW.\(first) IS NOT DISTINCT FROM OLD.\(first))\(isOwn) THEN \(copyBack(pair, hidden)) \
      ELSIF NEW.\(first) IS DISTINCT FROM OLD.\(first) THEN NEW.\(second) := \(pair.secondValue(of: "NEW.")); END IF;
      """
  }

  private static func copyBack(_ pair: OnlineExpansion.Pair, _ hidden: [Int]) -> ServerText {
    copyBack(
      pair.firstValue(of: "NEW."), to: .init(name: pair.first, type: pair.firstType),
      from: .init(name: pair.second, type: pair.type), label: pair.label, hidden: hidden)
  }

  /// Gives a column of the first model the value of one of the second, unless its type has no equal one: the
  /// transaction then fails. Programs with the first model don't see rows of other entities, which get no value there.
  ///
  /// - Parameter hidden: The numbers of these entities.
  static func copyBack(
    _ value: ServerText, to first: OnlineExpansion.Composite.Column, from second: OnlineExpansion.Composite.Column,
    label: String, hidden: [Int]
  ) -> ServerText {
    let copy: ServerText = "NEW.\(name: first.name) := \(value);"
    guard let isUnequal = first.isUnequal("NEW.\(name: second.name)", of: second.type) else { return copy }
    let refusal: ServerText = """
      RAISE EXCEPTION USING ERRCODE = 'check_violation', CONSTRAINT = \(literal: unequalValue), \
      MESSAGE = \(literal: "\(label): ") || NEW.\(name: second.name)::text;
      """
    guard !hidden.isEmpty else { return "IF \(isUnequal) THEN \(refusal) END IF; \(copy)" }
    return """
      IF \(isUnequal) THEN IF NEW.entity NOT IN (\(numbers: hidden)) THEN \(refusal) END IF; \
      NEW.\(name: first.name) := NULL; ELSE \(copy) END IF;
      """
  }

  private static func fill(_ fill: OnlineExpansion.Fill) -> ServerText {
    let writer: ServerText = fill.side == .second ? "NOT is_second" : "is_second"
    let rows: ServerText = fill.numbers.map { " AND NEW.entity IN (\(numbers: $0))" } ?? ""
    return """
      IF \(writer) AND NEW.\(name: fill.column.name) IS NULL\(rows) \
      THEN NEW.\(name: fill.column.name) := \(ServerTerms.Kind(fill.column.type).literal(fill.value)); END IF;
      """
  }

  /// Gives a member without a position, or with that in another owner's list, the last position.
  private static func append(_ positions: OnlineExpansion.Positions, if condition: ServerText) -> ServerText {
    let start: ServerText = """
      SELECT coalesce(max(\(name: positions.place)), \(number: OrderPlaces.first - OrderPlaces.distance)) \
      + \(number: OrderPlaces.distance) FROM\u{20}
      """
    let end: ServerText = " WHERE \(name: positions.owner) = $1"
    func literal(_ text: ServerText) -> ServerText { "\(literal: text.statement(in: "").text)" }
    return """
      IF NEW.\(name: positions.owner) IS NULL THEN NEW.\(name: positions.place) := NULL; ELSIF \(condition) \
      THEN EXECUTE \(literal(start)) || quote_ident(TG_TABLE_SCHEMA) || '.' || quote_ident(TG_TABLE_NAME) \
      || \(literal(end)) INTO NEW.\(name: positions.place) USING NEW.\(name: positions.owner); END IF;
      """
  }

  // MARK: Pairs of rows

  /// The statements that make the triggers of two join tables.
  ///
  /// A change of one table arrives in the other, whose trigger finds the first as it should be already.
  static func make(of join: OnlineExpansion.JoinPair) -> [ServerText] {
    func first(_ columns: [String]) -> [String] { columns.map { join.columns[$0] ?? $0 } }
    let second = PairTable(
      name: join.second.name, columns: join.second.columns.map(\.name), keys: join.second.primaryKey)
    let other = PairTable(name: join.first, columns: first(second.columns), keys: first(second.keys))
    return follow(other, in: second) + follow(second, in: other)
  }

  /// One of two join tables, with its columns in the same order as the other one's.
  private struct PairTable {
    let name: String
    let columns: [String]
    let keys: [String]
  }

  private static func follow(_ source: PairTable, in target: PairTable) -> [ServerText] {
    func same(_ row: ServerText) -> ServerText {
      zip(target.keys, source.keys).map { "t.\(name: $0) = \(row).\(name: $1)" as ServerText }
        .joined(separator: " AND ")
    }
    let values = source.columns.map { "NEW.\(name: $0)" as ServerText }.joined(separator: ", ")
    let places = zip(target.columns, source.columns).filter { !target.keys.contains($0.0) }
    let isOther = places.map { "t.\(name: $0) IS DISTINCT FROM NEW.\(name: $1)" as ServerText }
    let set = places.map { "\(name: $0) = NEW.\(name: $1)" as ServerText }
    let place: ServerText = places.isEmpty ? "" : """
       UPDATE \(name: target.name) AS t SET \(set.joined(separator: ", ")) WHERE \(same("NEW")) \
      AND (\(isOther.joined(separator: " OR ")));
      """
    let body: ServerText = """
      DECLARE persist_path text := current_setting('search_path'); \
      BEGIN PERFORM set_config('search_path', quote_ident(TG_TABLE_SCHEMA) || ', pg_temp', true); \
      IF TG_OP <> 'INSERT' THEN DELETE FROM \(name: target.name) AS t WHERE \(same("OLD"))\
      \(source.keys.isEmpty ? "" : " AND (TG_OP = 'DELETE' OR \(isMoved(source.keys)))"); END IF; \
      IF TG_OP <> 'DELETE' THEN INSERT INTO \(name: target.name) (\(names: target.columns)) VALUES (\(values)) \
      ON CONFLICT DO NOTHING;\(place) END IF; \
      PERFORM set_config('search_path', persist_path, true); RETURN NULL; END
      """
    let name = prefix + source.name
    return [
      """
      CREATE OR REPLACE FUNCTION \(table: name)() RETURNS trigger LANGUAGE plpgsql \
      AS \(literal: body.statement(in: "").text)
      """,
      """
      CREATE TRIGGER \(name: name) AFTER INSERT OR UPDATE OR DELETE ON \(table: source.name) FOR EACH ROW \
      EXECUTE FUNCTION \(table: name)()
      """,
    ]
  }

  private static func isMoved(_ keys: [String]) -> ServerText {
    keys.map { "NEW.\(name: $0) IS DISTINCT FROM OLD.\(name: $0)" as ServerText }.joined(separator: " OR ")
  }

  // MARK: Derived attributes

  /// The triggers for derived attributes of the second model that those of the first don't replace, and those for
  /// derived attributes of the first whose sources programs with the second assign under another name.
  ///
  /// They have names of their own, because a program with the first model replaces triggers that it doesn't expect. A
  /// trigger for updates of some columns runs if the statement assigns them, and not if another trigger copies values
  /// to them.
  static func derived(
    _ first: TableMap, _ second: TableMap, during expansion: OnlineExpansion, partitioned: Set<String>
  ) -> [ServerTrigger] {
    let old = first.possibleDerivedColumns.serverTriggers(in: first.layout, partitioned: partitioned)
    let present = Set(old.map(\.signature))
    let new = second.possibleDerivedColumns.serverTriggers(in: second.layout, partitioned: partitioned)
      .filter { !present.contains($0.signature) }.map { trigger in
        trigger.named(prefix + trigger.name) { trigger.columns + expansion.firsts(of: $0, in: trigger.table) }
      }
    let others = old.compactMap { trigger -> ServerTrigger? in
      let assigned = expansion.seconds(of: trigger.columns, in: trigger.table)
      guard !assigned.isEmpty else { return nil }
      return trigger.named("\(prefix)FIRST_\(trigger.name)", onAssigning: { _ in assigned })
    }
    return new + others
  }
}

extension OnlineExpansion.Pair {
  private var kinds: ServerText.ColumnKinds {
    [
      first.foldedIdentifier: ServerTerms.Kind(firstType), second.foldedIdentifier: ServerTerms.Kind(type),
    ]
  }

  /// The value of the second column according to the first.
  ///
  /// - Parameter row: The name of the row with a point.
  func secondValue(of row: ServerText) -> ServerText {
    ServerText.expression(forward, as: ServerTerms.Kind(type), kinds, of: row)
  }

  /// The value of the first column according to the second.
  fileprivate func firstValue(of row: ServerText) -> ServerText {
    ServerText.expression(backward, as: ServerTerms.Kind(firstType), kinds, of: row)
  }
}

extension OnlineExpansion.Composite.Column {
  /// The condition for a value of another type that has no equal in this column; nil if all have.
  fileprivate func isUnequal(_ value: ServerText, of other: TableMap.ColumnType) -> ServerText? {
    guard type != other else { return nil }
    let range: (Int64, Int64)? =
      switch type {
      case .boolean: (0, 1)
      case .int16: (Int64(Int16.min), Int64(Int16.max))
      case .int32: (Int64(Int32.min), Int64(Int32.max))
      case .integer: (Int64.min, Int64.max)
      default: nil
      }
    guard let range else { return nil }
    let isFraction: ServerText = ServerTerms.Kind(other).isWhole ? "" : " OR \(value) <> trunc(\(value))"
    return "\(value) NOT BETWEEN \(number: range.0) AND \(number: range.1)\(isFraction)"
  }
}

extension OnlineExpansion {
  /// The columns of the first model from which those of the second get their values.
  fileprivate func firsts(of columns: [String], in table: String) -> [String] {
    pairs.filter { $0.table == table && columns.contains($0.second) }.map(\.first)
      + references.filter { $0.table == table && columns.contains($0.second.key) }.map(\.first.key)
      + sources(of: columns, in: table, .second) + parts(of: columns, in: table, .second)
  }

  /// The columns of the second model from which those of the first get their values.
  fileprivate func seconds(of columns: [String], in table: String) -> [String] {
    pairs.filter { $0.table == table && columns.contains($0.first) }.map(\.second)
      + references.filter { $0.table == table && columns.contains($0.first.key) }.map(\.second.key)
      + sources(of: columns, in: table, .first) + parts(of: columns, in: table, .first)
  }

  /// The other model's columns of composite attributes to which some columns belong.
  private func parts(of columns: [String], in table: String, _ side: Side) -> [String] {
    composites.filter { composite in
      composite.table == table && composite.half(side).parts.contains { columns.contains($0.column.name) }
    }.flatMap { $0.half(side == .first ? .second : .first).columns.map(\.name) }
  }

  private func sources(of columns: [String], in table: String, _ side: Side) -> [String] {
    let own = formulas.filter { $0.table == table && $0.side == side && columns.contains($0.column.name) }
    return Set(own.flatMap { $0.sources.values.map(\.column) }).sorted()
  }
}

extension ServerTrigger {
  /// The columns whose assignment lets the trigger run; empty for all.
  fileprivate var columns: [String] { if case .update(let columns) = event { columns } else { [] } }

  fileprivate func named(_ name: String, onAssigning change: ([String]) -> [String]) -> ServerTrigger {
    ServerTrigger(
      name: name, table: table, event: columns.isEmpty ? event : .update(of: change(columns)), setting: setting,
      runsOnce: runsOnce, body: body)
  }
}

import Persist

/// Parked values on a server, whose columns have types: they are parked as texts that represent them exactly.
///
/// | type | text |
/// |---|---|
/// | `bigint`, `integer`, `smallint`, `numeric`, `uuid` | as the server prints them |
/// | `boolean` | `0` or `1` |
/// | `double precision` | the shortest digits that no other number has: see ``exactTexts`` |
/// | `text` | itself |
/// | `bytea` | hexadecimal digits |
extension ServerText {
  private static let values: ServerText = "\(table: ParkedSlot.Table.values)"

  /// Lets the server print numbers and dates exactly until the end of the transaction, whatever its settings are.
  static let exactTexts: ServerText = """
    SELECT set_config('extra_float_digits', '1', true), set_config('datestyle', 'ISO', true), \
    set_config('timezone', 'UTC', true)
    """

  /// - Parameters:
  ///   - kinds: The columns of a table.
  ///   - skipsEqual: Whether rows that have their parked value already aren't written.
  static func statements(
    _ statement: ParkedValueStatement, kinds: (String) throws -> ColumnKinds, skipsEqual: Bool = false
  ) throws -> [ServerText] {
    func kind(_ column: String, of table: String) throws -> ServerTerms.Kind {
      try kinds(table)[column.foldedIdentifier] ?? .bytes
    }
    switch statement {
    case .createTables:
      let createValues: ServerText = """
        CREATE TABLE IF NOT EXISTS \(values) (slot bigint, object bigint, value text, standin text, \
        PRIMARY KEY (slot, object))
        """
      let shared: [SharedSQL] = [.createParkedSlots, .createParkedModels, .createParkedPairs, .createParkedStates]
      return shared.map { ServerText($0) } + [createValues]
    case .park(let slot, let table, let column, let number, let rows):
      return [try park(column, as: kind(column, of: table), of: table, in: slot, entity: number, rows: rows)]
    case .parkObjects(let slot, let table, let number):
      return [park("Z_OPT", as: .integer, of: table, in: slot, entity: number, rows: .all)]
    case .dropReplaced(let slot, let table, let column):
      return [
        """
        DELETE FROM \(values) AS p WHERE slot = \(number: Int64(slot.number)) AND EXISTS (SELECT 1 \
        FROM \(table: table) AS t WHERE t.id = p.object AND \(try kind(column, of: table).differs(column)))
        """
      ]
    case .recordStandIns(let slot, let table, let column):
      return [
        """
        UPDATE \(values) AS p SET standin = (SELECT \(try kind(column, of: table).parked(column)) \
        FROM \(table: table) AS t WHERE t.id = p.object) WHERE slot = \(number: Int64(slot.number))
        """
      ]
    case .restore(let slot, let table, let column, let number, let mark, let onlyPresent):
      let value = try kind(column, of: table).restored(mark)
      let isOther: ServerText = skipsEqual ? " AND t.\(name: column) IS DISTINCT FROM \(value)" : ""
      return [
        """
        UPDATE \(table: table) AS t SET \(name: column) = \(value) FROM \(values) AS p \
        WHERE p.slot = \(number: Int64(slot.number)) AND p.object = t.id \
        AND t.entity = \(number: Int64(number))\(onlyPresent ? " AND p.value IS NOT NULL" : "")\(isOther)
        """
      ]
    case .dropSuperseded(let slot, let table, let column, let defaults):
      let kind = try kind(column, of: table)
      let others = defaults.map { " AND t.\(name: column) <> \(kind.literal($0))" as ServerText }.joined(separator: "")
      return [
        """
        DELETE FROM \(values) AS p WHERE slot = \(number: Int64(slot.number)) AND EXISTS (SELECT 1 \
        FROM \(table: table) AS t WHERE t.id = p.object AND t.\(name: column) IS NOT NULL\(others))
        """
      ]
    case .add(let slot, let rows, let types): return [try addParkedRows(rows, to: slot, types)]
    case .raiseKeyCounter(let table, _):
      let sequence = keySequence(of: table)
      return [
        """
        SELECT setval(\(text: quoted(sequence))::regclass, greatest((SELECT last_value FROM \(table: sequence)), \
        (SELECT max(id) FROM \(table: table)), (SELECT max(v.object) FROM \(values) AS v \
        JOIN \(table: ParkedSlot.Table.slots) AS p ON p.slot = v.slot WHERE p.kind = 'object')))
        """
      ]
    case .createTrigger(let table, let slots):
      let name = ParkedSlot.trigger(of: table)
      // In the schema that the table has then: a copy of a store moves from one to another.
      func deletion(from table: String, _ column: String) -> ServerText {
        """
        EXECUTE format('DELETE FROM %I.\(name: table) \
        WHERE slot IN (\(numbers: slots)) AND \(name: column) = $1', TG_TABLE_SCHEMA) USING OLD.id;
        """
      }
      return [
        """
        CREATE OR REPLACE FUNCTION \(table: name)() RETURNS trigger LANGUAGE plpgsql AS $parked$ BEGIN \
        \(deletion(from: ParkedSlot.Table.values, "object")) \(deletion(from: ParkedSlot.Table.pairs, "owner")) \
        RETURN OLD; END $parked$
        """,
        """
        CREATE TRIGGER \(name: name) AFTER DELETE ON \(table: table) FOR EACH ROW EXECUTE FUNCTION \(table: name)()
        """,
      ]
    // Nothing to run here: the session finds and drops these triggers by the names of their functions.
    case .dropTriggers: return []
    case .restoreObjects(let slot, let table, let number, let fills):
      let kinds = try kinds(table)
      let names: ServerText = fills.isEmpty ? "" : ", \(names: fills.map(\.column))"
      let constants = fills.map { ", \((kinds[$0.column.foldedIdentifier] ?? .bytes).literal($0.value))" as ServerText }
      return [
        """
        INSERT INTO \(table: table) (id, entity, version\(names)) \
        SELECT object, \(number: Int64(number)), value::bigint\(constants.joined(separator: "")) FROM \(values) \
        WHERE slot = \(number: Int64(slot.number)) AND object NOT IN (SELECT id FROM \(table: table))
        """
      ]
    }
  }

  /// Copies the next parked values of a slot to objects that have none, or a default, in the order of the objects.
  static func restorePart(
    _ returning: ReturningValues, after key: Int64, limit: Int
  ) -> ServerText {
    let kind = ServerTerms.Kind(returning.column.type)
    let (column, value): (ServerText, ServerText) = ("t.\(name: returning.column.name)", kind.restored(returning.mark))
    let defaults = returning.defaults.map { " OR \(column) = \(kind.literal($0))" as ServerText }
    return """
      WITH part AS (SELECT p.object, p.value FROM \(values) AS p \
      WHERE p.slot = \(number: Int64(returning.slot.number)) AND p.object > \(integer: key) \
      ORDER BY p.object LIMIT \(number: Int64(limit))), \
      done AS (UPDATE \(table: returning.table) AS t SET \(name: returning.column.name) = \(value) FROM part AS p \
      WHERE p.object = t.id AND t.entity = \(number: Int64(returning.entityNumber)) \
      \(returning.onlyPresent ? "AND p.value IS NOT NULL " : "")\
      AND (\(column) IS NULL\(defaults.joined(separator: ""))) AND \(column) IS DISTINCT FROM \(value) RETURNING 1) \
      SELECT coalesce(max(object), 0), count(*), (SELECT count(*) FROM done) FROM part
      """
  }

  private static func park(
    _ column: String, as kind: ServerTerms.Kind, of table: String, in slot: ParkedSlot, entity number: Int,
    rows: SQLText.ParkedRows
  ) -> ServerText {
    let condition: ServerText =
      switch rows {
      case .all: ""
      case .present: " AND \(name: column) IS NOT NULL"
      case .missing: " AND \(name: column) IS NULL"
      }
    return """
      INSERT INTO \(values) (slot, object, value) SELECT \(number: Int64(slot.number)), id, \(kind.parked(column)) \
      FROM \(table: table) AS t WHERE entity = \(number: Int64(number))\(condition)
      """
  }
}

extension ServerTerms.Kind {
  /// The condition that a value of the row `t` isn't the one that stood in for a parked one.
  fileprivate func differs(_ column: String) -> ServerText {
    // Texts of dates that were parked with other settings differ.
    self == .moment
      ? "t.\(name: column) IS DISTINCT FROM p.standin::timestamptz"
      : "\(parked(column)) IS DISTINCT FROM p.standin"
  }

  /// The text of a value of the row `t`.
  func parked(_ column: String) -> ServerText {
    switch self {
    case .boolean: "t.\(name: column)::int::text"
    case .bytes: "encode(t.\(name: column), 'hex')"
    default: "t.\(name: column)::text"
    }
  }

  /// The value of the row `p` for a column of this kind.
  fileprivate func restored(_ mark: MarkChange) -> ServerText {
    switch (self, mark) {
    case (.boolean, _): "(p.value::numeric <> 0)"
    case (.bytes, .same): "decode(p.value, 'hex')"
    case (.bytes, .added): "decode('01' || p.value, 'hex')"
    case (.bytes, .removed): "decode(substr(p.value, 3), 'hex')"
    default: "p.value::\(typeName)"
    }
  }
}

extension PostgreSQLStore: InspectableStore {
  func parkedSlots() throws -> [ParkedSlot] { try inspect { try $0.parkedSlots() } }

  func inspect<T>(_ body: (any StoreInspector) throws -> T) throws -> T {
    try pool.readTransaction { try body(ServerInspector($0)) }
  }
}

extension ServerSession {
  /// Whether the store has a table of Persist's own.
  func hasTable(_ name: String) throws -> Bool {
    try first(
      "SELECT 1 FROM pg_tables WHERE schemaname = \(text: schema) AND tablename = \(text: ServerText.name(name))"
    ) { _, _ in true } ?? false
  }
}

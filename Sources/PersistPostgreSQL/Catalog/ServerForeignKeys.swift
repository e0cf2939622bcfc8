import Persist

/// The foreign keys that a store of Persist has in its schema. They are checked at the end of each transaction, so that
/// the order of its statements doesn't matter.
///
/// Keys that others created have other names, and remain.
struct ServerForeignKeys {
  private let session: ServerSession

  init(_ session: ServerSession) { self.session = session }

  /// A key as the server has it, with the server's names.
  private struct Present {
    let name: String
    let table: String
    let column: String
    let target: String
    let deletes: Bool
    /// Whether all rows have valid keys: older ones may not, if they had none when the key was created.
    let isValid: Bool

    func isOne(_ key: ForeignKeyDefinition) -> Bool {
      table == ServerText.name(key.table) && column == ServerText.name(key.column)
        && target == ServerText.name(key.target) && deletes == (key.effect == .delete)
    }
  }

  /// Drops all keys, before changes during which they don't hold. The caller holds the transaction.
  func drop() throws {
    // Checks that wait until the end of the transaction prevent changes to the tables.
    try session.run(["SET CONSTRAINTS ALL IMMEDIATE"] + present().map(drop))
  }

  /// Drops the keys that some rows may violate: a change of such a row might be refused, although it leaves the key as
  /// it is. The caller holds the transaction.
  func dropInvalid() throws {
    let invalid = try present().filter { !$0.isValid }
    if !invalid.isEmpty { try session.run(["SET CONSTRAINTS ALL IMMEDIATE"] + invalid.map(drop)) }
  }

  /// Makes sure that the store has exactly the keys of its layout. The caller holds the transaction.
  ///
  /// Rows that already violate a new key keep it from being checked for them: for others it is.
  func update(to map: TableMap) throws {
    let present = try present()
    let wanted = map.foreignKeys
    let stale = present.filter { key in !wanted.contains(where: key.isOne) }
    let missing = wanted.filter { key in !present.contains { $0.isOne(key) } }
    let renamed = present.compactMap { key -> ServerText? in
      guard let own = wanted.first(where: key.isOne), key.name != ServerText.name(of: own) else { return nil }
      return """
        ALTER TABLE \(table: key.table) RENAME CONSTRAINT \(name: key.name) TO \(name: ServerText.name(of: own))
        """
    }
    guard !(stale.isEmpty && missing.isEmpty && renamed.isEmpty) else { return }
    try session.run(["SET CONSTRAINTS ALL IMMEDIATE"] + stale.map(drop) + renamed)
    // Others wait meanwhile, so that the number of round trips doesn't depend on that of the keys.
    let violations = missing.isEmpty ? [] : try session.run(missing.map(ServerText.violation))
    let creations = zip(missing, violations).map { ServerText.create($0, checkingRows: $1.rowCount == 0) }
    try session.run(creations + ["SET CONSTRAINTS ALL DEFERRED"])
  }

  /// The tables of a key.
  struct Ends {
    let table: String
    let target: String

    var all: [String] { [table, target] }
  }

  /// The tables of the keys that the store has and keeps in a layout, of those that it has and loses, and of those that
  /// it gets.
  func compared(with map: TableMap) throws -> (kept: [Ends], stale: [Ends], missing: [Ends]) {
    let (present, wanted) = (try present(), map.foreignKeys)
    func ends(_ keys: [Present]) -> [Ends] { keys.map { Ends(table: $0.table, target: $0.target) } }
    let missing = wanted.filter { key in !present.contains { $0.isOne(key) } }
    return (
      ends(present.filter { key in wanted.contains(where: key.isOne) }),
      ends(present.filter { key in !wanted.contains(where: key.isOne) }),
      missing.map { Ends(table: $0.table, target: $0.target) }
    )
  }

  private func drop(_ key: Present) -> ServerText {
    "ALTER TABLE \(table: key.table) DROP CONSTRAINT \(name: key.name)"
  }

  private func present() throws -> [Present] {
    try session.all(
      """
      SELECT k.conname::text, c.relname::text, a.attname::text, t.relname::text, (k.confdeltype = 'c')::int::bigint, \
      k.convalidated::int::bigint FROM pg_constraint AS k JOIN pg_class AS c ON c.oid = k.conrelid \
      JOIN pg_class AS t ON t.oid = k.confrelid \
      JOIN pg_namespace AS n ON n.oid = c.relnamespace JOIN pg_attribute AS a ON a.attrelid = c.oid \
      AND a.attnum = k.conkey[1] WHERE k.contype = 'f' AND k.conparentid = 0 AND n.nspname = \(text: session.schema) \
      AND starts_with(k.conname, \(text: ServerText.foreignKeyPrefix)) ORDER BY c.relname, k.conname
      """
    ) {
      Present(
        name: $0.text($1, 0), table: $0.text($1, 1), column: $0.text($1, 2), target: $0.text($1, 3),
        deletes: $0.integer($1, 4) == 1, isValid: $0.integer($1, 5) == 1)
    }
  }
}

extension ServerText {
  /// The prefix of the names of Persist's foreign keys; they are unique within a table.
  static let foreignKeyPrefix = "persist_"

  static func name(of key: ForeignKeyDefinition) -> String { name(foreignKeyPrefix + key.column) }

  /// - Parameter checkingRows: Whether existing rows must have valid keys.
  static func create(_ key: ForeignKeyDefinition, checkingRows: Bool = true) -> ServerText {
    let effect: ServerText = key.effect == .delete ? "CASCADE" : "SET NULL"
    let validity: ServerText = checkingRows ? "" : " NOT VALID"
    return """
      ALTER TABLE \(table: key.table) ADD CONSTRAINT \(name: name(of: key)) FOREIGN KEY (\(name: key.column)) \
      REFERENCES \(table: key.target) ON DELETE \(effect) DEFERRABLE INITIALLY DEFERRED\(validity)
      """
  }

  /// A row that violates a key.
  fileprivate static func violation(of key: ForeignKeyDefinition) -> ServerText {
    """
    SELECT 1 FROM \(table: key.table) AS r0 WHERE r0.\(name: key.column) IS NOT NULL \
    AND NOT EXISTS (SELECT 1 FROM \(table: key.target) AS r1 WHERE r1.id = r0.\(name: key.column)) LIMIT 1
    """
  }
}

import Persist

/// Properties of columns that others added.
extension ServerStoreObjects {
  /// Statements that give the columns of a copy the rights, computed default values and constraints of those of the
  /// same names. As in a migration in place, those of columns that the copy doesn't have are lost with the columns.
  func columnAdditions(for copy: ServerStoreObjects) throws -> [String] {
    let copied = try copy.columns()
    let own = try columns()
    /// - Parameter columns: The names of the columns that the statement concerns.
    func isPossible(_ table: String, _ columns: some Sequence<String>) -> Bool {
      guard let present = copied[table] else { return false }
      return columns.allSatisfy { present[$0] != nil }
    }
    let rights = try session.all(
      """
      SELECT format('GRANT %s (%I) ON TABLE %I.%I TO %s%s', r.privilege_type, a.attname, n.nspname, c.relname, \
      CASE WHEN r.grantee = 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(r.grantee)) END, \
      CASE WHEN r.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END), c.relname::text, a.attname::text \
      FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid \
      JOIN pg_namespace AS n ON n.oid = c.relnamespace, aclexplode(a.attacl) AS r \
      WHERE c.oid IN (\(ownTablesCondition)) AND NOT a.attisdropped ORDER BY 1
      """
    ) { (sql: $0.text($1, 0), table: $0.text($1, 1), column: $0.text($1, 2)) }
    let constraints = try session.all(
      """
      SELECT format('ALTER TABLE %I.%I ADD CONSTRAINT %I %s', n.nspname, c.relname, k.conname, \
      pg_get_constraintdef(k.oid)), c.relname::text, \
      (SELECT coalesce(string_agg(a.attname, E'\\n'), '') FROM pg_attribute AS a \
      WHERE a.attrelid = c.oid AND a.attnum = ANY(k.conkey)) FROM pg_constraint AS k \
      JOIN pg_class AS c ON c.oid = k.conrelid JOIN pg_namespace AS n ON n.oid = c.relnamespace \
      WHERE c.oid IN (\(ownTablesCondition)) AND k.contype IN ('c', 'x') ORDER BY 1
      """
    ) { (sql: $0.text($1, 0), table: $0.text($1, 1), columns: $0.text($1, 2)) }
    var statements = rights.filter { isPossible($0.table, [$0.column]) }.map(\.sql)
    for (table, columns) in own.sorted(by: { $0.key < $1.key }) {
      for (name, column) in columns.sorted(by: { $0.key < $1.key }) {
        guard let present = copied[table]?[name] else { continue }
        if let expression = column.standard, !ServerColumnDefault.isConstant(expression), !Self.isOwnDefault(name) {
          statements.append("\(column.alteration) SET DEFAULT \(expression)")
        }
        if column.isRequired, !present.isRequired { statements.append("\(column.alteration) SET NOT NULL") }
      }
    }
    return statements
      + constraints.filter { isPossible($0.table, $0.columns.split(separator: "\n").map(String.init)) }.map(\.sql)
  }

  /// Whether the store itself computes the default value of a column.
  private static func isOwnDefault(_ column: String) -> Bool { ["id", "entity"].contains(column) }

  private struct Column {
    /// The beginning of a statement that changes the column.
    let alteration: String
    /// The expression of the default value; nil for none.
    let standard: String?
    let isRequired: Bool
  }

  /// The columns of the store's tables, by table and name.
  private func columns() throws -> [String: [String: Column]] {
    let rows = try session.all(
      """
      SELECT c.relname::text, a.attname::text, \
      format('ALTER TABLE %I.%I ALTER COLUMN %I', n.nspname, c.relname, a.attname), \
      pg_get_expr(d.adbin, d.adrelid), a.attnotnull::int::bigint FROM pg_attribute AS a \
      JOIN pg_class AS c ON c.oid = a.attrelid JOIN pg_namespace AS n ON n.oid = c.relnamespace \
      LEFT JOIN pg_attrdef AS d ON d.adrelid = c.oid AND d.adnum = a.attnum \
      WHERE c.oid IN (\(ownTablesCondition)) AND a.attnum > 0 AND NOT a.attisdropped
      """
    ) { result, row in
      (
        table: result.text(row, 0), name: result.text(row, 1),
        column: Column(
          alteration: result.text(row, 2), standard: result.isNull(row, 3) ? nil : result.text(row, 3),
          isRequired: result.integer(row, 4) == 1)
      )
    }
    return Dictionary(grouping: rows, by: \.table).mapValues { rows in
      Dictionary(rows.map { ($0.name, $0.column) }, uniquingKeysWith: { first, _ in first })
    }
  }
}

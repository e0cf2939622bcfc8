import Persist

/// The triggers that refuse missing values which the first model requires.
extension OnlineTriggers {
  /// The statements that make the trigger of a table; none if no program could store such a value.
  ///
  /// The rows are examined at the end of the transaction, as a save validates its final objects. A value that was
  /// missing before may remain so: programs with the first model, or others, have stored the row.
  ///
  /// - Parameter second: The digest of the second model.
  static func requireValues(of table: String, _ expansion: OnlineExpansion, second: String) -> [ServerText] {
    let required = expansion.required.filter { $0.table == table && $0.side == .first }
    guard !required.isEmpty else { return [] }
    let tests = required.map { value -> ServerText in
      let column: ServerText = "\(name: value.column)"
      let rows: ServerText = value.numbers.map { " AND r.entity IN (\(numbers: $0))" } ?? ""
      return """
        IF TG_OP = 'INSERT' THEN persist_is_new := true; ELSE persist_is_new := OLD.\(column) IS NOT NULL; END IF; \
        IF persist_is_new AND NEW.\(column) IS NULL AND EXISTS (SELECT 1 FROM \(name: table) AS r \
        WHERE r.id = NEW.id AND r.\(column) IS NULL\(rows)) THEN RAISE EXCEPTION USING ERRCODE = 'check_violation', \
        CONSTRAINT = \(literal: missingValue), \
        MESSAGE = \(literal: "\(value.entity).\(value.property): ") || NEW.id::text; END IF;
        """
    }
    let body: ServerText = """
      DECLARE persist_path text := current_setting('search_path'); persist_is_new boolean; \
      BEGIN IF coalesce(current_setting(\(literal: setting), true), '') = \(literal: second) THEN \
      \(enter) \(tests.joined(separator: " ")) \(leave) END IF; RETURN NULL; END
      """
    let name = prefix + table + "_REQUIRED"
    let isMissing = required.map { "NEW.\(name: $0.column) IS NULL" as ServerText }
    return [
      """
      CREATE OR REPLACE FUNCTION \(table: name)() RETURNS trigger LANGUAGE plpgsql \
      AS \(literal: body.statement(in: "").text)
      """,
      """
      CREATE CONSTRAINT TRIGGER \(name: name) AFTER INSERT OR UPDATE ON \(table: table) \
      DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (\(isMissing.joined(separator: " OR "))) \
      EXECUTE FUNCTION \(table: name)()
      """,
    ]
  }
}

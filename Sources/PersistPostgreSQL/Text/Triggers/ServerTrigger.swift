import Persist

/// A trigger of the server that runs for each changed row, or once for each statement, with the function of the same
/// name that it calls.
struct ServerTrigger: Sendable {
  enum Event: Sendable {
    case insert
    case delete
    /// An update that assigns some columns, or any update if there are none.
    case update(of: [String])
  }

  let name: String
  let table: String
  let event: Event
  /// The setting without which the trigger does nothing, and with which it runs at the end of the transaction; nil for
  /// a trigger that always runs, after each statement.
  var setting: String?
  /// Whether the trigger runs once for all rows that a statement changes, which are in ``newRows`` and ``oldRows``.
  var runsOnce = false
  /// The body of the function.
  let body: String

  static let newRows = "persist_new"
  static let oldRows = "persist_old"

  /// The statements that make the trigger.
  var statements: [ServerText] {
    let event: ServerText =
      switch event {
      case .insert: "INSERT"
      case .delete: "DELETE"
      case .update(let columns): columns.isEmpty ? "UPDATE" : "UPDATE OF \(names: columns)"
      }
    let (kind, time): (ServerText, ServerText) =
      setting == nil ? ("", "") : ("CONSTRAINT ", " DEFERRABLE INITIALLY DEFERRED")
    let (new, old): (ServerText, ServerText) =
      ("NEW TABLE AS \(name: Self.newRows)", "OLD TABLE AS \(name: Self.oldRows)")
    let rows: ServerText =
      switch self.event {
      case _ where !runsOnce: "FOR EACH ROW"
      case .insert: "REFERENCING \(new) FOR EACH STATEMENT"
      case .delete: "REFERENCING \(old) FOR EACH STATEMENT"
      case .update: "REFERENCING \(new) \(old) FOR EACH STATEMENT"
      }
    let condition: ServerText = setting.map { " WHEN (current_setting(\(literal: $0), true) <> '')" } ?? ""
    return [
      """
      CREATE OR REPLACE FUNCTION \(table: name)() RETURNS trigger LANGUAGE plpgsql AS \(literal: body)
      """,
      """
      CREATE \(kind)TRIGGER \(name: name) AFTER \(event) ON \(table: table)\(time) \
      \(rows)\(condition) EXECUTE FUNCTION \(table: name)()
      """,
    ]
  }

  /// The row of ``present(withPrefix:in:)`` for the trigger.
  var signature: [String] {
    // After an insert, a delete or an update, enabled as usual.
    let (kind, columns): (String, [String]) =
      switch event {
      case .insert: ("4O", [])
      case .delete: ("8O", [])
      case .update(let columns): ("16O", columns)
      }
    let own = ServerText.name(name)
    return [
      own, ServerText.name(table), kind, runsOnce ? "" : "for each row",
      columns.map(ServerText.name).sorted { Array($0.utf8).lexicographicallyPrecedes(Array($1.utf8)) }
        .joined(separator: " "),
      setting == nil ? "" : "deferred, with a condition", own, body,
    ]
  }

  /// Name, table, kind, rows, columns, time and function of each trigger. Functions are compared by their bodies. The
  /// copies of a partitioned table's triggers for its partitions aren't counted.
  ///
  /// - Parameter prefix: The beginning of the triggers' names on the server.
  static func present(withPrefix prefix: String, in schema: String) -> ServerText {
    """
    SELECT t.tgname::text, c.relname::text, (t.tgtype & ~1)::text || t.tgenabled::text, \
    CASE t.tgtype & 1 WHEN 1 THEN 'for each row' ELSE '' END, \
    coalesce((SELECT string_agg(a.attname, ' ' ORDER BY a.attname) FROM pg_attribute AS a \
    WHERE a.attrelid = t.tgrelid AND a.attnum = ANY(t.tgattr)), ''), \
    CASE WHEN t.tginitdeferred THEN 'deferred' ELSE '' END \
    || CASE WHEN t.tgqual IS NULL THEN '' ELSE ', with a condition' END, p.proname::text, p.prosrc \
    FROM pg_trigger AS t JOIN pg_class AS c ON c.oid = t.tgrelid JOIN pg_namespace AS n ON n.oid = c.relnamespace \
    JOIN pg_proc AS p ON p.oid = t.tgfoid AND p.pronamespace = n.oid \
    WHERE n.nspname = \(text: schema) AND NOT t.tgisinternal AND t.tgparentid = 0 \
    AND starts_with(t.tgname, \(text: prefix))
    """
  }
}

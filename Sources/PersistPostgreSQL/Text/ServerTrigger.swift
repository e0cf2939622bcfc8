import Persist

/// A trigger of the server that runs for each changed row, with the function of the same name that it calls.
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
  /// The body of the function.
  let body: String

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
    let condition: ServerText = setting.map { " WHEN (current_setting(\(literal: $0), true) <> '')" } ?? ""
    return [
      """
      CREATE OR REPLACE FUNCTION \(table: name)() RETURNS trigger LANGUAGE plpgsql AS \(literal: body)
      """,
      """
      CREATE \(kind)TRIGGER \(name: name) AFTER \(event) ON \(table: table)\(time) \
      FOR EACH ROW\(condition) EXECUTE FUNCTION \(table: name)()
      """,
    ]
  }

  /// The row of ``present(withPrefix:in:)`` for the trigger.
  var signature: [String] {
    // One row at a time, after an insert, a delete or an update; enabled as usual.
    let (kind, columns): (String, [String]) =
      switch event {
      case .insert: ("5O", [])
      case .delete: ("9O", [])
      case .update(let columns): ("17O", columns)
      }
    let own = ServerText.name(name)
    return [
      own, ServerText.name(table), kind,
      columns.map(ServerText.name).sorted { Array($0.utf8).lexicographicallyPrecedes(Array($1.utf8)) }
        .joined(separator: " "),
      setting == nil ? "" : "deferred, with a condition", own, body,
    ]
  }

  /// Name, table, kind, columns, time and function of each trigger. Functions are compared by their bodies. The copies
  /// of a partitioned table's triggers for its partitions aren't counted.
  ///
  /// - Parameter prefix: The beginning of the triggers' names on the server.
  static func present(withPrefix prefix: String, in schema: String) -> ServerText {
    """
    SELECT t.tgname::text, c.relname::text, t.tgtype::text || t.tgenabled::text, \
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

/// Derived columns: triggers of the server that maintain them, as in an SQLite file.
extension ServerText {
  /// The present time, in seconds since 2001.
  private static let now: SQLText = "(EXTRACT(EPOCH FROM clock_timestamp())::float8 - 978307200.0)"

  /// The functions for texts that derivations use. ICU's mapping of letters is the one that programs have, apart from
  /// letters of newer versions of Unicode.
  static let derivedFunctions: [ServerText] = [
    """
    CREATE OR REPLACE FUNCTION \(table: "PERSISTUPPERCASE")(text) RETURNS text LANGUAGE sql IMMUTABLE STRICT \
    AS \(literal: #"SELECT upper($1 COLLATE "und-x-icu")"#)
    """,
    """
    CREATE OR REPLACE FUNCTION \(table: "PERSISTLOWERCASE")(text) RETURNS text LANGUAGE sql IMMUTABLE STRICT \
    AS \(literal: #"SELECT lower($1 COLLATE "und-x-icu")"#)
    """,
    """
    CREATE OR REPLACE FUNCTION \(table: "PERSISTCANONICAL")(text) RETURNS text LANGUAGE sql IMMUTABLE STRICT \
    AS \(literal: canonical)
    """,
  ]

  /// Without case and without marks.
  private static let canonical = #"""
    SELECT regexp_replace(normalize(lower(upper($1 COLLATE "und-x-icu") COLLATE "und-x-icu"), NFD), \#
    '[\u0300-\u036F]', '', 'g')
    """#

  /// The statements that make a trigger with its function.
  static func make(_ trigger: DerivedTrigger) -> [ServerText] {
    let event: ServerText =
      switch trigger.event {
      case .insert: "INSERT"
      case .delete: "DELETE"
      case .update(let columns): "UPDATE OF \(names: columns)"
      }
    let action = ServerText(.action(of: trigger, now: now)).statement(in: "").text
    // The schema may be renamed, and the row may be changed by programs with other settings.
    let start = "BEGIN PERFORM set_config('search_path', quote_ident(TG_TABLE_SCHEMA) || ', pg_temp', true); "
    return [
      """
      CREATE OR REPLACE FUNCTION \(table: trigger.name)() RETURNS trigger LANGUAGE plpgsql \
      AS \(literal: start + action + "; RETURN NULL; END")
      """,
      """
      CREATE TRIGGER \(name: trigger.name) AFTER \(event) ON \(table: trigger.table) \
      FOR EACH ROW EXECUTE FUNCTION \(table: trigger.name)()
      """,
    ]
  }

  /// Deletes a trigger, by its name on the server, with its function.
  static func dropDerived(_ name: String) -> ServerText { "DROP FUNCTION IF EXISTS \(table: name)() CASCADE" }

  /// Computes the values of existing rows.
  static func fill(_ column: DerivedColumn) -> ServerText { ServerText(.fill(column, now: now)) }
}

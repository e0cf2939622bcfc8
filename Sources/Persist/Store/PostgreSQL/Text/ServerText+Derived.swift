/// Derived columns: triggers of the server that maintain them, as in an SQLite file.
extension ServerText {
  /// The present time, in seconds since 2001.
  private static let now: SQLText = "(EXTRACT(EPOCH FROM clock_timestamp())::float8 - 978307200.0)"

  /// The functions for texts that derivations use, by name. ICU's mapping of letters is the one that programs have,
  /// apart from letters of newer versions of Unicode.
  static let derivedFunctionBodies = [
    "PERSISTUPPERCASE": #"SELECT upper($1 COLLATE "und-x-icu")"#,
    "PERSISTLOWERCASE": #"SELECT lower($1 COLLATE "und-x-icu")"#, "PERSISTCANONICAL": canonical,
  ]

  static let derivedFunctions: [ServerText] = derivedFunctionBodies.sorted { $0.key < $1.key }.map { name, body in
    """
    CREATE OR REPLACE FUNCTION \(table: name)(text) RETURNS text LANGUAGE sql IMMUTABLE STRICT AS \(literal: body)
    """
  }

  /// Without case and without marks.
  private static let canonical = #"""
    SELECT regexp_replace(normalize(lower(upper($1 COLLATE "und-x-icu") COLLATE "und-x-icu"), NFD), \#
    '[\u0300-\u036F]', '', 'g')
    """#

  /// The statements that make a trigger with its function.
  static func make(_ trigger: DerivedTrigger) -> [ServerText] { ServerTrigger(trigger).statements }

  /// The body of a trigger's function.
  fileprivate static func body(of trigger: DerivedTrigger) -> String {
    let action = ServerText(.action(of: trigger, now: now)).statement(in: "").text
    // The schema may be renamed, and the row may be changed by programs with other settings.
    let start = "BEGIN PERFORM set_config('search_path', quote_ident(TG_TABLE_SCHEMA) || ', pg_temp', true); "
    return start + action + "; RETURN NULL; END"
  }

  /// Deletes a trigger, by its name on the server, with its function.
  static func dropDerived(_ trigger: StoreSchema.Trigger) -> [ServerText] {
    [
      "DROP TRIGGER \(name: trigger.name) ON \(table: trigger.table)",
      "DROP FUNCTION IF EXISTS \(table: trigger.name)() CASCADE",
    ]
  }

  /// Computes the values of existing rows.
  static func fill(_ column: DerivedColumn) -> ServerText { ServerText(.fill(column, now: now)) }
}

extension ServerTrigger {
  init(_ trigger: DerivedTrigger) {
    let event: Event =
      switch trigger.event {
      case .insert: .insert
      case .delete: .delete
      case .update(let columns): .update(of: columns)
      }
    self.init(name: trigger.name, table: trigger.table, event: event, body: ServerText.body(of: trigger))
  }
}

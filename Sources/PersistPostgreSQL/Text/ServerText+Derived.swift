import Persist

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

  /// The version of the triggers, at the end of their bodies. It grows with each change of what Persist writes into
  /// them, so that programs with an older version don't replace those of a newer one.
  static let derivedVersion = 1
  private static let derivedVersionMark = "-- Persist "

  /// The version of a trigger's body; 0 for one without a version.
  static func derivedVersion(ofBody body: String) -> Int {
    body.split(separator: derivedVersionMark).last.flatMap { Int($0) } ?? 0
  }

  /// The body of a trigger's function.
  fileprivate static func body(of trigger: DerivedTrigger) -> String {
    let actions = SQLText.locks(for: trigger) + [.action(of: trigger, now: now)]
    // The schema may be renamed, and the row may be changed by programs with other settings, which they get back. A
    // column may have the variable's name.
    let start = """
      #variable_conflict use_column DECLARE persist_path text := current_setting('search_path'); \
      BEGIN PERFORM set_config('search_path', quote_ident(TG_TABLE_SCHEMA) || ', pg_temp', true);
      """
    let end = """
      PERFORM set_config('search_path', persist_path, true); RETURN NULL; END \(derivedVersionMark)\(derivedVersion)
      """
    return ([start] + actions.map { ServerText($0).statement(in: "").text + ";" } + [end]).joined(separator: " ")
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

/// The locks without which two transactions would compute values at the same time, neither from the other's rows.
///
/// The statement that computes values sees what had been committed when it began, so locks come first. A change locks
/// all rows on the way to the affected ones, and these. A row that leads to others by its keys locks them against their
/// own changes, which wouldn't affect a row that isn't committed yet.
///
/// - SeeAlso: <https://www.postgresql.org/docs/current/explicit-locking.html#LOCKING-ROWS>
extension SQLText {
  fileprivate static func locks(for trigger: DerivedTrigger) -> [SQLText] {
    let hops = trigger.hops
    var locks = trigger.event == .delete ? [] : locksOfDestinations(of: trigger)
    for level in hops.indices.dropFirst().reversed() {
      locks.append(lock("\(name: hops[level].source)", rows(on: hops[level...], of: trigger), isToChange: true))
    }
    // A row that affects itself is locked by its change.
    guard !hops.isEmpty else { return locks }
    return locks + [lock("\(name: trigger.column.table)", affectedRows(of: trigger), isToChange: true)]
  }

  private static func lock(_ table: SQLText, _ condition: SQLText, isToChange: Bool) -> SQLText {
    let strength: SQLText = isToChange ? "NO KEY UPDATE" : "SHARE"
    return "PERFORM 1 FROM \(table) WHERE \(condition) ORDER BY Z_PK FOR \(strength)"
  }

  /// Locks the rows whose keys the changed row contains, and those whose keys these contain.
  private static func locksOfDestinations(of trigger: DerivedTrigger) -> [SQLText] {
    guard var value = trigger.column.value.value(after: trigger.hops.count) else { return [] }
    var locks: [SQLText] = []
    /// The keys in a column of the last locked rows.
    var keys: (String) -> SQLText = { "NEW.\(name: $0)" }
    func append(_ table: String, _ condition: SQLText) {
      // Weaker locks of two transactions would keep both from changing the row afterward.
      locks.append(lock("\(name: table)", condition, isToChange: trigger.derivedTables.contains(table)))
      keys = { "SELECT \(name: $0) FROM \(name: table) WHERE \(condition)" }
    }
    if trigger.isPair, let last = trigger.hops.last, case .join(_, _, let member) = last.way {
      append(last.target, "Z_PK IN (\(keys(member)))")
    }
    while true {
      switch value {
      case .text(_, let inner): value = inner
      case .through(let hop, let inner):
        guard case .key(let column) = hop.way else { return locks }
        append(hop.target, "Z_PK IN (\(keys(column)))")
        value = inner
      case .column, .flag, .now, .aggregate: return locks
      }
    }
  }
}

extension DerivedValue {
  /// The part that is computed from the rows to which the first hops lead; nil if these are only counted.
  fileprivate func value(after hops: Int) -> DerivedValue? {
    switch self {
    case .text(_, let inner) where hops > 0: inner.value(after: hops)
    case .through(_, let inner) where hops > 0: inner.value(after: hops - 1)
    case .aggregate(_, _, let inner) where hops > 0: inner?.value(after: hops - 1)
    default: self
    }
  }
}

import Persist

/// Derived columns: triggers of the server that maintain them, as in an SQLite file.
extension ServerText {
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

  /// The version of the triggers, at the end of their bodies. It grows with each change of what Persist writes into
  /// them, so that programs with an older version don't replace those of a newer one.
  static let derivedVersion = 2
  private static let derivedVersionMark = "-- Persist "

  /// The version of a trigger's body; 0 for one without a version.
  static func derivedVersion(ofBody body: String) -> Int {
    body.split(separator: derivedVersionMark).last.flatMap { Int($0) } ?? 0
  }

  /// The body of a trigger's function.
  fileprivate static func body(of trigger: DerivedTrigger, _ changed: [ChangedRows]?) -> String {
    let actions = SharedSQL.locks(for: trigger, changed) + [.action(of: trigger, changed)]
    // The schema may be renamed, and the row may be changed by programs with other settings, which they get back. A
    // column may have the variable's name.
    let start = """
      #variable_conflict use_column DECLARE persist_path text := current_setting('search_path'); \
      BEGIN \(isNothing(changed))PERFORM set_config('search_path', quote_ident(TG_TABLE_SCHEMA) || ', pg_temp', true);
      """
    let end = """
      PERFORM set_config('search_path', persist_path, true); RETURN NULL; END \(derivedVersionMark)\(derivedVersion)
      """
    return ([start] + actions.map { ServerText($0).statement(in: "").text + ";" } + [end]).joined(separator: " ")
  }

  /// Ends a trigger that runs for each statement if the statement hasn't changed anything that matters.
  private static func isNothing(_ changed: [ChangedRows]?) -> String {
    let conditions = (changed ?? []).map { rows in
      "NOT EXISTS (\(ServerText(rows.values("1")).statement(in: "").text))"
    }
    return conditions.isEmpty ? "" : "IF \(conditions.joined(separator: " AND ")) THEN RETURN NULL; END IF; "
  }

  /// Deletes a trigger, by its name on the server, with its function.
  static func dropDerived(_ trigger: StoreSchema.Trigger) -> [ServerText] {
    [
      "DROP TRIGGER \(name: trigger.name) ON \(table: trigger.table)",
      "DROP FUNCTION IF EXISTS \(table: trigger.name)() CASCADE",
    ]
  }

  /// Computes the values of existing rows.
  static func fill(_ column: DerivedColumn) -> ServerText { ServerText(.fill(column)) }
}

extension ServerTrigger {
  /// - Parameter isPartitioned: Whether the table has partitions. Changes of a partition by its own name fire only
  ///   triggers that run for each row.
  init(_ trigger: DerivedTrigger, isPartitioned: Bool) {
    let changed = isPartitioned ? nil : trigger.changedTogether
    let event: Event =
      switch trigger.event {
      case .insert: .insert
      case .delete: .delete
      // The server limits no trigger with tables of changed rows to updates of some columns.
      case .update(let columns): .update(of: changed == nil ? columns : [])
      }
    self.init(
      name: trigger.name, table: trigger.table, event: event, runsOnce: changed != nil,
      body: ServerText.body(of: trigger, changed))
  }
}

extension [DerivedColumn] {
  /// The server's triggers that maintain these columns.
  ///
  /// - Parameter partitioned: The names of the tables that have partitions, on the server.
  func serverTriggers(
    in layout: [String: [TableMap.PlacedColumn]], partitioned: Set<String>
  ) -> [ServerTrigger] {
    triggers(in: layout).map { trigger in
      ServerTrigger(trigger, isPartitioned: partitioned.contains(ServerText.name(trigger.table)))
    }
  }
}

extension DerivedTrigger {
  /// The rows for which the trigger runs once; nil if it runs for each row.
  fileprivate var changedTogether: [ChangedRows]? {
    let (new, old): (SharedSQL, SharedSQL) = ("\(name: ServerTrigger.newRows)", "\(name: ServerTrigger.oldRows)")
    switch event {
    case .insert: return [.table(new)]
    case .delete: return [.table(old)]
    case .update(let columns):
      // Otherwise each changed row affects rows of its own, and an update of other columns should cost nothing.
      guard hops.contains(where: \.isShared) else { return nil }
      let names = (isPair ? [] : ["Z_PK"]) + columns
      let values: SharedSQL = "\(names: names)"
      func rows(_ rows: SharedSQL, without others: SharedSQL) -> ChangedRows {
        .table("(SELECT \(values) FROM \(rows) EXCEPT SELECT \(values) FROM \(others)) AS changed")
      }
      return [rows(new, without: old), rows(old, without: new)]
    }
  }
}

extension DerivedHop {
  /// Whether the hop leads from one row to several, so that several changed rows may affect the same one.
  fileprivate var isShared: Bool {
    switch way {
    case .key: false
    case .owner, .join: true
    }
  }
}

/// The locks without which two transactions would compute values at the same time, neither from the other's rows.
///
/// The statement that computes values sees what had been committed when it began, so locks come first. A change locks
/// all rows on the way to the affected ones, and these. A row that leads to others by its keys locks them against their
/// own changes, which wouldn't affect a row that isn't committed yet.
///
/// - SeeAlso: <https://www.postgresql.org/docs/current/explicit-locking.html#LOCKING-ROWS>
extension SharedSQL {
  /// - Parameter changed: The changed rows, the new ones first; nil for one row at a time, `NEW` or `OLD`.
  fileprivate static func locks(for trigger: DerivedTrigger, _ changed: [ChangedRows]?) -> [SharedSQL] {
    let hops = trigger.hops
    var locks =
      trigger.event == .delete ? [] : locksOfDestinations(of: trigger, changed?.first ?? .row("NEW"))
    for level in hops.indices.dropFirst().reversed() {
      let condition = rows(on: hops[level...], of: trigger, changed)
      locks.append(lock("\(name: hops[level].source)", condition, isToChange: true))
    }
    // A row that affects itself is locked by its change.
    guard !hops.isEmpty else { return locks }
    return locks + [lock("\(name: trigger.column.table)", affectedRows(of: trigger, changed), isToChange: true)]
  }

  private static func lock(_ table: SharedSQL, _ condition: SharedSQL, isToChange: Bool) -> SharedSQL {
    let strength: SharedSQL = isToChange ? "NO KEY UPDATE" : "SHARE"
    return "PERFORM 1 FROM \(table) WHERE \(condition) ORDER BY \(.key) FOR \(strength)"
  }

  /// Locks the rows whose keys the changed rows contain, and those whose keys these contain.
  private static func locksOfDestinations(of trigger: DerivedTrigger, _ changed: ChangedRows) -> [SharedSQL] {
    guard var value = trigger.column.value.value(after: trigger.hops.count) else { return [] }
    var locks: [SharedSQL] = []
    /// The keys in a column of the last locked rows.
    var keys: (String) -> SharedSQL = { changed.values("\(name: $0)") }
    func append(_ table: String, _ condition: SharedSQL) {
      // A row that is changed later gets the stronger lock at once: two transactions with weaker locks would block each
      // other.
      locks.append(lock("\(name: table)", condition, isToChange: trigger.derivedTables.contains(table)))
      keys = { "SELECT \(name: $0) FROM \(name: table) WHERE \(condition)" }
    }
    if trigger.isPair, let last = trigger.hops.last, case .join(_, _, let member) = last.way {
      append(last.target, changed.condition("\(.key)", in: keys(member)))
    }
    while true {
      switch value {
      case .text(_, let inner): value = inner
      case .through(let hop, let inner):
        guard case .key(let column) = hop.way else { return locks }
        append(hop.target, changed.condition("\(.key)", in: keys(column)))
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

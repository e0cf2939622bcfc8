/// Derived columns: their values, and the triggers that maintain them.
///
/// - SeeAlso: <https://sqlite.org/lang_createtrigger.html>
extension SQLText {
  package static func create(_ trigger: DerivedTrigger) -> SQLText {
    let event: SQLText =
      switch trigger.event {
      case .insert: "INSERT"
      case .delete: "DELETE"
      case .update(let columns): "UPDATE OF \(names: columns)"
      }
    return """
      CREATE TRIGGER \(name: trigger.name) AFTER \(event) ON \(name: trigger.table) FOR EACH ROW BEGIN \
      \(action(of: trigger)); END
      """
  }

  /// The statement that a trigger runs.
  ///
  /// - Parameters:
  ///   - now: The present time, in seconds since 2001.
  ///   - changed: The changed rows; nil for one row at a time, `NEW` or `OLD`.
  package static func action(
    of trigger: DerivedTrigger, now: SQLText = now, _ changed: [ChangedRows]? = nil
  ) -> SQLText {
    let value = trigger.column.value == .now ? now : value(of: trigger.column)
    return """
      UPDATE \(name: trigger.column.table) SET \(name: trigger.column.name) = \(value) \
      WHERE \(affectedRows(of: trigger, changed))
      """
  }

  /// The condition of the rows whose values a trigger computes.
  package static func affectedRows(of trigger: DerivedTrigger, _ changed: [ChangedRows]? = nil) -> SQLText {
    "(\(rows(on: trigger.hops[...], of: trigger, changed))) AND Z_ENT IN (\(numbers: trigger.column.entityNumbers))"
  }

  /// The condition of the rows from which hops lead to a trigger's changed rows.
  ///
  /// - Parameters:
  ///   - hops: The last hops of the trigger.
  ///   - changed: The changed rows; nil for one row at a time, `NEW` or `OLD`.
  package static func rows(
    on hops: ArraySlice<DerivedHop>, of trigger: DerivedTrigger, _ changed: [ChangedRows]? = nil
  ) -> SQLText {
    let changed: [ChangedRows] =
      switch trigger.event {
      case _ where changed != nil: changed ?? []
      case .insert: [.row("NEW")]
      case .delete: [.row("OLD")]
      case .update: trigger.hops.isEmpty ? [.row("NEW")] : [.row("NEW"), .row("OLD")]
      }
    return changed.map { rows(on: hops, isPair: trigger.isPair, from: $0) }.joined(separator: " OR ")
  }

  /// SQLite's time in seconds since 2001-01-01: the Julian day of that midnight is 2451910.5.
  static let now: SQLText = "(julianday('now') - 2451910.5) * 86400.0"

  /// Computes the values of existing rows. The time of the last change is only set in rows without one.
  package static func fill(_ column: DerivedColumn, now: SQLText = now) -> SQLText {
    let value = column.value == .now ? now : value(of: column)
    let wrong: SQLText =
      column.value == .now ? "\(name: column.name) IS NULL" : "\(name: column.name) IS NOT \(value)"
    return """
      UPDATE \(name: column.table) SET \(name: column.name) = \(value) \
      WHERE Z_ENT IN (\(numbers: column.entityNumbers)) AND \(wrong)
      """
  }

  package static let derivedTriggers: SQLText = """
    SELECT name FROM sqlite_master WHERE type = 'trigger' AND substr(name, 1, 11) = 'PERSIST_DA_'
    """

  private static func value(of column: DerivedColumn) -> SQLText {
    let value = value(column.value, of: "\(name: column.table)", depth: 1)
    return column.isBoolean ? "(\(value) <> 0)" : value
  }

  private static func value(_ value: DerivedValue, of row: SQLText, depth: Int) -> SQLText {
    switch value {
    case .column(let name): return "\(row).\(name: name)"
    case .flag(let name): return "CASE WHEN \(row).\(name: name) THEN 1 WHEN NOT \(row).\(name: name) THEN 0 END"
    case .now: return now
    case .text(.uppercase, let inner): return "PersistUppercase(\(self.value(inner, of: row, depth: depth)))"
    case .text(.lowercase, let inner): return "PersistLowercase(\(self.value(inner, of: row, depth: depth)))"
    case .text(.canonical, let inner): return "PersistCanonical(\(self.value(inner, of: row, depth: depth)))"
    case .through(let hop, let inner):
      let next: SQLText = "\(row: SQLRow(number: depth))"
      return "(SELECT \(self.value(inner, of: next, depth: depth + 1)) FROM \(members(hop, of: row, as: next)))"
    case .aggregate(let operation, let hop, let inner):
      let next: SQLText = "\(row: SQLRow(number: depth))"
      let member = inner.map { self.value($0, of: next, depth: depth + 1) } ?? "*"
      let result: SQLText =
        switch operation {
        case .sum: "IFNULL(SUM(\(member)), 0)"
        case .minimum: "MIN(\(member))"
        case .maximum: "MAX(\(member))"
        case .average: "AVG(\(member))"
        default: "COUNT(\(member))"
        }
      return "(SELECT \(result) FROM \(members(hop, of: row, as: next)))"
    }
  }

  /// The rows that a hop leads to.
  private static func members(_ hop: DerivedHop, of row: SQLText, as next: SQLText) -> SQLText {
    switch hop.way {
    case .key(let column): "\(name: hop.target) AS \(next) WHERE \(next).Z_PK = \(row).\(name: column)"
    case .owner(let column): "\(name: hop.target) AS \(next) WHERE \(next).\(name: column) = \(row).Z_PK"
    case .join(let table, let own, let member):
      """
      \(name: hop.target) AS \(next) WHERE \(next).Z_PK IN \
      (SELECT \(name: member) FROM \(name: table) WHERE \(name: own) = \(row).Z_PK)
      """
    }
  }

  private static func rows(on hops: ArraySlice<DerivedHop>, isPair: Bool, from changed: ChangedRows) -> SQLText {
    guard let last = hops.last else { return changed.condition("Z_PK", is: "Z_PK") }
    var keys: SQLText
    switch last.way {
    case .key(let column):
      keys = "SELECT Z_PK FROM \(name: last.source) WHERE \(changed.condition("\(name: column)", is: "Z_PK"))"
    // The key comes from the changed row itself, which may already be deleted.
    case .owner(let column): keys = changed.values("\(name: column)")
    case .join(_, let own, _) where isPair: keys = changed.values("\(name: own)")
    case .join(let table, let own, let member):
      keys = """
        SELECT \(name: own) FROM \(name: table) WHERE \(changed.condition("\(name: member)", is: "Z_PK"))
        """
    }
    for hop in hops.dropLast().reversed() {
      switch hop.way {
      case .key(let column):
        keys = "SELECT Z_PK FROM \(name: hop.source) WHERE \(changed.condition("\(name: column)", in: keys))"
      case .owner(let column):
        keys = "SELECT \(name: column) FROM \(name: hop.target) WHERE \(changed.condition("Z_PK", in: keys))"
      case .join(let table, let own, let member):
        keys = "SELECT \(name: own) FROM \(name: table) WHERE \(changed.condition("\(name: member)", in: keys))"
      }
    }
    return changed.condition("Z_PK", in: keys)
  }
}


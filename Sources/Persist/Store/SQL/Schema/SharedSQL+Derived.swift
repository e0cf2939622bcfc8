/// Derived columns: their values, and the statements of the triggers that maintain them.
extension SharedSQL {
  /// The statement that a trigger runs.
  ///
  /// - Parameter changed: The changed rows; nil for one row at a time, `NEW` or `OLD`.
  package static func action(of trigger: DerivedTrigger, _ changed: [ChangedRows]? = nil) -> SharedSQL {
    """
    UPDATE \(name: trigger.column.table) SET \(name: trigger.column.name) = \(value(of: trigger.column)) \
    WHERE \(affectedRows(of: trigger, changed))
    """
  }

  /// The condition of the rows whose values a trigger computes.
  package static func affectedRows(of trigger: DerivedTrigger, _ changed: [ChangedRows]? = nil) -> SharedSQL {
    """
    (\(rows(on: trigger.hops[...], of: trigger, changed))) \
    AND \(.entity) IN (\(numbers: trigger.column.entityNumbers))
    """
  }

  /// The condition of the rows from which hops lead to a trigger's changed rows.
  ///
  /// - Parameters:
  ///   - hops: The last hops of the trigger.
  ///   - changed: The changed rows; nil for one row at a time, `NEW` or `OLD`.
  package static func rows(
    on hops: ArraySlice<DerivedHop>, of trigger: DerivedTrigger, _ changed: [ChangedRows]? = nil
  ) -> SharedSQL {
    let changed: [ChangedRows] =
      switch trigger.event {
      case _ where changed != nil: changed ?? []
      case .insert: [.row("NEW")]
      case .delete: [.row("OLD")]
      case .update: trigger.hops.isEmpty ? [.row("NEW")] : [.row("NEW"), .row("OLD")]
      }
    return changed.map { rows(on: hops, isPair: trigger.isPair, from: $0) }.joined(separator: " OR ")
  }

  /// Computes the values of existing rows. The time of the last change is only set in rows without one.
  package static func fill(_ column: DerivedColumn) -> SharedSQL {
    let value = value(of: column)
    let wrong: SharedSQL =
      column.value == .now ? "\(name: column.name) IS NULL" : "\(name: column.name) \(.isNot) \(value)"
    return """
      UPDATE \(name: column.table) SET \(name: column.name) = \(value) \
      WHERE \(.entity) IN (\(numbers: column.entityNumbers)) AND \(wrong)
      """
  }

  private static func value(of column: DerivedColumn) -> SharedSQL {
    let value = value(column.value, of: "\(name: column.table)", depth: 1)
    return column.isBoolean ? "(\(value) <> 0)" : value
  }

  private static func value(_ value: DerivedValue, of row: SharedSQL, depth: Int) -> SharedSQL {
    switch value {
    case .column(let name): return "\(row).\(name: name)"
    case .flag(let name): return "CASE WHEN \(row).\(name: name) THEN 1 WHEN NOT \(row).\(name: name) THEN 0 END"
    case .now: return "\(.now)"
    case .text(.uppercase, let inner): return "\(.uppercase)(\(self.value(inner, of: row, depth: depth)))"
    case .text(.lowercase, let inner): return "\(.lowercase)(\(self.value(inner, of: row, depth: depth)))"
    case .text(.canonical, let inner): return "\(.canonical)(\(self.value(inner, of: row, depth: depth)))"
    case .through(let hop, let inner):
      let next: SharedSQL = "\(row: SQLRow(number: depth))"
      return "(SELECT \(self.value(inner, of: next, depth: depth + 1)) FROM \(members(hop, of: row, as: next)))"
    case .aggregate(let operation, let hop, let inner):
      let next: SharedSQL = "\(row: SQLRow(number: depth))"
      let member = inner.map { self.value($0, of: next, depth: depth + 1) } ?? "*"
      let result: SharedSQL =
        switch operation {
        case .sum: "\(.ifNull)(SUM(\(member)), 0)"
        case .minimum: "MIN(\(member))"
        case .maximum: "MAX(\(member))"
        case .average: "AVG(\(member))"
        default: "COUNT(\(member))"
        }
      return "(SELECT \(result) FROM \(members(hop, of: row, as: next)))"
    }
  }

  /// The rows that a hop leads to.
  private static func members(_ hop: DerivedHop, of row: SharedSQL, as next: SharedSQL) -> SharedSQL {
    switch hop.way {
    case .key(let column): "\(name: hop.target) AS \(next) WHERE \(next).\(.key) = \(row).\(name: column)"
    case .owner(let column): "\(name: hop.target) AS \(next) WHERE \(next).\(name: column) = \(row).\(.key)"
    case .join(let table, let own, let member):
      """
      \(name: hop.target) AS \(next) WHERE \(next).\(.key) IN \
      (SELECT \(name: member) FROM \(name: table) WHERE \(name: own) = \(row).\(.key))
      """
    }
  }

  private static func rows(on hops: ArraySlice<DerivedHop>, isPair: Bool, from changed: ChangedRows) -> SharedSQL {
    guard let last = hops.last else { return changed.condition("\(.key)", is: "\(.key)") }
    var keys: SharedSQL
    switch last.way {
    case .key(let column):
      keys = "SELECT \(.key) FROM \(name: last.source) WHERE \(changed.condition("\(name: column)", is: "\(.key)"))"
    // The key comes from the changed row itself, which may already be deleted.
    case .owner(let column): keys = changed.values("\(name: column)")
    case .join(_, let own, _) where isPair: keys = changed.values("\(name: own)")
    case .join(let table, let own, let member):
      keys = """
        SELECT \(name: own) FROM \(name: table) WHERE \(changed.condition("\(name: member)", is: "\(.key)"))
        """
    }
    for hop in hops.dropLast().reversed() {
      switch hop.way {
      case .key(let column):
        keys = "SELECT \(.key) FROM \(name: hop.source) WHERE \(changed.condition("\(name: column)", in: keys))"
      case .owner(let column):
        keys = "SELECT \(name: column) FROM \(name: hop.target) WHERE \(changed.condition("\(.key)", in: keys))"
      case .join(let table, let own, let member):
        keys = "SELECT \(name: own) FROM \(name: table) WHERE \(changed.condition("\(name: member)", in: keys))"
      }
    }
    return changed.condition("\(.key)", in: keys)
  }
}

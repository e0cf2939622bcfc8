/// A trigger, as a value, that updates a derived column when rows that it depends on change.
package struct DerivedTrigger: Sendable, Equatable {
  package enum Event: Sendable, Equatable {
    case insert
    case delete
    case update(of: [String])
  }

  /// The prefix of the names of Persist's triggers.
  package static let prefix = "PERSIST_DA_"

  package let name: String
  /// The table whose changes fire the trigger.
  package let table: String
  package let event: Event
  package let column: DerivedColumn
  /// The path from the column's own rows to the changed rows.
  package let hops: [DerivedHop]
  /// Whether the change affects a pair in the last hop's join table rather than a row.
  package let isPair: Bool
  /// The tables with derived columns, whose rows triggers change.
  package let derivedTables: Set<String>
}

extension DerivedColumn {
  /// The triggers for everything that the column depends on.
  ///
  /// - Parameters:
  ///   - ownColumns: The non-derived columns of its own table, for the time of the last change.
  ///   - derivedTables: The tables with derived columns.
  func triggers(ownColumns: [String], derivedTables: Set<String>) -> [DerivedTrigger] {
    var triggers: [DerivedTrigger] = []
    func add(_ event: DerivedTrigger.Event, of table: String, hops: [DerivedHop], isPair: Bool = false) {
      triggers.append(
        DerivedTrigger(
          name: "\(DerivedTrigger.prefix)\(label)_\(triggers.count + 1)", table: table, event: event, column: self,
          hops: hops, isPair: isPair, derivedTables: derivedTables))
    }
    var levels: [(hops: [DerivedHop], table: String, columns: [String])] = []
    collect(value, from: [], to: table, ownColumns: ownColumns, into: &levels)
    for (hops, table, columns) in levels {
      add(.insert, of: table, hops: hops)
      if !hops.isEmpty { add(.delete, of: table, hops: hops) }
      if !columns.isEmpty { add(.update(of: columns), of: table, hops: hops) }
      if case .join(let join, let own, let member)? = hops.last?.way {
        add(.insert, of: join, hops: hops, isPair: true)
        add(.delete, of: join, hops: hops, isPair: true)
        add(.update(of: [own, member]), of: join, hops: hops, isPair: true)
      }
    }
    return triggers
  }

  /// Collects the rows that a value is computed from, level by level, with the relevant columns of each.
  private func collect(
    _ value: DerivedValue, from hops: [DerivedHop], to table: String, ownColumns: [String],
    into levels: inout [(hops: [DerivedHop], table: String, columns: [String])]
  ) {
    func add(_ columns: [String]) {
      let owner: [String] = if case .owner(let column)? = hops.last?.way { [column] } else { [] }
      levels.append((hops, table, owner + columns))
    }
    switch value {
    case .column(let name), .flag(let name): add([name])
    case .now: add(ownColumns)
    case .text(_, let inner): collect(inner, from: hops, to: table, ownColumns: ownColumns, into: &levels)
    case .through(let hop, let inner):
      if case .key(let column) = hop.way { add([column]) }
      collect(inner, from: hops + [hop], to: hop.target, ownColumns: ownColumns, into: &levels)
    case .aggregate(_, let hop, let inner):
      add([])
      if let inner {
        collect(inner, from: hops + [hop], to: hop.target, ownColumns: ownColumns, into: &levels)
      } else {
        let owner: [String] = if case .owner(let column) = hop.way { [column] } else { [] }
        levels.append((hops + [hop], hop.target, owner))
      }
    }
  }
}

extension [DerivedColumn] {
  /// The triggers that maintain these columns.
  ///
  /// - Parameter layout: All columns of each table.
  package func triggers(in layout: [String: [TableMap.PlacedColumn]]) -> [DerivedTrigger] {
    let derived = Set(map { [$0.table, $0.name] })
    let tables = Set(map(\.table))
    return flatMap { column in
      let own = (layout[column.table] ?? []).map(\.name).filter { !derived.contains([column.table, $0]) }
      return column.triggers(ownColumns: ["Z_OPT"] + own, derivedTables: tables)
    }
  }
}

extension StoreSchema.Trigger {
  /// Whether Persist made the trigger for a derived attribute.
  package var isPersists: Bool { name.hasPrefix(DerivedTrigger.prefix) }

  /// Whether the trigger maintains derived attributes, including Core Data's own triggers.
  package var keepsDerivedValues: Bool { isPersists || keepsDerivedValuesOfOthers }

  /// Whether the trigger is one of Core Data's for derived attributes.
  package var keepsDerivedValuesOfOthers: Bool { name.hasPrefix("Z_DA_") }
}

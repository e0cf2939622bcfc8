/// The rows of a table with an entity number of none of the table's entities.
///
/// A migration refuses to drop them or to make them objects of an entity.
struct UnknownRows: Sendable {
  let table: String
  let root: Entity
  /// The entity numbers of the table's entities, in order.
  let known: [Int]

  var count: RowCount { .unknown(table, entityNumbers: known) }

  var blocker: MigrationBlocker {
    MigrationBlocker(
      entity: root.name, what: "Rows of '\(table)' with an entity number of none of the table's entities",
      fix: "'persist check' lists them; correct or delete them before migrating.")
  }
}

extension StoreInspector {
  /// - Throws: The blocker if there are any of the rows.
  package func requireNone(_ count: RowCount, else blocker: MigrationBlocker) throws {
    let rows = try self.count(count)
    if rows > 0 { throw blocker.counting(rows).error }
  }
}

extension MigrationBlocker {
  /// The blocker with the number of rows that are in the way.
  func counting(_ rows: Int) -> MigrationBlocker {
    var blocker = self
    blocker.what += ": \(rows)."
    return blocker
  }
}

extension TableMap {
  /// The unknown rows of each table of entities that the store contains.
  var unknownRows: [UnknownRows] {
    let present = tables.filter { !absent.contains($0.entity.name) }
    return Dictionary(grouping: present, by: \.table).sorted(on: \.key).map { table, places in
      UnknownRows(table: table, root: places[0].entity.root, known: places.map(\.number).sorted())
    }
  }
}

/// The parts of an SQLite file that a migration removes, by their old names: definitions that refer to them become
/// wrong.
struct RemovedParts {
  /// Whether the numbers of entities change, which definitions may compare with `Z_ENT`.
  let renumbersEntities: Bool
  private(set) var tables: Set<String> = []
  private(set) var columns: [(name: String, table: String)] = []

  init(renumbersEntities: Bool) { self.renumbersEntities = renumbersEntities }

  mutating func insert(table: String) { tables.insert(table) }
  mutating func insert(column: String, of table: String) { columns.append((column, table)) }

  /// Whether a view reads something that is removed, directly or through another view.
  func affects(_ view: StoreSchema.View, of schema: StoreSchema) -> Bool {
    affects(view.sql, of: schema) { column, table, mentions in
      guard mentions(table), let columns = view.columns else { return mentions(table) }
      // A view that reads all columns by an asterisk mentions none of them, and reads the others afterward. SQLite
      // doesn't report the columns that only USING or a part without effect names: then no other table's column
      // explains that the view mentions the name.
      return columns.contains(.init(column, of: table)) || mentions("USING")
        || !columns.contains { $0.hasName(column) }
    }
  }

  /// Whether a trigger refers to something that is removed, directly or through a view.
  func affects(_ trigger: StoreSchema.Trigger, of schema: StoreSchema) -> Bool {
    affects(trigger.sql, of: schema) { _, table, mentions in
      trigger.table.foldedIdentifier == table.foldedIdentifier || mentions(table)
    }
  }

  /// Whether an index needs something that is removed.
  func affects(_ index: StoreSchema.Index, of schema: StoreSchema) -> Bool {
    affects(index.sql ?? "", of: schema) { _, table, _ in
      index.table.foldedIdentifier == table.foldedIdentifier
    }
  }

  /// - Parameter reads: Whether a definition that mentions a column's name refers to the column of that table.
  @inline(never)
  private dynamic func affects(
    _ definition: String, of schema: StoreSchema,
    _ reads: (_ column: String, _ table: String, _ mentions: (String) -> Bool) -> Bool
  ) -> Bool {
    let texts = schema.definitions(readBy: definition)
    func mentions(_ name: String) -> Bool { texts.contains { SQLTokens.mentions(name, in: $0) } }
    return renumbersEntities && mentions("Z_ENT") || tables.contains(where: mentions)
      || columns.contains { mentions($0.name) && reads($0.name, $0.table, mentions) }
  }
}

extension StoreSchema {
  /// A definition, and those of the views that it reads, directly or through other views.
  fileprivate func definitions(readBy definition: String) -> [String] {
    var found = [definition]
    var others = views
    var next = 0
    while next < found.count {
      let read = others.filter { SQLTokens.mentions($0.name, in: found[next]) }
      others.removeAll { view in read.contains { $0.name == view.name } }
      found += read.map(\.sql)
      next += 1
    }
    return found
  }
}

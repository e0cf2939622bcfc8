/// The changes of entity numbers outside the model's tables: in the store's history, in synchronization records such as
/// CloudKit's, and in every table whose foreign keys lead to one of these numbers.
struct HistoryNumbering {
  /// Deletions of the entries of removed entities.
  let removals: [SchemaChange]
  /// Replacements of old entity numbers by new ones; they run after the removals.
  let renumberings: [SchemaChange]
  /// Row counts that must be zero before the migration, with the blockers if they aren't.
  let checks: [(count: RowCount, blocker: MigrationBlocker)]

  /// - Parameters:
  ///   - schema: The store's schema before the migration.
  ///   - modelTables: The folded names of the old model's tables.
  ///   - numbering: the new numbers by the old ones, for entities that remain.
  ///   - gone: The numbers of removed entities.
  ///   - added: The numbers of new entities. Entries that have one are left over from an entity that was removed.
  ///   - renamed: The new names of tables that aren't the model's and are renamed in between, by their old ones.
  init(
    in schema: StoreSchema, modelTables: Set<String>, numbering: [Int: Int], gone: [Int], added: [Int],
    renamed: [String: String] = [:]
  ) {
    let changed = numbering.filter { $0.key != $0.value }
    let removed = Set(gone + added.filter { numbering[$0] == nil }).sorted()
    guard !changed.isEmpty || !removed.isEmpty else {
      (removals, renumberings, checks) = ([], [], [])
      return
    }
    let places = Places(schema, modelTables)
    removals = removed.isEmpty ? [] : places.all.flatMap { table, columns in
      columns.map { .deleteHistory(table: table.name, column: $0, entityNumbers: removed) }
    }
    let changes = changed.isEmpty ? [] : places.all.map { table, columns in
      EntityRenumbering(table, columns: columns, indexes: schema.indexes, numbers: changed)
    }
    renumberings = changes.map { .renumberEntities($0.renamed(renamed[$0.table] ?? $0.table)) }
    checks = changes.flatMap { change in
      change.rules.map { rule in
        (.rejectedNumbers(change, by: rule, gone: removed), MigrationBlocker(rejectedBy: rule, of: change.table))
      }
    }
  }

  /// The columns with entity numbers.
  private struct Places {
    private(set) var all: [(table: StoreSchema.Table, columns: [String])] = []

    init(_ schema: StoreSchema, _ modelTables: Set<String>) {
      let tables = schema.tables.filter { !modelTables.contains($0.name.foldedIdentifier) }
      var columns: [String: [String]] = Dictionary()
      for table in tables { columns[table.name] = table.entityNumberColumns }
      let keys = tables.map { table -> (table: StoreSchema.Table, keys: [TableClauses.ForeignKey]) in
        let hasKeys = SQLTokens.mayMention("references", in: table.sql)
        return (table: table, keys: hasKeys ? TableClauses(table.sql).foreignKeys : [])
      }.filter { !$0.keys.isEmpty }
      func isNumber(_ column: String, of parent: String) -> Bool {
        let (column, parent) = (column.foldedIdentifier, parent.foldedIdentifier)
        if modelTables.contains(parent) || parent == "z_primarykey" { return column == "z_ent" }
        return columns.contains { $0.foldedIdentifier == parent && $1.contains { $0.foldedIdentifier == column } }
      }
      // A foreign key to a foreign key is found in a later round.
      var isComplete = false
      while !isComplete {
        isComplete = true
        for (table, keys) in keys {
          for key in keys {
            // Without columns, the key leads to the parent's primary key.
            let parents = key.parentColumns.isEmpty && key.parent.foldedIdentifier == "z_primarykey"
              ? ["Z_ENT"] : key.parentColumns
            for (own, parent) in zip(key.columns, parents) where isNumber(parent, of: key.parent) {
              guard let column = table.column(named: own)?.name, columns[table.name]?.contains(column) != true else {
                continue
              }
              columns[table.name, default: []].append(column)
              isComplete = false
            }
          }
        }
      }
      all = tables.compactMap { table in
        guard let found = columns[table.name], !found.isEmpty else { return nil }
        return (table, found)
      }
    }
  }
}

extension StoreSchema.Table {
  /// The columns of the store's own records that contain entity numbers: beside the key of the object, or in a table
  /// with keys of its own. The names of these tables begin with `A`, those of entities' tables with `Z`.
  fileprivate var entityNumberColumns: [String] {
    guard hasColumn(named: "ZENTITYPK") && !isOfEntity || name.hasPrefix("A") && hasColumn(named: "Z_PK")
    else { return [] }
    return ["ZENTITY", "ZENTITYID"].compactMap { column(named: $0) }.filter { column in
      let type = column.declaredType.uppercased()
      return type.isEmpty || type.contains("INT") || type.hasPrefix("NUM")
    }.map(\.name)
  }

  /// Whether the table has the form of an entity's: one of a model that the store had before.
  private var isOfEntity: Bool {
    name.hasPrefix("Z") && ["Z_PK", "Z_ENT", "Z_OPT"].allSatisfy { hasColumn(named: $0) }
  }
}

extension MigrationBlocker {
  fileprivate init(rejectedBy rule: EntityNumberRule, of table: String) {
    let what =
      switch rule {
      case .check(let expression): "the check (\(expression.trimmingPrefix(while: \.isWhitespace)))"
      case .unique(let terms, _): "the unique index over \(terms.joined(separator: ", "))"
      }
    self.init(
      what: "Entities get other numbers, and \(what) of the table '\(table)' rejects the new numbers of rows",
      fix: "Drop the table's rule before migrating, and create it again with the new numbers.")
  }
}

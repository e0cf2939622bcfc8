/// The keys of tables, which identify rows and keep values unique. Other programs may have recreated a table without
/// them.
extension StoreSchema {
  /// A key that the model's rows rely on and the store lacks.
  package struct MissingKey: Sendable, Equatable {
    /// The entity of the table; nil for tables of the store itself and for pairs of objects.
    package let entity: String?
    package let table: String
    package let columns: [String]
  }

  /// Whether no two rows of a table can have equal values in columns.
  func hasKey(_ columns: [String], of table: Table) -> Bool {
    if table.isPlainlyKeyed(by: columns) { return true }
    let wanted = Set(columns.map(\.foldedIdentifier))
    return table.allKeys.contains { Set($0) == wanted }
      || indexes.contains { index in
        guard index.table.foldedIdentifier == table.name.foldedIdentifier, let sql = index.sql,
          let signature = IndexSignature(definition: sql)
        else { return false }
        return signature.isUnique && signature.isComplete && Set(signature.columns.map(\.name)) == wanted
      }
  }
}

extension TableMap {
  /// The primary keys that a store lacks: of the tables of entities and of pairs, and of its own tables.
  package func missingKeys(in schema: StoreSchema) -> [StoreSchema.MissingKey] {
    var missing: [StoreSchema.MissingKey] = []
    func require(_ columns: [String], of name: String, entity: String? = nil) {
      guard let table = schema.table(named: name), !schema.hasKey(columns, of: table),
        columns.allSatisfy({ table.hasColumn(named: $0) })
      else { return }
      missing.append(StoreSchema.MissingKey(entity: entity, table: name, columns: columns))
    }
    for table in tables where table.entity.superentity == nil {
      require(["Z_PK"], of: table.table, entity: table.entity.name)
    }
    for join in joinTables { require([join.first.column, join.second.column], of: join.name) }
    require(["KEY"], of: "PERSIST_METADATA")
    require(["Z_VERSION"], of: "Z_METADATA")
    require(["Z_ENT"], of: "Z_PRIMARYKEY")
    return missing
  }

  /// The indexes of uniqueness constraints for which a store has no equivalent.
  ///
  /// - Parameter isWaiting: Whether an index is created later.
  package func missingUniqueIndexes(
    in schema: StoreSchema, besides isWaiting: (IndexDefinition) -> Bool = { _ in false }
  ) -> [IndexDefinition] {
    guard tables.contains(where: { !$0.entity.description.uniquenessConstraints.isEmpty }) else { return [] }
    return indexDefinitions.filter { index in
      guard index.isUnique, let table = schema.table(named: index.table),
        index.columns.allSatisfy({ table.hasColumn(named: $0.name) }),
        !isWaiting(index)
      else { return false }
      return !schema.hasKey(index.columns.map(\.name), of: table) && !schema.hasUniqueIndex(like: index)
    }
  }
}

extension StoreSchema {
  /// Whether there is a unique index over the same columns for at least the same entities.
  fileprivate func hasUniqueIndex(like definition: IndexDefinition) -> Bool {
    let wanted = IndexSignature(definition)
    return indexes.contains { index in
      // The definition of an index under the layout's name may have a form that isn't parsed.
      if index.name.foldedIdentifier == definition.name.foldedIdentifier { return true }
      guard index.table.foldedIdentifier == definition.table.foldedIdentifier,
        let other = index.sql.flatMap(IndexSignature.init(definition:)), other.isUnique
      else { return false }
      return Set(other.columns.map(\.name)) == Set(wanted.columns.map(\.name))
        && (other.entityNumbers.map { Set($0).isSuperset(of: wanted.entityNumbers ?? []) } ?? true)
        // An index with other conditions would refuse other values.
        && other.conditions == wanted.conditions
    }
  }
}

extension StoreSchema.Table {
  /// Whether the definition has the form in which Persist and Core Data write this key. Nearly every table does, and
  /// needs no parsing.
  fileprivate func isPlainlyKeyed(by columns: [String]) -> Bool {
    columns.count == 1
      ? columns.contains { sql.hasBytes(of: "\($0) INTEGER PRIMARY KEY") }
      : sql.hasBytes(of: "PRIMARY KEY (\(columns.joined(separator: ", ")))")
  }

  /// The columns of every primary key and unique constraint, folded.
  fileprivate var allKeys: [[String]] {
    if let keys { return keys.map { $0.map(\.foldedIdentifier) } }
    guard SQLTokens.mayMention("primary", in: sql) || SQLTokens.mayMention("unique", in: sql) else { return [] }
    var tokens = DefinitionTokens(sql)
    var found: [[String]] = []
    while let token = tokens.nextOfColumn() {
      let column = tokens.column
      // A constraint of the table begins like a column, with the word that follows a comma.
      let isConstraint = column == "primary" || column == "unique" || column == "constraint"
      let isPrimary = token == "primary" || (token == "," && column == "primary")
      guard isPrimary || token == "unique" || (token == "," && column == "unique") else { continue }
      if isPrimary, !tokens.consume("key") { continue }
      if isConstraint {
        if tokens.consume("("), let columns = tokens.consumeIndexColumns() { found.append(columns.map(\.name)) }
      } else if let column {
        found.append([column])
      }
    }
    return found
  }
}

extension StoreSchema.MissingKey {
  /// The problem in words.
  ///
  /// - Parameter name: Returns the name of a table or column as users see it.
  package func detail(_ name: (String) -> String = { $0 }) -> String {
    let columns = columns.map { "'\(name($0))'" }.joined(separator: ", ")
    return "The table '\(name(table))' has no primary key over \(columns), so that keys may repeat."
  }

  /// The error of opening a store without keys for writing.
  package static func error(_ keys: [Self], at place: PersistenceError.Place, _ name: (String) -> String = { $0 })
    -> PersistenceError
  {
    PersistenceError(
      .storeDamaged, at: place, keys.map { $0.detail(name) }.joined(separator: " "),
      fix: "Another program has recreated the table. Restore the store from a backup, or create the primary key again; "
        + "opening for reading only is possible.")
  }
}

extension IndexDefinition {
  /// The problem of a missing unique index in words.
  package var missingUniqueDetail: String {
    "The unique index over '\(subject?.name ?? columns.map(\.name).joined(separator: ", "))' is missing, so that equal "
      + "values aren't refused."
  }

  /// The error of opening a store for writing whose unique index can't be created again.
  package func duplicateError(at place: PersistenceError.Place) -> PersistenceError {
    var place = place
    place.entity = subject?.entity
    return PersistenceError(
      .storeDamaged, at: place,
      "\(missingUniqueDetail) Rows have equal values, so that it can't be created again.",
      fix: "'persist check' lists the rows: make their values differ, or open the store for reading only.")
  }
}

extension String {
  /// Whether it contains the bytes of another text. `contains(_:)` compares characters, and takes 190,000 instructions
  /// for a definition of ten columns.
  fileprivate func hasBytes(of part: String) -> Bool {
    var (text, part) = (self, part)
    return text.withUTF8 { text in
      part.withUTF8 { part in
        guard let first = part.first else { return true }
        var start = 0
        while start + part.count <= text.count {
          if text[start] == first, text[start..<start + part.count].elementsEqual(part) { return true }
          start += 1
        }
        return false
      }
    }
  }
}

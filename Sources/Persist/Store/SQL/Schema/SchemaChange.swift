/// One change to a store's tables or rows, as a value: the unit of an in-place migration.
///
/// Each change consists of one or a few SQL statements. They run in the given order, all in one transaction, and every
/// name is the current one at that time.
package indirect enum SchemaChange: Sendable, Equatable {
  case dropTrigger(String)
  case dropView(String)
  case dropIndex(String)
  case createIndex(IndexDefinition)
  /// Creates a table, with further columns that are unknown to the model.
  case createTable(TableDefinition, kept: [StoreSchema.Column] = [])
  case dropTable(String)
  case renameTable(String, to: String)
  case renameColumn(String, to: String, table: String)
  /// Takes constant time regardless of the table's size: the default for existing rows is stored in the schema.
  case addColumn(TableDefinition.Column, default: SQLValue, table: String)
  case dropColumn(String, table: String)
  /// Gives a table other columns, in one pass; its remaining indexes and triggers are recreated.
  case rebuildTable(TableRebuild)
  case update(String, set: [Assignment], where: RowCondition)
  /// Replaces the names of files in a column by the content of the files. The engine reads them; SQL can't.
  case readFiles(table: String, column: String, where: RowCondition)
  case deleteRows(String, where: RowCondition)
  case copyRows(from: String, into: String, values: [Assignment], where: RowCondition)

  // Relationships
  /// Sets the keys of some target rows in a column of some rows to null, with the accompanying columns.
  case sever(
    table: String, column: String, beside: [String], target: String, entityNumbers: [Int], where: RowCondition)
  /// Removes the pairs of rows to be deleted from a join table.
  case removePairs(table: String, column: String, target: String, entityNumbers: [Int])
  /// Saves the pairs of a relationship in a temporary table, so that they survive changes to its tables.
  case setAside(PairSource, as: PairStage)
  /// Fills a join table from saved pairs.
  case join(PairTarget, from: PairStage)
  /// Fills a key column from saved pairs.
  case setKeys(KeyTarget, from: PairStage)
  /// Fills a column with the entity numbers of the rows referenced by another column.
  case takeEntityNumbers(table: String, key: String, number: String, target: String)
  /// Assigns positions to the members of each owner, ordered by their existing positions and then by key.
  case assignPositions(table: String, owner: String, member: String, place: String)
  case forget(PairStage)

  // Numbers
  /// Deletes history records of entities that are removed from the store.
  case deleteHistory(table: String, column: String, entityNumbers: [Int])
  /// Replaces entity numbers in a table that isn't the model's.
  case renumberEntities(EntityRenumbering)
  /// Replaces the rows of the old numbers in `Z_PRIMARYKEY` with new ones.
  case setEntities(old: [Int], new: [EntityRow])

  package struct Assignment: Sendable, Equatable {
    package let column: String
    package let value: RowExpression

    package init(_ column: String, _ value: RowExpression) {
      self.column = column
      self.value = value
    }
  }

  /// A row of `Z_PRIMARYKEY`.
  package struct EntityRow: Sendable, Hashable {
    package let number: Int
    package let name: String
    /// The parent's number; 0 for none.
    package let parent: Int
    /// The greatest key assigned; raised to the greatest key of `table` if that is greater.
    package let maximum: Int64
    /// The table whose keys the row counts; nil for a subentity, whose keys are counted by its root.
    package let table: String?

    package init(number: Int, name: String, parent: Int, maximum: Int64, table: String?) {
      self.number = number
      self.name = name
      self.parent = parent
      self.maximum = maximum
      self.table = table
    }
  }
}

/// A table to rewrite.
package struct TableRebuild: Sendable, Equatable {
  /// The new definition of the table, under its existing name.
  package let definition: TableDefinition
  /// The columns that the table has, under their present names.
  package let former: [StoreSchema.Column]
  /// Columns unknown to the model, which are preserved.
  package let kept: [StoreSchema.Column]
  /// The value of every column of the definition.
  package let values: [SchemaChange.Assignment]
  /// An unused name for the table while it is written.
  package let temporaryName: String

  package init(
    definition: TableDefinition, former: [StoreSchema.Column], kept: [StoreSchema.Column],
    values: [SchemaChange.Assignment], temporaryName: String
  ) {
    self.definition = definition
    self.former = former
    self.kept = kept
    self.values = values
    self.temporaryName = temporaryName
  }
}

/// The location of a relationship's pairs, each of which joins two rows.
package struct PairSource: Sendable, Hashable {
  package let table: String
  package let owner: String
  package let member: String
  /// The member's position among the owner's members.
  package let place: String?
  /// The owner's position among the member's owners.
  package let inversePlace: String?

  package init(table: String, owner: String, member: String, place: String?, inversePlace: String?) {
    self.table = table
    self.owner = owner
    self.member = member
    self.place = place
    self.inversePlace = inversePlace
  }

  /// The same pairs seen from the other end.
  package var turned: PairSource {
    PairSource(table: table, owner: member, member: owner, place: inversePlace, inversePlace: place)
  }
}

/// Pairs saved in a temporary table.
package struct PairStage: Sendable, Hashable {
  package let number: Int

  package init(number: Int) {
    self.number = number
  }
}

/// The rows that can be at one end of a relationship.
package struct PairEnd: Sendable, Hashable {
  package let table: String
  /// `Z_ENT` of the rows, by the table's numbers at that time; nil for every row of the table.
  package let entityNumbers: [Int]?

  package init(table: String, entityNumbers: [Int]?) {
    self.table = table
    self.entityNumbers = entityNumbers
  }
}

/// A join table to fill.
package struct PairTarget: Sendable, Equatable {
  package let table: String
  package let owner: String
  package let member: String
  package let place: String?
  package let inversePlace: String?
  /// The rows at each end; a pair is only copied if both rows exist.
  package let owners: PairEnd
  package let members: PairEnd
  /// Whether each pair is inserted in both directions, because the relationship is its own inverse.
  package let isReflexive: Bool

  package init(
    table: String, owner: String, member: String, place: String?, inversePlace: String?, owners: PairEnd,
    members: PairEnd, isReflexive: Bool
  ) {
    self.table = table
    self.owner = owner
    self.member = member
    self.place = place
    self.inversePlace = inversePlace
    self.owners = owners
    self.members = members
    self.isReflexive = isReflexive
  }
}

/// A key column to fill.
package struct KeyTarget: Sendable, Equatable {
  /// The end of a pair that a row of the table corresponds to.
  package enum Row: Sendable, Hashable { case owner, member }

  /// The rows that contain the column.
  package let rows: PairEnd
  package let row: Row
  package let column: String
  /// The column with the row's position among the members of the inverse.
  package let place: String?
  /// The rows that the keys refer to; a pair is only copied if both rows exist.
  package let targets: PairEnd

  package init(rows: PairEnd, row: Row, column: String, place: String?, targets: PairEnd) {
    self.rows = rows
    self.row = row
    self.column = column
    self.place = place
    self.targets = targets
  }
}

extension SchemaChange {
  /// The table whose rows the change processes; nil for a change that takes constant time regardless of the table's
  /// size.
  package var writtenTable: String? {
    switch self {
    case .rebuildTable(let rebuild): rebuild.definition.name
    case .update(let table, _, _), .readFiles(let table, _, _), .deleteRows(let table, _), .dropColumn(_, let table),
      .assignPositions(let table, _, _, _), .takeEntityNumbers(let table, _, _, _), .sever(let table, _, _, _, _, _),
      .removePairs(let table, _, _, _):
      table
    case .copyRows(let source, _, _, _): source
    case .setAside(let source, _): source.table
    case .join(let target, _): target.owners.table
    case .setKeys(let target, _): target.rows.table
    case .createIndex(let index): index.table
    // The rows of a table without rowids can only be counted by reading all of them.
    case .renumberEntities(let renumbering): renumbering.all.first == "rowid" ? renumbering.table : nil
    default: nil
    }
  }
}

extension SchemaChange {
  /// The tables whose rows may have different keys or texts afterward, not counting references to other rows
  /// and numbers.
  package var tablesWithOtherRows: [String] {
    switch self {
    case .createTable(let table, _): [table.name]
    case .dropTable(let table): [table]
    case .renameTable(let old, let new): [old, new]
    // Nothing is computed from a column that merely keeps parked values.
    case .renameColumn(_, let name, _) where ParkedColumn.isOne(name): []
    case .renameColumn(_, _, let table), .update(let table, _, _),
      .deleteRows(let table, _), .copyRows(_, let table, _, _):
      [table]
    case .rebuildTable(let rebuild): [rebuild.definition.name]
    default: []
    }
  }

  /// The tables in which rows, their values or their references to other rows may differ afterward.
  package var tablesWithOtherValues: [String] {
    switch self {
    case .sever(let table, _, _, _, _, _), .removePairs(let table, _, _, _), .takeEntityNumbers(let table, _, _, _),
      .assignPositions(let table, _, _, _):
      [table]
    case .join(let target, _): [target.table]
    case .setKeys(let target, _): [target.rows.table]
    default: tablesWithOtherRows
    }
  }
}

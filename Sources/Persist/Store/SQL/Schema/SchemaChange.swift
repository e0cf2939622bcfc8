/// One change of a store's tables or rows, as a value: what a migration in place consists of.
///
/// Each is one or a few statements of SQL. They run in the order in which they are given, all in one transaction, and
/// every name is the one that the thing has at that moment.
enum SchemaChange: Sendable, Hashable {
  case dropTrigger(String)
  case dropIndex(String)
  case createIndex(IndexDefinition)
  case createTable(TableDefinition)
  case dropTable(String)
  case renameTable(String, to: String)
  case renameColumn(String, to: String, table: String)
  /// Takes no time in a table of any size: the default of rows that exist is kept in the schema.
  case addColumn(TableDefinition.Column, default: SQLValue, table: String)
  case dropColumn(String, table: String)
  /// Writes a table anew with other columns, in one pass; its indexes and triggers that still stand are made again.
  case rebuildTable(TableRebuild)
  case update(String, set: [Assignment], where: RowCondition)
  case deleteRows(String, where: RowCondition)
  case copyRows(from: String, into: String, values: [Assignment], where: RowCondition)

  // Relationships
  /// Clears the keys of some target rows, and what is beside them, in a column of some rows.
  case sever(
    table: String, column: String, beside: [String], target: String, entityNumbers: [Int], where: RowCondition)
  /// Takes the pairs that lead to or from rows that go out of a join table.
  case unjoin(table: String, column: String, target: String, entityNumbers: [Int])
  /// Puts the pairs of a relationship aside, so that they outlast the changes of its tables.
  case setAside(PairSource, as: PairStage)
  /// Fills a join table from pairs that were put aside.
  case join(PairTarget, from: PairStage)
  /// Fills a column of keys from pairs that were put aside.
  case setKeys(KeyTarget, from: PairStage)
  /// Fills a column with the entity numbers of the rows whose keys stand in another.
  case takeEntityNumbers(table: String, key: String, number: String, target: String)
  /// Gives the members of each owner places, in the order of those that they have, then in the order of their keys.
  case takePlaces(table: String, owner: String, member: String, place: String)
  case forget(PairStage)

  // Numbers
  /// Takes what the store's history tells of entities that go out of it.
  case deleteHistory(table: String, column: String, entityNumbers: [Int])
  /// `Z_PRIMARYKEY`: takes the rows of the old numbers out and puts the new ones in.
  case setEntities(old: [Int], new: [EntityRow])

  struct Assignment: Sendable, Hashable {
    let column: String
    let value: RowExpression

    init(_ column: String, _ value: RowExpression) {
      self.column = column
      self.value = value
    }
  }

  /// A row of `Z_PRIMARYKEY`.
  struct EntityRow: Sendable, Hashable {
    let number: Int
    let name: String
    /// The parent's number, 0 for none.
    let parent: Int
    /// The greatest key given out; raised to the greatest key of `table` where that is greater.
    let maximum: Int64
    /// The table whose keys the row counts; nil for a subentity, whose root counts them.
    let table: String?
  }
}

/// A table that is written anew.
struct TableRebuild: Sendable, Hashable {
  /// The table as it shall be; its name is the one that it has already.
  let definition: TableDefinition
  /// Columns that nothing explains, which are kept as they are.
  let kept: [StoreSchema.Column]
  /// The value of every column of the definition.
  let values: [SchemaChange.Assignment]
  /// A name that is free while the table is written.
  let temporaryName: String
}

/// Where the pairs of a relationship stand: which row is joined to which.
struct PairSource: Sendable, Hashable {
  let table: String
  let owner: String
  let member: String
  /// The member's place among the owner's members.
  let place: String?
  /// The owner's place among the member's owners.
  let inversePlace: String?

  /// The same pairs from their other end.
  var turned: PairSource {
    PairSource(table: table, owner: member, member: owner, place: inversePlace, inversePlace: place)
  }
}

/// Pairs that were put aside.
struct PairStage: Sendable, Hashable {
  let number: Int
}

/// The rows that can be at one end of a relationship.
struct PairEnd: Sendable, Hashable {
  let table: String
  /// `Z_ENT` of the rows, by the numbers that the table has at that moment; nil for every row of the table.
  let entityNumbers: [Int]?
}

/// A join table to be filled.
struct PairTarget: Sendable, Hashable {
  let table: String
  let owner: String
  let member: String
  let place: String?
  let inversePlace: String?
  /// What the keys are of; a pair is taken only where both rows are there.
  let owners: PairEnd
  let members: PairEnd
  /// Whether each pair goes in both ways round: the relationship is its own inverse.
  let isReflexive: Bool
}

/// A column of keys to be filled.
struct KeyTarget: Sendable, Hashable {
  /// Which end of a pair a row of the table is.
  enum Row: Sendable, Hashable { case owner, member }

  /// What has the column.
  let rows: PairEnd
  let row: Row
  let column: String
  /// The column with the row's place among the members of the inverse.
  let place: String?
  /// What the keys are of; a pair is taken only where both rows are there.
  let targets: PairEnd
}

extension SchemaChange {
  /// The table whose rows the change goes through; nil for one that takes no time in a table of any size.
  var writtenTable: String? {
    switch self {
    case .rebuildTable(let rebuild): rebuild.definition.name
    case .update(let table, _, _), .deleteRows(let table, _), .dropColumn(_, let table),
      .takePlaces(let table, _, _, _), .takeEntityNumbers(let table, _, _, _), .sever(let table, _, _, _, _, _),
      .unjoin(let table, _, _, _):
      table
    case .copyRows(let source, _, _, _): source
    case .setAside(let source, _): source.table
    case .join(let target, _): target.owners.table
    case .setKeys(let target, _): target.rows.table
    case .createIndex(let index): index.table
    default: nil
    }
  }
}

extension SchemaChange {
  /// Tables whose rows may have other keys or texts afterwards; keys of other rows and numbers aside.
  var tablesWithOtherRows: [String] {
    switch self {
    case .createTable(let table): [table.name]
    case .dropTable(let table): [table]
    case .renameTable(let old, let new): [old, new]
    case .renameColumn(_, _, let table), .update(let table, _, _),
      .deleteRows(let table, _), .copyRows(_, let table, _, _):
      [table]
    case .rebuildTable(let rebuild): [rebuild.definition.name]
    default: []
    }
  }
}

package import Persist

/// The tables and columns of a second model that a store gets beside those of the first, and the ways in which they are
/// kept in step: data that is derived from the two models.
package struct OnlineExpansion: Sendable, Hashable {
  /// One of the two models.
  package enum Side: Sendable, Hashable { case first, second }

  /// A column that only the second model has. Rows of programs with the first model get its value.
  package struct NewColumn: Sendable, Hashable {
    package let table: String
    package let column: TableDefinition.Column
    package let value: SQLValue

    package init(table: String, column: TableDefinition.Column, value: SQLValue) {
      (self.table, self.column, self.value) = (table, column, value)
    }
  }

  /// Two columns with the same values.
  package struct Pair: Sendable, Hashable {
    package let table: String
    package let first: String
    package let second: String
    package let type: TableMap.ColumnType

    package init(table: String, first: String, second: String, type: TableMap.ColumnType) {
      (self.table, self.first, self.second, self.type) = (table, first, second, type)
    }
  }

  /// A value for rows of some entities that programs with the other model write.
  package struct Fill: Sendable, Hashable {
    package let table: String
    package let column: TableDefinition.Column
    package let value: SQLValue
    /// The entity numbers of the rows; nil for all rows of the table.
    package let numbers: [Int]?
    /// The model that has the column.
    package let side: Side

    package init(table: String, column: TableDefinition.Column, value: SQLValue, numbers: [Int]?, side: Side) {
      (self.table, self.column, self.value, self.numbers, self.side) = (table, column, value, numbers, side)
    }
  }

  /// Two join tables with the same pairs.
  package struct JoinPair: Sendable, Hashable {
    package let first: String
    package let second: TableDefinition
    /// The columns of the first table, by those of the second.
    package let columns: [String: String]

    package init(first: String, second: TableDefinition, columns: [String: String]) {
      (self.first, self.second, self.columns) = (first, second, columns)
    }
  }

  /// An index of the second model.
  package struct NewIndex: Sendable, Hashable {
    package let index: IndexDefinition
    /// Its name while the first model has another index of the same name.
    package let temporaryName: String?

    package init(index: IndexDefinition, temporaryName: String?) {
      (self.index, self.temporaryName) = (index, temporaryName)
    }

    /// The index as it is created.
    package var present: IndexDefinition {
      guard let temporaryName else { return index }
      var present = index
      present.name = temporaryName
      return present
    }
  }

  package var tables: [TableDefinition] = []
  package var columns: [NewColumn] = []
  package var pairs: [Pair] = []
  package var fills: [Fill] = []
  package var joins: [JoinPair] = []
  /// New derived attributes.
  package var derived: [DerivedColumn] = []
  package var keys: [ForeignKeyDefinition] = []
  package var indexes: [NewIndex] = []

  package init() {}
}

extension OnlineExpansion {
  /// The tables whose older rows get values in the places of the second model.
  package var backfilledTables: [String] {
    let filled = fills.filter { $0.side == .second }.map(\.table)
    return Set(pairs.map(\.table) + filled).sorted()
  }

  /// The tables that get triggers.
  var triggeredTables: [String] { Set(pairs.map(\.table) + fills.map(\.table)).sorted() }
}

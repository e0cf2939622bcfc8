package import Persist

/// The tables and columns of a second model that a store gets beside those of the first, and the ways in which they are
/// kept in step: data that is derived from the two models.
package struct OnlineExpansion: Sendable, Equatable {
  /// One of the two models.
  package enum Side: Sendable, Equatable { case first, second }

  /// A column that only the second model has. Rows of programs with the first model get its value.
  package struct NewColumn: Sendable, Equatable {
    package let table: String
    package let column: TableDefinition.Column
    package let value: SQLValue

    package init(table: String, column: TableDefinition.Column, value: SQLValue) {
      (self.table, self.column, self.value) = (table, column, value)
    }
  }

  /// Two columns with the same content, of which each determines the other.
  package struct Pair: Sendable, Equatable {
    package let table: String
    package let first: String
    package let firstType: TableMap.ColumnType
    package let second: String
    package let type: TableMap.ColumnType
    /// The value of the second column, computed from the first one.
    package let forward: RowExpression
    /// The value of the first column, computed from the second one.
    package let backward: RowExpression
    /// The second model's property, for messages.
    package let label: String

    package init(
      table: String, first: (name: String, type: TableMap.ColumnType),
      second: (name: String, type: TableMap.ColumnType), forward: RowExpression, backward: RowExpression,
      label: String
    ) {
      self.table = table
      (self.first, firstType) = first
      (self.second, type) = second
      (self.forward, self.backward, self.label) = (forward, backward, label)
    }

    /// Whether both columns have the same values, and not only equal ones or values for those that are missing.
    var isPlain: Bool { firstType == type && forward.isColumn && backward.isColumn }
  }

  /// A value for rows of some entities that programs with the other model write.
  package struct Fill: Sendable, Equatable {
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
  package struct JoinPair: Sendable, Equatable {
    package let first: String
    package let second: TableDefinition
    /// The columns of the first table, by those of the second.
    package let columns: [String: String]

    package init(first: String, second: TableDefinition, columns: [String: String]) {
      (self.first, self.second, self.columns) = (first, second, columns)
    }
  }

  /// A relationship that is to-one in one of the models and to-many in the other: a column of keys, and a join table.
  ///
  /// If the first model has the column, both have the same pairs, and programs with the second model can't add a second
  /// member as long as both are served. If the second model has it, it refers to one of possibly several members: to
  /// the one that it already refers to, or else to the first one. Members that the model with the column doesn't have
  /// don't count; one that only this model has gives way to others.
  package struct KeyJoin: Sendable, Equatable {
    /// The model that has the column of keys.
    package let side: Side
    /// The table with the column of keys.
    package let table: String
    package let key: String
    /// The column with the entity numbers of the keys' rows, and their table; nil if they are of one entity.
    package var number: Number?
    package let join: TableDefinition
    /// The join table's column for the rows of the table.
    package let own: String
    /// The join table's column for the rows that the keys refer to.
    package let member: String
    /// The table of the rows that the keys refer to.
    package let members: String
    /// The join table's column with the positions of members; nil if they have no order.
    package let place: String?
    /// The second model's relationship, for messages.
    package let label: String
    /// The entity numbers of objects that only one of the models has.
    package var hidden = Hidden()

    package struct Hidden: Sendable, Equatable {
      /// Members that the model with the column doesn't have.
      package var membersFromKey: [Int] = []
      /// Members that the model with the join table doesn't have.
      package var membersFromPairs: [Int] = []
      /// Rows of the table that the model with the column doesn't have.
      package var ownersFromKey: [Int] = []

      package init() {}
    }

    package struct Number: Sendable, Equatable {
      package let column: String
      package let target: String

      package init(column: String, target: String) { (self.column, self.target) = (column, target) }
    }

    package init(
      _ side: Side, table: String, key: String, join: TableDefinition, own: String, member: String, of members: String,
      place: String? = nil, label: String
    ) {
      (self.side, self.table, self.key, self.join) = (side, table, key, join)
      (self.own, self.member, self.members, self.place, self.label) = (own, member, members, place, label)
    }
  }

  /// A to-one relationship whose objects can be of entities that only one of the models has: two columns of keys.
  /// Programs with the other model find no object there.
  package struct Reference: Sendable, Equatable {
    /// The columns of one of the models.
    package struct Place: Sendable, Equatable {
      package let key: String
      /// The column with the entity numbers of the keys' rows; nil if they are of one entity.
      package let number: String?

      package init(key: String, number: String?) { (self.key, self.number) = (key, number) }

      package var columns: [String] { [key, number].compactMap { $0 } }
    }

    package let table: String
    package let first: Place
    package let second: Place
    /// The entity numbers that one of the models doesn't have.
    package let unknownToFirst: [Int]
    package let unknownToSecond: [Int]
    /// The entity number of the keys in a model without a column of numbers.
    package let number: Int

    package init(
      table: String, first: Place, second: Place, unknownToFirst: [Int], unknownToSecond: [Int], number: Int
    ) {
      (self.table, self.first, self.second, self.number) = (table, first, second, number)
      (self.unknownToFirst, self.unknownToSecond) = (unknownToFirst, unknownToSecond)
    }
  }

  /// A column of the second model in which one of the models requires a value.
  ///
  /// If the first does, programs with the second can't store a missing value as long as both are served. If the second
  /// does, programs with the first still can, and the store can't be contracted as long as a value is missing.
  package struct RequiredValue: Sendable, Equatable {
    package let side: Side
    package let table: String
    package let column: String
    /// The entity numbers of the rows; nil for all rows of the table.
    package let numbers: [Int]?
    package let entity: String
    package let property: String

    package init(_ side: Side, table: String, column: String, numbers: [Int]?, entity: String, property: String) {
      (self.side, self.table, self.column, self.numbers) = (side, table, column, numbers)
      (self.entity, self.property) = (entity, property)
    }
  }

  /// A column with the positions of members that programs with only one of the models assign. Others add members at the
  /// end.
  package struct Positions: Sendable, Equatable {
    /// A table of entities or a join table.
    package let table: String
    package let owner: String
    package let member: String
    package let place: String

    package init(table: String, owner: String, member: String, place: String) {
      (self.table, self.owner, self.member, self.place) = (table, owner, member, place)
    }
  }

  /// An index of the second model.
  package struct NewIndex: Sendable, Equatable {
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
  package var composites: [Composite] = []
  package var fills: [Fill] = []
  package var joins: [JoinPair] = []
  package var keyJoins: [KeyJoin] = []
  package var references: [Reference] = []
  package var formulas: [Formula] = []
  package var required: [RequiredValue] = []
  package var positions: [Positions] = []
  /// New derived attributes.
  package var derived: [DerivedColumn] = []
  package var keys: [ForeignKeyDefinition] = []
  package var indexes: [NewIndex] = []
  /// The entity numbers that the first model doesn't have, of rows in tables that it has.
  package var unknownToFirst: [Int] = []

  package init() {}
}

extension OnlineExpansion {
  /// The tables whose older rows get values in the places of the second model.
  package var backfilledTables: [String] {
    let filled = fills.filter { $0.side == .second }.map(\.table)
    let computed = formulas.filter { $0.side == .second }.map(\.table)
    let parts = composites.filter { !$0.second.parts.isEmpty }.map(\.table)
    return Set(pairs.map(\.table) + references.map(\.table) + filled + computed + parts).sorted()
  }

  /// The positions that only the second model has.
  package var secondPositions: [Positions] {
    positions.filter { position in
      columns.contains { $0.table == position.table && $0.column.name == position.place }
    }
  }

  /// The tables that get triggers.
  var triggeredTables: [String] {
    let copied = pairs.map(\.table) + references.map(\.table) + formulas.map(\.table) + composites.map(\.table)
    return Set(copied + fills.map(\.table) + positions.map(\.table)).sorted()
  }
}

/// The places to delete at the end of an online migration, when the store has one model again.
package struct OnlineRemains: Sendable {
  package var indexes: [String] = []
  package var columns: [(table: String, column: String)] = []
  package var tables: [String] = []
  /// The final names of indexes by their present ones.
  package var finalNames: [String: String] = [:]

  package init() {}

  /// The tables that change.
  func tables(in schema: StoreSchema) -> [String] {
    let names = Set((indexes + finalNames.keys).map(ServerText.name))
    return (tables + columns.map(\.table)).filter { schema.table(named: $0) != nil }
      + schema.indexes.filter { names.contains(ServerText.name($0.name)) }.map(\.table)
  }
}

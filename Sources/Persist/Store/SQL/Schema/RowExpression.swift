/// The new value of a column, computed from other columns of its row.
package indirect enum RowExpression: Sendable, Equatable {
  case column(String)
  case constant(SQLValue)
  /// A default for null values of the expression.
  case filled(RowExpression, with: SQLValue)
  /// An expression for rows in which one of some columns has a value, and a constant for the others.
  case ifPresent([String], RowExpression, otherwise: SQLValue)
  /// Different expressions for the rows of some entities.
  case byEntity([EntityCase], otherwise: RowExpression)
  /// An entity number mapped to the store's new numbers. A number without a mapping is unchanged.
  case renumbered(String, [Int: Int])
  /// Plain bytes, converted to the form of a column that allows external storage.
  case marked(String)
  /// Bytes from a column that allows external storage, converted to plain bytes.
  case unmarked(String)
  /// A key increased by an offset, for the target store.
  case shifted(String, by: Int64)
  /// A key increased by an offset if its row is of one of some entities; otherwise null.
  case found(String, by: Int64, in: String, entityNumbers: [Int])

  package struct EntityCase: Sendable, Equatable {
    /// `Z_ENT` of the rows, by the table's numbers at that time.
    package let numbers: [Int]
    package let value: RowExpression

    package init(numbers: [Int], value: RowExpression) {
      self.numbers = numbers
      self.value = value
    }
  }

  /// Whether the value is that of one column, unchanged.
  package var isColumn: Bool { if case .column = self { true } else { false } }
}

/// A selection of a table's rows; all rows by default.
package struct RowCondition: Sendable, Equatable {
  /// The entity numbers of the rows; nil for all.
  package var entityNumbers: [Int]?
  /// Columns in which the rows are null.
  package var missing: [String] = []
  /// Tests that the rows pass.
  package var tests: [IndexDefinition.Condition] = []

  package init(entityNumbers: [Int]? = nil, missing: [String] = []) {
    self.entityNumbers = entityNumbers
    self.missing = missing
  }

  package static let all = RowCondition()
  package static func entities(_ numbers: [Int]?) -> RowCondition { RowCondition(entityNumbers: numbers) }
}

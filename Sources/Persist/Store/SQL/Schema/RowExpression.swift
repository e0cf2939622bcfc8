/// What a column gets, told by the other columns of its row.
indirect enum RowExpression: Sendable, Hashable {
  case column(String)
  case constant(SQLValue)
  /// A constant where the expression has no value.
  case filled(RowExpression, with: SQLValue)
  /// Another expression for the rows of some entities.
  case byEntity([EntityCase], otherwise: RowExpression)
  /// An entity number, by the store's new numbers. A number that isn't among them stays.
  case renumbered(String, [Int: Int])
  /// Bytes that stood alone in their column, in the form of a column that allows external storage.
  case marked(String)
  /// Bytes from a column that allows external storage, alone.
  case unmarked(String)
  /// A key that is so much greater in the store that it goes to.
  case shifted(String, by: Int64)
  /// The same, where the row that it leads to is of one of some entities; else no value.
  case found(String, by: Int64, in: String, entityNumbers: [Int])

  struct EntityCase: Sendable, Hashable {
    /// `Z_ENT` of the rows, by the numbers that the table has at that moment.
    let numbers: [Int]
    let value: RowExpression
  }
}

/// Which rows of a table are meant; all where it says nothing.
struct RowCondition: Sendable, Hashable {
  /// Rows of these entity numbers; nil for every number.
  var entityNumbers: [Int]?
  /// Rows without a value in this column.
  var missing: String?

  static let all = RowCondition()
  static func entities(_ numbers: [Int]?) -> RowCondition { RowCondition(entityNumbers: numbers) }
}

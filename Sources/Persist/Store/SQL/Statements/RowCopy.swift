/// The rows of one entity to copy from a store to another, which is attached to the connection as
/// ``SQLText/copySchema``.
struct RowCopy: Sendable, Hashable {
  /// The value of a column in the copy.
  enum Value: Sendable, Hashable {
    case expression(RowExpression)
    /// The result of a predicate translation, in which the source's row is ``SQLText/RowSelection/root``.
    case term(SQLTerm)
  }

  struct Column: Sendable, Hashable {
    let name: String
    let value: Value

    init(_ name: String, _ value: RowExpression) {
      self.name = name
      self.value = .expression(value)
    }

    init(_ name: String, _ value: Value) {
      self.name = name
      self.value = value
    }
  }

  let source: String
  /// `Z_ENT` of the rows.
  let number: Int
  /// An additional condition on the rows, which are ``SQLText/RowSelection/root`` in it; nil for all.
  let condition: SQLTerm?
  let target: String
  let columns: [Column]
}

/// The pairs of a relationship to copy from a store to another.
struct PairCopy: Sendable, Hashable {
  /// The rows at one end.
  struct End: Sendable, Hashable {
    /// The table in the source, and `Z_ENT` of the rows there; nil for every row of the table.
    let source: String
    let sourceNumber: Int?
    /// The table in the copy, and `Z_ENT` of the rows there.
    let target: String
    let targetNumber: Int
    /// The offset added to keys in the copy.
    let offset: Int64
    /// Whether every row of the source exists in the copy, so that no lookup is needed.
    let isComplete: Bool
  }

  /// The destination of the pairs.
  enum Target: Sendable, Hashable {
    case join(table: String, owner: String, member: String, place: String?, inversePlace: String?)
    /// The owner's row gets the member's key.
    case ownerKey(column: String, place: String?)
    /// The member's row gets the owner's key.
    case memberKey(column: String, place: String?)
  }

  let pairs: PairSource
  let owner: End
  let member: End
  let target: Target
}

/// Columns unknown to the model that are preserved in a copy of their table.
struct ColumnCopy: Sendable, Hashable {
  struct Column: Sendable, Hashable {
    let old: String
    let new: String
  }

  let source: String
  let target: String
  let columns: [Column]
  /// `Z_ENT` in the source of the rows that keep their key in the copy.
  let entityNumbers: [Int]
}

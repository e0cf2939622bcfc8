/// Rows of one entity that go from a store into another, which is attached to the connection as
/// ``SQLText/copySchema``.
struct RowCopy: Sendable, Hashable {
  /// What a column of the copy gets.
  enum Value: Sendable, Hashable {
    case expression(RowExpression)
    /// What a translation made; the source's row is ``SQLText/RowSelection/root`` in it.
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
  /// A further condition on the rows, which are ``SQLText/RowSelection/root`` in it; nil for all.
  let condition: SQLTerm?
  let target: String
  let columns: [Column]
}

/// The pairs of a relationship that go from a store into another.
struct PairCopy: Sendable, Hashable {
  /// The rows at one end.
  struct End: Sendable, Hashable {
    /// The table in the source, and `Z_ENT` of the rows there; nil where every row of the table is meant.
    let source: String
    let sourceNumber: Int?
    /// The table in the copy, and `Z_ENT` of the rows there.
    let target: String
    let targetNumber: Int
    /// How much greater keys are in the copy.
    let offset: Int64
    /// Whether every row of the source has its row in the copy, so that it needn't be looked for.
    let isComplete: Bool
  }

  /// Where the pairs go.
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

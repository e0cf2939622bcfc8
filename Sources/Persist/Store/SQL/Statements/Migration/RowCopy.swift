/// The rows of one entity to copy from a store to another, which is attached to the connection as
/// ``SQLText/copySchema``.
package struct RowCopy: Sendable, Equatable {
  /// The value of a column in the copy.
  package enum Value: Sendable, Equatable {
    case expression(RowExpression)
    /// The result of a predicate translation, in which the source's row is ``SQLText/RowSelection/root``.
    case term(SQLTerm)
  }

  package struct Column: Sendable, Equatable {
    let name: String
    let value: Value

    package init(_ name: String, _ value: RowExpression) {
      self.name = name
      self.value = .expression(value)
    }

    package init(_ name: String, _ value: Value) {
      self.name = name
      self.value = value
    }
  }

  package let source: String
  /// `Z_ENT` of the rows.
  package let number: Int
  /// An additional condition on the rows, which are ``SQLText/RowSelection/root`` in it; nil for all.
  package let condition: SQLTerm?
  package let target: String
  package let columns: [Column]

  package init(source: String, number: Int, condition: SQLTerm?, target: String, columns: [Column]) {
    self.source = source
    self.number = number
    self.condition = condition
    self.target = target
    self.columns = columns
  }
}

/// The pairs of a relationship to copy from a store to another.
package struct PairCopy: Sendable, Equatable {
  /// The rows at one end.
  package struct End: Sendable, Equatable {
    /// The table in the source, and `Z_ENT` of the rows there; nil for every row of the table.
    package let source: String
    package let sourceNumber: Int?
    /// The table in the copy, and `Z_ENT` of the rows there.
    package let target: String
    package let targetNumber: Int
    /// The offset added to keys in the copy.
    package let offset: Int64
    /// Whether every row of the source exists in the copy, so that no lookup is needed.
    package let isComplete: Bool

    package init(
      source: String, sourceNumber: Int?, target: String, targetNumber: Int, offset: Int64, isComplete: Bool
    ) {
      self.source = source
      self.sourceNumber = sourceNumber
      self.target = target
      self.targetNumber = targetNumber
      self.offset = offset
      self.isComplete = isComplete
    }
  }

  /// The destination of the pairs.
  package enum Target: Sendable, Equatable {
    case join(table: String, owner: String, member: String, place: String?, inversePlace: String?)
    /// The owner's row gets the member's key.
    case ownerKey(column: String, place: String?)
    /// The member's row gets the owner's key.
    case memberKey(column: String, place: String?)
  }

  package let pairs: PairSource
  package let owner: End
  package let member: End
  package let target: Target

  package init(pairs: PairSource, owner: End, member: End, target: Target) {
    self.pairs = pairs
    self.owner = owner
    self.member = member
    self.target = target
  }
}

/// Columns unknown to the model that are preserved in a copy of their table.
package struct ColumnCopy: Sendable, Equatable {
  package struct Column: Sendable, Equatable {
    package let old: String
    package let new: String

    package init(old: String, new: String) {
      self.old = old
      self.new = new
    }
  }

  package let source: String
  package let target: String
  package let columns: [Column]
  /// `Z_ENT` in the source of the rows that keep their key in the copy.
  package let entityNumbers: [Int]

  package init(source: String, target: String, columns: [Column], entityNumbers: [Int]) {
    self.source = source
    self.target = target
    self.columns = columns
    self.entityNumbers = entityNumbers
  }
}

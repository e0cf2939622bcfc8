extension CheckStep {
  /// One row that a step of a check selects.
  package struct Finding {
    /// The key of the affected row.
    package let row: Int64
    package let entityNumber: Int64
    /// The two values of the description.
    package let values: (SQLValue, SQLValue)

    package init(row: Int64, entityNumber: Int64, values: (SQLValue, SQLValue)) {
      self.row = row
      self.entityNumber = entityNumber
      self.values = values
    }
  }
}

/// Rows that a store inserts without objects being made for them.
struct BatchInsert {
  /// What happens to a row whose unique values another row has already.
  enum Conflict: Sendable, Hashable {
    /// The whole batch fails.
    case fail
    /// The stored row stays as it is.
    case keepStored
    /// The stored row takes the values that were given for the new one.
    case updateGiven
    /// The stored row takes every value of the new one, defaults included.
    case overwrite
  }

  let entity: Entity
  let conflict: Conflict
  let wantsIdentifiers: Bool
  /// Fills the next row, whose values are the model's defaults before; false where there is none.
  let next: (inout BatchInsertRow) throws -> Bool
}

/// Columns of rows that a store changes without objects being made for them.
struct BatchUpdate {
  /// Which rows; without an order or a limit.
  let rows: RowQuery
  /// Property slots with what is computed for each row.
  let changes: [(slot: Int, value: FetchExpression)]
  let wantsIdentifiers: Bool
}

/// Rows that a store deletes without objects being made for them.
struct BatchDelete {
  let rows: RowQuery
  let wantsIdentifiers: Bool
}

/// What a batch did to one store.
struct BatchOutcome: Sendable {
  var count = 0
  /// Identifiers where they were asked for; of deleted rows those that went by delete rules too.
  var changes = SavedChanges()
}

/// Rows that a store inserts without creating objects.
package struct BatchInsert {
  /// The handling of a row that violates a uniqueness constraint.
  package enum Conflict: Sendable, Equatable {
    /// The whole batch fails.
    case fail
    /// The stored row remains unchanged.
    case keepStored
    /// The stored row gets the values that were set for the new one.
    case updateGiven
    /// The stored row gets every value of the new one, including defaults.
    case overwrite
  }

  package let entity: Entity
  package let conflict: Conflict
  package let wantsIdentifiers: Bool
  /// The author of the changes, for the history.
  package var origin: HistoryOrigin?
  /// Fills the next row, which is initialized with the model's defaults; returns false if there are no more rows.
  package let next: (inout BatchInsertRow) throws -> Bool
}

/// Columns of rows that a store updates without creating objects.
package struct BatchUpdate {
  /// The rows to update; without an order or a limit.
  package let rows: RowQuery
  /// The changed property slots with the expressions to compute for each row.
  package let changes: [(slot: Int, value: FetchExpression)]
  package let wantsIdentifiers: Bool
  /// The author of the changes, for the history.
  package var origin: HistoryOrigin?

  /// The changed slots of required attributes whose new values are computed, and so may be null.
  package var computedRequiredSlots: [Int] {
    changes.filter { $0.value.constantValue == nil && rows.entity.properties[$0.slot].attribute?.isOptional == false }
      .map(\.slot)
  }
}

/// Rows that a store deletes without creating objects.
package struct BatchDelete {
  package let rows: RowQuery
  package let wantsIdentifiers: Bool
  /// The author of the changes, for the history.
  package var origin: HistoryOrigin?
}

/// The result of a batch in one store.
package struct BatchOutcome: Sendable {
  package var count = 0
  /// The identifiers, if requested; for deletes including rows deleted by delete rules.
  package var changes = SavedChanges()

  package init(count: Int = 0, changes: SavedChanges = SavedChanges()) {
    self.count = count
    self.changes = changes
  }

  /// Adds the identifier of a written row.
  package mutating func record(_ key: Int64, of entity: Entity, inStore identifier: String, isNew: Bool) {
    let id = ManagedObjectID(entityName: entity.name, storeIdentifier: identifier, key: .permanent(key))
    if isNew { changes.insertedObjectIDs.insert(id) } else { changes.updatedObjectIDs.insert(id) }
  }
}

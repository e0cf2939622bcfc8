package import Foundation

/// Errors about rows that every engine throws.
extension PersistenceError {
  @inline(never)
  package static func foreignEntity(_ entity: Entity) -> PersistenceError {
    PersistenceError(
      .unknownEntity, at: .entity(entity.name), "The entity belongs to a model other than the store's.",
      fix: "Use the entity of the coordinator's model.")
  }

  /// - Parameter name: The name of the entity to which a relationship leads.
  @inline(never)
  package static func unknownDestination(_ name: String) -> PersistenceError {
    PersistenceError(
      .unknownEntity, at: .entity(name), "A relationship leads to an entity that the model doesn't have.")
  }

  @inline(never)
  package static func missingPlace(ofRelationshipAt slot: Int, of entity: Entity) -> PersistenceError {
    PersistenceError(
      .invalidRequest, at: .property(entity.name, entity.properties[slot].name),
      "The store has no column or table for the relationship.", fix: "Migrate the store to the model.")
  }

  @inline(never)
  package static func noKeyLeft(for entity: Entity, at url: URL?) -> PersistenceError {
    PersistenceError(
      .storeDamaged, at: Place(entity: entity.name, store: url), "All keys for new objects are used up.",
      fix: "Correct the store's key counters.")
  }

  /// The error for a value that isn't of its column's type.
  @inline(never)
  package static func mismatch(
    _ value: StoredValue, in column: WritePlan.Column, of entity: Entity, row: Int64, at url: URL?
  ) -> PersistenceError {
    let name = entity.properties[column.slot].name
    return PersistenceError(
      .typeMismatch, at: Place(entity: entity.name, property: name, row: row, store: url),
      "'\(name)' can't hold \(value).", fix: "Give it a value of its type.")
  }

  /// The error for a violated uniqueness constraint.
  ///
  /// - Parameters:
  ///   - names: The names of the constraint's properties.
  ///   - values: Their values in words.
  @inline(never)
  package static func notUnique(
    _ values: String, of names: [String], _ entity: Entity, row: Int64? = nil, at url: URL?,
    engineMessage: String? = nil
  ) -> PersistenceError {
    let names = names.joined(separator: ", ")
    return PersistenceError(
      .constraintConflict, at: Place(entity: entity.name, property: names, row: row, store: url),
      "Another \(entity.root.name) has \(values) for \(names) already, but it must be unique.",
      engineMessage: engineMessage, fix: "Change one of the two objects, or delete it.")
  }

  @inline(never)
  package static func tooLarge(row: Int64, of entity: Entity) -> PersistenceError {
    PersistenceError(
      .limitExceeded, at: Place(entity: entity.name, row: row), "The values of a row take more than 2 GB.",
      fix: "Store values of this size outside the store.")
  }

  /// The error for an expression that a batch update can't compute.
  @inline(never)
  package static func notComputable(
    _ expression: FetchExpression, for column: WritePlan.Column, of entity: Entity
  ) -> PersistenceError {
    let name = entity.properties[column.slot].name
    return PersistenceError(
      .invalidRequest, at: .property(entity.name, name),
      "A store can't compute '\(ValueWords.format(expression))' for '\(name)'.",
      fix: "Use a value, or an expression of the attribute's type that SQL can compute, or change the objects.")
  }

  @inline(never)
  package static func readOnly(_ url: URL?, withDeferredSteps count: Int) -> PersistenceError {
    PersistenceError(
      .storeReadOnly, at: .store(url),
      "The store was opened for reading only and has \(count) deferred migration steps.",
      fix: "Open it without isReadOnly to finish its migration.")
  }
}

extension RowQuery {
  /// Refuses a query whose limits no store can follow.
  package func requireValidLimits() throws {
    guard afterKey == nil || sort.isEmpty else {
      throw PersistenceError(
        .invalidRequest, at: .entity(entity.name), "Rows after a key can only be read in key order.",
        fix: "Omit the sort order, or page by offset.")
    }
    guard limit ?? 0 >= 0, offset >= 0 else {
      throw PersistenceError(
        .invalidRequest, at: .entity(entity.name), "A limit or an offset can't be negative.",
        fix: "Omit the limit to get all rows.")
    }
  }
}

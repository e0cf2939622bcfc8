package import Foundation

/// The check that each row of a batch insert has a value for every required attribute.
package struct RequiredValues {
  private let entity: Entity
  private let slots: [Int]

  package init(of entity: Entity) {
    self.entity = entity
    slots = entity.properties.compactMap { property in
      guard let attribute = property.attribute, !attribute.isOptional, !attribute.isDerived, !attribute.isTransient
      else { return nil }
      return property.slot
    }
  }

  /// - Parameter number: The number of the row in the batch, from 1, for the message.
  /// - Throws: ``PersistenceError/Code/validationMissingRequired``.
  package func check(_ row: BatchInsertRow, number: Int) throws {
    for slot in slots where row.values.isNull(at: slot) {
      let name = entity.properties[slot].name
      throw PersistenceError(
        .validationMissingRequired, at: .property(entity.name, name),
        "Row \(number) of a batch has no value for '\(name)', which is required.",
        fix: "Give it a value, or give the attribute a default.")
    }
  }
}

extension PersistenceError {
  /// The error for a batch update whose expression has no value for a row that has one.
  package static func missingRequired(
    _ property: String, of entity: Entity, row key: Int64, store url: URL?
  ) -> PersistenceError {
    PersistenceError(
      .validationMissingRequired, at: Place(entity: entity.name, property: property, row: key, store: url),
      "The new value of '\(property)', which is required, is nil for at least one row.",
      fix: "Exclude such rows by a predicate, or give them a value by a TERNARY expression.")
  }
}

package import Foundation

/// Decodes the slots of rows into the values of properties, for work that makes no objects.
package struct RowDecoder {
  private let model: ManagedObjectModel
  private let storeIdentifier: String
  private let externalData: (_ name: String) throws -> Data

  /// - Parameters:
  ///   - storeIdentifier: The store of the identifiers in to-one relationships.
  ///   - externalData: Reads the content of a file beside the store.
  package init(
    _ model: ManagedObjectModel, storeIdentifier: String, externalData: @escaping (_ name: String) throws -> Data
  ) {
    self.model = model
    self.storeIdentifier = storeIdentifier
    self.externalData = externalData
  }

  /// The values of attributes and to-one relationships.
  func values(_ row: RowSnapshot, of entity: Entity) throws -> SlotValues {
    var values = SlotValues()
    for property in entity.properties { values[property.slot] = try value(of: property, row, of: entity) }
    return values
  }

  /// The value of an attribute or a to-one relationship; nil for other and for transient properties.
  package func value(of property: Property, _ row: RowSnapshot, of entity: Entity) throws -> StoredValue? {
    guard !property.isTransient else { return nil }
    switch property.kind {
    case .attribute(let attribute):
      return attribute.type == .composite
        ? try composite(property, row, of: entity)
        : try value(at: property.slot, SlotForm(attribute), row, of: entity)
    case .relationship(let relationship) where !relationship.isToMany:
      return reference(property, by: relationship, in: row, of: entity)
    case .relationship, .fetchedProperty: return nil
    }
  }

  private func value(at slot: Int, _ form: SlotForm, _ row: RowSnapshot, of entity: Entity) throws -> StoredValue {
    if form == .externalData, !row.isNull(slot, of: entity.rowSlotCount),
      case .file(let name) = row.externalContent(slot)
    {
      return .data(try externalData(name))
    }
    return row.value(slot, as: form, slotCount: entity.rowSlotCount)
  }

  private func composite(_ property: Property, _ row: RowSnapshot, of entity: Entity) throws -> StoredValue {
    var value = StoredValue.null
    for element in property.elements where !element.attribute.isTransient {
      let part = try self.value(at: element.slot, SlotForm(element.attribute), row, of: entity)
      if !part.isNull { value = value.replacing(element.path.dropFirst(), with: part) }
    }
    return value
  }

  private func reference(
    _ property: Property, by relationship: RelationshipDescription, in row: RowSnapshot, of entity: Entity
  ) -> StoredValue {
    guard !row.isNull(property.slot, of: entity.rowSlotCount), row.integer(property.slot) != 0 else { return .null }
    var destination = model.destination(of: relationship)
    if let slot = property.entityNumberSlot, !row.isNull(slot, of: entity.rowSlotCount) {
      let index = Int(row.integer(slot)) - 1
      if model.entities.indices.contains(index) { destination = model.entities[index] }
    }
    return .objectID(
      ManagedObjectID(
        entityName: destination.name, storeIdentifier: storeIdentifier, key: .permanent(row.integer(property.slot))))
  }
}

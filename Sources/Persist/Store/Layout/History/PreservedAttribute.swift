import Foundation

/// An attribute whose value the history keeps when its object is deleted.
///
/// The history has as many columns for such values as the entity with the most of them needs. Each entity uses them
/// from the first, in the order of ``ChangedColumns``. A column contains what the attribute's own column contained.
package struct PreservedAttribute: Sendable, Equatable {
  package let name: String
  package let slot: Int
  /// The column of the entity's table.
  package let column: String
  package let type: TableMap.ColumnType
  package let attribute: AttributeDescription
  /// Whether only the other one of two models that the store serves preserves the attribute.
  package private(set) var isOfOtherModel = false

  /// The attribute for programs with a model that doesn't preserve it.
  var ofOtherModel: PreservedAttribute {
    var attribute = self
    attribute.isOfOtherModel = true
    return attribute
  }

  /// The preserved attributes of an entity. Composite attributes have no column of their own and can't be preserved.
  package static func all(of entity: Entity, in map: TableMap) -> [PreservedAttribute] {
    let table = map[entity]
    return entity.properties.compactMap { property in
      guard let attribute = property.attribute, attribute.preservesValueOnDeletion, attribute.type != .composite,
        let column = table.column(slot: property.slot)
      else { return nil }
      return PreservedAttribute(
        name: property.name, slot: property.slot, column: column.name, type: column.type, attribute: attribute)
    }
  }
}

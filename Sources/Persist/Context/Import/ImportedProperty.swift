/// A property of the entity that declares it. Subentities have it in the same slot.
struct ImportedProperty: Hashable {
  private let entity: String
  private let slot: Int

  init(_ property: Property) { (entity, slot) = (property.declaringEntity, property.slot) }
}

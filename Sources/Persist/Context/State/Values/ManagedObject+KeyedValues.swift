/// Lookups by prepared names, for modules whose accessors know a property's name and not its slot.
extension ManagedObject {
  /// Returns the slot of a stored attribute; nil if the entity has no such attribute or it has another type.
  package final func attributeSlot(of key: PropertyKey, as type: AttributeType) -> Int? {
    withLayout { layout in
      guard let slot = layout.slot(of: key), let found = layout.plainType(slot), found == type else { return nil }
      return slot
    }
  }

  /// Returns the slot of a relationship; nil if the entity has no such relationship, or the object has no context.
  package final func relationshipSlot(of key: PropertyKey, isToMany: Bool) -> Int? {
    withLayout { layout in
      guard let slot = layout.slot(of: key) else { return nil }
      return switch layout.kinds[slot] {
      case .toMany: isToMany && layout.relationshipsBySlot[slot] != nil ? slot : nil
      case .toOne: !isToMany && layout.relationshipsBySlot[slot] != nil ? slot : nil
      case .attribute, .composite, .transient, .transientToMany, .fetched: nil
      }
    }
  }

  /// Whether the object belongs to a child context, whose reads reach into its parent.
  package final var hasParentContext: Bool {
    tableReference?._withUnsafeGuaranteedRef { $0.context.parent != nil } ?? false
  }
}

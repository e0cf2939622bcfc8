import Foundation

/// A relationship with the facts needed to keep both of its sides consistent.
///
/// A class, so that passing it costs one reference count.
final class RelationshipLayout: Sendable {
  let name: String
  let slot: Int
  let isToMany: Bool
  let isOrdered: Bool
  let isTransient: Bool
  let deleteRule: DeleteRule
  /// The index of the destination in ``ManagedObjectModel/entities``.
  let destinationIndex: Int
  /// The row slot of the destination's entity number.
  let entityNumberSlot: Int?
  let inverse: Inverse?
  /// Whether a save writes added and removed members of this relationship as links: true for a to-many relationship,
  /// but for only one side of a many-to-many pair.
  let writesLinks: Bool
  /// Whether the relationship is its own inverse, such as one between friends.
  let isOwnInverse: Bool

  /// Whether the delete rule leaves the other ends unchanged.
  var leavesOthersAlone: Bool { deleteRule == .deny || deleteRule == .noAction }

  /// The inverse relationship.
  struct Inverse: Sendable {
    let name: String
    let slot: Int
    let isToMany: Bool
  }

  init?(_ property: Property, in model: ManagedObjectModel) {
    guard let relationship = property.relationship else { return nil }
    let destination = model.destination(of: relationship)
    let back = relationship.inverse.flatMap { destination.property(named: $0) }
    name = relationship.name
    slot = property.slot
    isToMany = relationship.isToMany
    isOrdered = relationship.isOrdered
    isTransient = relationship.isTransient
    deleteRule = relationship.deleteRule
    destinationIndex = destination.index
    entityNumberSlot = property.entityNumberSlot
    inverse = back.flatMap { back in
      back.relationship.map { Inverse(name: back.name, slot: back.slot, isToMany: $0.isToMany) }
    }
    isOwnInverse = back.map { $0.declaringEntity == property.declaringEntity && $0.name == property.name } ?? false
    if let back, let backward = back.relationship {
      writesLinks =
        relationship.isToMany && backward.isToMany
        && (property.declaringEntity, property.name) <= (back.declaringEntity, back.name)
    } else {
      writesLinks = relationship.isToMany
    }
  }
}

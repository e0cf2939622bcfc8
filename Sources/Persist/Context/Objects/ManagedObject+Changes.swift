import Foundation
import OrderedCollections

extension ManagedObject {
  /// The names of the persistent properties that differ from what the store has, or from nothing for a new object.
  public final var changedPropertyNames: [String] {
    layout.properties.indices.filter { isChanged(at: $0) }.map { layout.properties[$0].name }
  }

  /// The persistent properties that differ from what the store has, by name: attributes, objects of to-one
  /// relationships, identifiers of to-many ones.
  public final func changedValues() -> [String: Any?] {
    var values: [String: Any?] = [:]
    for property in layout.properties where isChanged(at: property.slot) {
      if let relationship = layout.relationshipsBySlot[property.slot], relationship.isToMany {
        values[property.name] = .some(memberIDs(of: relationship).elements)
      } else if property.isToOne {
        values[property.name] = .some(toOne(at: property.slot))
      } else {
        values[property.name] = .some(DynamicConversion.any(attributeValue(at: property.slot)))
      }
    }
    return values
  }

  /// What the store has of some properties: attributes, and identifiers for relationships; nothing for a new object.
  ///
  /// - Parameter names: of stored properties; nil for all of them. Others are left out.
  public final func committedValues(forKeys names: [String]? = nil) -> [String: Any?] {
    if loading == .fault { fulfil() }
    var values: [String: Any?] = [:]
    for property in layout.properties where !property.isTransient && names?.contains(property.name) != false {
      if let relationship = layout.relationshipsBySlot[property.slot], relationship.isToMany {
        _ = memberIDs(of: relationship)
        values[property.name] = .some(members(of: relationship).base?.elements ?? [])
      } else {
        values[property.name] = .some(DynamicConversion.any(committedValue(at: property.slot)))
      }
    }
    return values
  }

  /// Whether a to-many relationship differs from what the store has.
  final var hasChangedMembers: Bool {
    guard !toManys.isEmpty else { return false }
    return layout.kinds.indices.contains { layout.kinds[$0] == .toMany && toManys[$0]?.hasChanges == true }
  }

  /// Whether the object's only changes are members that left it.
  final var onlyLosesMembers: Bool {
    pending.isEmpty && toManys.allSatisfy { $0.map { $0.added.isEmpty && !$0.isReordered } ?? true }
  }

  /// Whether the members of a to-many relationship weren't read yet; for a to-one, whether the other end is a fault.
  public final func hasFault(forRelationshipNamed name: String) -> Bool {
    guard let property = layout.entity.property(named: name), property.relationship != nil else { return false }
    guard property.isToMany else {
      return toOne(at: property.slot)?.isFault ?? false
    }
    return toManys.isEmpty || toManys[property.slot]?.current == nil
  }

  /// Whether a save would write anything of the object; changes of transient attributes alone don't count.
  public final var hasPersistentChangedValues: Bool {
    change == .inserted || change == .deleted || layout.kinds.indices.contains { isChanged(at: $0) }
  }
}

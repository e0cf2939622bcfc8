/// The parked values that a migration restores and that checks of rows must take into account.
package struct ParkedReturn: Sendable {
  /// Whether the values aren't in the store that is migrated, but in the one that it will replace, where they have been
  /// checked and are restored afterward.
  var isElsewhere = false
  /// The parked objects of one entity.
  struct Objects: Sendable {
    let slot: Int
    /// The entity that they become.
    let entity: String
    /// The slots of their parked values, by the columns of the new layout.
    let values: [String: Int]
  }

  /// A property of the new model: a relationship by the entity that declares it, an attribute by the exact entity.
  struct Property: Sendable, Hashable {
    let entity: String
    let name: String
  }

  var objects: [Objects] = []
  /// The slots of parked values.
  var values: [Property: [ParkedSlot]] = Dictionary()
  /// The slots of parked pairs, whose owners are objects with the relationship.
  var pairs: [Property: [Int]] = Dictionary()
}

extension ParkedReturn {
  /// The properties whose values and pairs return, as `Entity.property`, of the entities and of all their parents.
  func names(in model: ManagedObjectModel) -> Set<String> {
    var names: Set<String> = []
    for property in [Array(values.keys), Array(pairs.keys)].joined() {
      var line = model.entitiesByName[property.entity]
      while let entity = line {
        names.insert("\(entity.name).\(property.name)")
        line = entity.superentity
      }
    }
    return names
  }
}

extension TableMapBuilder {
  /// The columns of one hierarchy's table by rule, in a store in which no table's name collides with another's.
  final class Hierarchy: Sendable {
    let builder: TableMapBuilder

    /// - Parameter owners: Other entities with columns in the table.
    init(_ root: Entity, owners: [Entity], in model: ManagedObjectModel, _ numbers: EntityNumbers) {
      let own = model.hierarchy(of: root)
      var builder = TableMapBuilder(
        model: model, numbers: numbers, tableOf: root, claimedBy: own + owners.filter { $0.root != root })
      builder.placeColumns()
      self.builder = builder
    }
  }

  /// By the index of a root entity: the entities with a to-many relationship without an inverse into its hierarchy,
  /// whose members' rows have a column for the owner.
  static func ownersWithoutInverse(in model: ManagedObjectModel) -> [[Entity]] {
    var owners: [[Entity]] = Array(repeating: [], count: model.entities.count)
    for entity in model.entities {
      for relationship in entity.description.relationships
      where relationship.isToMany && model.inverse(of: relationship) == nil {
        let root = model.destination(of: relationship).root.index
        if owners[root].last != entity { owners[root].append(entity) }
      }
    }
    return owners
  }
}

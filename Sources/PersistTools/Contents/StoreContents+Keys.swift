import Persist

extension StoreContents {
  /// Visits the objects of exactly an entity that have the given keys.
  func forEachObject(of entity: Entity, keys: [Int64], _ body: (Object) throws -> Void) throws {
    try forEachObject(
      keys.map {
        ManagedObjectID(entityName: entity.name, storeIdentifier: store.identifier, key: .permanent($0))
      }, body)
  }

  /// Returns those keys that objects of exactly an entity have.
  func keys(of entity: Entity, among keys: [Int64]) throws -> Set<Int64> {
    var found: Set<Int64> = []
    try forEachObject(of: entity, keys: keys) { found.insert($0.key) }
    return found
  }

  /// Returns the keys of related objects by the keys of objects of an entity and its subentities; nothing for objects
  /// that don't exist.
  ///
  /// - Parameter property: The relationship; nil for no related objects.
  func related(_ property: Property?, of entity: Entity, keys: [Int64]) throws -> [Int64: Set<Int64>] {
    var found: [Int64: Set<Int64>] = [:]
    for heir in model.hierarchy(of: entity) where !heir.isAbstract {
      let own = property.flatMap { heir.property(named: $0.name) }
      try forEachObject(of: heir, keys: keys) { found[$0.key] = try own.map($0.related) ?? [] }
    }
    return found
  }
}

extension StoreContents.Object {
  /// Returns the keys of the objects of a relationship.
  func related(_ property: Property) throws -> Set<Int64> {
    let isToMany = property.relationship?.isToMany == true
    let ids = isToMany ? try members(of: property) : [target(of: property)].compactMap { $0 }
    return Set(ids.compactMap(\.primaryKey))
  }
}

extension ModelRegistry? {
  /// Returns the version that a store has.
  func version(with contents: StoreContents) -> ModelVersion {
    self?.versions.first { $0.model.fingerprints == contents.model.fingerprints }
      ?? ModelVersion(name: contents.versionName ?? "", model: contents.model)
  }
}

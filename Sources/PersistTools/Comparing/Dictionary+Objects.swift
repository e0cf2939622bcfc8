import Persist

extension Dictionary where Key == Int64 {
  /// Collects the values of objects by key.
  ///
  /// - Throws: ``PersistenceError/Code/storeDamaged`` if a key occurs twice, as with a damaged index.
  init(_ objects: [(key: Int64, values: Value)], of entity: Entity, in store: any PersistentStore) throws {
    self.init(minimumCapacity: objects.count)
    for object in objects where updateValue(object.values, forKey: object.key) != nil {
      throw PersistenceError(
        .storeDamaged, at: PersistenceError.Place(entity: entity.name, row: object.key, store: store.url),
        "The store contains two objects with the same key.", fix: "Look for the damage with 'persist check'.")
    }
  }
}

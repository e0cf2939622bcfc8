/// New objects that left a context while it had children.
///
/// A child that brings one back, such as by undoing its deletion, brings back the same instance: undo managers and
/// programs may hold it.
struct DepartedObjects {
  private struct Departed {
    weak var object: ManagedObject?
  }

  private var objects: [ManagedObjectID: Departed] = Dictionary()
  /// The number of entries at which those of released objects are removed.
  private var limit = 64

  mutating func insert(_ object: ManagedObject) {
    if objects.count >= limit {
      objects = objects.filter { $0.value.object != nil }
      limit = max(limit, 2 * objects.count)
    }
    objects[object.objectID] = Departed(object: object)
  }

  /// Removes and returns the object with an identifier, if it still has no context.
  mutating func take(_ id: ManagedObjectID) -> ManagedObject? {
    guard let object = objects.removeValue(forKey: id)?.object, object.table == nil else { return nil }
    return object
  }
}

extension ManagedObjectContext {
  /// Removes a deleted object that has no row from the context.
  func detachNew(_ object: ManagedObject) {
    recordReferences(to: [object])
    graph.depart(object)
  }
}

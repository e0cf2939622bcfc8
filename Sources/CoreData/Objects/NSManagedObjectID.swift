public import Persist

/// The identifier of an object, which is Sendable and may be used on any queue.
public typealias NSManagedObjectID = ManagedObjectID

extension ManagedObjectID {
  /// The entity, of a model that is in use.
  public var entity: NSEntityDescription {
    let model = persistentStore?.persistentStoreCoordinator?.managedObjectModel
    if let entity = model?.entitiesByName[entityName] ?? EntityDescriptions.description(named: entityName) {
      return entity
    }
    let entity = NSEntityDescription()
    entity.name = entityName
    return entity
  }

  /// Whether another object is an equal identifier.
  public func isEqual(_ other: Any?) -> Bool { (other as? ManagedObjectID) == self }

  /// The hash.
  public var hash: Int { hashValue }

  /// Returns the identifier itself, which is immutable.
  public func copy() -> Any { self }

  /// The open store that contains the object; nil for an unsaved object.
  public var persistentStore: NSPersistentStore? { OpenStores.store(identifier: storeIdentifier) }
}

/// The stores that coordinators have open.
enum OpenStores {
  private static let stores = Locked<[String: Weak<NSPersistentStore>]>([:])

  static func add(_ store: NSPersistentStore) {
    stores.withLock { $0[store.identifier] = Weak(store) }
  }

  static func store(identifier: String) -> NSPersistentStore? {
    stores.withLock { $0[identifier]?.object }
  }
}

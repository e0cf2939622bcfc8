public import Foundation
import Persist

/// The key of the inserted objects, a set.
public let NSInsertedObjectsKey = "inserted"
/// The key of the updated objects, a set.
public let NSUpdatedObjectsKey = "updated"
/// The key of the deleted objects, a set.
public let NSDeletedObjectsKey = "deleted"
/// The key of objects that were refreshed, a set.
public let NSRefreshedObjectsKey = "refreshed"
/// The key of objects that were turned into faults, a set.
public let NSInvalidatedObjectsKey = "invalidated"
/// The key of all objects of a context that was reset, an array.
public let NSInvalidatedAllObjectsKey = "invalidatedAll"
/// The key of the inserted objects' identifiers, a set.
public let NSInsertedObjectIDsKey = "inserted_objectIDs"
/// The key of the updated objects' identifiers, a set.
public let NSUpdatedObjectIDsKey = "updated_objectIDs"
/// The key of the deleted objects' identifiers, a set.
public let NSDeletedObjectIDsKey = "deleted_objectIDs"
/// The key of the refreshed objects' identifiers, a set.
public let NSRefreshedObjectIDsKey = "refreshed_objectIDs"
/// The key of the identifiers of objects that were turned into faults, a set.
public let NSInvalidatedObjectIDsKey = "invalidated_objectIDs"
/// The key of the query generation that a save led to.
public let NSManagedObjectContextQueryGenerationKey = "newQueryGeneration"
/// The key of the history token of a save.
public let NSPersistentHistoryTokenKey = "historyToken"
/// The key of a store's URL.
public let NSPersistentStoreURLKey = "storeURL"
/// The key of a store's identifier, a string.
public let NSStoreUUIDKey = "NSStoreUUID"

extension Notification.Name {
  /// Posted when a context has processed pending changes.
  public static let NSManagedObjectContextObjectsDidChange =
    Notification.Name("NSObjectsChangedInManagingContextNotification")
  /// Posted before a context saves.
  public static let NSManagedObjectContextWillSave = Notification.Name("NSManagingContextWillSaveChangesNotification")
  /// Posted after a context has saved, with the objects.
  public static let NSManagedObjectContextDidSave = Notification.Name("NSManagingContextDidSaveChangesNotification")
  /// Posted after a context has saved, with the identifiers.
  public static let NSManagedObjectContextDidSaveObjectIDs =
    Notification.Name("NSManagedObjectContextDidSaveObjectIDsNotification")
  /// Posted after a context has merged changes, with the identifiers.
  public static let NSManagedObjectContextDidMergeChangesObjectIDs =
    Notification.Name("NSManagedObjectContextDidMergeChangesObjectIDsNotification")
  /// Posted before a coordinator's list of stores changes.
  public static let NSPersistentStoreCoordinatorStoresWillChange =
    Notification.Name("NSPersistentStoreCoordinatorStoresWillChangeNotification")
  /// Posted after a coordinator's list of stores has changed.
  public static let NSPersistentStoreCoordinatorStoresDidChange =
    Notification.Name("NSPersistentStoreCoordinatorStoresDidChangeNotification")
  /// Posted before a coordinator removes a store.
  public static let NSPersistentStoreCoordinatorWillRemoveStore =
    Notification.Name("NSPersistentStoreCoordinatorWillRemoveStoreNotification")
  /// Posted when another coordinator or process has changed a store.
  public static let NSPersistentStoreRemoteChange = Notification.Name("NSPersistentStoreRemoteChangeNotification")
}

/// The option that posts a notification of other coordinators' and processes' changes.
public let NSPersistentStoreRemoteChangeNotificationPostOptionKey = "NSPersistentStoreRemoteChangeNotificationOptionKey"

extension NSManagedObjectContext {
  /// Posted before a context saves.
  public static let willSaveObjectsNotification = Notification.Name.NSManagedObjectContextWillSave
  /// Posted after a context has saved, with the objects.
  public static let didSaveObjectsNotification = Notification.Name.NSManagedObjectContextDidSave
  /// Posted when a context has processed pending changes.
  public static let didChangeObjectsNotification = Notification.Name.NSManagedObjectContextObjectsDidChange
  /// Posted after a context has saved, with the identifiers.
  public static let didSaveObjectIDsNotification = Notification.Name.NSManagedObjectContextDidSaveObjectIDs
  /// Posted after a context has merged changes, with the identifiers.
  public static let didMergeChangesObjectIDsNotification =
    Notification.Name.NSManagedObjectContextDidMergeChangesObjectIDs

  /// The keys of the notifications' user information.
  public enum NotificationKey: String, Sendable {
    /// The context that posted it.
    case sourceContext
    /// The query generation that a save led to.
    case queryGeneration = "newQueryGeneration"
    /// All objects of a context that was reset.
    case invalidatedAllObjects = "invalidatedAll"
    /// The inserted objects.
    case insertedObjects = "inserted"
    /// The updated objects.
    case updatedObjects = "updated"
    /// The deleted objects.
    case deletedObjects = "deleted"
    /// The refreshed objects.
    case refreshedObjects = "refreshed"
    /// The objects that were turned into faults.
    case invalidatedObjects = "invalidated"
    /// The identifiers of the inserted objects.
    case insertedObjectIDs = "inserted_objectIDs"
    /// The identifiers of the updated objects.
    case updatedObjectIDs = "updated_objectIDs"
    /// The identifiers of the deleted objects.
    case deletedObjectIDs = "deleted_objectIDs"
    /// The identifiers of the refreshed objects.
    case refreshedObjectIDs = "refreshed_objectIDs"
    /// The identifiers of the objects that were turned into faults.
    case invalidatedObjectIDs = "invalidated_objectIDs"
  }
}

/// Posts a context's notifications under Core Data's names.
enum ContextNotificationRelay {
  private static let names: [(Notification.Name, Notification.Name)] = [
    (ManagedObjectContext.didChangeObjectsNotification, .NSManagedObjectContextObjectsDidChange),
    (ManagedObjectContext.willSaveObjectsNotification, .NSManagedObjectContextWillSave),
    (ManagedObjectContext.didSaveObjectsNotification, .NSManagedObjectContextDidSave),
    (ManagedObjectContext.didSaveObjectIDsNotification, .NSManagedObjectContextDidSaveObjectIDs),
    (ManagedObjectContext.didMergeChangesObjectIDsNotification, .NSManagedObjectContextDidMergeChangesObjectIDs),
  ]

  static func observers(of base: ManagedObjectContext, for context: NSManagedObjectContext) -> [any NSObjectProtocol] {
    let context = Transferred(Weak(context))
    return names.map { own, name in
      NotificationCenter.default.addObserver(forName: own, object: base, queue: nil) { notification in
        guard let context = context.value.object else { return }
        NotificationCenter.default.post(
          name: name, object: context, userInfo: notification.userInfo.map(userInfo))
        if name == .NSManagedObjectContextDidSave { AutomaticMergeRelay.didSave(context) }
      }
    }
  }

  /// Replaces sets of objects and the tokens.
  private static func userInfo(_ info: [AnyHashable: Any]) -> [AnyHashable: Any] {
    var result: [AnyHashable: Any] = [:]
    for (key, value) in info {
      switch value {
      case let objects as Set<ManagedObject>:
        let typed = NSManagedObjectContext.typed(objects)
        if typed.isEmpty { continue }
        result[key] = key == AnyHashable(NSInvalidatedAllObjectsKey) ? Array(typed) : typed as Any
      case let token as HistoryToken: result[key] = NSPersistentHistoryToken(token)
      case let token as QueryGenerationToken:
        result[NSManagedObjectContextQueryGenerationKey] = NSQueryGenerationToken(token)
      default: result[key] = value
      }
    }
    return result
  }
}

/// Merges saves into the contexts that follow their coordinator or parent, on their queues.
enum AutomaticMergeRelay {
  private static let followers = Locked<[Weak<NSManagedObjectContext>]>([])

  static func follow(_ context: NSManagedObjectContext) {
    followers.withLock { followers in
      followers.removeAll { $0.object == nil || $0.object === context }
      followers.append(Weak(context))
    }
  }

  static func didSave(_ saver: NSManagedObjectContext) {
    let coordinator = saver.persistentStoreCoordinator
    for follower in followers.withLock({ $0.compactMap(\.object) }) where follower !== saver {
      guard follower.automaticallyMergesChangesFromParent, follower.persistentStoreCoordinator === coordinator else {
        continue
      }
      follower.perform {}
    }
  }
}

extension SavedChanges {
  /// The identifiers in a notification, or of the objects in it.
  init(_ info: [AnyHashable: Any]) {
    self.init()
    insertedObjectIDs = Self.identifiers(info, NSInsertedObjectsKey, NSInsertedObjectIDsKey)
    updatedObjectIDs = Self.identifiers(info, NSUpdatedObjectsKey, NSUpdatedObjectIDsKey)
      .union(Self.identifiers(info, NSRefreshedObjectsKey, NSRefreshedObjectIDsKey))
    deletedObjectIDs = Self.identifiers(info, NSDeletedObjectsKey, NSDeletedObjectIDsKey)
  }

  private static func identifiers(_ info: [AnyHashable: Any], _ keys: String...) -> Set<ManagedObjectID> {
    keys.reduce(into: []) { found, key in
      let members: [Any] =
        switch info[key] {
        case let set as NSSet: set.allObjects
        case let set as Set<AnyHashable>: set.map(\.base)
        case let set as Set<NSManagedObject>: Array(set)
        case let set as Set<NSManagedObjectID>: Array(set)
        case let list as [Any]: list
        default: []
        }
      for member in members {
        if let id = member as? ManagedObjectID ?? (member as? ManagedObject)?.objectID { found.insert(id) }
        if let url = member as? URL, let id = ManagedObjectID(uriRepresentation: url) { found.insert(id) }
      }
    }
  }
}

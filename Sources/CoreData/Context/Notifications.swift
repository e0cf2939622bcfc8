public import Foundation
import Persist

public let NSInsertedObjectsKey = "inserted"
public let NSUpdatedObjectsKey = "updated"
public let NSDeletedObjectsKey = "deleted"
public let NSRefreshedObjectsKey = "refreshed"
public let NSInvalidatedObjectsKey = "invalidated"
public let NSInvalidatedAllObjectsKey = "invalidatedAll"
public let NSInsertedObjectIDsKey = "inserted_objectIDs"
public let NSUpdatedObjectIDsKey = "updated_objectIDs"
public let NSDeletedObjectIDsKey = "deleted_objectIDs"
public let NSRefreshedObjectIDsKey = "refreshed_objectIDs"
public let NSInvalidatedObjectIDsKey = "invalidated_objectIDs"
public let NSManagedObjectContextQueryGenerationKey = "newQueryGeneration"
public let NSPersistentHistoryTokenKey = "historyToken"
public let NSPersistentStoreURLKey = "storeURL"
public let NSStoreUUIDKey = "NSStoreUUID"

extension Notification.Name {
  public static let NSManagedObjectContextObjectsDidChange =
    Notification.Name("NSObjectsChangedInManagingContextNotification")
  public static let NSManagedObjectContextWillSave = Notification.Name("NSManagingContextWillSaveChangesNotification")
  public static let NSManagedObjectContextDidSave = Notification.Name("NSManagingContextDidSaveChangesNotification")
  public static let NSManagedObjectContextDidSaveObjectIDs =
    Notification.Name("NSManagedObjectContextDidSaveObjectIDsNotification")
  public static let NSManagedObjectContextDidMergeChangesObjectIDs =
    Notification.Name("NSManagedObjectContextDidMergeChangesObjectIDsNotification")
  public static let NSPersistentStoreCoordinatorStoresWillChange =
    Notification.Name("NSPersistentStoreCoordinatorStoresWillChangeNotification")
  public static let NSPersistentStoreCoordinatorStoresDidChange =
    Notification.Name("NSPersistentStoreCoordinatorStoresDidChangeNotification")
  public static let NSPersistentStoreCoordinatorWillRemoveStore =
    Notification.Name("NSPersistentStoreCoordinatorWillRemoveStoreNotification")
  public static let NSPersistentStoreRemoteChange = Notification.Name("NSPersistentStoreRemoteChangeNotification")
}

public let NSPersistentStoreRemoteChangeNotificationPostOptionKey = "NSPersistentStoreRemoteChangeNotificationOptionKey"

extension NSManagedObjectContext {
  public static let willSaveObjectsNotification = Notification.Name.NSManagedObjectContextWillSave
  public static let didSaveObjectsNotification = Notification.Name.NSManagedObjectContextDidSave
  public static let didChangeObjectsNotification = Notification.Name.NSManagedObjectContextObjectsDidChange
  public static let didSaveObjectIDsNotification = Notification.Name.NSManagedObjectContextDidSaveObjectIDs
  public static let didMergeChangesObjectIDsNotification =
    Notification.Name.NSManagedObjectContextDidMergeChangesObjectIDs

  public enum NotificationKey: String, Sendable {
    case sourceContext
    case queryGeneration = "newQueryGeneration"
    case invalidatedAllObjects = "invalidatedAll"
    case insertedObjects = "inserted"
    case updatedObjects = "updated"
    case deletedObjects = "deleted"
    case refreshedObjects = "refreshed"
    case invalidatedObjects = "invalidated"
    case insertedObjectIDs = "inserted_objectIDs"
    case updatedObjectIDs = "updated_objectIDs"
    case deletedObjectIDs = "deleted_objectIDs"
    case refreshedObjectIDs = "refreshed_objectIDs"
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

extension NSManagedObjectContext {
  /// Merges what another context saved, as its notification tells.
  public func mergeChanges(fromContextDidSave notification: Notification) {
    let changes = SavedChanges(notification.userInfo ?? [:])
    withParents { base.mergeChanges(from: changes) }
    base.processPendingChanges()
  }

  public class func mergeChanges(
    fromRemoteContextSave changes: [AnyHashable: Any], into contexts: [NSManagedObjectContext]
  ) {
    let notification = Notification(name: .NSManagedObjectContextDidSave, object: nil, userInfo: changes)
    for context in contexts {
      context.performAndWait { context.mergeChanges(fromContextDidSave: notification) }
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

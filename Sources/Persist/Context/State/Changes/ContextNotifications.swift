public import Foundation

/// Posts a context's events to NotificationCenter.
enum ContextNotifications {
  private static let group = NotificationGroup(prefix: "ManagedObjectContext")

  static var areWanted: Bool { group.isWanted }

  static func name(_ text: String) -> Notification.Name { group.name(text) }

  static func post(_ event: ContextEvent, from context: ManagedObjectContext) {
    guard areWanted else { return }
    let center = NotificationCenter.default
    switch event {
    case .objectsDidChange(let changes):
      center.post(
        name: ManagedObjectContext.didChangeObjectsNotification, object: context, userInfo: userInfo(changes))
    case .willSave:
      center.post(name: ManagedObjectContext.willSaveObjectsNotification, object: context)
    case .didSave(let saved):
      center.post(
        name: ManagedObjectContext.didSaveObjectsNotification, object: context,
        userInfo: userInfo(saved).merging(tokens(saved)) { $1 })
      center.post(
        name: ManagedObjectContext.didSaveObjectIDsNotification, object: context,
        userInfo: userInfo(saved.savedChanges).merging(tokens(saved)) { $1 })
    case .didObtainPermanentIDs, .willMerge, .didMergeUnknownChanges, .parentDidSave: break
    }
  }

  /// Posts that changes by others were merged.
  static func postMerge(
    of changes: SavedChanges, refreshed: Set<ManagedObject>, from context: ManagedObjectContext
  ) {
    var info = userInfo(changes)
    info[ManagedObjectContext.NotificationKey.refreshedObjectIDs.rawValue] = Set(refreshed.map(\.objectID))
    NotificationCenter.default.post(
      name: ManagedObjectContext.didMergeChangesObjectIDsNotification, object: context, userInfo: info)
  }

  private static func tokens(_ saved: ObjectsDidSave) -> [AnyHashable: Any] {
    var tokens: [AnyHashable: Any] = Dictionary()
    tokens[PersistentStoreCoordinator.historyTokenKey] = saved.historyToken
    tokens[ManagedObjectContext.NotificationKey.queryGeneration.rawValue] = saved.queryGenerationToken
    return tokens
  }

  private static func userInfo(_ changes: ObjectsDidChange) -> [AnyHashable: Any] {
    let sets: [(ManagedObjectContext.NotificationKey, Set<ManagedObject>)] = [
      (.insertedObjects, changes.inserted), (.updatedObjects, changes.updated), (.deletedObjects, changes.deleted),
      (.refreshedObjects, changes.refreshed), (.invalidatedObjects, changes.invalidated),
      (.invalidatedAllObjects, changes.invalidatedAll),
    ]
    return sets.reduce(into: Dictionary()) { info, set in
      if !set.1.isEmpty { info[set.0.rawValue] = set.1 }
    }
  }

  private static func userInfo(_ saved: ObjectsDidSave) -> [AnyHashable: Any] {
    [
      ManagedObjectContext.NotificationKey.insertedObjects.rawValue: saved.inserted,
      ManagedObjectContext.NotificationKey.updatedObjects.rawValue: saved.updated,
      ManagedObjectContext.NotificationKey.deletedObjects.rawValue: saved.deleted,
    ]
  }

  private static func userInfo(_ changes: SavedChanges) -> [AnyHashable: Any] {
    [
      ManagedObjectContext.NotificationKey.insertedObjectIDs.rawValue: changes.insertedObjectIDs,
      ManagedObjectContext.NotificationKey.updatedObjectIDs.rawValue: changes.updatedObjectIDs,
      ManagedObjectContext.NotificationKey.deletedObjectIDs.rawValue: changes.deletedObjectIDs,
    ]
  }
}

extension ManagedObjectContext {
  /// Posted when pending changes were processed, with objects under the keys of ``NotificationKey``.
  ///
  /// Notifications are posted on the thread that changes the context; an observer must have the context's isolation. In
  /// case of doubt, use ``objectsDidChange``, which the compiler checks.
  ///
  /// Posting starts when the process first accesses one of these names.
  public static var didChangeObjectsNotification: Notification.Name {
    ContextNotifications.name("ObjectsDidChangeNotification")
  }
  /// Posted before a save, without user info.
  public static var willSaveObjectsNotification: Notification.Name {
    ContextNotifications.name("WillSaveNotification")
  }
  /// Posted after a save, with the saved objects.
  public static var didSaveObjectsNotification: Notification.Name {
    ContextNotifications.name("DidSaveNotification")
  }
  /// Posted after a save, with the saved objects' identifiers.
  public static var didSaveObjectIDsNotification: Notification.Name {
    ContextNotifications.name("DidSaveObjectIDsNotification")
  }
  /// Posted after changes of another context or process were merged, with identifiers.
  public static var didMergeChangesObjectIDsNotification: Notification.Name {
    ContextNotifications.name("DidMergeChangesObjectIDsNotification")
  }

  /// The keys of the notifications' user info. The values are sets of ``ManagedObject`` or ``ManagedObjectID``, except
  /// that of ``queryGeneration``.
  public enum NotificationKey: String, Sendable, CaseIterable {
    /// Objects that are new in the context, or that the save inserted.
    case insertedObjects = "inserted"
    /// Objects with changed properties, or that the save updated.
    case updatedObjects = "updated"
    /// Objects that were deleted, in the context or by the save.
    case deletedObjects = "deleted"
    /// Objects that were reloaded from the store. Only in change notifications.
    case refreshedObjects = "refreshed"
    /// Objects without values, because their store is gone. Only in change notifications.
    case invalidatedObjects = "invalidated"
    /// Every object that was registered when the context was reset. Only in change notifications.
    case invalidatedAllObjects = "invalidatedAll"
    /// The permanent identifiers of inserted objects, after a save or a merge.
    case insertedObjectIDs = "inserted_objectIDs"
    /// The identifiers of updated objects, after a save or a merge.
    case updatedObjectIDs = "updated_objectIDs"
    /// The identifiers of deleted objects, after a save or a merge.
    case deletedObjectIDs = "deleted_objectIDs"
    /// The identifiers of the registered objects that a merge refreshed.
    case refreshedObjectIDs = "refreshed_objectIDs"
    /// The counterpart of Core Data's key; no notification of Persist contains it.
    case invalidatedObjectIDs = "invalidated_objectIDs"
    /// The ``QueryGenerationToken`` of a pinned context after its save. Absent if there is none.
    case queryGeneration = "query_generation"
  }
}

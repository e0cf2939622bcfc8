public import Foundation

extension ManagedObjectContext {
  /// Merges the changes saved by another context.
  ///
  /// Objects of this context get the saved values; unsaved changes stay on top of them, property by property, and no
  /// longer conflict with what was merged. Objects whose rows were deleted leave the context, along with their unsaved
  /// changes. New objects become faults of this context, held until its next merge or save.
  ///
  /// ```swift
  /// for await changes in background.savedChanges {      // a stream of values, passed to the view context's actor
  ///   viewContext.mergeChanges(from: changes)
  /// }
  /// ```
  ///
  /// Read errors are thrown by the context's next call that can throw.
  ///
  /// - Complexity: O(*changes*), regardless of the number of registered objects.
  public func mergeChanges(from changes: SavedChanges) {
    merge(changes, holdingNewObjects: true)
  }

  /// Merges what another context has saved, given a ``didSaveObjectsNotification`` or a
  /// ``didSaveObjectIDsNotification``.
  ///
  /// The former holds the other context's objects, and so is only for contexts with the same isolation.
  public func mergeChanges(fromContextDidSave notification: Notification) {
    let changes = SavedChanges(userInfo: notification.userInfo ?? Dictionary(), in: persistentStoreCoordinator)
    merge(changes, holdingNewObjects: true)
  }

  /// Merges changes made outside of contexts, as by a batch operation or another process, into some contexts.
  ///
  /// - Parameters:
  ///   - changes: The identifiers of the changed objects.
  ///   - contexts: Contexts in the caller's isolation. New objects don't stay registered: their faults exist only while
  ///     observers are notified.
  public static func mergeChanges(fromRemoteContextSave changes: SavedChanges, into contexts: [ManagedObjectContext]) {
    for context in contexts { context.merge(changes, holdingNewObjects: false) }
  }

  /// Merges like ``mergeChanges(fromRemoteContextSave:into:)-(SavedChanges,_)``, with a dictionary in Core Data's form.
  ///
  /// - Parameters:
  ///   - changes: Identifiers, their URIs or objects, in arrays or sets, under the keys of ``NotificationKey``.
  ///   - contexts: Contexts in the caller's isolation.
  public static func mergeChanges(
    fromRemoteContextSave changes: [AnyHashable: Any], into contexts: [ManagedObjectContext]
  ) {
    for context in contexts {
      context.merge(SavedChanges(userInfo: changes, in: context.persistentStoreCoordinator), holdingNewObjects: false)
    }
  }

  /// Merges changes like ``mergeOrThrow(_:holdingNewObjects:leavingConflicts:)``, and defers the errors.
  func merge(_ changes: SavedChanges, holdingNewObjects: Bool, leavingConflicts: Bool = false) {
    do {
      try mergeOrThrow(changes, holdingNewObjects: holdingNewObjects, leavingConflicts: leavingConflicts)
    } catch {
      deferError(error)
    }
  }

  /// Merges changes as far as they can be read.
  ///
  /// - Parameter leavingConflicts: See ``MergePass``.
  /// - Throws: The store's errors, after observers were notified of what was merged.
  func mergeOrThrow(_ changes: SavedChanges, holdingNewObjects: Bool, leavingConflicts: Bool = false) throws {
    guard !changes.isEmpty else { return }
    observedChanges.begin()
    defer { observedChanges.end() }
    var changes = changes
    if changes.isIncomplete { changes.updatedObjectIDs.formUnion(liveObjects.map(\.objectID)) }
    processTrackedChanges()
    graph.outdateRowsAhead()
    advanceQueryGeneration()
    advanceReplicas()
    tracker?.announceMerge(of: changes)
    let pass = MergePass(self, leavingConflicts: leavingConflicts)
    var failure: (any Error)?
    do { try pass.merge(changes) } catch { failure = error }
    automaticMerging?.leftOut.formUnion(pass.leftOut)
    notifyChildren(changes)
    lastMerge = pass
    let merged = pass.end(holdingNewObjects: holdingNewObjects)
    announce { announced in
      announced.inserted.formUnion(merged.inserted)
      announced.deleted.formUnion(merged.deleted)
      announced.refreshed.formUnion(merged.refreshed)
    }
    if changes.isIncomplete { send(.didMergeUnknownChanges) }
    if ContextNotifications.areWanted {
      ContextNotifications.postMerge(of: changes, refreshed: merged.refreshed, from: self)
    }
    if let failure { throw failure }
  }
}

extension SavedChanges {
  /// Creates the changes in a notification's user info, omitting those of stores unknown to the coordinator.
  init(userInfo: [AnyHashable: Any], in coordinator: PersistentStoreCoordinator) {
    func ids(_ keys: ManagedObjectContext.NotificationKey...) -> Set<ManagedObjectID> {
      keys.reduce(into: []) { ids, key in
        let elements: [Any] =
          switch userInfo[AnyHashable(key.rawValue)] ?? userInfo[AnyHashable(key)] {
          case let objects as Set<ManagedObject>: Array(objects)
          case let found as Set<ManagedObjectID>: Array(found)
          case let sequence as any Sequence: sequence.map { $0 }
          default: []
          }
        for element in elements {
          switch element {
          case let id as ManagedObjectID: ids.insert(id)
          case let object as ManagedObject: ids.insert(object.objectID)
          case let uri as URL: if let id = coordinator.managedObjectID(forURIRepresentation: uri) { ids.insert(id) }
          default: continue
          }
        }
      }
    }
    self.init(
      inserted: ids(.insertedObjectIDs, .insertedObjects),
      updated: ids(.updatedObjectIDs, .updatedObjects, .refreshedObjectIDs, .refreshedObjects),
      deleted: ids(.deletedObjectIDs, .deletedObjects))
  }
}

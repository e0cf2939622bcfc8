extension ManagedObjectContext {
  /// Whether the context takes in what others save, by itself.
  ///
  /// A context has no queue on which that could happen behind its owner's back. Saves of the coordinator's other
  /// contexts wait in a mailbox. The context looks into it when it fetches, saves, refreshes all its objects, or
  /// processes its pending changes; and, while somebody awaits one of its sequences, such as ``objectsDidChange``, as
  /// soon as there is something. At the same moments it asks its stores whether another coordinator or process has
  /// written; where one has, it compares the versions of the objects that it holds with the store's.
  ///
  /// Unsaved changes stay on top of what is merged, property by property. Where others have saved another value for the
  /// very property that is changed here, nothing of the object is merged, so that neither change is lost: the save
  /// meets a conflict, which the ``mergePolicy`` settles. Without the unsaved change, as after ``rollback()``, the
  /// object is merged with the next ones.
  ///
  /// Stores that are open for reading only aren't asked.
  ///
  /// A child context follows its parent: it takes in, at the same moments, what others save to the parent, what the
  /// parent saves, merges and rolls back.
  ///
  /// To follow other processes without using the context there is
  /// ``mergeChangesContinuously(checkingEvery:isolation:)``.
  ///
  /// False in a new context. What was saved before it became true isn't merged.
  public var automaticallyMergesChangesFromParent: Bool {
    get { automaticMerging != nil }
    set {
      guard newValue != automaticallyMergesChangesFromParent else { return }
      if newValue {
        automaticMerging = AutomaticMerging(storesOf: self)
        if parent == nil { persistentStoreCoordinator.savedChangesPost.add(mailbox) }
      } else {
        if parent == nil { persistentStoreCoordinator.savedChangesPost.remove(mailbox) }
        automaticMerging = nil
        _ = mailbox.take()
      }
    }
  }

  /// Merges what others have saved since this was done before; nothing where the context isn't to do so by itself.
  func mergeArrivedChanges() {
    guard automaticMerging != nil else { return }
    let mail = mailbox.take()
    guard parent == nil else { return mergeChangesOfParent(mail) }
    do {
      var arrived = SavedChanges(updated: takeSettled())
      if case .changes(let changes)? = mail { arrived = arrived.followed(by: changes) }
      merge(arrived, holdingNewObjects: true, leavingConflicts: true)
      for store in persistentStoreCoordinator.openStores {
        let hasForeignChanges = try automaticMerging?.noteForeignChanges(of: store) ?? false
        guard hasForeignChanges || mail == .tooMuch else { continue }
        merge(try foreignChanges(of: store), holdingNewObjects: true, leavingConflicts: true)
        tell(.didMergeUnknownChanges)
      }
    } catch {
      deferError(error)
    }
  }

  /// The objects that earlier merges left out and that have no unsaved changes any more.
  private func takeSettled() -> Set<ManagedObjectID> {
    guard let leftOut = automaticMerging?.leftOut, !leftOut.isEmpty else { return [] }
    let settled = leftOut.filter { registeredObject(for: $0)?.hasChanges != true }
    automaticMerging?.leftOut.subtract(settled)
    return settled
  }

  private func mergeChangesOfParent(_ mail: SavedChangesMailbox.Mail?) {
    switch mail {
    case .changes(let changes)?: mergeChanges(from: changes)
    case .tooMuch?:
      var unknown = SavedChanges()
      unknown.isIncomplete = true
      mergeChanges(from: unknown)
    case nil: return
    }
  }

  /// Lets the contexts below that follow this one hear what changed in it.
  ///
  /// - Parameter saver: the child that the changes came from; nil for changes of this context's own.
  func tellChildren(_ changes: @autoclosure () -> SavedChanges, but saver: ManagedObjectContext? = nil) {
    guard !children.isEmpty else { return }
    let following = children.map { $0.takeUnretainedValue() }.filter { $0 !== saver && $0.automaticMerging != nil }
    guard !following.isEmpty else { return }
    let changes = changes()
    for child in following where !changes.isEmpty { child.mailbox.post(changes) }
  }

  /// What the store holds otherwise than the objects of this context.
  ///
  /// - Complexity: O(*registered objects*): without a history of the store there is no other way to know.
  private func foreignChanges(of store: any PersistentStore) throws -> SavedChanges {
    var changes = SavedChanges()
    for table in tables(of: store).existing {
      let objects = table.map.objects.filter { !$0.hasNoRow && $0.loading != .missing }
      for (_, objects) in Dictionary(grouping: objects, by: { ObjectIdentifier($0.layout) }) {
        guard let entity = objects.first?.layout.entity else { continue }
        let versions = try store.versions(of: objects.map(\.key), in: entity)
        for object in objects {
          switch (versions[object.key], object.snapshot?.version) {
          case (nil, _): changes.deletedObjectIDs.insert(object.objectID)
          case (let now?, let read?) where now == read: continue
          case (_?, nil) where object.toManys.isEmpty: continue
          default: changes.updatedObjectIDs.insert(object.objectID)
          }
        }
      }
    }
    return changes
  }
}

/// What a context that merges by itself knows of its stores.
struct AutomaticMerging {
  /// By store: how often others had written when the context looked.
  private var seen: [String: Int64] = [:]
  /// Objects with unsaved values that others have overtaken.
  var leftOut: Set<ManagedObjectID> = []

  init(storesOf context: ManagedObjectContext) {
    for store in context.persistentStoreCoordinator.openStores { _ = try? noteForeignChanges(of: store) }
  }

  /// Whether another coordinator or process has written since the context looked last.
  mutating func noteForeignChanges(of store: any PersistentStore) throws -> Bool {
    guard let count = try store.foreignChangeCount() else { return false }
    defer { seen[store.identifier] = count }
    return seen[store.identifier].map { $0 != count } ?? false
  }
}

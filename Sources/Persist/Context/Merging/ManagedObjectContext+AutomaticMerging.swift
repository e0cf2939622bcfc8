extension ManagedObjectContext {
  /// Whether the context automatically merges others' saves.
  ///
  /// A context has no queue on which that could happen without its owner's knowledge. It merges when it fetches, saves,
  /// refreshes all objects, processes pending changes or runs a block with ``perform(_:)``. While one of its
  /// sequences such as ``objectsDidChange`` is
  /// awaited, it also merges as soon as others save. Saves by the coordinator's other contexts are queued in a mailbox.
  /// The stores report whether another coordinator or process has written, and their history shows the changes; without
  /// a history, the context compares the versions of its objects with the store's.
  ///
  /// Unsaved changes overlay the merged ones, property by property. If others have saved a different value for a
  /// property that is changed here, the object isn't merged at all, so that neither change is lost: the save detects a
  /// conflict, which the ``mergePolicy`` resolves. Once the unsaved change is gone, as after ``rollback()``, the object
  /// is included in the next merge.
  ///
  /// Read-only stores aren't checked for changes.
  ///
  /// A child context follows its parent: at the same times, it merges changes that others save to the parent, and
  /// changes that the parent saves, merges and rolls back. A parent that merges automatically too merges first, so that
  /// changes reach a child at any depth.
  ///
  /// If a merge fails, the error is thrown by the context's next call that can throw, and the context compares all its
  /// objects with the store in question the next time that it merges, until that succeeds; after three failures, not
  /// more often than once a second. Other stores are merged in the meantime.
  ///
  /// To merge without using the context or awaiting its sequences, call
  /// ``mergeChangesContinuously(checkingEvery:isolation:)``.
  ///
  /// False by default. Earlier saves aren't merged when it becomes true.
  public var automaticallyMergesChangesFromParent: Bool {
    get { automaticMerging != nil }
    set {
      guard newValue != automaticallyMergesChangesFromParent else { return }
      if newValue {
        automaticMerging = AutomaticMerging(storesOf: self)
        if parent == nil {
          persistentStoreCoordinator.savedChangesPost.add(mailbox)
          if mailbox.isAwaited { persistentStoreCoordinator.watchStores() }
        }
      } else {
        if parent == nil { persistentStoreCoordinator.savedChangesPost.remove(mailbox) }
        automaticMerging = nil
        _ = mailbox.take()
      }
    }
  }

  /// Registers a bell, which rings when there are changes to merge, as long as it is heard.
  package func add(_ bell: SavedChangesMailbox.Bell) {
    mailbox.add(bell)
    guard automaticMerging != nil else { return }
    if let parent { parent.add(bell) } else { persistentStoreCoordinator.watchStores() }
  }

  /// Merges changes that others have saved since the last call; does nothing if automatic merging is off.
  func mergeArrivedChanges() {
    guard automaticMerging != nil else { return }
    // The parent posts to this context what it merges. During its save, it has merged already.
    if let parent, parent.runningSave == nil { parent.mergeArrivedChanges() }
    let mail = mailbox.take()
    guard parent != nil else { return mergeChangesOfStores(mail) }
    do {
      try mergeChangesOfParent(mail)
      automaticMerging?.hasFailed = false
    } catch {
      guard let hasFailedBefore = automaticMerging?.hasFailed else { return deferError(error) }
      // Only this call knows the changes. The next one compares everything.
      mailbox.requireComparison()
      automaticMerging?.hasFailed = true
      // An error that persists must not keep the context from fetching and saving.
      if !hasFailedBefore { deferError(error) }
    }
  }

  /// Merges the changes of each store on its own, so that one that can't be read doesn't affect the others.
  private func mergeChangesOfStores(_ mail: SavedChangesMailbox.Mail?) {
    var arrived = SavedChanges(updated: takeSettled())
    if case .changes(let changes)? = mail { arrived = arrived.followed(by: changes) }
    let stores = persistentStoreCoordinator.openStores
    let parts = stores.count == 1 ? [stores[0].identifier: arrived] : arrived.byStore
    for store in stores {
      if mail == .tooMuch { automaticMerging?.requireComparison(with: store) }
      guard automaticMerging?.isPaused(store) != true else { continue }
      do {
        try mergeChanges(of: store, parts[store.identifier])
        automaticMerging?.recordSuccess(of: store)
      } catch {
        // An error that persists must not keep the context from fetching and saving.
        if automaticMerging?.recordFailure(of: store) ?? true { deferError(error) }
      }
    }
    if automaticMerging?.mustCheckAgain == true { mailbox.ringSoon() }
  }

  /// - Parameter arrived: The changes that other contexts have saved.
  private func mergeChanges(of store: any PersistentStore, _ arrived: SavedChanges?) throws {
    if let arrived { try mergeOrThrow(arrived, holdingNewObjects: true, leavingConflicts: true) }
    let hasForeignChanges = try automaticMerging?.recordForeignChanges(of: store) ?? false
    let comparesAll = automaticMerging?.requiresComparison(with: store) ?? false
    guard hasForeignChanges || comparesAll else { return }
    if comparesAll { automaticMerging?.passHistory(of: store) }
    let recorded = comparesAll ? nil : try automaticMerging?.recordedChanges(of: store)
    try mergeOrThrow(recorded ?? foreignChanges(of: store), holdingNewObjects: true, leavingConflicts: true)
    if recorded == nil { send(.didMergeUnknownChanges) }
  }

  /// Removes and returns the objects that earlier merges left out and that no longer have unsaved changes.
  private func takeSettled() -> Set<ManagedObjectID> {
    guard let leftOut = automaticMerging?.leftOut, !leftOut.isEmpty else { return [] }
    let settled = leftOut.filter { registeredObject(for: $0)?.hasChanges != true }
    automaticMerging?.leftOut.subtract(settled)
    return settled
  }

  private func mergeChangesOfParent(_ mail: SavedChangesMailbox.Mail?) throws {
    switch mail {
    case .changes(let changes)?: try mergeOrThrow(changes, holdingNewObjects: true)
    case .tooMuch?:
      var unknown = SavedChanges()
      unknown.isIncomplete = true
      try mergeOrThrow(unknown, holdingNewObjects: true)
    case nil: return
    }
  }

  /// Posts changes to the child contexts that follow this one.
  ///
  /// - Parameter saver: The child that made the changes; nil for this context's own changes.
  func notifyChildren(_ changes: @autoclosure () -> SavedChanges, but saver: ManagedObjectContext? = nil) {
    guard !children.isEmpty else { return }
    let following = children.map { $0.takeUnretainedValue() }.filter { $0 !== saver && $0.automaticMerging != nil }
    guard !following.isEmpty else { return }
    let changes = changes()
    for child in following where !changes.isEmpty { child.mailbox.post(changes) }
  }

  /// Returns the differences between the store's rows and the objects of this context.
  ///
  /// Used for stores without a history, and for too many changes.
  ///
  /// - Complexity: O(*registered objects*).
  private func foreignChanges(of store: any PersistentStore) throws -> SavedChanges {
    var changes = SavedChanges()
    for table in tables(of: store).existing {
      // Deleted rows may have been restored.
      let objects = table.map.objects.filter { $0.loading == .missing || !$0.hasNoRow }
      for (_, objects) in Dictionary(grouping: objects, by: { ObjectIdentifier($0.layout) }) {
        guard let entity = objects.first?.layout.entity else { continue }
        let versions = try store.versions(of: objects.map(\.key), in: entity)
        for object in objects {
          switch (versions[object.key], object.snapshot?.version) {
          case (nil, _) where object.loading == .missing: continue
          case (_?, _) where object.loading == .missing: changes.insertedObjectIDs.insert(object.objectID)
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

extension SavedChanges {
  /// The changes of each store, by its identifier.
  fileprivate var byStore: [String: SavedChanges] {
    var parts: [String: SavedChanges] = Dictionary()
    for id in insertedObjectIDs { parts[id.storeIdentifier, default: SavedChanges()].insertedObjectIDs.insert(id) }
    for id in updatedObjectIDs { parts[id.storeIdentifier, default: SavedChanges()].updatedObjectIDs.insert(id) }
    for id in deletedObjectIDs { parts[id.storeIdentifier, default: SavedChanges()].deletedObjectIDs.insert(id) }
    return parts
  }
}

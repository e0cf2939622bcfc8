/// Objects that a save has written to one store.
struct SavedObjects {
  var inserted: [ManagedObject] = []
  /// Objects whose row is written.
  var updated: [ManagedObject] = []
  /// Objects with changed members only: the row's version is incremented.
  var touched: [ManagedObject] = []
  /// Objects with changes that aren't stored in any row.
  var unwritten: [ManagedObject] = []
  var deleted: [ManagedObject] = []
}

extension ObjectGraph {
  /// Applies a store's receipt: new objects get their keys, and every written object gets a snapshot of the written
  /// values, so that nothing needs to be reread. None of the objects counts as changed afterward, except deleted ones,
  /// which are to ``departSaved(_:)``.
  ///
  /// - Parameters:
  ///   - tables: Those of the store.
  ///   - unsaved: The table of objects that were never saved.
  ///   - context: The graph's context.
  /// - Returns: The temporary numbers of objects that were registered under them.
  func accept(
    _ saved: SavedObjects, _ receipt: CommitReceipt, in tables: StoreTables, unsaved: ObjectTable,
    of context: ManagedObjectContext
  ) -> [Int64] {
    leaveChangeSets(saved)
    // A parent increments the version when it is saved itself.
    let (step, isForParent): (Int64, Bool) = context.parent == nil ? (1, false) : (0, true)
    var writers = SnapshotWriters(
      layouts: context.layouts, unsaved: isForParent ? nil : unsaved, keys: receipt.insertedKeys,
      expectedRows: saved.inserted.count + saved.updated.count + saved.touched.count)
    saved.inserted.forEachUnretained { object in
      if object.isDraft, object.acceptDraft(version: object.insertedVersion, &writers) { return }
      object.replaceRow(with: writers.snapshot(of: object, version: object.insertedVersion))
    }
    drafts.removeAll()
    saved.updated.forEachUnretained { object in
      if let version = object.snapshotVersion {
        object.replaceRow(with: writers.snapshot(of: object, version: version &+ step))
      }
    }
    let overtaken = Set(receipt.overtakenTouches)
    for (index, object) in saved.touched.enumerated() where !overtaken.contains(index) {
      if let version = object.snapshotVersion {
        object.replaceRow(with: writers.snapshot(of: object, version: version &+ step))
      }
    }
    let numbers = temporaryNumbers(of: saved.inserted, in: unsaved)
    reregister(saved.inserted, underKeys: receipt.insertedKeys, in: tables)
    // New objects are still registered under their temporary numbers, for members that refer to them by these.
    for objects in [saved.inserted, saved.updated, saved.touched, saved.unwritten] {
      objects.forEachUnretained { object in
        object.acceptChanges(unsaved)
        check(object)
      }
    }
    unsaved.removeEntries(numbers)
    return numbers
  }

  /// The numbers under which new objects are registered that were never saved.
  private func temporaryNumbers(of inserted: [ManagedObject], in unsaved: ObjectTable) -> [Int64] {
    var numbers: [Int64] = []
    numbers.reserveCapacity(inserted.count)
    let table = Unmanaged.passUnretained(unsaved).toOpaque()
    inserted.forEachUnretained { if $0.tableReference?.toOpaque() == table { numbers.append($0.key) } }
    return numbers
  }

  /// Re-registers new objects under their permanent keys.
  private func reregister(_ objects: [ManagedObject], underKeys keys: [Int64], in tables: StoreTables) {
    var index = 0
    objects.forEachUnretained { object in
      let (key, table) = (keys[index], object.withLayout { tables.table(for: $0) })
      index &+= 1
      // A row that others deleted and that was reinserted.
      if object.table === table, object.key == key { return }
      table.insert(object, key: key)
    }
  }
}

extension ManagedObject {
  /// Treats the object's changes as stored; only transient values remain in the object.
  fileprivate final func acceptChanges(_ unsaved: ObjectTable) {
    if extras != nil {
      releaseRemovedMembers()
      forgetGiven()
    }
    if withLayout({ $0.transientSlots.isEmpty }) {
      if isDraft || hasLooseValues { replacePending(with: SlotValues()) }
    } else if !pending.isEmpty {
      var transient = pending
      for stored in layout.storedSlots { transient.remove(at: stored.slot) }
      replacePending(with: transient)
      formerValues = SlotValues()
    }
    guard extras != nil || heldEnd != nil else { return }
    for members in toManys {
      members?.accept { id in
        guard case .temporary(let number) = id.key else { return id }
        return unsaved.map[Int64(bitPattern: number)]?.objectID ?? id
      }
    }
    releaseFormerEnds()
  }
}

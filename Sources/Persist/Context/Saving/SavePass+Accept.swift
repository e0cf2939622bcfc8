import Foundation

extension SavePass {
  /// Applies a store's receipt: new objects get their keys, and every written object gets a snapshot of the written
  /// values, so that nothing needs to be reread. None of the objects counts as changed afterward.
  func accept(_ writes: StoreWrites, _ receipt: CommitReceipt) throws {
    guard receipt.insertedKeys.count == writes.inserted.count else {
      throw PersistenceError(
        .saveFailed, at: .store(writes.tables.store.url),
        "The store inserted \(receipt.insertedKeys.count) of \(writes.inserted.count) rows.")
    }
    context.rowGeneration += 1
    context.inserted.remove(writes.inserted)
    var index: Int32 = 0
    writes.inserted.forEachUnretained { object in
      object.change = .none
      object.changeIndex = index
      index &+= 1
    }
    for objects in [writes.updated, writes.related, writes.touched] {
      context.updated.remove(objects)
      objects.forEachUnretained { $0.change = .none }
    }
    context.deleted.remove(writes.deleted)

    let unsaved = context.unsavedTable
    // A parent increments the version when it is saved itself.
    let (step, isForParent): (Int64, Bool) = context.parent == nil ? (1, false) : (0, true)
    var writers = SnapshotWriters(
      layouts: context.layouts, unsaved: isForParent ? nil : unsaved, keys: receipt.insertedKeys,
      expectedRows: writes.inserted.count + writes.updated.count + writes.related.count)
    writes.inserted.forEachUnretained { object in
      if object.isDraft, object.acceptDraft(version: object.insertedVersion, &writers) { return }
      object.snapshot = writers.snapshot(of: object, version: object.insertedVersion)
    }
    context.drafts.removeAll()
    writes.updated.forEachUnretained { object in
      if let old = object.snapshot { object.snapshot = writers.snapshot(of: object, version: old.version &+ step) }
    }
    let overtaken = Set(receipt.overtakenTouches)
    for (place, object) in writes.related.enumerated() where !overtaken.contains(place) {
      if let old = object.snapshot { object.snapshot = writers.snapshot(of: object, version: old.version &+ step) }
    }
    let numbers = temporaryNumbers(of: writes.inserted, in: unsaved)
    let new = context.children.isEmpty ? [] : writes.inserted.filter { $0.table === unsaved }
    if !context.assignedStores.isEmpty { for number in numbers { context.assignedStores[number] = nil } }
    reregister(writes.inserted, underKeys: receipt.insertedKeys, in: writes.tables)
    // New objects are still registered under their temporary numbers, for members that refer to them by these.
    for objects in [writes.inserted, writes.updated, writes.related, writes.touched] {
      objects.forEachUnretained { acceptChanges(of: $0, unsaved) }
    }
    if unsaved.map.count == numbers.count {
      unsaved.map.removeAll()
    } else {
      for number in numbers { unsaved.map.remove(number) }
    }
    context.noteReferences(to: writes.deleted)
    context.removeFromMembersLeftAlone(writes.deleted)
    context.removeFromEndsInParent(writes.deleted)
    writes.deleted.forEachUnretained { object in
      object.detach()
      object.change = .none
    }
    if !context.children.isEmpty {
      if isForParent {
        WrittenRows.notifyDescendants(ofSaveToParent: writes, context.children)
      } else {
        WrittenRows(zip(numbers, new), writes, formerly: context.formerlyChanged)
          .apply(to: context.children, hasSavedAll: context.inserted.isEmpty)
      }
    }
    if !isForParent, context.inserted.isEmpty { context.formerlyChanged = [] }
    refresh(writes.related.enumerated().filter { overtaken.contains($0.offset) }.map(\.element), in: writes.tables)
  }

  /// The numbers under which new objects are registered that were never saved.
  private func temporaryNumbers(of inserted: [ManagedObject], in unsaved: ObjectTable) -> [Int64] {
    var numbers: [Int64] = []
    numbers.reserveCapacity(inserted.count)
    let table = Unmanaged.passUnretained(unsaved).toOpaque()
    inserted.forEachUnretained { if $0.tableReference?.toOpaque() == table { numbers.append($0.key) } }
    return numbers
  }

  /// Treats the object's changes as stored; only transient values remain in the object.
  private func acceptChanges(of object: ManagedObject, _ unsaved: ObjectTable) {
    if object.relationships != nil { object.releaseRemovedMembers() }
    if object.withLayout({ $0.transientSlots.isEmpty }) {
      if object.isDraft || !object.looseValues.isEmpty { object.replacePending(with: SlotValues()) }
    } else if !object.pending.isEmpty {
      var transient = object.pending
      for stored in object.layout.storedSlots { transient.remove(at: stored.slot) }
      object.replacePending(with: transient)
      object.formerValues = SlotValues()
    }
    guard object.relationships != nil || object.heldEnd != nil else { return }
    for members in object.toManys {
      members?.accept { id in
        guard case .temporary(let number) = id.key else { return id }
        return unsaved.map[Int64(bitPattern: number)]?.objectID ?? id
      }
    }
    object.releaseFormerEnds()
  }

  /// Reads the rows that others changed while only their members changed here, so that later changes aren't based on
  /// old values.
  private func refresh(_ objects: [ManagedObject], in tables: StoreTables) {
    guard !objects.isEmpty else { return }
    do {
      let rows = try context.storedRows(of: objects, in: tables.store)
      for object in objects {
        guard let row = rows[object.objectID] else { continue }
        object.rebase(onto: row)
        object.awakeFromSnapshotEvents(.refresh)
      }
    } catch {
      context.deferError(error)
    }
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

import Foundation

extension SavePass {
  /// Takes a store's receipt: new objects get their keys, and every object written a snapshot of what was written, so
  /// that nothing needs to be read again. None of the objects counts as changed any more.
  func accept(_ writes: StoreWrites, _ receipt: CommitReceipt) throws {
    guard receipt.insertedKeys.count == writes.inserted.count else {
      throw PersistenceError(
        .saveFailed, at: .store(writes.tables.store.url),
        "The store inserted \(receipt.insertedKeys.count) of \(writes.inserted.count) rows.")
    }
    context.rowGeneration += 1
    context.inserted.remove(writes.inserted)
    for (index, object) in writes.inserted.enumerated() {
      object.change = .none
      object.changeIndex = Int32(truncatingIfNeeded: index)
    }
    for objects in [writes.updated, writes.related, writes.touched] {
      context.updated.remove(objects)
      for object in objects { object.change = .none }
    }
    context.deleted.remove(writes.deleted)

    let unsaved = context.unsavedTable
    // A parent counts the version up when it is saved itself.
    let (step, isForParent): (Int64, Bool) = context.parent == nil ? (1, false) : (0, true)
    var writers = SnapshotWriters(
      layouts: context.layouts, unsaved: isForParent ? nil : unsaved, keys: receipt.insertedKeys)
    for object in writes.inserted { object.snapshot = writers.snapshot(of: object, version: object.insertedVersion) }
    for object in writes.updated {
      if let old = object.snapshot { object.snapshot = writers.snapshot(of: object, version: old.version + step) }
    }
    let overtaken = Set(receipt.overtakenTouches)
    for (place, object) in writes.related.enumerated() where !overtaken.contains(place) {
      if let old = object.snapshot { object.snapshot = writers.snapshot(of: object, version: old.version + step) }
    }
    let new = writes.inserted.filter { $0.table === unsaved }
    let numbers = new.map(\.key)
    if !context.assignedStores.isEmpty { for number in numbers { context.assignedStores[number] = nil } }
    give(receipt.insertedKeys, to: writes.inserted, in: writes.tables)
    // New objects are still found by their temporary numbers, for the members that name them so.
    for objects in [writes.inserted, writes.updated, writes.related, writes.touched] {
      for object in objects { settle(object, unsaved) }
    }
    if unsaved.map.count == numbers.count {
      unsaved.map.removeAll()
    } else {
      for number in numbers { unsaved.map.remove(number) }
    }
    for object in writes.deleted {
      object.leaveMembers()
      object.detach()
      object.change = .none
    }
    if !context.children.isEmpty {
      if isForParent {
        WrittenRows.tellSaveToParent(writes, context.children)
      } else {
        WrittenRows(zip(numbers, new), writes).tell(context.children)
      }
    }
    refresh(writes.related.enumerated().filter { overtaken.contains($0.offset) }.map(\.element), in: writes.tables)
  }

  /// Changes are now what is stored; only transient values are left in the object.
  private func settle(_ object: ManagedObject, _ unsaved: ObjectTable) {
    object.letGoOfRemovedMembers()
    if object.layout.transientSlots.isEmpty {
      object.pending = []
    } else if !object.pending.isEmpty {
      for stored in object.layout.storedSlots { object.pending[stored.slot] = nil }
    }
    for members in object.toManys {
      members?.accept { id in
        guard case .temporary(let number) = id.key else { return id }
        return unsaved.map[Int64(bitPattern: number)]?.objectID ?? id
      }
    }
    object.letGoOfFormerEnds()
  }

  /// Reads the rows that others changed beside members of theirs, so that a later change isn't made over old values.
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

  /// Makes new objects those of rows.
  private func give(_ keys: [Int64], to objects: [ManagedObject], in tables: StoreTables) {
    for (object, key) in zip(objects, keys) {
      let table = tables.table(for: object.layout)
      // A row that others deleted, and that came back.
      if object.table === table, object.key == key { continue }
      table.take(object, key: key)
    }
  }
}

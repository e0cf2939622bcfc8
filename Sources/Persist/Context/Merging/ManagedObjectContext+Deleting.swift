extension ManagedObjectContext {
  /// Marks an object for deletion and applies the delete rules of its relationships.
  ///
  /// A new object is discarded immediately. A row is deleted by the next save.
  public func delete(_ object: ManagedObject) {
    guard object.table?.context === self else {
      precondition(object.table == nil, "\(object) belongs to another context: look it up by its identifier.")
      return
    }
    observedChanges.begin()
    defer { observedChanges.end() }
    DeletePropagation(in: self).delete(object)
  }

  /// Inserts an object again whose row was deleted, under its former identifier and without values. Hooks aren't
  /// called.
  ///
  /// - Parameter version: The last version of the row, which the new row must not repeat.
  /// - Returns: Nil if the identifier can't belong to this context.
  func insertFormerObject(_ id: ManagedObjectID, version: Int64) -> ManagedObject? {
    guard let key = id.primaryKey, let place = place(of: id) else { return nil }
    if let former = registeredObject(for: id) { removeDeletedByOthers(former) }
    let layout = place.layout
    let type = managedObjectClass(of: layout)
    let object = type.init(ManagedObject.Origin(looseOf: type, layout, in: self))
    var writers = SnapshotWriters(layouts: layouts, unsaved: nil, expectedRows: 1)
    object.replaceRow(with: writers.snapshot(of: layout, SlotValues(), over: nil, version: version))
    for stored in layout.storedSlots { object.setPending(.null, at: stored.slot) }
    place.table.insert(object, key: key)
    object.recordChangeOfAll()
    graph.insert(object, given: .all)
    return object
  }

  /// Objects that the next save deletes, and those whose rows were deleted by others according to the last merge.
  public var deletedObjects: Set<ManagedObject> { Set(graph.deleted.objects).union(lastMerge?.deleted ?? []) }
}

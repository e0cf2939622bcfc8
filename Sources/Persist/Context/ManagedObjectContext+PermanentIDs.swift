extension ManagedObjectContext {
  /// Gives new objects permanent identifiers before they are saved, for programs that want to write them down first.
  ///
  /// The store gives each object the key that its row will have. A key of an object that is never saved stays unused.
  /// Objects that have permanent identifiers keep them.
  ///
  /// ```swift
  /// try context.obtainPermanentIDs(for: [tea])
  /// defaults.set(tea.objectID.uriRepresentation.absoluteString, forKey: "favourite")
  /// ```
  ///
  /// - Parameter objects: new objects of this context.
  /// - Throws: as ``save()`` where the store can't be written: ``PersistError/Code/storeReadOnly``,
  ///   ``PersistError/Code/saveFailed`` where no store holds an object's entity, and the store's own errors.
  public func obtainPermanentIDs(for objects: some Sequence<ManagedObject>) throws {
    try throwDeferredError()
    processTrackedChanges()
    var permanent: [ManagedObjectID: ManagedObjectID] = [:]
    let new = Set(objects).filter { $0.table === unsavedTable && $0.change == .inserted }
    for (_, objects) in Dictionary(grouping: new, by: { ObjectIdentifier($0.layout) }) {
      guard let layout = objects.first?.layout else { continue }
      let store = try coordinator.storeForInsert(of: layout.entity)
      let keys = try store.reserveKeys(for: objects.map(\.layout.entity))
      let table = tables(of: store).table(for: layout)
      for (object, key) in zip(objects, keys) {
        let temporary = object.objectID
        move(object, to: table, key: key)
        permanent[temporary] = object.objectID
      }
    }
    rename(permanent)
    tell(.didObtainPermanentIDs(new))
  }

  private func move(_ object: ManagedObject, to table: ObjectTable, key: Int64) {
    object.table?.map.remove(object.key)
    // A fault for a key that had no row yet: it is none of the new object's business.
    if let stale = table.map[key] { stale.detach() }
    object.table = table
    object.key = key
    object.identifier = nil
    table.map.insert(object, key: key)
  }

  /// Puts permanent identifiers in the places of temporary ones. Only changed objects can lead to new ones.
  private func rename(_ permanent: [ManagedObjectID: ManagedObjectID]) {
    guard !permanent.isEmpty else { return }
    for holder in inserted.objects + updated.objects + deleted.objects {
      for relationship in holder.layout.relationships {
        if relationship.isToMany {
          if !holder.toManys.isEmpty { holder.toManys[relationship.slot]?.rename(permanent) }
        } else if !holder.pending.isEmpty, case .objectID(let id)? = holder.pending[relationship.slot],
          let new = permanent[id]
        {
          holder.pending[relationship.slot] = .objectID(new)
        }
      }
    }
  }
}

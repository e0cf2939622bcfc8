extension ManagedObjectContext {
  /// Assigns permanent identifiers to new objects before they are saved, for programs that need to record them first.
  ///
  /// The store assigns each object the key of its future row. The key of an object that is never saved stays unused.
  /// Objects with permanent identifiers keep them. Objects of a child context also get keys from the store, which its
  /// parents use once it is saved.
  ///
  /// ```swift
  /// try context.obtainPermanentIDs(for: [tea])
  /// defaults.set(tea.objectID.uriRepresentation().absoluteString, forKey: "favorite")
  /// ```
  ///
  /// - Parameter objects: New objects of this context.
  /// - Throws: The errors of ``save()`` if the store can't be written: ``PersistenceError/Code/storeReadOnly``,
  ///   ``PersistenceError/Code/saveFailed`` if no store contains an object's entity, and the store's own errors.
  public func obtainPermanentIDs(for objects: some Sequence<ManagedObject>) throws {
    try throwDeferredError()
    observedChanges.begin()
    defer { observedChanges.end() }
    processTrackedChanges()
    var groups: [ObjectIdentifier: (store: any PersistentStore, objects: [ManagedObject])] = Dictionary()
    for object in Set(objects) where object.table === unsavedTable && object.change == .inserted {
      let store = try storeForInsert(of: object)
      groups[ObjectIdentifier(store), default: (store, [])].objects.append(object)
    }
    let keys = try groups.values.map { try $0.store.reserveKeys(for: $0.objects.map(\.layout.entity)) }
    for ((store, objects), keys) in zip(groups.values, keys) { give(keys, to: objects, in: tables(of: store)) }
    send(.didObtainPermanentIDs(Set(groups.values.flatMap(\.objects))))
  }

  private func give(_ keys: [Int64], to objects: [ManagedObject], in tables: StoreTables) {
    let (numbers, temporary) = (objects.map(\.key), objects.map(\.objectID))
    for (object, key) in zip(objects, keys) {
      graph.assign(object, toStore: nil)
      move(object, to: tables.table(for: object.layout), key: key)
    }
    rename(Dictionary(zip(temporary, objects.map(\.objectID)), uniquingKeysWith: { $1 }))
    guard !children.isEmpty else { return }
    WrittenRows(
      zip(numbers, objects), referring: graph.insertedAndUpdated, formerly: graph.formerlyChanged, in: tables
    ).apply(to: children)
  }

  /// Re-registers an unsaved object under its permanent key.
  func move(_ object: ManagedObject, to table: ObjectTable, key: Int64) {
    table.insert(object, key: key, insteadOf: object.key, in: object.table)
  }

  /// Replaces temporary identifiers with permanent ones. Only changed objects can refer to new ones.
  private func rename(_ permanent: [ManagedObjectID: ManagedObjectID]) {
    guard !permanent.isEmpty else { return }
    for holder in graph.changed {
      for relationship in holder.layout.relationships {
        if relationship.isToMany {
          if !holder.toManys.isEmpty { holder.toManys[relationship.slot]?.rename(permanent) }
        } else if case .objectID(let id)? = holder.pending[relationship.slot],
          let new = permanent[id]
        {
          holder.setPending(.objectID(new), at: relationship.slot)
        }
      }
    }
    renameOneWayMembers()
  }
}

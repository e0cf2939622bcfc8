import Foundation

extension ManagedObjectContext {
  /// A new object of the entity with a name, of the class that serves the entity.
  ///
  /// ```swift
  /// let tea = try context.create("Item")
  /// ```
  ///
  /// - Throws: ``PersistenceError/Code/unknownEntity``; ``PersistenceError/Code/invalidRequest`` for an abstract
  ///   entity.
  @discardableResult
  public func create(_ name: String) throws -> ManagedObject {
    let layout = layout(of: try entity(named: name))
    guard !layout.entity.isAbstract else {
      throw PersistenceError(
        .invalidRequest, at: .entity(name), "'\(name)' is abstract: it has no objects of its own.",
        fix: "Insert an object of one of its subentities.")
    }
    let type = managedObjectClass(of: layout)
    return type.init(ManagedObject.Origin(newOf: type, layout, in: self))
  }

  /// Takes in an object that was made without a context, as a new one.
  ///
  /// - Parameter object: of an entity of this context's model, and of no context; one of this context stays as it is.
  public func insert(_ object: ManagedObject) {
    if object.table?.context === self { return }
    precondition(object.table == nil, "\(object) belongs to another context: take it by its identifier.")
    object.layout = layout(of: object.layout.entity)
    object.slots = slotTable(of: type(of: object), object.layout).entries
    object.pending = object.pending.isEmpty ? object.layout.initialValues : object.pending
    object.snapshot = nil
    object.toManys = []
    adopt(object, object.layout)
  }

  /// Makes an object that has no context a new one of this context.
  func adopt(_ object: ManagedObject, _ layout: EntityLayout) {
    register(object)
    // The values that a class gives its new objects are defaults.
    let given = object.given
    object.awakeFromInsert()
    object.given = given
  }

  /// Enters an object that has no context among the new ones.
  ///
  /// - Parameter number: the one that the object has in a child context already; nil for a new one.
  func register(_ object: ManagedObject, number: UInt64? = nil) {
    let table = unsavedTable
    object.table = table
    object.key = Int64(bitPattern: number ?? ManagedObjectID.nextTemporaryNumber())
    object.identifier = nil
    table.map.insert(object, key: object.key)
    enterAsNew(object)
  }

  /// Enters an object again that was deleted and left the context, as a new one under the identifier that it had.
  func registerAgain(_ object: ManagedObject) {
    // Its way back out is a deletion again.
    if let tracker, object.eventIndex < 0 { tracker.enter(object, before: ObjectState(object)) }
    switch object.objectID.key {
    case .permanent(let key):
      guard let place = place(of: object.objectID) else { return register(object) }
      place.table.take(object, key: key)
      enterAsNew(object)
    case .temporary(let number):
      object.snapshot = nil
      register(object, number: number)
    }
  }

  /// A new object whose row gets a key that the caller knows to be free.
  func insertNewObject(of layout: EntityLayout, key: Int64, in table: ObjectTable) -> ManagedObject {
    let type = managedObjectClass(of: layout)
    var origin = ManagedObject.Origin(newOf: type, layout, in: self)
    origin.inserting = nil
    let object = type.init(origin)
    table.take(object, key: key)
    enterAsNew(object)
    object.awakeFromInsert()
    return object
  }

  private func enterAsNew(_ object: ManagedObject) {
    object.loading = .loaded
    object.change = .inserted
    object.enterEventAsNew(in: self)
    inserted.insert(object)
    if retainsRegisteredObjects { retained.append(object) }
    object.isTouched = true
  }

  /// The object with an identifier, without a look into the store: a fault where it isn't alive.
  ///
  /// An object without a row in the store counts as deleted once it was used, and reads as defaults. The
  /// temporary identifier that an object had before it was saved leads to it too.
  ///
  /// - Parameter id: of an entity and a store of this context; one that isn't stops the program. For identifiers from
  ///   outside there is ``existingObject(with:)``.
  public func object(with id: ManagedObjectID) -> ManagedObject {
    guard let object = registeredOrFault(id) else {
      preconditionFailure("\(id) is of no store of this context's coordinator, or of an object that was never saved.")
    }
    return object
  }

  /// The object with an identifier, its row read.
  ///
  /// - Throws: ``PersistenceError/Code/objectNotFound`` where there is no such row, or it is to be deleted.
  public func existingObject(with id: ManagedObjectID) throws -> ManagedObject {
    try throwDeferredError()
    if let object = registeredOrFault(id), object.change != .deleted {
      object.fulfil()
      try throwDeferredError()
      if object.loading != .missing { return object }
    }
    throw Self.notFound(id)
  }

  static func notFound(_ id: ManagedObjectID) -> PersistenceError {
    PersistenceError(
      .objectNotFound, at: .init(entity: id.entityName, row: id.primaryKey), "There is no object \(id).",
      fix: "It was deleted, never saved, or belongs to a store that isn't open.")
  }

  /// The object with an identifier where it is alive in this context.
  public func registeredObject(for id: ManagedObjectID) -> ManagedObject? {
    switch id.key {
    case .temporary(let number):
      if let object = unsavedTable.map[Int64(bitPattern: number)] ?? registeredNewObjectOfParent(id) { return object }
      let current = id.current
      return current === id ? nil : registeredObject(for: current)
    case .permanent(let key): return place(of: id)?.table.map[key]
    }
  }

  /// Marks an object for deletion and carries out the delete rules of its relationships.
  ///
  /// A new object is forgotten at once. A row is deleted with the next save.
  public func delete(_ object: ManagedObject) {
    guard object.table?.context === self else {
      precondition(object.table == nil, "\(object) belongs to another context: take it by its identifier.")
      return
    }
    DeletePropagation(in: self).delete(object)
  }

  /// What every deletion begins with: the object is in none of the sets that the next save looks at.
  func leaveChangeSets(_ object: ManagedObject) {
    if object.eventIndex < 0 { object.enterEvent() }
    switch object.change {
    case .inserted: inserted.remove(object)
    case .updated: updated.remove(object)
    case .deleted: deleted.remove(object)
    case .none: break
    }
  }

  /// New objects, which the next save inserts.
  public var insertedObjects: Set<ManagedObject> { Set(inserted.objects) }
  /// Changed objects, new and deleted ones not included.
  public var updatedObjects: Set<ManagedObject> { Set(updated.objects) }
  /// Objects that the next save deletes, and those whose rows others have deleted, as the last merge found.
  public var deletedObjects: Set<ManagedObject> { Set(deleted.objects).union(mergedDeletions) }
  /// Every object that is alive in this context.
  public var registeredObjects: Set<ManagedObject> {
    willListRegisteredObjects?()
    cycles.collect()
    return liveObjects
  }
  /// As ``registeredObjects``. An object that is held though its row was found to be gone isn't one of them.
  var liveObjects: Set<ManagedObject> { Set(tables.flatMap { $0.map.objects }.filter { $0.loading != .missing }) }
  public var hasChanges: Bool { !inserted.isEmpty || !updated.isEmpty || !deleted.isEmpty }
}

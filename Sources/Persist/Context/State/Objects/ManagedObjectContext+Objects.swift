import Foundation

extension ManagedObjectContext {
  /// Inserts a new object of the entity with a name, using the entity's class.
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
        .invalidRequest, at: .entity(name), "'\(name)' is abstract and can't have objects.",
        fix: "Insert an object of one of its subentities.")
    }
    let type = managedObjectClass(of: layout)
    return type.init(ManagedObject.Origin(newOf: type, layout, in: self))
  }

  /// Inserts an object that was created without a context.
  ///
  /// The object keeps a temporary identifier that it has had before.
  ///
  /// - Parameter object: An object without a context, of an entity of this context's model. An object of this context
  ///   is left unchanged.
  public func insert(_ object: ManagedObject) {
    if object.table?.context === self { return }
    precondition(object.table == nil, "\(object) belongs to another context: look it up by its identifier.")
    observedChanges.begin()
    defer { observedChanges.end() }
    object.changeLayout(to: layout(of: object.layout.entity), in: unsavedTable)
    if object.pending.isEmpty { object.replacePending(with: object.layout.initialValues) }
    object.replaceRow(with: nil)
    object.replaceMembers(with: [])
    let number = object.ownTemporaryNumber.flatMap { isFree($0) ? $0 : nil }
    if number != nil { recordReferences(to: [object]) }
    adopt(object, number: number)
  }

  private func isFree(_ number: UInt64) -> Bool { unsavedTable.map[Int64(bitPattern: number)] == nil }

  /// Inserts an object without a context into this one, and calls ``ManagedObject/awakeFromInsert()``.
  func adopt(_ object: ManagedObject, number: UInt64? = nil) {
    register(object, number: number)
    object.awakeAsNew()
  }

  /// Registers an object without a context as inserted.
  ///
  /// - Parameter number: The temporary number that the object has in a child context or had before; nil for a new one.
  func register(_ object: ManagedObject, number: UInt64? = nil, given: AssignedSlots? = nil) {
    graph.register(object, in: .passUnretained(unsavedTable), number: number, given: given)
  }

  /// Re-registers a deleted object that left the context, as inserted under its former identifier.
  ///
  /// The caller notifies the observers of references to it.
  ///
  /// - Parameter given: The properties that count as set by the program.
  func reregister(_ object: ManagedObject, given: AssignedSlots) {
    // Recorded with its state, so that removing it again counts as a deletion.
    if let tracker, !object.isInEvent { tracker.enter(object, before: ObjectState(object)) }
    switch object.objectID.key {
    case .permanent(let key):
      guard let place = place(of: object.objectID) else {
        register(object, given: given)
        break
      }
      place.table.insert(object, key: key)
      object.recordChangeOfAll()
      graph.insert(object, given: given)
    case .temporary(let number):
      object.replaceRow(with: nil)
      register(object, number: number, given: given)
    }
  }

  /// Registers an object without a context under its former identifier, as new and with the values of a new one.
  func reregisterEmpty(_ object: ManagedObject) {
    object.replaceMembers(with: [])
    object.replacePending(with: object.layout.initialValues)
    recordReferences(to: [object])
    reregister(object, given: AssignedSlots.none)
  }

  /// Inserts a new object with a key for its row, which must be free.
  package func insertNewObject(of layout: EntityLayout, key: Int64, in table: ObjectTable) -> ManagedObject {
    let type = managedObjectClass(of: layout)
    let object = type.init(
      ManagedObject.Origin(
        kind: table.kind(of: layout, as: type), key: key, loading: .loaded, inserting: .passUnretained(self)))
    table.insert(object, key: key)
    graph.insert(object)
    object.awakeFromInsert()
    return object
  }

  /// Returns the object with an identifier without accessing the store: a fault if the object isn't registered.
  ///
  /// An object without a row in the store counts as deleted once it is used, and reads as defaults. A temporary
  /// identifier from before an object's first save also resolves to it.
  ///
  /// - Parameter id: An identifier with an entity and a store of this context; any other traps. For identifiers from
  ///   outside, use ``existingObject(with:)``.
  public func object(with id: ManagedObjectID) -> ManagedObject {
    guard let object = registeredOrFault(id) else {
      preconditionFailure("\(id) belongs to no store of this context's coordinator, or its object was never saved.")
    }
    return object
  }

  /// Returns the object with an identifier, with its row read.
  ///
  /// - Throws: ``PersistenceError/Code/objectNotFound`` if there is no such row, or the object is marked for deletion.
  public func existingObject(with id: ManagedObjectID) throws -> ManagedObject {
    try throwDeferredError()
    if let object = registeredOrFault(id), object.change != .deleted {
      object.fulfill()
      try throwDeferredError()
      if object.loading != .missing { return object }
    }
    throw Self.notFound(id)
  }

  static func notFound(_ id: ManagedObjectID) -> PersistenceError {
    PersistenceError(
      .objectNotFound, at: .init(entity: id.entityName, row: id.primaryKey),
      "There is no object \(ValueWords.object(id)).",
      fix: "It was deleted, never saved, or belongs to a store that isn't open.")
  }

  /// Returns the object with an identifier if it is registered in this context.
  public func registeredObject(for id: ManagedObjectID) -> ManagedObject? {
    switch id.key {
    case .temporary(let number):
      if let object = unsavedTable.map[Int64(bitPattern: number)] ?? registeredNewObjectOfParent(id) { return object }
      let current = id.current
      return current === id ? nil : registeredObject(for: current)
    case .permanent(let key): return place(of: id)?.table.map[key]
    }
  }
}

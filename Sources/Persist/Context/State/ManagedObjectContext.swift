import Foundation

/// A scratch pad of objects over the stores of a coordinator: fetches and creates objects, tracks their changes and
/// saves them.
///
/// A context is an ordinary class that isn't Sendable. Its creator owns it: an actor, the main actor, a task. The
/// compiler keeps objects within their context's isolation, so that programs need no queue and no `perform` to use
/// them. Several contexts can use the same stores at once; pass identifiers between them, not objects.
///
/// ```swift
/// let context = ManagedObjectContext(coordinator)
/// let tea = ManagedObject(entity: try context.entity(named: "Item"), insertInto: context)
/// tea["name"] = "Tea"
/// try context.save()
/// let items = try context.fetch(FetchRequest("Item", sortedBy: "name"))
/// ```
///
/// A context has one object for each row. Changed objects are held until they are saved; others live as long as the
/// program holds them, or holds an object that they were reached from through a relationship. An object keeps its row
/// while it lives.
public final class ManagedObjectContext {
  /// The coordinator of the stores that the context reads and writes; for a child context, its parent's.
  public let persistentStoreCoordinator: PersistentStoreCoordinator
  /// The context that this one reads from and saves to; nil for one that uses the stores directly.
  public let parent: ManagedObjectContext?
  /// Returns the rows of a store as the parent shows them; nil for a context that uses the stores directly.
  let rowsOfParent: ((any PersistentStore) -> any RowSource)?
  /// The child contexts. Not retained: each removes itself when deallocated.
  var children: [Unmanaged<ManagedObjectContext>] = [] {
    didSet { graph.hasChildren = !children.isEmpty }
  }
  /// The state of the registered objects.
  package let graph = ObjectGraph()
  /// The work of later layers that accesses to objects require.
  let hooks: Hooks
  /// The value of ``mergePolicy``; nil for its default.
  var assignedMergePolicy: (any Sendable)?
  /// Saves by others that this context hasn't merged yet.
  let mailbox = SavedChangesMailbox()
  /// Nil while the context doesn't merge the saves of others automatically.
  var automaticMerging: AutomaticMerging?
  /// The last merge; nil after a save.
  var lastMerge: (any LastMerge)?
  /// Finds groups of objects that are held only by each other.
  let cycles = HeldCycles()
  package let readProbe = ReadProbe()
  package let observedChanges: ObservedChanges
  package let layouts: EntityLayouts
  let classes: [ManagedObject.Type]
  /// The mapping that ``classes`` are from; nil if the context was given classes of its own.
  let sharedClasses: ManagedObjectClasses.Mapping?
  /// The slots of the classes' declared properties, by entity, for those used so far; the layouts own the tables.
  // Unchecked: used only within the context's isolation, and accesses to elements make no outside calls.
  @exclusivity(unchecked) private var slotTables: [SlotTable?]
  /// The state of the stores that the context reads; nil for the current state.
  var queryGeneration: QueryGeneration? { didSet { applyReadView() } }
  /// The replicas that the context reads; nil for the stores themselves.
  var replicaView: ReplicaView? { didSet { applyReadView() } }
  private var lastServed: (type: ManagedObject.Type, origin: ManagedObject.Origin)?
  /// Nil while the context isn't observed.
  var tracker: ChangeTracker?
  /// Created when a key path is first resolved.
  var keyPathResolver: KeyPathResolver?
  /// Called with a function for the changes of each save that wrote some. Unlike an observation, it needs no tracking.
  package var didWrite: ((() -> SavedChanges) -> Void)?
  /// Returns the faults whose rows are read together with that of one that is used.
  package var faultBatch: ((ManagedObject) -> [ManagedObject])?
  /// Records changes to undo them; nil if nobody does.
  var changeRecorder: (any ChangeRecorder)?
  /// A human-readable name, for logs and the debugger.
  public var name: String?
  /// The author of changes made through this context, recorded in the persistent history.
  public var transactionAuthor: String?
  /// Values for use by the program; the context ignores them.
  public var userInfo: [String: Any] = Dictionary()
  /// Conditions that are added to every request for an entity, by its name: objects that don't satisfy the condition
  /// aren't found. None by default.
  ///
  /// ```swift
  /// context.defaultFilters["Note"] = try FetchPredicate("deletedAt == nil")
  /// let notes = try context.fetch(FetchRequest("Note"))                          // without deleted ones
  /// let all = try context.fetch(FetchRequest("Note").ignoringDefaultFilters())
  /// ```
  ///
  /// They apply to everything that a request describes: objects, identifiers, rows, counts, batches, streams, results
  /// controllers, live queries, fetched properties, and batch updates and deletions; also to requests for subentities.
  /// They don't apply to relationships, paths in predicates, objects found by their identifiers, imports and
  /// uniqueness constraints: these concern the object graph as a whole.
  ///
  /// A child context begins with its parent's filters, and the contexts of a ``PersistentContainer`` with those of the
  /// container.
  ///
  /// A wrong name is an error of the next request. A filter of a subentity alone is an error of requests that include
  /// other objects.
  public var defaultFilters: [String: FetchPredicate] = Dictionary()
  /// The handling of an object whose row turns out to have been deleted elsewhere.
  ///
  /// The object counts as deleted and reads as defaults in either case. If this is false, the context's next throwing
  /// call also reports the error.
  public var shouldDeleteInaccessibleFaults = true
  /// Whether the context holds every object that it creates until it is reset. Otherwise it holds only changed ones.
  public var retainsRegisteredObjects: Bool {
    get { graph.retainsAll }
    set { graph.retainAll(newValue, of: tables) }
  }
  /// Called before the program obtains all registered objects: a migration then stops releasing them.
  package var willListRegisteredObjects: (() -> Void)?
  /// The monitor of this context's reads, if any.
  var readMonitor: ReadMonitor?
  /// Whether saving validates objects. A migration validates once all objects exist.
  package var validatesOnSave = true
  /// Whether nobody changes the stores while the context reads them, as in the source of a migration.
  package var readsUnchangingStores = false
  /// The save that is running and hasn't written its changes.
  var runningSave: (any RunningSave)?
  let oneWay = OneWayRelationships()
  /// The searchers of single texts, created on demand.
  var textSearchers: [FullTextSearch.Tokenizer: any TextSearcher] = Dictionary()
  /// The errors of getters, which can't throw, for the next call that can.
  var deferred = DeferredErrors()

  /// - Parameter classes: The entities' classes in model order, which are those of the mapping unless it is nil.
  init(
    _ coordinator: PersistentStoreCoordinator, classes: [ManagedObject.Type],
    from mapping: ManagedObjectClasses.Mapping?, hooks: Hooks
  ) {
    self.hooks = hooks
    persistentStoreCoordinator = coordinator
    parent = nil
    rowsOfParent = nil
    observedChanges = ObservedChanges()
    layouts = coordinator.layouts
    sharedClasses = mapping
    self.classes = classes
    slotTables = Array(repeating: nil, count: layouts.count)
  }

  /// Creates a child context.
  ///
  /// - Parameter rows: Returns the rows of a store as the parent shows them.
  init(childOf parent: ManagedObjectContext, rows: @escaping (any PersistentStore) -> any RowSource) {
    hooks = parent.hooks
    persistentStoreCoordinator = parent.persistentStoreCoordinator
    self.parent = parent
    rowsOfParent = rows
    observedChanges = parent.observedChanges
    layouts = parent.layouts
    sharedClasses = parent.sharedClasses
    classes = parent.classes
    slotTables = parent.slotTables
    defaultFilters = parent.defaultFilters
    parent.children.append(.passUnretained(self))
  }

  deinit {
    observedChanges.begin()
    defer { observedChanges.end() }
    detachObjects()
    parent?.children.removeAll { $0.toOpaque() == Unmanaged.passUnretained(self).toOpaque() }
  }

  /// Removes all objects from the context when it is deallocated.
  private func detachObjects() {
    oneWay.forgetChanges()
    var lists = tables.map { $0.map.objects }
    for objects in lists { objects.forEachUnretained { $0.releaseRelated() } }
    for index in lists.indices {
      while var object = lists[index].popLast() {
        // An object without other references is deallocated here, and needs no identifier that outlives the context.
        if object.marks.contains(.observed) || !isKnownUniquelyReferenced(&object) { object.detach() }
      }
    }
  }

  /// New objects, which the next save inserts.
  public var insertedObjects: Set<ManagedObject> { Set(graph.inserted.objects) }
  /// Changed objects, excluding new and deleted ones.
  public var updatedObjects: Set<ManagedObject> { Set(graph.updated.objects) }
  /// Every live object of this context.
  public var registeredObjects: Set<ManagedObject> {
    willListRegisteredObjects?()
    cycles.collect()
    return liveObjects
  }
  /// All live objects, without those whose rows were found to be deleted.
  var liveObjects: Set<ManagedObject> { Set(tables.flatMap { $0.map.objects }.filter { $0.loading != .missing }) }
  /// Whether there is anything to save: inserted, updated or deleted objects.
  public var hasChanges: Bool { graph.hasChanges }

  /// Returns the entity with a name in the coordinator's model.
  ///
  /// - Throws: ``PersistenceError/Code/unknownEntity``.
  public func entity(named name: String) throws -> Entity { try model.entity(named: name) }

  /// Returns the origin of new objects of a class. The last one is cached, because most objects are created in bulk.
  func origin(serving type: ManagedObject.Type) -> ManagedObject.Origin {
    if let (last, origin) = lastServed, last == type { return origin }
    let entity = findEntity(servedBy: type)
    precondition(!entity.isAbstract, "'\(entity.name)' is abstract: only its subentities have objects.")
    let origin = ManagedObject.Origin(newOf: type, layouts[entity.index], in: self)
    lastServed = (type, origin)
    return origin
  }

  package var model: ManagedObjectModel { persistentStoreCoordinator.managedObjectModel }

  package func findEntity(servedBy type: ManagedObject.Type) -> Entity {
    if let index = classes.firstIndex(where: { $0 == type }) { return layouts[index].entity }
    let name = String(describing: type)
    guard let entity = model.entitiesByName[name] else {
      preconditionFailure("No entity of the model has the class \(name): register it, or name the entity.")
    }
    return entity
  }

  package func layout(of entity: Entity) -> EntityLayout {
    let index = entity.index
    precondition(
      layouts.indices.contains(index) && layouts[index].entity === entity,
      "'\(entity.name)' belongs to a model other than the context's.")
    return layouts[index]
  }
}

extension ManagedObjectContext {
  /// The author of this context's changes in the history.
  var historyOrigin: HistoryOrigin {
    HistoryOrigin(author: transactionAuthor, contextName: name)
  }

  /// Whether a save is running, which must see others' saved changes.
  var isReadingNewest: Bool { runningSave?.readsNewest == true }

  /// The view that the context reads instead of its stores; nil for the stores, whose newest state a save reads.
  var readView: (any ReadView)? {
    if isReadingNewest { return nil }
    if let queryGeneration { return queryGeneration }
    return replicaView
  }

  /// Makes the stores' tables read the present view.
  func applyReadView() { graph.tables.read(readView) }

  /// All existing tables, including that of unsaved objects.
  var tables: [ObjectTable] { graph.tables.all }

  var unsavedTable: ObjectTable { graph.tables.unsaved(in: self) }

  package func tables(of store: any PersistentStore) -> StoreTables {
    graph.tables.of(store) ?? graph.tables.add(StoreTables(context: self, store: store), reading: readView)
  }

  /// Returns the tables of the store with an identifier, or nil if the coordinator has no such store and never had.
  ///
  /// A store that was removed and added again has tables of its own: objects of the former one remain in theirs.
  func tables(ofStore identifier: String) -> StoreTables? {
    if let store = persistentStoreCoordinator.openStore(identifier: identifier) { return tables(of: store) }
    return graph.tables.stores.last { $0.identifier == identifier }
  }

  /// Returns the layout of a to-one relationship's destination entity, as recorded in the row.
  func layout(
    ofDestination relationship: RelationshipLayout, in snapshot: RowSnapshot, of owner: EntityLayout
  ) -> EntityLayout {
    if let slot = relationship.entityNumberSlot, !snapshot.isNull(slot, of: owner.rowSlotCount) {
      let index = Int(truncatingIfNeeded: snapshot.integer(slot)) - 1
      if layouts.indices.contains(index) { return layouts[index] }
    }
    return layouts[relationship.destinationIndex]
  }

  package func layout(named name: String) -> EntityLayout? {
    model.entitiesByName[name].map { layouts[$0.index] }
  }

  /// Returns the object of a row: the registered one, or else a new fault.
  package func registeredOrFault(_ layout: EntityLayout, key: Int64, in tables: StoreTables) -> ManagedObject {
    let table = tables.table(for: layout)
    if let object = table.map[key] { return object }
    return makeFault(layout, key: key, in: table)
  }

  /// Returns the object with an identifier: the registered one, or else a new fault; nil if the identifier can't belong
  /// to this context.
  package func registeredOrFault(_ id: ManagedObjectID) -> ManagedObject? {
    switch id.key {
    case .temporary(let number):
      if let object = unsavedTable.map[Int64(bitPattern: number)] ?? parentsNewObject(id) { return object }
      let current = id.current
      return current === id ? nil : registeredOrFault(current)
    case .permanent(let key):
      guard let place = place(of: id) else { return nil }
      return place.table.map[key] ?? makeFault(place.layout, key: key, id: id, in: place.table)
    }
  }

  /// The table of an entity's objects in a store. A class, so that passing it costs one reference count.
  package final class RowPlace {
    package let entityName: String
    package let storeIdentifier: String
    package let layout: EntityLayout
    package let table: ObjectTable
    /// The coordinator's, when the place was looked up.
    fileprivate let storeGeneration: Int

    package init(_ layout: EntityLayout, in tables: StoreTables, storeGeneration: Int) {
      self.layout = layout
      self.storeGeneration = storeGeneration
      entityName = layout.entity.name
      storeIdentifier = tables.identifier
      table = tables.table(for: layout)
    }
  }

  /// Returns the table for an identifier of a row, or nil if the identifier can't belong to this context. The last
  /// result is cached: identifiers of one kind occur in bulk, and looking up entity and store by name costs more than
  /// all other uses of an identifier.
  func place(of id: ManagedObjectID) -> RowPlace? {
    // Read before the lookup: another thread may remove and add stores in the meantime.
    let generation = persistentStoreCoordinator.storeGeneration
    if let last = graph.tables.lastPlace, last.entityName == id.entityName, last.storeIdentifier == id.storeIdentifier,
      last.storeGeneration == generation
    {
      return last
    }
    guard let layout = layout(named: id.entityName), let tables = tables(ofStore: id.storeIdentifier) else {
      return nil
    }
    let place = RowPlace(layout, in: tables, storeGeneration: generation)
    graph.tables.lastPlace = place
    return place
  }

  /// Returns the slots of the declared properties of an entity's own class.
  func slotTable(of layout: EntityLayout) -> SlotTable {
    if let table = slotTables[layout.index] { return table }
    let table = layout.slotTable(of: classes[layout.index])
    slotTables[layout.index] = table
    return table
  }

  func managedObjectClass(of layout: EntityLayout) -> ManagedObject.Type { classes[layout.index] }

  func makeFault(
    _ layout: EntityLayout, key: Int64, id: ManagedObjectID? = nil, in table: ObjectTable
  ) -> ManagedObject {
    var factory = FaultFactory(self, table)
    let object = factory.makeFault(key: key, entityIndex: layout.index)
    if let id { object.identify(as: id) }
    return object
  }
}

extension ManagedObjectContext {
  /// Functions of later layers that accesses to objects call.
  struct Hooks: Sendable {
    /// Rereads an object's row if others have changed it, and merges it into the object.
    let adoptNewerRow: @Sendable (ManagedObject, ManagedObjectContext) -> Void
    /// Returns the objects of a fetched property.
    let fetch: @Sendable (Property, ManagedObject) throws -> [ManagedObject]
  }
}

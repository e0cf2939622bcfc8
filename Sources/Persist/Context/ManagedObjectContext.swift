import Foundation

/// A scratch pad of objects over the stores of a coordinator: fetches them, makes them, keeps their changes, saves
/// them.
///
/// A context is an ordinary class that isn't Sendable. Whoever creates it owns it: an actor, the main actor, a task.
/// The compiler keeps its objects with it, so that no queue and no `perform` stands between a program and its objects.
/// Several contexts work on the same stores at once; hand over identifiers, not objects.
///
/// ```swift
/// let context = ManagedObjectContext(coordinator)
/// let tea = ManagedObject(entity: try context.entity(named: "Item"), insertInto: context)
/// tea["name"] = "Tea"
/// try context.save()
/// let items = try context.fetch(FetchRequest("Item", sortedBy: "name"))
/// ```
///
/// There is one object for each row in a context. Changed objects are held until they are saved; others live for as
/// long as the program holds them, or an object that they were reached from through a relationship. An object keeps its
/// row while it lives.
public final class ManagedObjectContext {
  public let persistentStoreCoordinator: PersistentStoreCoordinator
  /// The context that this one reads from and saves to; nil for one that works on the stores themselves.
  public let parent: ManagedObjectContext?
  /// The contexts whose parent this one is. Not counted: each takes itself out when it goes.
  var children: [Unmanaged<ManagedObjectContext>] = []
  /// What a save does about rows that others changed, and about values that must be unique.
  public var mergePolicy = MergePolicy.error
  /// Where saves of others wait until this context merges them.
  let mailbox = SavedChangesMailbox()
  /// Nil while the context doesn't merge the saves of others by itself.
  var automaticMerging: AutomaticMerging?
  /// What the last merge brought: held until the next one, so that it isn't gone before anybody could look at it.
  var mergedInsertions: Set<ManagedObject> = []
  var mergedDeletions: Set<ManagedObject> = []
  /// Finds those objects that only hold each other.
  let cycles = HeldCycles()
  let layouts: [EntityLayout]
  let classes: [ManagedObject.Type]
  /// The slots of the classes' declared properties; the layouts hold the tables.
  let slotTables: [SlotTable]
  private(set) var storeTables: [StoreTables] = []
  private var unsaved: ObjectTable?
  private var lastServed: (type: ManagedObject.Type, layout: EntityLayout)?
  // Unchecked: within the context's isolation, and finding a place calls nobody. The check would cost as much again.
  @exclusivity(unchecked) private var lastPlace: RowPlace?

  /// The stores that new objects were assigned to, by the objects' numbers.
  var assignedStores: [Int64: String] = [:]
  var inserted = ChangeSet()
  var updated = ChangeSet()
  var deleted = ChangeSet()
  /// Objects whose rows the next save checks though it doesn't write them.
  var watchedObjects: Set<ManagedObject> = []
  /// Nil while nobody observes the context.
  var tracker: ChangeTracker?
  /// Made when a key path is first asked for.
  var keyPathResolver: KeyPathResolver?
  var undoKeeper: UndoManager?
  /// A name for people: for logs and the debugger.
  public var name: String?
  /// Who changes objects through this context, for those who read the history of changes.
  public var transactionAuthor: String?
  /// The program's own; the context doesn't look at it.
  public var userInfo: [String: Any] = [:]
  /// What happens when an object's row turns out to be gone, because somebody else deleted it.
  ///
  /// The object counts as deleted and reads as defaults either way. When this is false, the context's next call that
  /// can throw says so too.
  public var shouldDeleteInaccessibleFaults = true
  /// Whether the context holds every object that it made, until it is reset; otherwise it holds changed ones only.
  @exclusivity(unchecked) public var retainsRegisteredObjects = false {
    didSet { retained = retainsRegisteredObjects ? tables.flatMap { $0.map.objects } : [] }
  }
  var retained: [ManagedObject] = []
  /// Called before the program gets all objects of the context: a migration then stops releasing them.
  var willListRegisteredObjects: (() -> Void)?
  /// Who watches what this context reads; nil for nobody.
  var readMonitor: ReadMonitor?
  /// How many times rows may have become outdated that were read ahead and not given to objects yet.
  var rowGeneration = 0
  /// Whether a save checks the rules; a migration does it when the whole is there.
  var validatesOnSave = true
  /// Whether a save runs whose changes weren't written yet.
  var isSaving = false
  /// The ends that objects led to before they got newer rows in the save that runs; nil while none does.
  var formerEnds: [FormerEnds]?
  /// What searches single texts, once something has asked for it.
  var singleTextIndexes: [FullTextSearch.Tokenizer: SingleTextIndex] = [:]
  /// An error of a getter, which can't throw, for the next call that can.
  private var deferred: (any Error)?

  /// A context over the stores that the coordinator has and will have.
  ///
  /// - Parameter classes: classes by entity name, for this context; others are those that are registered.
  public init(_ coordinator: PersistentStoreCoordinator, classes given: [String: ManagedObject.Type] = [:]) {
    persistentStoreCoordinator = coordinator
    parent = nil
    layouts = coordinator.layouts
    let model = coordinator.managedObjectModel.classes
    classes = layouts.map { ManagedObjectClasses.class(for: $0.entity, given: given, of: model) }
    slotTables = zip(layouts, classes).map { $0.slotTable(of: $1) }
  }

  /// A scratch pad over another context: it sees the parent's objects with their unsaved changes, and saves to the
  /// parent, whose own save then writes to the stores.
  ///
  /// What is changed in a child and not saved leaves no trace in the parent. A child costs what is used in it, however
  /// many objects the parent has: making one costs next to nothing, and each row is read when it is used. Its saves run
  /// the hooks and the validation, as every save does. The properties that it changed take the place of the parent's,
  /// and what it doesn't know of stays as it is there. Its new objects keep their temporary identifiers until the
  /// outermost context has saved.
  ///
  /// ```swift
  /// let draft = ManagedObjectContext(parent: context)
  /// draft.object(with: tea.objectID)["name"] = "Green tea"
  /// try draft.save()       // tea has the name, unsaved
  /// try context.save()     // the store has it
  /// ```
  ///
  /// Neither context is Sendable, and a child uses its parent with every read: the two are of one isolation, and the
  /// compiler keeps them together. A context for another task is one of the coordinator's, not a child.
  ///
  /// - Parameter parent: is held for as long as the child lives.
  public init(parent: ManagedObjectContext) {
    persistentStoreCoordinator = parent.persistentStoreCoordinator
    self.parent = parent
    layouts = parent.layouts
    classes = parent.classes
    slotTables = parent.slotTables
    parent.children.append(.passUnretained(self))
  }

  deinit {
    for table in tables {
      for object in table.map.objects { object.detach() }
    }
    parent?.children.removeAll { $0.toOpaque() == Unmanaged.passUnretained(self).toOpaque() }
  }

  /// Entities of the coordinator's model.
  ///
  /// - Throws: ``PersistenceError/Code/unknownEntity``.
  public func entity(named name: String) throws -> Entity { try model.entity(named: name) }

  /// The layout of the entity that a class serves. The last answer is kept: objects are mostly made by the dozen.
  func layout(serving type: ManagedObject.Type) -> EntityLayout {
    if let (last, layout) = lastServed, last == type { return layout }
    let layout = layouts[findEntity(servedBy: type).number - 1]
    precondition(
      !layout.entity.isAbstract, "'\(layout.entity.name)' is abstract: only its subentities have objects.")
    lastServed = (type, layout)
    return layout
  }

  var model: ManagedObjectModel { persistentStoreCoordinator.managedObjectModel }

  func findEntity(servedBy type: ManagedObject.Type) -> Entity {
    if let index = classes.firstIndex(where: { $0 == type }) { return layouts[index].entity }
    let name = String(describing: type)
    guard let entity = model.entitiesByName[name] else {
      preconditionFailure("No entity of the model has the class \(name): register it, or name the entity.")
    }
    return entity
  }

  func layout(of entity: Entity) -> EntityLayout {
    let index = entity.number - 1
    precondition(
      layouts.indices.contains(index) && layouts[index].entity === entity,
      "'\(entity.name)' belongs to another model than the context's.")
    return layouts[index]
  }
}

extension ManagedObjectContext {
  /// All tables that exist, those of unsaved objects included.
  var tables: [ObjectTable] { storeTables.flatMap(\.existing) + (unsaved.map { [$0] } ?? []) }

  var unsavedTable: ObjectTable {
    if let unsaved { return unsaved }
    let table = ObjectTable(context: self, store: nil, siblings: nil)
    unsaved = table
    return table
  }

  func tables(of store: any PersistentStore) -> StoreTables {
    if let tables = storeTables.first(where: { $0.origin === store }) { return tables }
    let tables = StoreTables(context: self, store: store)
    storeTables.append(tables)
    return tables
  }

  /// The tables of the store with an identifier, nil where the coordinator has none such.
  func tables(ofStore identifier: String) -> StoreTables? {
    if let tables = storeTables.first(where: { $0.identifier == identifier }) { return tables }
    return persistentStoreCoordinator.openStore(identifier: identifier).map { tables(of: $0) }
  }

  /// The entity of a to-one relationship's destination, as the row names it.
  func layout(
    ofDestination relationship: RelationshipLayout, in snapshot: RowSnapshot, of owner: EntityLayout
  ) -> EntityLayout {
    if let slot = relationship.entityNumberSlot, !snapshot.isNull(slot, of: owner.rowSlotCount) {
      let index = Int(truncatingIfNeeded: snapshot.integer(slot)) - 1
      if layouts.indices.contains(index) { return layouts[index] }
    }
    return layouts[relationship.destinationIndex]
  }

  func layout(named name: String) -> EntityLayout? {
    model.entitiesByName[name].map { layouts[$0.number - 1] }
  }

  /// The object of a row: the one that is alive, else a new fault.
  func registeredOrFault(_ layout: EntityLayout, key: Int64, in tables: StoreTables) -> ManagedObject {
    let table = tables.table(for: layout)
    if let object = table.map[key] { return object }
    return makeFault(layout, key: key, in: table)
  }

  /// The object of an identifier: the one that is alive, else a new fault; nil where the identifier can't be one of
  /// this context's.
  func registeredOrFault(_ id: ManagedObjectID) -> ManagedObject? {
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

  /// Where the objects of an entity and a store are. A class, so that handing one on is one reference counted.
  final class RowPlace {
    let entityName: String
    let storeIdentifier: String
    let layout: EntityLayout
    let table: ObjectTable

    init(_ layout: EntityLayout, in tables: StoreTables) {
      self.layout = layout
      entityName = layout.entity.name
      storeIdentifier = tables.identifier
      table = tables.table(for: layout)
    }
  }

  /// Where the object of a row's identifier is; nil where the identifier can't be one of this context's. The last
  /// answer is kept: identifiers of one kind come by the dozen, and finding entity and store by their names costs more
  /// than all else that is done with one. Tables stay for as long as the context.
  func place(of id: ManagedObjectID) -> RowPlace? {
    if let last = lastPlace, last.entityName == id.entityName, last.storeIdentifier == id.storeIdentifier {
      return last
    }
    guard let layout = layout(named: id.entityName), let tables = tables(ofStore: id.storeIdentifier) else {
      return nil
    }
    let place = RowPlace(layout, in: tables)
    lastPlace = place
    return place
  }

  func managedObjectClass(of layout: EntityLayout) -> ManagedObject.Type { classes[layout.index] }

  func makeFault(
    _ layout: EntityLayout, key: Int64, id: ManagedObjectID? = nil, in table: ObjectTable
  ) -> ManagedObject {
    let origin = ManagedObject.Origin(
      layout: .passUnretained(layout), table: .passUnretained(table), key: key, loading: .fault,
      slotTable: .passUnretained(slotTables[layout.index]))
    let object = classes[layout.index].init(origin)
    if let id { object.identifier = id }
    table.map.insert(object, key: key)
    if retainsRegisteredObjects { retained.append(object) }
    return object
  }
}

extension ManagedObjectContext {
  /// Another number whenever an object became a changed one, or stopped being one.
  var changeRevision: Int { inserted.revision &+ updated.revision &+ deleted.revision }

  func noteUpdate(of object: ManagedObject) {
    object.change = .updated
    updated.insert(object)
  }

  /// Keeps the first error of a getter for the next call that can throw.
  func deferError(_ error: any Error) {
    if deferred == nil { deferred = error }
  }

  func throwDeferredError() throws {
    guard let error = deferred else { return }
    deferred = nil
    throw error
  }
}

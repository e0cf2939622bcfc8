import Foundation

/// The live objects of one hierarchy and store in a context, or all objects of a context that were never saved.
///
/// Every object refers to its table, which refers to the context and the store.
package final class ObjectTable {
  /// Not retained: the context owns its tables, and removes every object from them before it is deallocated.
  let contextReference: Unmanaged<ManagedObjectContext>
  package var context: ManagedObjectContext { contextReference.takeUnretainedValue() }
  /// The source of the rows; nil for objects that were never saved.
  ///
  /// Changed only by the context's own isolation, between reads.
  @exclusivity(unchecked) fileprivate(set) var store: (any RowSource)?
  /// The tables of the same store, by root entity index; nil for objects that were never saved.
  package unowned(unsafe) let siblings: StoreTables?
  /// The kinds of the objects in this table and in those of the same store.
  private let kinds: ObjectKinds
  /// The context's instance.
  let cycles: HeldCycles
  let readProbe: ReadProbe
  let observedChanges: ObservedChanges
  // Only the context's own isolation reaches the map, whose operations make no outside calls, so accesses can't
  // overlap.
  @exclusivity(unchecked) package private(set) var map = IdentityMap()
  @exclusivity(unchecked) var rowsAhead = RowsAhead()
  @exclusivity(unchecked) var membersAhead = MembersAhead()

  init(context: ManagedObjectContext, store: (any RowSource)?, siblings: StoreTables?) {
    contextReference = .passUnretained(context)
    cycles = context.cycles
    readProbe = context.readProbe
    observedChanges = context.observedChanges
    self.store = store
    self.siblings = siblings
    kinds = siblings?.kinds ?? ObjectKinds()
  }

  package var isTemporary: Bool { store == nil }

  func forgetReadAhead() { (rowsAhead, membersAhead) = (RowsAhead(), MembersAhead()) }

  /// Returns the kind of the table's objects of an entity and class.
  func kind(of layout: EntityLayout, as type: ManagedObject.Type) -> Unmanaged<ObjectKind> {
    kinds.kind(of: layout, as: type, in: self)
  }

  /// Registers an object under a key.
  ///
  /// Detaches a stale fault for the key from a time when it had no row. If the object's temporary identifier is still
  /// referenced, it resolves to the new one from now on.
  func insert(_ object: ManagedObject, key: Int64) {
    if let stale = map[key] {
      context.recordReferences(to: [stale])
      context.graph.detachStale(stale)
    }
    object.join(self, under: key)
  }

  /// Registers an object again under another key.
  func insert(_ object: ManagedObject, key: Int64, insteadOf former: Int64, in table: ObjectTable?) {
    table?.removeEntry(former)
    insert(object, key: key)
  }

  /// Adds an object's entry; its key must be unused.
  @inline(__always)
  func insertEntry(of object: ManagedObject, key: Int64) { map.insert(object, key: key) }

  @inline(__always)
  func removeEntry(_ key: Int64) { map.remove(key) }

  /// Removes the entries of objects that are registered in other tables now.
  func removeEntries(_ keys: [Int64]) {
    if map.count == keys.count { return map.removeAll() }
    for key in keys { map.remove(key) }
  }

  /// Reserves space for the entries of more objects.
  func reserve(_ more: Int) { map.reserve(more) }

  /// Returns the identifier of a row: that of its object if it is registered.
  func objectID(of layout: EntityLayout, key: Int64) -> ManagedObjectID {
    if let object = map[key] { return object.objectID }
    return siblings?.objectID(of: layout, key: key)
      ?? .named(rowKey: key, entityName: layout.entity.name, storeIdentifier: "")
  }
}

/// A context's tables for one store.
package final class StoreTables {
  /// The coordinator's store.
  let origin: any PersistentStore
  /// The source and destination of the context's rows: the store itself, its view of a pinned context, or the parent
  /// context's view of it.
  ///
  /// Changed only by the context's own isolation, between reads.
  @exclusivity(unchecked) private(set) var store: any RowSource
  let identifier: String
  let coordinator: PersistentStoreCoordinator
  private let context: Unmanaged<ManagedObjectContext>
  // Only accessed within the context's isolation, one at a time.
  @exclusivity(unchecked) private var tables: [ObjectTable?]
  /// The kinds of the objects in all tables.
  fileprivate let kinds = ObjectKinds()

  init(context: ManagedObjectContext, store: any PersistentStore) {
    // Not retained: the context owns this object.
    self.context = .passUnretained(context)
    origin = store
    coordinator = context.persistentStoreCoordinator
    self.store = context.rowsOfParent?(store) ?? store
    identifier = store.identifier
    tables = Array(repeating: nil, count: context.layouts.count)
  }

  /// Makes the tables read a view from now on; nil for the store itself.
  func read(_ view: (any ReadView)?) {
    store = view.map { RowsInView(of: origin, in: $0) } ?? origin
    for table in existing {
      table.store = store
      table.forgetReadAhead()
    }
  }

  /// Returns the table of an entity's hierarchy.
  func table(for layout: EntityLayout) -> ObjectTable {
    if let table = tables[layout.rootIndex] { return table }
    let table = ObjectTable(context: context.takeUnretainedValue(), store: store, siblings: self)
    tables[layout.rootIndex] = table
    return table
  }

  /// Returns the identifier of a row whose object isn't registered here. For a new object of a parent context, that is
  /// the parent's identifier, so that both resolve to the permanent one.
  func objectID(of layout: EntityLayout, key: Int64) -> ManagedObjectID {
    if key < 0, let id = context.takeUnretainedValue().idOfParentsNewObject(key, layout, in: self) { return id }
    return .named(rowKey: key, entityName: layout.entity.name, storeIdentifier: identifier)
  }

  /// Returns the object of a row if it is registered.
  ///
  /// - Parameter rootIndex: The index of the hierarchy's root entity.
  func registeredObject(key: Int64, rootIndex: Int) -> ManagedObject? { tables[rootIndex]?.map[key] }

  var existing: [ObjectTable] { tables.compactMap { $0 } }

  /// Whether no table has objects, or is referred to by anything else.
  var isUnused: Bool {
    tables.indices.allSatisfy { index in
      guard let count = tables[index]?.map.count else { return true }
      return count == 0 && isKnownUniquelyReferenced(&tables[index])
    }
  }
}

/// The facts that objects of one entity and class in one table share, or those that have left it.
///
/// An object refers to its kind alone, instead of to its layout, its table and its declared slots, which saves 16 bytes
/// of each. The tables own the kinds of their objects; an object without a table retains its kind.
@usableFromInline
final class ObjectKind {
  private let layout: EntityLayout
  /// ``layout``, whose reference counts aren't touched for an object: contexts share it, so that these would slow down
  /// every thread that creates objects.
  @usableFromInline let layoutReference: Unmanaged<EntityLayout>
  @usableFromInline let rowSlotCount: Int
  let type: ManagedObject.Type
  let slotTable: SlotTable
  /// The slots of the properties that the class declares, of ``slotTable``.
  @usableFromInline let slots: UnsafePointer<SlotTable.Entry>
  /// Whether new objects have values other than null.
  let hasInitialValues: Bool
  /// Nil for objects without a context. Not retained: it removes its objects before it is deallocated. It is unmanaged
  /// because loading an unowned reference retains it, which costs a property access more than the rest.
  let table: Unmanaged<ObjectTable>?
  /// The common part of the identifiers that these objects had in their former table; nil for others.
  let keyless: ManagedObjectID?

  // Unchecked: they belong to the isolation of the context, or of the object without one.

  /// Another kind of the same entity and table, of another class.
  @exclusivity(unchecked) fileprivate var next: ObjectKind?
  @exclusivity(unchecked) private var formerKind: ObjectKind?

  fileprivate init(
    _ layout: EntityLayout, type: ManagedObject.Type, slotTable: SlotTable, in table: ObjectTable?,
    keyless: ManagedObjectID? = nil
  ) {
    (self.layout, self.type, self.slotTable, self.keyless) = (layout, type, slotTable, keyless)
    layoutReference = .passUnretained(layout)
    rowSlotCount = layout.rowSlotCount
    slots = slotTable.entriesOfFittingClass
    hasInitialValues = !layout.defaultSlots.isEmpty || !slotTable.initialSlots.isEmpty
    self.table = table.map(Unmanaged.passUnretained)
  }

  /// Creates the kind of an object without a context.
  convenience init(_ layout: EntityLayout, type: ManagedObject.Type, slotTable: SlotTable) {
    self.init(layout, type: type, slotTable: slotTable, in: nil)
  }

  /// The kind of objects that have left the table.
  var detached: ObjectKind {
    if let formerKind { return formerKind }
    let siblings = table?._withUnsafeGuaranteedRef { $0.siblings }
    let keyless = siblings.map {
      ManagedObjectID.keyless(entityName: layout.entity.name, storeIdentifier: $0.identifier)
    }
    let made = ObjectKind(layout, type: type, slotTable: slotTable, in: nil, keyless: keyless)
    formerKind = made
    return made
  }
}

/// The kinds of the objects in all tables of a store, or of those that were never saved.
final class ObjectKinds {
  /// By index of the entity, whose objects are all in one table; the first of its classes.
  @exclusivity(unchecked) private var first: ContiguousArray<ObjectKind?> = []

  /// Returns the kind of a table's objects of an entity and class.
  func kind(
    of layout: EntityLayout, as type: ManagedObject.Type, in table: ObjectTable
  ) -> Unmanaged<ObjectKind> {
    var kind = layout.index < first.count ? first[layout.index] : nil
    while let known = kind {
      if known.type == type { return .passUnretained(known) }
      kind = known.next
    }
    // The class may create objects when it is examined.
    let made = ObjectKind(layout, type: type, slotTable: table.context.slotTable(of: type, layout), in: table)
    while first.count <= layout.index { first.append(nil) }
    made.next = first[layout.index]
    first[layout.index] = made
    return .passUnretained(made)
  }
}

/// The tables of a context, which contain its registered objects.
final class ObjectTables {
  /// The tables of the stores whose objects have been used.
  private(set) var stores: [StoreTables] = []
  private var unsaved: ObjectTable?
  // Unchecked: used only within the context's isolation, without outside calls; the check would double its cost.
  @exclusivity(unchecked) var lastPlace: ManagedObjectContext.RowPlace?

  /// All existing tables, including that of new objects.
  var all: [ObjectTable] { stores.flatMap(\.existing) + (unsaved.map { [$0] } ?? []) }

  /// Returns the table of new objects, which is created on demand.
  func unsaved(in context: ManagedObjectContext) -> ObjectTable {
    if let unsaved { return unsaved }
    let table = ObjectTable(context: context, store: nil, siblings: nil)
    unsaved = table
    return table
  }

  /// Returns the tables of a store; nil if no object of it has been used.
  func of(_ store: any PersistentStore) -> StoreTables? { stores.first { $0.origin === store } }

  /// Adds the tables of a store, which read a view instead of the store if there is one.
  func add(_ tables: StoreTables, reading view: (any ReadView)?) -> StoreTables {
    if let view { tables.read(view) }
    stores.append(tables)
    return tables
  }

  /// Makes all tables read a view; nil for the stores themselves.
  @inline(never)
  func read(_ view: (any ReadView)?) {
    for tables in stores { tables.read(view) }
  }

  /// Releases the tables of removed stores that have other tables now, because they were added again.
  ///
  /// Objects refer to their tables without retaining them. Tables that have objects, or that results or a running
  /// fetch may create objects in, therefore remain until a later reset. So do the last tables of a store that wasn't
  /// added again: identifiers still resolve to them.
  ///
  /// - Returns: Whether tables were released. Prefetched rows name their tables, whose addresses are used again.
  func releaseReplaced(open: [any PersistentStore]) -> Bool {
    lastPlace = nil
    let count = stores.count
    for index in stores.indices.reversed() {
      let (store, identifier) = (ObjectIdentifier(stores[index].origin), stores[index].identifier)
      guard !open.contains(where: { ObjectIdentifier($0) == store }) else { continue }
      let isReplaced = stores[(index + 1)...].contains { $0.identifier == identifier }
      guard isReplaced, isKnownUniquelyReferenced(&stores[index]), stores[index].isUnused else { continue }
      stores.remove(at: index)
    }
    return stores.count < count
  }
}

extension ManagedObjectContext {
  /// Notifies observers of relationships that still refer to objects that leave the context or return to it, because
  /// such a relationship then leads to another instance. Deleted objects and relationships without an inverse keep such
  /// references.
  func recordReferences(to objects: [ManagedObject]) {
    guard readProbe.hasObservedObjects, !objects.isEmpty else { return }
    let ids = Set(objects.map(\.objectID))
    // Objects whose rows are missing keep their relationships too.
    for holder in tables.flatMap({ $0.map.objects }) where holder.marks.contains(.observed) {
      for relationship in holder.layout.relationships where holder.leadsInMemory(toAnyOf: ids, by: relationship) {
        holder.recordChange(at: relationship.slot)
      }
    }
  }
}

extension ManagedObject {
  /// Whether a relationship refers to any of the given objects, as far as is known without reading rows.
  fileprivate final func leadsInMemory(toAnyOf ids: Set<ManagedObjectID>, by relationship: RelationshipLayout) -> Bool {
    guard relationship.isToMany else {
      let unsaved = pending[relationship.slot]
      guard case .objectID(let id) = unsaved ?? committedValue(at: relationship.slot) else { return false }
      return ids.contains(id.current)
    }
    guard !toManys.isEmpty, let members = toManys[relationship.slot] else { return false }
    return (members.list?.identifiers ?? members.added.elements).contains { ids.contains($0.current) }
  }
}

import Foundation

/// The live objects of one hierarchy and store in a context, or all objects of a context that were never saved.
///
/// Every object refers to its table, which refers to the context and the store.
final class ObjectTable {
  /// Not retained: the context owns its tables, and removes every object from them before it is deallocated.
  let contextReference: Unmanaged<ManagedObjectContext>
  var context: ManagedObjectContext { contextReference.takeUnretainedValue() }
  /// The source of the rows; nil for objects that were never saved.
  ///
  /// Changed only by the context's own isolation, between reads.
  @exclusivity(unchecked) fileprivate(set) var store: (any RowSource)?
  /// The tables of the same store, by root entity index; nil for objects that were never saved.
  unowned(unsafe) let siblings: StoreTables?
  /// The context's instance.
  let cycles: HeldCycles
  let readProbe: ReadProbe
  let observedChanges: ObservedChanges
  // Only the context's own isolation reaches the map, whose operations make no outside calls, so accesses can't
  // overlap.
  @exclusivity(unchecked) private(set) var map = IdentityMap()
  @exclusivity(unchecked) var rowsAhead = RowsAhead()
  @exclusivity(unchecked) var membersAhead = MembersAhead()

  init(context: ManagedObjectContext, store: (any RowSource)?, siblings: StoreTables?) {
    contextReference = .passUnretained(context)
    cycles = context.cycles
    readProbe = context.readProbe
    observedChanges = context.observedChanges
    self.store = store
    self.siblings = siblings
  }

  var isTemporary: Bool { store == nil }

  func forgetReadAhead() { (rowsAhead, membersAhead) = (RowsAhead(), MembersAhead()) }

  /// Registers an object under a key.
  ///
  /// Detaches a stale fault for the key from a time when it had no row. If the object's temporary identifier is still
  /// referenced, it resolves to the new one from now on.
  func insert(_ object: ManagedObject, key: Int64) {
    if let stale = map[key] {
      context.noteReferences(to: [stale])
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
final class StoreTables {
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
  /// The common parts of identifiers, by entity index.
  @exclusivity(unchecked) private var keylessIDs: [ManagedObjectID?]

  init(context: ManagedObjectContext, store: any PersistentStore) {
    // Not retained: the context owns this object.
    self.context = .passUnretained(context)
    origin = store
    coordinator = context.persistentStoreCoordinator
    self.store = context.rowsOfParent?(store) ?? store
    identifier = store.identifier
    tables = Array(repeating: nil, count: context.layouts.count)
    keylessIDs = Array(repeating: nil, count: context.layouts.count)
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

  /// Returns what the identifiers of an entity's rows have in common, from which ``ManagedObject/objectID`` is created
  /// later.
  func keylessID(of layout: EntityLayout) -> ManagedObjectID {
    if let known = keylessIDs[layout.index] { return known }
    let made = ManagedObjectID.keyless(entityName: layout.entity.name, storeIdentifier: identifier)
    keylessIDs[layout.index] = made
    return made
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

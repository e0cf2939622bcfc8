import Foundation

/// The live objects of one hierarchy and store in a context, or all those of a context that were never saved.
///
/// Every object leads here, and from here to its context and store.
final class ObjectTable {
  /// Not counted: the context owns its tables, and takes every object out of them before it goes.
  unowned(unsafe) let context: ManagedObjectContext
  /// Where the rows are; nil for the objects that were never saved.
  let store: (any RowSource)?
  /// The tables of the same store by the root entity's index; nil for the objects that were never saved.
  unowned(unsafe) let siblings: StoreTables?
  /// The context's.
  let cycles: HeldCycles
  // Only the context's own isolation reaches the map, and no operation of the map calls out: nothing can overlap.
  @exclusivity(unchecked) var map = IdentityMap()

  init(context: ManagedObjectContext, store: (any RowSource)?, siblings: StoreTables?) {
    self.context = context
    cycles = context.cycles
    self.store = store
    self.siblings = siblings
  }

  var isTemporary: Bool { store == nil }

  /// Makes an object that of a key.
  ///
  /// A fault for the key from when it had no row yet is none of the object's business, and goes. Where anybody else
  /// holds the object's temporary identifier, that leads to the new one from now on.
  func take(_ object: ManagedObject, key: Int64) {
    if let stale = map[key] { stale.detach() }
    var former = object.identifier
    object.table = self
    object.key = key
    object.identifier = nil
    map.insert(object, key: key)
    guard former?.isTemporaryID == true, !isKnownUniquelyReferenced(&former) else { return }
    former?.lead(to: object.objectID)
  }

  /// The identifier of a row: that of its object where it is alive.
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
  /// Where the context reads that store's rows and writes them: the store itself, or the parent context's view of it.
  let store: any RowSource
  let identifier: String
  let coordinator: PersistentStoreCoordinator
  private let context: Unmanaged<ManagedObjectContext>
  // Only the context's own isolation reaches them, one at a time.
  @exclusivity(unchecked) private var tables: [ObjectTable?]

  init(context: ManagedObjectContext, store: any PersistentStore) {
    // Not counted: the context owns this.
    self.context = .passUnretained(context)
    origin = store
    coordinator = context.persistentStoreCoordinator
    self.store = context.parent.map { ParentRows(of: store, in: $0) } ?? store
    identifier = store.identifier
    tables = Array(repeating: nil, count: context.layouts.count)
  }

  /// The table of the hierarchy that an entity belongs to.
  func table(for layout: EntityLayout) -> ObjectTable {
    if let table = tables[layout.rootIndex] { return table }
    let table = ObjectTable(context: context.takeUnretainedValue(), store: store, siblings: self)
    tables[layout.rootIndex] = table
    return table
  }

  /// The identifier of a row whose object isn't registered here: for a new object of a parent context the one that it
  /// has there, so that both lead to the permanent one.
  func objectID(of layout: EntityLayout, key: Int64) -> ManagedObjectID {
    if key < 0, let id = context.takeUnretainedValue().idOfParentsNewObject(key, layout, in: self) { return id }
    return .named(rowKey: key, entityName: layout.entity.name, storeIdentifier: identifier)
  }

  /// The object of a row where it is alive.
  ///
  /// - Parameter rootIndex: the index of the entity at the top of its hierarchy.
  func registeredObject(key: Int64, rootIndex: Int) -> ManagedObject? { tables[rootIndex]?.map[key] }

  var existing: [ObjectTable] { tables.compactMap { $0 } }
}

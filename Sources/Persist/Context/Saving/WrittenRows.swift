/// The update for child contexts after a context has written to a store, or got keys from it in advance: the rows of
/// its formerly new objects, and the versions of changed rows.
///
/// Only written objects, those with unsaved changes in child contexts, and those that lost such changes can refer to
/// formerly new objects, so the cost depends on the changes, not on the number of registered objects.
struct WrittenRows {
  private let objects: [ManagedObject]
  /// The formerly new objects, with their keys in child contexts.
  private let new: [(formerKey: Int64, object: ManagedObject)]
  private let permanent: [UInt64: ManagedObjectID]
  /// Objects that may have referred to the new ones when a child read them, but weren't written.
  private let former: Set<ManagedObjectID>
  private let tables: StoreTables
  /// The entities of written and deleted objects, without duplicates; nil if objects only got identifiers.
  private let savedLayouts: [EntityLayout]?

  /// - Parameters:
  ///   - numbered: The formerly new objects, with their former temporary numbers.
  ///   - discarded: The objects that lost unsaved changes.
  init(
    _ numbered: some Sequence<(Int64, ManagedObject)>, _ writes: SavePass.StoreWrites,
    formerly discarded: Set<ManagedObjectID>
  ) {
    let written = writes.objects.inserted + writes.objects.updated + writes.objects.touched + writes.objects.unwritten
    self.init(
      numbered, referring: written, formerly: discarded, in: writes.tables, savedLayouts: Self.layouts(of: writes))
  }

  /// - Parameters:
  ///   - objects: The objects that may refer to those with new keys.
  ///   - discarded: The objects that may have done so before they lost unsaved changes.
  init(
    _ numbered: some Sequence<(Int64, ManagedObject)>, referring objects: [ManagedObject],
    formerly discarded: Set<ManagedObjectID>, in tables: StoreTables, savedLayouts: [EntityLayout]? = nil
  ) {
    former = discarded
    self.objects = objects
    new = numbered.map { (-$0, $1) }
    permanent = Dictionary(
      new.map { (UInt64(bitPattern: -$0.formerKey), $0.object.objectID) }, uniquingKeysWith: { $1 })
    self.tables = tables
    self.savedLayouts = savedLayouts
  }

  /// Updates contexts and their descendants.
  ///
  /// - Parameter hasSavedAll: Whether the writing context has no more new objects.
  func apply(to children: [Unmanaged<ManagedObjectContext>], hasSavedAll: Bool = false) {
    for child in children {
      apply(to: child.takeUnretainedValue(), changed: [], formerly: former, hasSavedAll: hasSavedAll)
    }
  }

  /// Notifies contexts and their descendants of a save to a parent: for them, only the results of fetches may have
  /// changed.
  static func notifyDescendants(
    ofSaveToParent writes: SavePass.StoreWrites, _ children: [Unmanaged<ManagedObjectContext>]
  ) {
    let layouts = layouts(of: writes)
    for child in children.map({ $0.takeUnretainedValue() }) {
      child.send(.parentDidSave(layouts))
      notifyDescendants(ofSaveToParent: writes, child.children)
    }
  }

  /// Returns the entities of written and deleted objects, without duplicates.
  private static func layouts(of writes: SavePass.StoreWrites) -> [EntityLayout] {
    let written = writes.objects
    let objects = written.inserted + written.updated + written.touched + written.unwritten + written.deleted
    return Array(Dictionary(objects.map { ($0.layout.index, $0.layout) }, uniquingKeysWith: { $1 }).values)
  }

  /// - Parameters:
  ///   - changed: The objects with unsaved changes in the contexts between the writing one and this one, which may also
  ///     refer to the new objects.
  ///   - discarded: The objects that lost unsaved changes in these contexts.
  ///   - hasSavedAll: Whether these contexts have no new objects.
  private func apply(
    to context: ManagedObjectContext, changed: [ManagedObject], formerly discarded: Set<ManagedObjectID>,
    hasSavedAll: Bool
  ) {
    let own = context.tables(of: tables.origin)
    let renamed = new.compactMap { makePermanent($0, of: $1.objectID, in: own.table(for: $1.layout)) }
    let keys = Dictionary(new.map { ($0.formerKey, $0.object.key) }, uniquingKeysWith: { $1 })
    var writers = SnapshotWriters(layouts: context.layouts, unsaved: nil, expectedRows: objects.count)
    writers.keysInPlace = keys
    func update(_ object: ManagedObject, to written: Int64? = nil) {
      object.makeReferencesPermanent(permanent)
      guard let old = object.snapshot else { return }
      // A change saved by the parent doesn't conflict with what the child had read before.
      let version = written == old.version &+ 1 ? old.version &+ 1 : old.version
      guard version != old.version || object.refers(toRows: keys) else { return }
      object.replaceRow(with: writers.snapshot(of: object.layout, SlotValues(), over: old, version: version))
    }
    func registered(_ original: ManagedObject) -> ManagedObject? {
      context.registeredObject(ofRow: original.rowKey, original.layout, in: own)
    }
    for original in objects {
      guard let object = registered(original) else { continue }
      update(object, to: savedLayouts != nil && object.layout === original.layout ? original.snapshot?.version : nil)
    }
    if !new.isEmpty {
      for original in changed { if let object = registered(original) { update(object) } }
      for id in discarded { if let object = context.registeredObject(for: id) { update(object) } }
      // Prefetched rows may refer to the new objects by their former keys.
      context.graph.outdateRowsAhead()
    }
    let unsaved = context.graph.changed
    for object in unsaved { object.makeReferencesPermanent(permanent) }
    if !new.isEmpty { context.renameOneWayMembers() }
    // Observers access the context only after everything in it has its new identifier.
    if !renamed.isEmpty { context.send(.didObtainPermanentIDs(Set(renamed))) }
    if let savedLayouts { context.send(.parentDidSave(savedLayouts)) }
    let mayForget = hasSavedAll && context.graph.inserted.isEmpty
    let former = discarded.union(context.graph.formerlyChanged)
    for child in context.children {
      apply(to: child.takeUnretainedValue(), changed: changed + unsaved, formerly: former, hasSavedAll: mayForget)
    }
    if mayForget { context.graph.forgetFormerlyChanged() }
  }

  private func makePermanent(_ key: Int64, of id: ManagedObjectID, in table: ObjectTable) -> ManagedObject? {
    guard let object = table.map[key] else { return nil }
    table.insert(object, key: id.rowKey, insteadOf: key, in: table)
    object.identify(as: id)
    return object
  }
}

extension ManagedObject {
  /// Replaces temporary identifiers with permanent ones, in changes and members.
  fileprivate func makeReferencesPermanent(_ permanent: [UInt64: ManagedObjectID]) {
    guard !permanent.isEmpty else { return }
    func replacement(_ id: ManagedObjectID) -> ManagedObjectID {
      if case .temporary(let number) = id.key { permanent[number] ?? id } else { id }
    }
    if !pending.isEmpty {
      for relationship in layout.relationships where !relationship.isToMany {
        if case .objectID(let id)? = pending[relationship.slot] {
          let present = replacement(id)
          if present != id { setPending(.objectID(present), at: relationship.slot) }
        }
      }
    }
    for members in toManys { members?.replaceIdentifiers(replacement) }
  }

  /// Whether the row refers to one of these rows.
  fileprivate func refers(toRows keys: [Int64: Int64]) -> Bool {
    guard let snapshot, !keys.isEmpty else { return false }
    return layout.toOnes.contains { committedKey(of: $0, in: snapshot).map { keys[$0] != nil } ?? false }
  }
}

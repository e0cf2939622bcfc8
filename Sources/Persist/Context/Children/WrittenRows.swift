/// What the contexts below one learn when it has written to a store, or a store gave it keys ahead of that: which of
/// its new objects have which rows now, and the versions of the rows that it changed.
///
/// Only objects that the save wrote, and unsaved changes of the contexts below, can refer to objects that were new: so
/// telling costs what was changed, however many objects are alive.
struct WrittenRows {
  private let objects: [ManagedObject]
  /// The objects that were new, with the keys that contexts below know them by.
  private let new: [(formerKey: Int64, object: ManagedObject)]
  private let permanent: [UInt64: ManagedObjectID]
  private let tables: StoreTables
  /// Whether the objects were written, and not only named.
  private let areSaved: Bool

  /// - Parameter numbered: the objects that were new, with the temporary numbers that they had.
  init(_ numbered: some Sequence<(Int64, ManagedObject)>, _ writes: SavePass.StoreWrites) {
    self.init(
      numbered, referring: writes.inserted + writes.updated + writes.touched, in: writes.tables, areSaved: true)
  }

  /// - Parameter objects: those that may refer to the ones that have keys now.
  init(
    _ numbered: some Sequence<(Int64, ManagedObject)>, referring objects: [ManagedObject], in tables: StoreTables,
    areSaved: Bool = false
  ) {
    self.objects = objects
    new = numbered.map { (-$0, $1) }
    permanent = Dictionary(
      new.map { (UInt64(bitPattern: -$0.formerKey), $0.object.objectID) }, uniquingKeysWith: { $1 })
    self.tables = tables
    self.areSaved = areSaved
  }

  /// Tells contexts, and those below them.
  func tell(_ children: [Unmanaged<ManagedObjectContext>]) {
    for child in children { tell(child.takeUnretainedValue()) }
  }

  private func tell(_ context: ManagedObjectContext) {
    let own = context.tables(of: tables.origin)
    for (key, original) in new { makePermanent(key, original.objectID, own.table(for: original.layout)) }
    let keys = Dictionary(new.map { ($0.formerKey, $0.object.key) }, uniquingKeysWith: { $1 })
    var writers = SnapshotWriters(layouts: context.layouts, unsaved: nil, expectedRows: objects.count)
    writers.keysInPlace = keys
    for original in objects {
      guard let object = context.registeredObject(ofRow: original.rowKey, original.layout, in: own) else { continue }
      object.makeReferencesPermanent(permanent)
      guard let old = object.snapshot, object.layout === original.layout else { continue }
      // The parent's own change is no conflict for what the child had read before it.
      let isNext = areSaved && original.snapshot?.version == old.version + 1
      let version = isNext ? old.version + 1 : old.version
      guard version != old.version || object.refers(toRows: keys) else { continue }
      object.snapshot = writers.snapshot(of: object.layout, [], over: old, version: version)
    }
    for object in context.inserted.objects + context.updated.objects where !permanent.isEmpty {
      object.makeReferencesPermanent(permanent)
    }
    tell(context.children)
  }

  private func makePermanent(_ key: Int64, _ id: ManagedObjectID, _ table: ObjectTable) {
    guard let object = table.map[key] else { return }
    table.map.remove(key)
    table.take(object, key: id.rowKey)
    object.identifier = id
  }
}

extension ManagedObject {
  /// Puts permanent identifiers in the place of temporary ones, in changes and in members.
  fileprivate func makeReferencesPermanent(_ permanent: [UInt64: ManagedObjectID]) {
    guard !permanent.isEmpty else { return }
    func replacement(_ id: ManagedObjectID) -> ManagedObjectID {
      if case .temporary(let number) = id.key { permanent[number] ?? id } else { id }
    }
    if !pending.isEmpty {
      for relationship in layout.relationships where !relationship.isToMany {
        if case .objectID(let id)? = pending[relationship.slot] {
          pending[relationship.slot] = .objectID(replacement(id))
        }
      }
    }
    for members in toManys { members?.replaceIdentifiers(replacement) }
  }

  /// Whether the row leads to one of these rows.
  fileprivate func refers(toRows keys: [Int64: Int64]) -> Bool {
    guard let snapshot, !keys.isEmpty else { return false }
    return layout.toOnes.contains { committedKey(of: $0, in: snapshot).map { keys[$0] != nil } ?? false }
  }
}

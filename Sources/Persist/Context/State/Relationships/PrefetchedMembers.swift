/// The prefetched destination rows of one to-many relationship of many objects, ordered by owner.
final class PrefetchedMembers {
  private let batch: RowBatch
  private let origin: Origin

  /// The common origin of several batches of one relationship.
  struct Origin {
    /// All rows of the same prefetch; nil if only the members were read.
    fileprivate let rows: PrefetchedRows?
    /// The graph's ``ObjectGraph/rowGeneration`` at the time of reading.
    fileprivate let generation: Int
    /// The members' table. If it outlives its context, only its map is accessed, which is then empty.
    fileprivate let table: ObjectTable
    fileprivate let storeIdentifier: String
    fileprivate let layouts: EntityLayouts

    init(in table: ObjectTable, of tables: StoreTables, readWith rows: PrefetchedRows?) {
      self.rows = rows
      self.table = table
      generation = table.context.graph.rowGeneration
      storeIdentifier = tables.identifier
      layouts = table.context.layouts
    }
  }

  init(_ batch: RowBatch, from origin: Origin) { (self.batch, self.origin) = (batch, origin) }

  /// Whether the rows are up to date as far as the context knows.
  func areTrue(in context: ManagedObjectContext) -> Bool { context.graph.rowGeneration == origin.generation }

  func keys(_ range: Range<Int>) -> some Sequence<Int64> { batch.entries[range].lazy.map { $0.key } }

  func key(at place: Int) -> Int64 { batch.entries[place].key }

  func identifiers(_ range: Range<Int>) -> [ManagedObjectID] { range.map(identifier) }

  func identifier(at place: Int) -> ManagedObjectID {
    let entry = batch.entries[place]
    return origin.table.map[entry.key]?.objectID ?? origin.identifier(of: entry)
  }

  /// Returns the objects of rows: registered ones, or else new faults, with their rows if these are up to date.
  func objects(_ range: Range<Int>, in context: ManagedObjectContext) -> [ManagedObject] {
    let (areTrue, isNewest) = (areTrue(in: context), context.isReadingNewest)
    var objects: [ManagedObject] = []
    objects.reserveCapacity(range.count)
    var faults = FaultFactory(context, origin.table)
    let entries = batch.entries
    for place in range {
      let entry = entries[place]
      guard let object = object(entry, in: context, &faults) else { continue }
      if areTrue {
        let index = object.withLayout { $0.index }
        if object.loading == .fault, object.row == nil, index == Int(entry.entityIndex) {
          object.find(batch.snapshot(of: entry))
          if isNewest { context.recordRow(of: object) }
        }
        if let rows = origin.rows, object.companions == nil { object.companions = rows }
      }
      objects.append(object)
    }
    return objects
  }

  private func object(
    _ entry: RowBatch.Entry, in context: ManagedObjectContext, _ faults: inout FaultFactory
  ) -> ManagedObject? {
    if let object = origin.table.map[entry.key] { return object }
    guard entry.key < 0 else { return faults.makeFault(key: entry.key, entityIndex: Int(entry.entityIndex)) }
    // A new object of the parent context.
    return context.registeredOrFault(origin.identifier(of: entry))
  }
}

extension PrefetchedMembers.Origin {
  fileprivate func identifier(of entry: RowBatch.Entry) -> ManagedObjectID {
    .named(
      rowKey: entry.key, entityName: layouts[Int(entry.entityIndex)].entity.name, storeIdentifier: storeIdentifier)
  }
}

extension ManagedObjectContext {
  /// Reads the unread members of a to-many relationship of many owners with their rows, with one statement for each
  /// store and hierarchy.
  ///
  /// - Throws: The errors of the stores.
  func readMembers(of owners: [ManagedObject], _ relationship: RelationshipLayout) throws {
    guard !relationship.isTransient else { return }
    let unread = owners.filter { $0.table?.store != nil && !$0.members(of: relationship).areKnown }
    for (_, owners) in Dictionary(grouping: unread, by: { $0.table.map(ObjectIdentifier.init) }) {
      guard owners.count > 1, let first = owners.first, let table = first.table, let tables = table.siblings,
        let store = table.store
      else { continue }
      let layout = first.layout
      let target = tables.table(for: layouts[relationship.destinationIndex])
      let found = try store.relatedRows(
        by: layout.properties[relationship.slot], of: layout.entity, owners: owners.map(\.key))
      let members = PrefetchedMembers(found.batch, from: .init(in: target, of: tables, readWith: nil))
      let places = found.rowsByOwner
      let taken = relationship.isOneWayToMany ? addedOneWayMembers(of: relationship, layout) : Dictionary()
      for owner in owners {
        recordMembers(of: owner, at: relationship.slot)
        let list = MemberList.rows(members, places[owner.key] ?? 0..<0)
        owner.members(of: relationship).load(owner.without(taken, list, of: relationship))
      }
    }
  }
}

/// The members of many owners, most of which another thread is still reading.
///
/// All are from one state of the store. Whoever needs an owner's members waits for them, or reads them itself if no
/// thread has begun. They aren't read to the end once nobody refers to this object any longer.
final class ArrivingMembers {
  /// The members of some of the owners.
  struct Part: Sendable {
    let owners: ArraySlice<Int64>
    let rows: RelatedRows
  }

  private let origin: PrefetchedMembers.Origin
  /// All rows of the same prefetch, for the owners' other relationships.
  private let rows: PrefetchedRows
  /// Nil once all parts have arrived, or one couldn't be read.
  private var rest: Pipeline<Part>?
  private var lists: [Int64: MemberList] = Dictionary()

  /// - Parameters:
  ///   - first: The parts that are already read.
  ///   - rest: The other parts; nil if there are none.
  init(
    _ first: [Part], _ rest: Pipeline<Part>?, from origin: PrefetchedMembers.Origin, readWith rows: PrefetchedRows
  ) {
    (self.origin, self.rest, self.rows) = (origin, rest, rows)
    for part in first { add(part) }
  }

  deinit { rest?.cancel() }

  /// Returns the members of an owner; nil if they couldn't be read. The error will occur again, and be handled, when
  /// they are read by themselves.
  func list(ofOwner key: Int64) -> MemberList? {
    while true {
      if let list = lists[key] { return list }
      guard let rest else { return nil }
      let part = try? rest.next()
      if let part { add(part.part) }
      if part?.isLast != false { self.rest = nil }
    }
  }

  private func add(_ part: Part) {
    rows.add(part.rows.batch, to: origin.table)
    let members = PrefetchedMembers(part.rows.batch, from: origin)
    let places = part.rows.rowsByOwner
    for owner in part.owners { lists[owner] = .rows(members, places[owner] ?? 0..<0) }
  }
}

import Foundation

/// The rows of one store as seen by a parent context, including its unsaved changes: a child context's substitute for
/// the store.
///
/// Rows of objects that aren't registered in the parent are read directly from the parent's source, without creating
/// objects there. The row of an object without unsaved changes is the parent's own snapshot, not a copy.
final class ParentRows: RowSource {
  /// Also held by its child.
  let parent: ManagedObjectContext
  let store: any PersistentStore
  /// The parent's tables.
  let tables: StoreTables

  init(of store: any PersistentStore, in parent: ManagedObjectContext) {
    self.parent = parent
    self.store = store
    tables = parent.tables(of: store)
  }

  var identifier: String { tables.identifier }
  var url: URL? { store.url }

  /// The parent evaluates every predicate completely: it overlays its changes and evaluates what its store can't.
  func divide(_ predicate: FetchPredicate, over entity: Entity) throws -> PredicateDivision {
    PredicateDivision(stored: predicate, rest: nil)
  }

  /// The parent sorts in memory if its store can't.
  func canSort(by descriptors: [FetchSortDescriptor], over entity: Entity) -> Bool { true }

  func rows(_ query: RowQuery, monitor: ReadMonitor?, held: KnownRows?) throws -> RowBatch {
    if let keys = query.keys, query.asksOnlyForKeys { return try rows(withKeys: keys, query, monitor) }
    return try pass(for: query).rows(query, monitor)
  }

  func count(_ query: RowQuery, monitor: ReadMonitor?) throws -> Int { try pass(for: query).count() }

  func explain(_ query: RowQuery) throws -> StatementExplanation? {
    try pass(for: query).explanation().statements.first
  }

  /// Nil: values are computed in memory, from rows with the parent's changes.
  func values(_ query: ValueQuery, monitor: ReadMonitor?) throws -> [[StoredValue]]? { nil }

  func explain(_ query: ValueQuery) throws -> StatementExplanation? { nil }

  func related(by relationship: Property, of entity: Entity, key: Int64) throws -> [ManagedObjectID] {
    guard let object = parent.registeredObject(ofRow: key, parent.layout(of: entity), in: tables) else {
      return try tables.store.related(by: relationship, of: entity, key: key)
    }
    guard let relationship = object.layout.relationshipsBySlot[relationship.slot] else { return [] }
    // The child asks for members of a deleted object to bring it back: those that its delete rule left.
    if object.change == .deleted, !relationship.leavesOthersAlone { return [] }
    let members = object.memberList(of: relationship).identifiers
    try parent.throwDeferredError()
    // A delete rule may have kept members that are deleted here. For a child they don't exist.
    if parent.graph.deleted.isEmpty { return members }
    return members.filter { parent.registeredObject(for: $0)?.change != .deleted }
  }

  func relatedRows(by relationship: Property, of entity: Entity, owners: [Int64]) throws -> RelatedRows {
    guard let description = relationship.relationship else { return RelatedRows(batch: RowBatch(), owners: []) }
    let layout = parent.layout(of: entity)
    let target = parent.layout(of: parent.model.destination(of: description))
    let alive = owners.filter { parent.registeredObject(ofRow: $0, layout, in: tables) != nil }
    let others = owners.filter { parent.registeredObject(ofRow: $0, layout, in: tables) == nil }
    var found = RelatedRows(batch: RowBatch(), owners: [])
    if !others.isEmpty {
      found = try tables.store.relatedRows(by: relationship, of: entity, owners: others)
      for (index, row) in found.batch.enumerated() {
        guard let object = parent.registeredObject(ofRow: row.key, target, in: tables),
          let present = try parent.rows(of: [object], keysOnly: false).first
        else { continue }
        found.batch[index] = present
      }
    }
    if let relationship = layout.relationshipsBySlot[relationship.slot] {
      let objects = alive.compactMap { parent.registeredObject(ofRow: $0, layout, in: tables) }
      for (_, objects) in Dictionary(grouping: objects, by: { $0.layout.index }) {
        try parent.readMembers(of: objects.filter { $0.change != .deleted }, relationship)
      }
    }
    for owner in alive {
      let keys = try related(by: relationship, of: entity, key: owner).map(\.rowKey)
      let rows = try rows(withKeys: keys, RowQuery(entity: target.entity), nil)
      let byKey = Dictionary(rows.map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })
      let members = keys.compactMap { byKey[$0] }
      found.batch += members
      found.owners += members.map { _ in owner }
    }
    return found
  }

  func owners(by relationship: Property, of entity: Entity, members: [Int64]) throws -> [Int64: ManagedObjectID] {
    let layout = parent.layout(of: entity)
    guard let relationship = layout.relationshipsBySlot[relationship.slot] else { return Dictionary() }
    let place = OneWayPlace(relationship, of: layout)
    return try parent.owners(ofOneWayMembers: members, in: place, of: tables)
  }

  func externalData(named name: String) throws -> Data { try tables.store.externalData(named: name) }

  func externalData(named name: String, equals data: Data) throws -> Bool {
    try tables.store.externalData(named: name, equals: data)
  }

  func newestLargeValue(at slot: Int, of entity: Entity, key: Int64) throws -> StoredValue? {
    // Elements of composites have no separate value in an object.
    guard slot < entity.properties.count,
      let object = parent.registeredObject(ofRow: key, parent.layout(of: entity), in: tables)
    else {
      return try tables.store.newestLargeValue(at: slot, of: entity, key: key)
    }
    guard object.change != .deleted else { return nil }
    let value = object.presentValue(at: slot)
    try parent.throwDeferredError()
    return value
  }

  /// Returns the parent's fetch for a query of the child.
  private func pass(for query: RowQuery) throws -> FetchPass {
    var request = FetchRequest<ManagedObject>(query.entity.name, limit: query.limit ?? 0, offset: query.offset)
    request.predicate = query.predicate
    // The child applies its own filters, and its faults must find every row.
    request.ignoresDefaultFilters = true
    request.sortDescriptors = query.sort
    request.includesSubentities = query.includesSubentities
    request.includesPropertyValues = !query.keysOnly
    request.objectIDs = query.keys.map { keys in
      keys.map { .named(rowKey: $0, entityName: query.entity.name, storeIdentifier: identifier) }
    }
    if parent.persistentStoreCoordinator.storeCount > 1 { request.affectedStoreIdentifiers = [identifier] }
    return try FetchPass(request, in: parent)
  }

  /// Returns rows by key alone, as requested by firing faults.
  private func rows(withKeys keys: [Int64], _ query: RowQuery, _ monitor: ReadMonitor?) throws -> RowBatch {
    let layout = parent.layout(of: query.entity)
    var (alive, others): ([ManagedObject], [Int64]) = ([], [])
    for key in keys {
      guard let object = parent.registeredObject(ofRow: key, layout, in: tables) else {
        others.append(key)
        continue
      }
      if query.includesSubentities ? object.layout.isKind(ofEntityAt: layout.index) : object.layout === layout {
        alive.append(object)
      }
    }
    var batch = try parent.rows(of: alive, keysOnly: query.keysOnly)
    guard !others.isEmpty else { return batch }
    var query = query
    query.keys = others
    batch += try tables.store.rows(query, monitor: monitor)
    return batch
  }
}

extension RowQuery {
  /// Whether the query selects every row with one of its keys.
  fileprivate var asksOnlyForKeys: Bool {
    predicate == nil && afterKey == nil && sort.isEmpty && limit == nil && offset == 0
  }
}

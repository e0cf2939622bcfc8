/// Prefetches the related objects of many objects, with one statement for each relationship of a path and each store,
/// or a few statements for thousands of objects: see ``arrivingMembers(_:of:owners:in:_:)``.
struct PrefetchPass {
  /// A relationship to prefetch, and the relationships to prefetch from its destinations.
  private struct Step {
    let relationship: String
    var next: [Step]
  }

  let context: ManagedObjectContext
  let rows: PrefetchedRows
  private let steps: [Step]
  private let layout: EntityLayout

  /// - Throws: ``PersistenceError/Code/unknownProperty`` if a path doesn't consist of relationships.
  init(_ paths: [String], of layout: EntityLayout, in context: ManagedObjectContext) throws {
    var steps: [Step] = []
    for path in paths {
      let keys = path.dottedKeys
      try Self.check(keys, path, from: layout.entity, in: context.model)
      Self.add(keys[...], to: &steps)
    }
    self.init(steps, of: layout, in: context)
  }

  /// A pass over the related objects that predicates and expressions read.
  init(_ reads: RelationshipReads, of layout: EntityLayout, in context: ManagedObjectContext) {
    var steps: [Step] = []
    for path in reads.ends.keys { Self.add(path[...], to: &steps) }
    self.init(steps, of: layout, in: context)
  }

  private init(_ steps: [Step], of layout: EntityLayout, in context: ManagedObjectContext) {
    (self.context, self.layout, self.steps) = (context, layout, steps)
    rows = PrefetchedRows(
      generation: context.graph.rowGeneration, leadFurther: steps.contains { !$0.next.isEmpty })
  }

  func run(_ objects: [ManagedObject]) throws { try run(steps, of: objects, as: layout) }

  private static func check(
    _ keys: [String], _ path: String, from start: Entity, in model: ManagedObjectModel
  ) throws {
    var entity = start
    for key in keys {
      guard let relationship = entity.relationship(named: key) else {
        throw PersistenceError(
          .unknownProperty, at: .property(entity.name, key),
          "The prefetching key path '\(path)' names '\(key)', which isn't a relationship of '\(entity.name)'.",
          fix: "Its relationships are \(entity.relationships.map(\.name).sorted().joined(separator: ", ")).")
      }
      entity = model.destination(of: relationship)
    }
  }

  /// Merges paths with a common beginning.
  private static func add(_ keys: ArraySlice<String>, to steps: inout [Step]) {
    guard let key = keys.first else { return }
    let index = steps.firstIndex { $0.relationship == key } ?? steps.count
    if index == steps.count { steps.append(Step(relationship: key, next: [])) }
    add(keys.dropFirst(), to: &steps[index].next)
  }

  private func run(_ steps: [Step], of owners: [ManagedObject], as layout: EntityLayout) throws {
    guard !owners.isEmpty, !steps.isEmpty else { return }
    for owner in owners { owner.companions = rows }
    for step in steps {
      guard let property = layout.entity.property(named: step.relationship),
        let relationship = layout.relationshipsBySlot[property.slot], !relationship.isTransient
      else { continue }
      if relationship.isToMany {
        try readMembers(of: owners, by: property, relationship: relationship, layout: layout, isLast: step.next.isEmpty)
      } else {
        try readDestinations(of: owners, relationship)
      }
      guard !step.next.isEmpty else { continue }
      try run(step.next, of: related(owners, relationship), as: context.layouts[relationship.destinationIndex])
    }
  }

  private func readMembers(
    of owners: [ManagedObject], by property: Property, relationship: RelationshipLayout, layout: EntityLayout,
    isLast: Bool
  ) throws {
    try readKnownMembers(of: owners, relationship)
    let unread = owners.filter { $0.table?.store != nil && !$0.members(of: relationship).areKnown }
    for (_, owners) in Dictionary(grouping: unread, by: { $0.table.map(ObjectIdentifier.init) }) {
      guard let table = owners.first?.table, let tables = table.siblings else { continue }
      let target = tables.table(for: context.layouts[relationship.destinationIndex])
      // Members at the end of a path need no access to the other rows.
      let origin = PrefetchedMembers.Origin(in: target, of: tables, readWith: isLast ? nil : rows)
      if isLast, !relationship.isOneWayToMany, !context.isReadingNewest,
        let arriving = try arrivingMembers(property, of: layout.entity, owners: owners.map(\.key), in: tables, origin)
      {
        for owner in owners { owner.members(of: relationship).load(arriving, ofOwner: owner.key) }
        continue
      }
      let found = try tables.store.relatedRows(by: property, of: layout.entity, owners: owners.map(\.key))
      rows.add(found.batch, to: target)
      let members = PrefetchedMembers(found.batch, from: origin)
      let places = found.rowsByOwner
      let taken = relationship.isOneWayToMany ? context.addedOneWayMembers(of: relationship, layout) : Dictionary()
      for owner in owners {
        let list = MemberList.rows(members, places[owner.key] ?? 0..<0)
        context.recordMembers(of: owner, at: relationship.slot)
        owner.members(of: relationship).load(owner.without(taken, list, of: relationship))
      }
    }
  }

  private func readDestinations(of owners: [ManagedObject], _ relationship: RelationshipLayout) throws {
    let layout = context.layouts[relationship.destinationIndex]
    var wanted = WantedRows()
    for owner in owners {
      // Nearly always, the row contains the destination, and no identifier has to be created.
      if !owner.hasLooseValues, let snapshot = owner.snapshot, let tables = owner.table?.siblings {
        if let key = owner.committedKey(of: relationship, in: snapshot), key > 0 {
          wanted.add(key, in: tables, of: layout)
        }
        continue
      }
      guard case .objectID(let id) = owner.presentValue(at: relationship.slot), let key = id.primaryKey,
        let tables = owner.table?.siblings ?? context.tables(ofStore: id.storeIdentifier)
      else { continue }
      wanted.add(key, in: tables, of: layout)
    }
    try read(wanted, of: layout)
  }

  /// Reads the rows of members known only by identifier.
  private func readKnownMembers(of owners: [ManagedObject], _ relationship: RelationshipLayout) throws {
    let layout = context.layouts[relationship.destinationIndex]
    var wanted = WantedRows()
    for owner in owners where !owner.toManys.isEmpty {
      guard let list = owner.toManys[relationship.slot]?.list, !list.hasRows(in: context) else { continue }
      for id in list.identifiers {
        guard let key = id.primaryKey, let tables = context.place(of: id)?.table.siblings else { continue }
        wanted.add(key, in: tables, of: layout)
      }
    }
    try read(wanted, of: layout)
  }

  /// Keys of rows that aren't read yet, by store.
  private struct WantedRows {
    var stores: [ObjectIdentifier: (tables: StoreTables, keys: Set<Int64>)] = Dictionary()

    mutating func add(_ key: Int64, in tables: StoreTables, of layout: EntityLayout) {
      let known = tables.table(for: layout).map[key]
      if let known, known.loading != .fault || known.snapshot != nil { return }
      stores[ObjectIdentifier(tables), default: (tables, [])].keys.insert(key)
    }
  }

  private func read(_ wanted: WantedRows, of layout: EntityLayout) throws {
    for (tables, keys) in wanted.stores.values {
      let table = tables.table(for: layout)
      let batch = try tables.store.rows(RowQuery(entity: layout.entity, keys: Array(keys)))
      rows.add(batch, to: table)
      for row in batch { if let object = table.map[row.key] { rows.fill(object) } }
    }
  }

  /// Returns the related objects, with their rows.
  private func related(_ owners: [ManagedObject], _ relationship: RelationshipLayout) -> [ManagedObject] {
    var found: [ManagedObject] = []
    var seen: Set<ObjectIdentifier> = []
    func add(_ object: ManagedObject?) {
      guard let object, seen.insert(ObjectIdentifier(object)).inserted else { return }
      rows.fill(object)
      found.append(object)
    }
    for owner in owners {
      if relationship.isToMany {
        for member in owner.memberObjects(of: relationship) { add(member) }
      } else if case .objectID(let id) = owner.presentValue(at: relationship.slot) {
        add(context.registeredOrFault(id))
      }
    }
    return found
  }
}

extension EntityLayout {
  /// Prefetches the related objects that a predicate and expressions read, which are then evaluated for each of the
  /// entity's objects in memory: otherwise each of them costs a statement.
  func prefetch(
    readBy predicate: FetchPredicate? = nil, _ expressions: [FetchExpression] = [], for objects: [ManagedObject]
  ) throws {
    guard objects.count > 1, let context = objects.first?.table?.context else { return }
    var reads = RelationshipReads(over: entity, in: context.model)
    if let predicate { reads.add(predicate) }
    for expression in expressions { reads.add(expression) }
    if !reads.ends.isEmpty { try PrefetchPass(reads, of: self, in: context).run(objects) }
  }
}

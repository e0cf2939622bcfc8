/// Finds the objects of a save, and the rows, that have the same values of a uniqueness constraint.
///
/// Used only after a store rejected a save: a store checks row by row and reports only the first violation.
struct ConstraintSearch {
  private let context: ManagedObjectContext
  private let tables: StoreTables
  /// The number of value combinations looked up at a time.
  private static let batchSize = 200

  init(in context: ManagedObjectContext, of tables: StoreTables) {
    self.context = context
    self.tables = tables
  }

  /// Returns the conflicts among the objects that a save inserts or updates, and with the store's rows.
  func conflicts(inserted: [ManagedObject], updated: [ManagedObject]) throws -> [ConstraintConflict] {
    var conflicts: [ConstraintConflict] = []
    var taken = Set<ObjectIdentifier>()
    for constraint in constraints(of: inserted + updated) {
      // One conflict at a time for each object: resolving it may resolve or change the others.
      let claims = claims(on: constraint, inserted, updated).filter { claim in
        !claim.objects.contains { taken.contains(ObjectIdentifier($0)) }
      }
      let holders = try holders(of: claims, constraint)
      for claim in claims where claim.objects.count > 1 || holders[claim.key] != nil {
        for object in claim.objects { taken.insert(ObjectIdentifier(object)) }
        conflicts.append(conflict(claim, with: holders[claim.key], over: constraint))
      }
    }
    return conflicts
  }

  /// A constraint of an entity, which also applies to its subentities.
  struct Constraint {
    let layout: EntityLayout
    let names: [String]
    /// The property of each name.
    let slots: [EntityLayout.StoredSlot]
    let columns: [Column]
    /// The attributes whose values decide whether the constraint concerns an object.
    let conditions: [(stored: EntityLayout.StoredSlot, condition: UniquenessCondition)]
  }

  /// A unique value: an attribute, an element of a composite attribute, or the key of a to-one relationship.
  struct Column {
    let stored: EntityLayout.StoredSlot
    /// The name of the property, followed by those that lead to an element.
    let path: [String]
  }

  /// Values and the objects of the save that claim them.
  private struct Claim {
    let key: [StoredValue]
    /// In the order of the constraint's columns.
    let values: [StoredValue]
    var objects: [ManagedObject]

    /// Whether a value is the identifier of an unsaved object, which no row contains.
    var leadsToUnsaved: Bool {
      values.contains { if case .objectID(let id) = $0 { id.isTemporaryID } else { false } }
    }
  }

  private typealias Holder = (row: RowBatch.Row, layout: EntityLayout)

  private func constraints(of objects: [ManagedObject]) -> [Constraint] {
    var seen = Set<Int>()
    var found: [Constraint] = []
    for object in objects where seen.insert(object.layout.index).inserted {
      var entity: Entity? = object.layout.entity
      while let current = entity {
        let layout = context.layout(of: current)
        if current === object.layout.entity || seen.insert(layout.index).inserted {
          found += current.description.uniquenessConstraints.compactMap { Constraint($0, of: layout) }
        }
        entity = current.superentity
      }
    }
    return found
  }

  /// Returns the claims of updated objects, followed by those of inserted ones, in the order of the changes.
  private func claims(
    on constraint: Constraint, _ inserted: [ManagedObject], _ updated: [ManagedObject]
  ) -> [Claim] {
    var places: [[StoredValue]: Int] = Dictionary()
    var claims: [Claim] = []
    let changed = updated.filter { constraint.isChanged(in: $0) }
    for object in changed + inserted
    where object.layout.isKind(ofEntityAt: constraint.layout.index) && constraint.concerns(object) {
      let values = constraint.columns.map { $0.value(in: object) }
      // Null values never conflict.
      guard !values.contains(where: \.isNull) else { continue }
      let key = values.map(\.asCompared)
      if let place = places[key] {
        claims[place].objects.append(object)
      } else {
        places[key] = claims.count
        claims.append(Claim(key: key, values: values, objects: [object]))
      }
    }
    return claims
  }

  /// Returns the rows with claimed values, except those that the save deletes or gives other values.
  private func holders(of claims: [Claim], _ constraint: Constraint) throws -> [[StoredValue]: Holder] {
    var holders: [[StoredValue]: Holder] = Dictionary()
    let table = tables.table(for: constraint.layout)
    for start in stride(from: 0, to: claims.count, by: Self.batchSize) {
      let batch = claims[start..<min(start + Self.batchSize, claims.count)].filter { !$0.leadsToUnsaved }
      guard !batch.isEmpty else { continue }
      var query = RowQuery(entity: constraint.layout.entity)
      query.predicate = try tables.store.divide(
        .and([.or(batch.map { constraint.predicate($0.values) })] + constraint.conditions.map(\.condition.predicate)),
        over: constraint.layout.entity
      ).stored
      for row in try tables.store.rows(query) {
        guard let snapshot = row.snapshot else { continue }
        let layout = context.layouts[row.entityIndex]
        let key = constraint.columns.map { $0.value(in: snapshot, of: layout).asCompared }
        if let object = table.map[row.key], isLeaving(object, key: key, of: constraint) { continue }
        holders[key] = (row, layout)
      }
    }
    return holders
  }

  /// Whether the save deletes the object's row or gives it other values.
  private func isLeaving(_ object: ManagedObject, key: [StoredValue], of constraint: Constraint) -> Bool {
    switch object.change {
    case .deleted: true
    case .updated: constraint.isChanged(in: object)
    case .none, .inserted: false
    }
  }

  private func conflict(_ claim: Claim, with holder: Holder?, over constraint: Constraint) -> ConstraintConflict {
    ConstraintConflict(
      entityName: constraint.layout.entity.name, constraint: constraint.names,
      constraintValues: claim.objects.first.map { constraint.values(of: $0) } ?? Dictionary(),
      databaseObjectID: holder.map { holder in
        ManagedObjectID(
          entityName: holder.layout.entity.name, storeIdentifier: tables.identifier, key: .permanent(holder.row.key))
      },
      databaseSnapshot: holder.flatMap { holder in
        holder.row.snapshot.map { snapshot in
          context.registeredOrFault(holder.layout, key: holder.row.key, in: tables).values(of: snapshot)
        }
      },
      conflictingObjectIDs: claim.objects.map(\.objectID),
      conflictingSnapshots: claim.objects.map(\.presentValues),
      row: holder?.row.snapshot)
  }
}

extension ConstraintSearch.Constraint {
  /// Returns nil if a name has no column, which a valid model rules out.
  init?(_ names: [String], of layout: EntityLayout) {
    var slots: [EntityLayout.StoredSlot] = []
    var columns: [ConstraintSearch.Column] = []
    for name in names {
      let path = name.dottedKeys
      guard let slot = path.first.flatMap({ layout.slot(named: $0) }),
        let stored = layout.storedSlots.first(where: { $0.slot == slot })
      else { return nil }
      let isComposite = stored.kind == .composite
      let paths = isComposite ? layout.properties[slot].elements.map(\.path).filter { $0.starts(with: path) } : [path]
      guard !paths.isEmpty, isComposite || path.count == 1 else { return nil }
      slots.append(stored)
      columns += paths.map { ConstraintSearch.Column(stored: stored, path: $0) }
    }
    guard !columns.isEmpty else { return nil }
    (self.layout, self.names, self.slots, self.columns) = (layout, names, slots, columns)
    conditions = (layout.entity.description.uniquenessConditions[names] ?? []).compactMap { condition in
      let slot = layout.slot(named: condition.attribute)
      return layout.storedSlots.first { $0.slot == slot }.map { ($0, condition) }
    }
  }

  /// Whether an object has unsaved changes that may make it violate the constraint, or no longer violate it.
  fileprivate func isChanged(in object: ManagedObject) -> Bool {
    slots.contains { object.differsFromStored($0) } || conditions.contains { object.differsFromStored($0.stored) }
  }

  /// Whether an object passes the conditions of the constraint.
  fileprivate func concerns(_ object: ManagedObject) -> Bool {
    conditions.allSatisfy { $0.condition.test.holds(for: object.presentValue(at: $0.stored.slot)) }
  }

  /// The values of an object, by name.
  fileprivate func values(of object: ManagedObject) -> [String: StoredValue] {
    let values = zip(names, slots).map { name, stored in
      (name, object.presentValue(at: stored.slot).element(at: name.dottedKeys.dropFirst()))
    }
    return Dictionary(values, uniquingKeysWith: { first, _ in first })
  }

  fileprivate func predicate(_ values: [StoredValue]) -> FetchPredicate {
    .and(zip(columns, values).map { column, value in
      .compare(.path(of: .current, column.path), .equal, .constant(value))
    })
  }
}

extension ConstraintSearch.Column {
  /// The unsaved or stored value of an object.
  fileprivate func value(in object: ManagedObject) -> StoredValue {
    let value = object.presentValue(at: stored.slot).element(at: path.dropFirst())
    guard case .objectID(let id) = value else { return value }
    return .objectID(id.current)
  }

  /// The value in a row of an entity; for a to-one relationship, the key as a number.
  fileprivate func value(in row: RowSnapshot, of layout: EntityLayout) -> StoredValue {
    switch stored.kind {
    case .toOne:
      guard !row.isNull(stored.slot, of: layout.rowSlotCount), row.integer(stored.slot) != 0 else { return .null }
      return .integer(row.integer(stored.slot))
    case .composite:
      // Unlike properties, elements have other slots in subentities.
      guard let element = layout.properties[stored.slot].elements.first(where: { $0.path == path }) else {
        return .null
      }
      return row.value(element.slot, as: SlotForm(element.attribute), slotCount: layout.rowSlotCount)
    default: return row.value(stored.slot, as: stored.form, slotCount: layout.rowSlotCount)
    }
  }
}

extension UniquenessCondition {
  fileprivate var predicate: FetchPredicate {
    let key = FetchExpression.key(attribute)
    return switch test {
    case .isNil: .compare(key, .equal, .constant(.null))
    case .isNotNil: .compare(key, .notEqual, .constant(.null))
    case .integer(let number): .compare(key, .equal, .constant(.integer(number)))
    case .boolean(let flag): .compare(key, .equal, .constant(.boolean(flag)))
    }
  }
}

extension StoredValue {
  /// The value as compared by a unique column: URIs are texts, and objects with rows are their keys.
  fileprivate var asCompared: StoredValue {
    switch self {
    case .uri(let text): .string(text)
    case .objectID(let id): id.primaryKey.map(StoredValue.integer) ?? self
    default: self
    }
  }
}

extension ManagedObject {
  /// The current values of attributes and to-one relationships.
  fileprivate final var presentValues: [String: StoredValue] {
    layout.storedSlots.reduce(into: Dictionary()) { values, stored in
      values[layout.properties[stored.slot].name] = presentValue(at: stored.slot)
    }
  }
}

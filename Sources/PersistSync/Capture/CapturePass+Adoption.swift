import Foundation
import Persist

/// Migrations of the store to another version of the model.
extension CapturePass {
  /// A row before the migration.
  private struct FormerRow {
    let identity: Identity
    let row: SyncTables.RowID
    /// The entities that the row may have now.
    let entities: [Entity]
  }

  /// Follows a migration to another model: the names and keys of rows change, and values that it computed become facts
  /// of a time before all changes. Afterward, all rows are computed again.
  ///
  /// - Returns: Whether the history names the same rows as before: not those of entities that were split or merged.
  mutating func adoptModel() throws -> Bool {
    let former = record.model
    formerMap = try step.map.version(former)
    var moved: [FormerRow] = []
    try tables.forEachRow { identity, row in
      let names = try step.map.entityNames(row.entity, in: former)
      let entities = (names.isEmpty ? [row.entity] : names).compactMap { step.model.entitiesByName[$0] }
      if !entities.isEmpty { moved.append(FormerRow(identity: identity, row: row, entities: entities)) }
    }
    let merged = try mergedRoots(former)
    let isDivided = moved.contains { row in
      row.entities.count > 1 || row.entities.contains { merged.contains($0.root.name) }
    }
    let isMerged = { (row: FormerRow) in row.entities.contains { merged.contains($0.root.name) } }
    var adopted = try sameKeys(moved.filter { !isMerged($0) })
    adopted.merge(try otherKeys(moved.filter(isMerged), former)) { first, _ in first }
    try findDerived(moved, former, Set(adopted.values))
    for row in moved {
      // A missing row was deleted, unless the model has no place for the object.
      let hasPlace = try step.map.entity(of: tables.facts(of: row.identity))?.isAbstract == false
      try tables.setRow(of: row.identity, to: hasPlace ? adopted[row.identity] : nil)
      // Whether its row still shows them is computed later.
      for register in try tables.facts(of: row.identity).values.values {
        if let (other, _) = register.reference { tables.addReferrer(row.identity, to: other) }
      }
    }
    var changes = changes
    for entity in step.model.entities where !entity.isAbstract {
      try step.store.forEachGroup(of: entity) { rows in
        for row in rows { changes.change(step.store.row(entity, row.key)) { $0.wasMigrated = true } }
      }
    }
    self.changes = changes
    tables.setNeedsProjection(true)
    return !isDivided
  }

  /// The tables of the model that have the rows of several former tables.
  private func mergedRoots(_ former: ModelTag) throws -> Set<String> {
    var roots: [String: Set<String>] = [:]
    for entity in formerMap?.model.entities ?? [] {
      for name in try step.map.entityNames(entity.name, in: former) {
        guard let own = step.model.entitiesByName[name] else { continue }
        roots[own.root.name, default: []].insert(entity.root.name)
      }
    }
    return Set(roots.filter { $0.value.count > 1 }.keys)
  }

  /// The rows of objects that have kept their keys, also of those that were deleted. Of the entities that one was split
  /// into, only one has the key.
  private func sameKeys(_ moved: [FormerRow]) throws -> [Identity: SyncTables.RowID] {
    var keys: [String: Set<Int64>] = [:]
    for row in moved { for entity in row.entities { keys[entity.name, default: []].insert(row.row.key) } }
    var present: [String: Set<Int64>] = [:]
    for (name, keys) in keys {
      guard let entity = step.model.entitiesByName[name] else { continue }
      present[name] = Set(try step.store.rows(of: entity, keys.sorted()).keys)
    }
    var adopted: [Identity: SyncTables.RowID] = [:]
    for row in moved {
      let entity = row.entities.first { present[$0.name]?.contains(row.row.key) == true } ?? row.entities.first
      if let entity { adopted[row.identity] = step.store.row(entity, row.row.key) }
    }
    return adopted
  }

  // MARK: Merged tables

  private static let probeCount = 8

  /// The rows of objects whose tables were merged. The keys of each former table have moved by one distance, which
  /// follows from the values of some objects.
  ///
  /// - Throws: `PersistenceError.Code.mappingAmbiguous` if the rows of objects without an identifying value can't be
  ///   told apart.
  private mutating func otherKeys(_ moved: [FormerRow], _ former: ModelTag) throws -> [Identity: SyncTables.RowID] {
    guard !moved.isEmpty else { return [:] }
    var left: [String: [Int64: SyncStore.Row]] = [:]
    for entity in Set(moved.flatMap(\.entities)) {
      try step.store.forEachGroup(of: entity) { rows in
        for row in rows { left[entity.name, default: [:]][row.key] = row }
      }
    }
    let all = left
    var adopted: [Identity: SyncTables.RowID] = [:]
    var unknown: [[FormerRow]] = []
    for (_, rows) in Dictionary(grouping: moved, by: \.row.root).sorted(by: { $0.key < $1.key }) {
      guard let distance = try distance(of: rows, among: left) else {
        unknown.append(rows)
        continue
      }
      for row in rows {
        let key = row.row.key + distance
        if let entity = row.entities.first(where: { left[$0.name]?[key] != nil }) {
          adopted[row.identity] = step.store.row(entity, key)
          left[entity.name]?[key] = nil
        } else if let entity = row.entities.first, all[entity.name]?[key] == nil {
          adopted[row.identity] = step.store.row(entity, key)
        }
      }
    }
    for rows in unknown {
      let entities = Set(rows.flatMap(\.entities))
      if entities.allSatisfy({ left[$0.name]?.isEmpty ?? true }) {
        // No row is left, so that all of them were deleted.
        for row in rows { try delete(row.identity) }
      } else if entities.contains(where: { schema[$0].identifier == nil }) {
        throw ambiguity(rows, former)
      }
    }
    return adopted
  }

  private func distance(of rows: [FormerRow], among left: [String: [Int64: SyncStore.Row]]) throws -> Int64? {
    var distances: Set<Int64> = []
    let sorted = rows.sorted { $0.row.key < $1.row.key }
    for row in sorted.prefix(Self.probeCount) {
      for entity in row.entities {
        for (key, present) in left[entity.name] ?? [:] where key >= row.row.key {
          if try shows(present, row.identity) { distances.insert(key - row.row.key) }
        }
      }
    }
    func matches(_ distance: Int64) -> Int {
      rows.count { row in row.entities.contains { left[$0.name]?[row.row.key + distance] != nil } }
    }
    return distances.sorted().map { ($0, matches($0)) }.max { ($0.1, -$0.0) < ($1.1, -$1.0) }?.0
  }

  /// Whether a row has the known values of an object.
  private func shows(_ row: SyncStore.Row, _ identity: Identity) throws -> Bool {
    let shown = try shown([identity], by: identity, in: row, step.store.row(row.entity, row.key))
    return try schema[row.entity].attributes.allSatisfy { attribute in
      guard let registers = shown.registers[attribute.name], !registers.isEmpty else { return true }
      return try step.store.value(attribute, in: row) == attribute.value(of: registers)
    }
  }

  private func ambiguity(_ rows: [FormerRow], _ former: ModelTag) -> PersistenceError {
    func name(_ model: ManagedObjectModel?) -> String {
      model?.description.versionIdentifiers.joined(separator: ", ") ?? ""
    }
    let entities = Set(rows.map(\.row.entity)).sorted().joined(separator: ", ")
    let own = Set(rows.flatMap(\.entities).map(\.name)).sorted().joined(separator: ", ")
    return PersistenceError(
      .mappingAmbiguous, at: .entity(own),
      "The migration from '\(name(formerMap?.model))' to '\(name(step.model))' has merged \(entities) into \(own), and "
        + "the replica doesn't recognize the objects.",
      fix: "Name an attribute that identifies the objects of \(own), or synchronize before the migration.")
  }

  /// The property whose value became that of another one when a migration split its entity. The history doesn't know
  /// the change, so that it was made before: such values decide which entity an object gets.
  func formerName(of name: String, _ object: ObjectFacts, in entity: Entity) throws -> PropertyName? {
    guard let formerMap, !step.map.mappings.splits.isEmpty, let former = try formerMap.entity(of: object) else {
      return nil
    }
    return try names(of: former, formerMap).first { try step.map.name(of: $0, in: entity) == name }
  }

  /// The properties that an object had before a migration as well.
  func formerNames(of object: ObjectFacts, in entity: Entity) throws -> Set<String> {
    guard let formerMap, let former = try formerMap.entity(of: object) else { return [] }
    return Set(try names(of: former, formerMap).compactMap { try step.map.name(of: $0, in: entity) })
  }

  private func names(of entity: Entity, _ map: ModelMap) -> [PropertyName] {
    entity.properties.map { PropertyName(model: map.tag, entity: entity.name, name: $0.name) }
  }

  // MARK: Derived objects

  /// Finds the rows that the migration has made beside others, from the same objects.
  private mutating func findDerived(
    _ moved: [FormerRow], _ former: ModelTag, _ adopted: Set<SyncTables.RowID>
  ) throws {
    let mappings = step.map.mappings
    guard let first = mappings.place(of: former), let last = mappings.place(of: step.map.tag) else { return }
    for split in mappings.splits
    where split.destinations.count > 1 && first <= split.places.lowerBound && split.places.upperBound <= last {
      guard let source = try step.map.version(split.sourceTag, split.source)?.map else { continue }
      for row in moved where try source.entityName(row.row.entity, in: former) == split.entity {
        for (name, _) in split.destinations {
          guard let own = try step.map.entityName(name, in: split.destinationTag),
            let entity = step.model.entitiesByName[own]
          else { continue }
          let id = step.store.row(entity, row.row.key)
          if adopted.contains(id) || derived[id].map({ $0.source < row.identity }) == true { continue }
          derived[id] = (row.identity, name)
        }
      }
    }
  }
}

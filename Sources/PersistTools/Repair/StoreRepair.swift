package import Foundation
package import Persist

/// Repairs the problems of a store that don't require guessing: no value that a program could read is changed.
///
/// - Key counters are raised to the greatest key in use, and missing ones added.
/// - Entity numbers beside keys are set to those of the destination rows.
/// - Optional relationships that lead to a missing row are cleared, which is how they already read.
/// - Full-text indexes are rebuilt.
/// - Large values of an encrypted store that are in files, which aren't encrypted, are moved into its rows.
/// - Files of large values that no row names, and the remains of killed migrations beside the store, are deleted. The
///   files are kept as long as a context of this program reads an earlier state of the store, which may name them.
package struct StoreRepair {
  /// One kind of damage that was repaired.
  package struct Repair: Sendable, Hashable {
    package let kind: StoreProblem.Kind
    package let entity: String?
    package let property: String?
    /// The number of affected rows or files.
    package let count: Int
  }

  /// The kinds of problems that ``repair(storeAt:registry:options:)`` repairs as far as it can without guessing.
  package static let repairableKinds: Set<StoreProblem.Kind> = [
    .keyCounter, .wrongEntityNumber, .danglingRelationship, .textIndex, .orphanFile, .unencryptedValue,
    .unfinishedWork,
  ]

  /// Repairs a store in one transaction.
  ///
  /// - Parameter registry: The candidate models for the store; nil uses the model in the store.
  /// - Returns: The repairs made.
  /// - Throws: ``PersistenceError/Code/incompatibleModel`` if the store's tables don't match its model;
  ///   ``PersistenceError/Code/storeBusy``, ``PersistenceError/Code/storeDamaged`` and errors of opening. The store is
  ///   then unchanged.
  package static func repair(
    storeAt url: URL, registry: ModelRegistry? = nil, options: StoreOptions = StoreOptions()
  ) throws -> [Repair] {
    var repairs = try cleanUpUnfinishedWork(url, options)
    let connection = try SQLiteConnection(url, mode: .readWrite, options: options)
    defer { connection.close() }
    if options.encryption != nil {
      let folder = ExternalDataFolder(storeAt: SQLiteFileName.resolved(url))
      // The transaction ends before the files, which then belong to no row, are deleted.
      let count = try connection.transaction { try connection.moveValuesToRows(from: folder) }
      if count > 0 { repairs.append(Repair(kind: .unencryptedValue, entity: nil, property: nil, count: count)) }
    }
    try connection.transaction {
      let map = try StoreIdentification.identify(connection, registry: registry).tableMap
      guard map.differences.isEmpty else {
        throw PersistenceError(
          .incompatibleModel, at: .store(url),
          "The store's tables don't match its model, so it can't be repaired: "
            + map.differences.joined(separator: " "),
          fix: "Provide the model that the store was written with (`--models`).")
      }
      for step in try RepairStep.steps(for: map, history: HistoryLayout(StoreSchema(connection))) {
        let count = try connection.execute(step.sql)
        guard count > 0 else { continue }
        repairs.append(Repair(kind: step.kind, entity: step.entity, property: step.property, count: count))
      }
      repairs += try repairTextIndexes(map, connection)
      let file = SQLiteFileName.resolved(url)
      let orphans = OrphanFiles(folder: ExternalDataFolder(storeAt: file))
      let removed = OpenStoreFiles.isStateHeld(of: file) ? [] : orphans.remove(try orphans.find(connection))
      if !removed.isEmpty {
        repairs.append(Repair(kind: .orphanFile, entity: nil, property: nil, count: removed.count))
      }
    }
    return repairs
  }

  private static func cleanUpUnfinishedWork(_ url: URL, _ options: StoreOptions) throws -> [Repair] {
    let files = UnfinishedFiles(store: SQLiteFileName.resolved(url))
    let folders = files.folders.count
    try UnfinishedWork.cleanUp(storeAt: url, options: options)
    let count = max(0, folders - files.folders.count) + files.removeCopies()
    return count > 0 ? [Repair(kind: .unfinishedWork, entity: nil, property: nil, count: count)] : []
  }

  private static func repairTextIndexes(_ map: TableMap, _ connection: SQLiteConnection) throws -> [Repair] {
    var damaged: [FullTextIndex: Int] = [:]
    for index in try map.fullTextIndexes.kept(by: connection) {
      for statement in SQLText.secondIndex(index) { try connection.execute(statement) }
      try connection.query(.differences(from: index)) { _ in damaged[index, default: 0] += 1 }
      for statement in SQLText.dropSecondIndex { try connection.execute(statement) }
    }
    guard !damaged.isEmpty else { return [] }
    try connection.updateFullTextIndexes(map.fullTextIndexes, trusting: map.fullTextIndexes.subtracting(damaged.keys))
    return damaged.map { index, count in
      Repair(kind: .textIndex, entity: index.entity, property: index.attribute, count: count)
    }.sorted { ($0.entity ?? "", $0.property ?? "") < ($1.entity ?? "", $1.property ?? "") }
  }
}

/// One statement that repairs a store.
struct RepairStep: Sendable {
  let kind: StoreProblem.Kind
  let entity: String
  let property: String?
  let sql: SQLText

  /// All statements for a store with a layout; each only changes invalid values.
  static func steps(for map: TableMap, history: HistoryLayout?) -> [RepairStep] {
    let tables = map.tables.filter { !map.absent.contains($0.entity.name) }
    let counters = tables.filter { $0.entity.superentity == nil }.map { ($0.number, $0.entity.name, $0.table) }
      + (history?.counters ?? [])
    return tables.map { counterStep(map, $0) } + tables.flatMap { toOneSteps(map, $0) + oneWaySteps(map, $0) }
      + map.joinTables.flatMap { joinSteps(map, $0) }
      + counters.map { number, name, table in
        RepairStep(
          kind: .keyCounter, entity: name, property: nil, sql: .raiseKeyCounter(table: table, entityNumber: number))
      }
  }

  /// Adds the row of an entity's key counter.
  private static func counterStep(_ map: TableMap, _ table: TableMap.EntityTable) -> RepairStep {
    let parent = table.entity.superentity.map { map.numbers[$0] } ?? 0
    let row = EntityNumbers.Row(number: table.number, name: table.entity.name, parent: parent, maximum: nil)
    return RepairStep(
      kind: .keyCounter, entity: table.entity.name, property: nil,
      sql: .addKeyCounter(
        row, table: parent == 0 ? table.table : nil, rows: map[table.entity.root].table,
        numbers: map.numbers.byIndex.sorted()))
  }

  private static func toOneSteps(_ map: TableMap, _ table: TableMap.EntityTable) -> [RepairStep] {
    table.columns.filter { $0.role == .toOne }.flatMap { column -> [RepairStep] in
      guard let property = table.entity.property(named: column.property), let relationship = property.relationship,
        property.declaringEntity == table.entity.name
      else { return [] }
      let key = KeyReference(
        table: table.table, column: column.name,
        destination: map[map.model.destination(of: relationship)].table, destinationNumbers: [])
      let companion = property.entityNumberSlot.flatMap { table.column(slot: $0)?.name }
      var steps: [RepairStep] = []
      if relationship.isOptional {
        let beside = [companion, table.orderColumns[property.slot]].compactMap { $0 }
        steps.append(
          RepairStep(
            kind: .danglingRelationship, entity: table.entity.name, property: property.name,
            sql: .emptyDangling(key, beside: beside)))
      }
      if let companion {
        steps.append(
          RepairStep(
            kind: .wrongEntityNumber, entity: table.entity.name, property: property.name,
            sql: .correctCompanions(key, companion: companion)))
      }
      return steps
    }
  }

  /// The members of to-many relationships without inverse, which contain their owner's key.
  private static func oneWaySteps(_ map: TableMap, _ table: TableMap.EntityTable) -> [RepairStep] {
    table.entity.ownProperties.compactMap { property in
      guard property.relationship?.inverse == nil, case .foreignKey(let key) = table.toMany[property.slot] else {
        return nil
      }
      return RepairStep(
        kind: .danglingRelationship, entity: table.entity.name, property: property.name,
        sql: .emptyDangling(
          KeyReference(table: key.table, column: key.column, destination: table.table, destinationNumbers: []),
          beside: [key.entityColumn, key.orderColumn].compactMap { $0 }))
    }
  }

  private static func joinSteps(_ map: TableMap, _ join: TableMap.JoinTable) -> [RepairStep] {
    [join.first, join.second].compactMap { end in
      guard let entity = map.model.entitiesByName[end.entity] else { return nil }
      return RepairStep(
        kind: .danglingRelationship, entity: end.entity, property: end.relationship,
        sql: .deleteDanglingPairs(
          KeyReference(table: join.name, column: end.column, destination: map[entity].table, destinationNumbers: [])))
    }
  }
}

import Foundation
import Persist

/// The first synchronization: facts of all rows, in steps of bounded size, each of which is a transaction.
extension CapturePass {
  /// The number of rows in a step.
  static let birthCount = 2000

  /// The times of changes before the first synchronization, which are read once.
  struct BirthHistory {
    let upTo: Int64
    let changes: RowChanges
    /// The latest time.
    let time: UInt64
  }

  /// Reads the history up to the beginning of the first synchronization.
  mutating func readBirthHistory(upTo number: Int64) throws -> BirthHistory {
    position = number
    changes = RowChanges()
    try readHistory(after: nil)
    return BirthHistory(upTo: number, changes: changes, time: record.time)
  }

  /// Makes facts of the next rows.
  ///
  /// - Returns: The number of the last transaction that it has seen.
  mutating func bear(_ history: BirthHistory) throws -> Int64 {
    guard var birth = record.birth else { return position }
    let last = try step.history.lastNumber()
    // Later changes are captured like those of a replica that has been synchronized.
    var later = RowChanges()
    try step.history.forEachTransaction(HistoryQuery(afterNumber: birth.upTo)) { transaction in
      for change in transaction.changes ?? [] { later.add(change, of: transaction, 0, in: step.model) }
    }
    record.time = max(record.time, history.time)
    let rows = try nextRows(&birth)
    changes = RowChanges()
    for row in rows {
      let id = step.store.row(row.entity, row.key)
      guard later[id] == nil else { continue }
      changes.change(id) { change in
        change = history.changes[id] ?? RowChange()
        if change.whole == nil { change.whole = 0 }
      }
    }
    let present = Dictionary(
      rows.map { (step.store.row($0.entity, $0.key), $0) }, uniquingKeysWith: { first, _ in first })
    step.keep(present)
    switch birth.phase {
    case .identities: try identify(present)
    case .values: try captureBirth(present)
    }
    record.birth = birth
    if !step.schema.ordered.indices.contains(birth.entity) { finishPhase(birth, isFresh: last != birth.upTo) }
    return last
  }

  /// Reads rows after the position, and moves it behind them.
  private func nextRows(_ birth: inout ReplicaRecord.Birth) throws -> [SyncStore.Row] {
    let entities = step.schema.ordered
    var rows: [SyncStore.Row] = []
    while rows.count < Self.birthCount, entities.indices.contains(birth.entity) {
      let entity = entities[birth.entity]
      let limit = Self.birthCount - rows.count
      let next =
        entity.isAbstract ? (rows: [], last: nil) : try step.store.rows(of: entity, after: birth.key, limit: limit)
      rows += next.rows
      if let last = next.last { birth.key = last } else { (birth.entity, birth.key) = (birth.entity + 1, .min) }
    }
    return rows
  }

  /// - Parameter isFresh: Whether the store has been changed since the beginning.
  private mutating func finishPhase(_ birth: ReplicaRecord.Birth, isFresh: Bool) {
    switch birth.phase {
    case .identities: record.birth = ReplicaRecord.Birth(phase: .values, upTo: birth.upTo)
    case .values:
      (record.birth, record.isFresh) = (nil, isFresh)
      (record.position, record.model) = (birth.upTo, step.map.tag)
    }
  }

  /// Gives rows identities and lives.
  private mutating func identify(_ rows: [SyncTables.RowID: SyncStore.Row]) throws {
    try tables.load(changes.order)
    _ = try captureInsertions(rows, [:])
  }

  private mutating func captureBirth(_ rows: [SyncTables.RowID: SyncStore.Row]) throws {
    let all = rows.keys.sorted { ($0.root, $0.key) < ($1.root, $1.key) }
    try tables.load(all)
    try tables.load(Array(Set(rows.values.flatMap { targets(of: $0) })))
    // Also those of rows that have been changed meanwhile, whose values follow.
    for identity in try all.flatMap({ try tables.identities(of: $0) }) {
      if let life = try tables.facts(of: identity).life { facts.append((.life(identity), life.bytes)) }
    }
    for id in changes.order {
      guard let change = changes[id], let row = rows[id] else { continue }
      inserted.insert(id)
      try capture(change, of: id, row)
    }
    try captureOrders()
  }

  /// The rows to which a row refers.
  private func targets(of row: SyncStore.Row) -> [SyncTables.RowID] {
    schema[row.entity].relationships.filter(\.isRegister).compactMap { step.store.target($0, in: row) }
  }
}

import Foundation
import Persist

/// The first synchronization: facts of all rows, in steps of bounded size, each of which is a transaction.
extension CapturePass {
  /// The times of changes before the first synchronization, which are read once.
  struct BirthHistory {
    let upTo: Int64
    let changes: RowChanges
    /// The latest time.
    let time: UInt64
    /// The time of the history's first transaction, if the history is complete.
    let beginning: Double?
  }

  /// Reads the history up to the beginning of the first synchronization.
  mutating func readBirthHistory(upTo number: Int64) throws -> BirthHistory {
    position = number
    changes = RowChanges(identifiers: schema.identifiers)
    let isComplete = try step.history.extent().isComplete(after: 0)
    try readHistory(after: nil)
    return BirthHistory(
      upTo: number, changes: changes, time: record.time, beginning: isComplete ? firstTime : nil)
  }

  /// Makes facts of the next rows.
  ///
  /// - Returns: The number of the last transaction that it has seen.
  mutating func bear(_ history: BirthHistory) throws -> Int64 {
    guard var birth = record.birth else { return position }
    let last = try step.history.lastNumber()
    // Later changes are captured like those of a replica that has been synchronized.
    var later = RowChanges(identifiers: schema.identifiers)
    try step.history.forEachTransaction(HistoryQuery(afterNumber: birth.upTo)) { transaction in
      for change in transaction.changes ?? [] { later.add(change, of: transaction, 0, in: step.model) }
    }
    record.time = max(record.time, history.time)
    let rows = try nextRows(&birth)
    switch birth.phase {
    case .identities: try identify(rows, history, later)
    case .values: try captureBirth(rows, history, later)
    }
    record.birth = birth
    if !step.schema.ordered.indices.contains(birth.entity) {
      // Later deletions are those of objects that have got identities.
      if birth.phase == .identities { addDeletions(history, later) }
      finishPhase(birth, isFresh: last != birth.upTo)
    }
    return last
  }

  /// Reads rows after the position, and moves it behind them.
  private func nextRows(_ birth: inout ReplicaRecord.Birth) throws -> [SyncStore.Row] {
    let entities = step.schema.ordered
    var rows: [SyncStore.Row] = []
    while rows.count < birthCount, entities.indices.contains(birth.entity) {
      let entity = entities[birth.entity]
      let limit = birthCount - rows.count
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

  /// Adds the changes of rows before the first synchronization, and whole rows without any.
  ///
  /// - Parameter isLeftOut: Whether a row follows later.
  /// - Returns: All rows, also those that follow.
  private mutating func addChanges(
    of rows: [SyncStore.Row], _ history: BirthHistory, unless isLeftOut: (SyncTables.RowID) -> Bool
  ) -> [SyncTables.RowID: SyncStore.Row] {
    changes = RowChanges()
    for row in rows {
      let id = step.store.row(row.entity, row.key)
      if isLeftOut(id) { continue }
      changes.change(id) { change in
        change = history.changes[id] ?? RowChange()
        if change.whole == nil { change.whole = 0 }
      }
    }
    let present = Dictionary(
      rows.map { (step.store.row($0.entity, $0.key), $0) }, uniquingKeysWith: { first, _ in first })
    step.keep(present)
    return present
  }

  /// Gives rows identities and lives.
  private mutating func identify(
    _ rows: [SyncStore.Row], _ history: BirthHistory, _ later: RowChanges
  ) throws {
    // Rows that were changed meanwhile get identities too, because unchanged ones may refer to them.
    func isNew(_ id: SyncTables.RowID) -> Bool { later[id].map { $0.inserted != nil || $0.wasDeleted } ?? false }
    var plain = BirthRows(step)
    let known = later.order.isEmpty ? rows : rows.filter { !isNew(step.store.row($0.entity, $0.key)) }
    if try plain.identify(known, creation: { history.changes[$0]?.created }) {
      entries = plain.entries
      return
    }
    let present = addChanges(of: rows, history, unless: isNew)
    try tables.load(changes.order)
    _ = try captureInsertions(present, [:])
  }

  private mutating func captureBirth(
    _ rows: [SyncStore.Row], _ history: BirthHistory, _ later: RowChanges
  ) throws {
    var plain = BirthRows(step)
    let (unchanged, changed) = later.order.isEmpty
      ? (rows, [])
      : (
        rows.filter { later[step.store.row($0.entity, $0.key)] == nil },
        rows.filter { later[step.store.row($0.entity, $0.key)] != nil }
      )
    let left = try plain.capture(unchanged, { history.changes[$0] }, origin: { time($0, history) })
    (entries, values) = (plain.entries, plain.values)
    let present = addChanges(of: left + changed, history, unless: { later[$0] != nil })
    let all = present.keys.sorted { ($0.root, $0.key) < ($1.root, $1.key) }
    try tables.load(all)
    try tables.load(Array(Set(present.values.flatMap { targets(of: $0) })))
    // Also those of rows that have been changed meanwhile, whose values follow.
    for id in all {
      for identity in try tables.identities(of: id) {
        if let life = try tables.facts(of: identity).life { facts.append((.life(identity), life.bytes)) }
        try captureOrigin(of: identity, id, history)
      }
    }
    for id in changes.order {
      guard let change = changes[id], let row = present[id] else { continue }
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

/// Rows that were read ahead for the objects at the other end of relationships.
///
/// The objects that they were read for hold them, so that they go with the last of those. No object is held: an object
/// at the other end is made when it is asked for, with its row. Rows that may be older than what the context knows are
/// left alone.
final class PrefetchedRows {
  /// The context's count of events after which rows may be outdated.
  private let generation: Int
  private var rows: [ObjectIdentifier: [Int64: RowBatch.Row]] = [:]

  init(generation: Int) { self.generation = generation }

  func add(_ row: RowBatch.Row, to table: ObjectTable) { rows[ObjectIdentifier(table), default: [:]][row.key] = row }

  func add(_ batch: RowBatch, to table: ObjectTable) {
    var known = rows.removeValue(forKey: ObjectIdentifier(table)) ?? [:]
    known.reserveCapacity(known.count + batch.rows.count)
    for row in batch.rows { known[row.key] = row }
    rows[ObjectIdentifier(table)] = known
  }

  /// Gives a fault its row where it was read ahead, and what was read ahead for its own relationships.
  func fill(_ object: ManagedObject) {
    guard let table = object.table, table.context.rowGeneration == generation else { return }
    if object.loading == .fault, object.snapshot == nil, let row = rows[ObjectIdentifier(table)]?[object.key],
      row.entityIndex == object.layout.index
    {
      object.snapshot = row.snapshot
    }
    if object.companions == nil { object.companions = self }
  }
}

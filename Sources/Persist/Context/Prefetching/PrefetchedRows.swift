/// Rows that were read ahead for the objects at the other end of relationships.
///
/// The objects that they were read for hold them, so that they go with the last of those. No object is held: an object
/// at the other end is made when it is asked for, with its row. Rows that may be older than what the context knows are
/// left alone.
final class PrefetchedRows {
  /// The context's count of events after which rows may be outdated.
  private let generation: Int
  private var rows: [(table: ObjectIdentifier, index: RowIndex)] = []

  init(generation: Int) { self.generation = generation }

  /// Whether the rows are what the context knows, as far as it can tell.
  func areTrue(in context: ManagedObjectContext) -> Bool { context.rowGeneration == generation }

  func add(_ batch: RowBatch, to table: ObjectTable) {
    if let place = rows.firstIndex(where: { $0.table == ObjectIdentifier(table) }) {
      rows[place].index.add(batch)
    } else {
      rows.append((ObjectIdentifier(table), RowIndex(batch)))
    }
  }

  private func row(_ key: Int64, of table: ObjectTable) -> RowBatch.Row? {
    for place in rows.indices where rows[place].table == ObjectIdentifier(table) { return rows[place].index[key] }
    return nil
  }

  /// Gives a fault its row where it was read ahead, and what was read ahead for its own relationships.
  func fill(_ object: ManagedObject) {
    guard let table = object.table, areTrue(in: table.context) else { return }
    if object.loading == .fault, object.snapshot == nil, let row = row(object.key, of: table),
      row.entityIndex == object.layout.index
    {
      object.snapshot = row.snapshot
    }
    if object.companions == nil { object.companions = self }
  }
}

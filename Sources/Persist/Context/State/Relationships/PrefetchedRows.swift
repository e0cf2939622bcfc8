/// Prefetched rows of related objects.
///
/// Held by the objects that they were read for, and released with the last of them. They hold no objects: a related
/// object is created with its row on demand. Rows that may be older than what the context knows aren't used.
final class PrefetchedRows {
  /// The graph's ``ObjectGraph/rowGeneration`` at the time of reading.
  private let generation: Int
  /// Whether related objects of related objects are prefetched, so that these refer to the rows too.
  private let leadFurther: Bool
  private var rows: [(table: ObjectIdentifier, index: RowIndex)] = []

  init(generation: Int, leadFurther: Bool) { (self.generation, self.leadFurther) = (generation, leadFurther) }

  /// Whether the rows are up to date as far as the context knows.
  func areTrue(in context: ManagedObjectContext) -> Bool { context.graph.rowGeneration == generation }

  func add(_ batch: RowBatch, to table: ObjectTable) { rows.append((ObjectIdentifier(table), RowIndex(batch))) }

  /// Returns the row with a key; if there are several, the one added last.
  private func row(_ key: Int64, of table: ObjectTable) -> RowBatch.Row? {
    for index in rows.indices.reversed() where rows[index].table == ObjectIdentifier(table) {
      if let row = rows[index].index[key] { return row }
    }
    return nil
  }

  /// Whether an object lacks what ``fill(_:)`` may give it.
  func areWanted(by object: ManagedObject) -> Bool {
    (leadFurther && object.companions == nil) || (object.loading == .fault && object.row == nil)
  }

  /// Gives a fault its prefetched row, and the object access to the prefetched rows of its relationships, if any.
  func fill(_ object: ManagedObject) {
    guard let table = object.table, areTrue(in: table.context) else { return }
    if object.loading == .fault, object.snapshot == nil, let row = row(object.key, of: table),
      row.entityIndex == object.layout.index
    {
      object.find(row.snapshot)
      table.context.recordRow(of: object)
    }
    if leadFurther, object.companions == nil { object.companions = self }
  }
}

/// The prefetched destination rows of one to-many relationship of many objects, ordered by owner.
final class PrefetchedMembers {
  private let batch: RowBatch
  /// All rows of the same prefetch; nil if only these were read.
  private let rows: PrefetchedRows?
  /// The context's ``ManagedObjectContext/rowGeneration`` at the time of reading.
  private let generation: Int
  /// The members' table. If it outlives its context, only its map is accessed, which is then empty.
  private let table: ObjectTable
  private let storeIdentifier: String
  private let layouts: EntityLayouts

  init(_ batch: RowBatch, in table: ObjectTable, of tables: StoreTables, readWith rows: PrefetchedRows?) {
    self.batch = batch
    self.rows = rows
    self.table = table
    generation = table.context.rowGeneration
    storeIdentifier = tables.identifier
    layouts = table.context.layouts
  }

  /// Whether the rows are up to date as far as the context knows.
  func areTrue(in context: ManagedObjectContext) -> Bool { context.rowGeneration == generation }

  func identifiers(_ range: Range<Int>) -> [ManagedObjectID] {
    batch.entries[range].map { entry in
      table.map[entry.key]?.objectID
        ?? .named(
          rowKey: entry.key, entityName: layouts[Int(entry.entityIndex)].entity.name, storeIdentifier: storeIdentifier)
    }
  }

  /// Returns the objects of rows: registered ones, or else new faults, with their rows if these are up to date.
  func objects(_ range: Range<Int>, in context: ManagedObjectContext) -> [ManagedObject] {
    let (areTrue, isNewest) = (areTrue(in: context), context.isReadingNewest)
    var objects: [ManagedObject] = []
    objects.reserveCapacity(range.count)
    var faults = FaultFactory(context, table)
    for entry in batch.entries[range] {
      guard let object = object(entry, in: context, &faults) else { continue }
      if areTrue {
        if object.loading == .fault, object.snapshot == nil, object.layout.index == Int(entry.entityIndex) {
          object.snapshot = batch.snapshot(of: entry)
          if isNewest { context.noteRow(of: object) }
        }
        if let rows, object.companions == nil { object.companions = rows }
      }
      objects.append(object)
    }
    return objects
  }

  private func object(
    _ entry: RowBatch.Entry, in context: ManagedObjectContext, _ faults: inout FaultFactory
  ) -> ManagedObject? {
    if let object = table.map[entry.key] { return object }
    let entityIndex = Int(entry.entityIndex)
    guard entry.key < 0 else { return faults.makeFault(key: entry.key, entityIndex: entityIndex) }
    // A new object of the parent context.
    let layout = layouts[entityIndex]
    return context.registeredOrFault(
      .named(rowKey: entry.key, entityName: layout.entity.name, storeIdentifier: storeIdentifier))
  }
}

/// The rows at the other end of one to-many relationship of many objects, as they were read ahead: owner by owner.
final class PrefetchedMembers {
  private let batch: RowBatch
  /// What was read ahead together.
  private let rows: PrefetchedRows
  /// The members' table. It outlives its context for whoever holds it; only its map is looked at then, which is empty.
  private let table: ObjectTable
  private let storeIdentifier: String
  private let layouts: [EntityLayout]

  init(_ batch: RowBatch, in table: ObjectTable, of tables: StoreTables, readWith rows: PrefetchedRows) {
    self.batch = batch
    self.rows = rows
    self.table = table
    storeIdentifier = tables.identifier
    layouts = table.context.layouts
  }

  /// Whether the rows are what the context knows, as far as it can tell.
  func areTrue(in context: ManagedObjectContext) -> Bool { rows.areTrue(in: context) }

  func identifiers(_ range: Range<Int>) -> [ManagedObjectID] {
    batch.entries[range].map { entry in
      table.map[entry.key]?.objectID
        ?? .named(
          rowKey: entry.key, entityName: layouts[Int(entry.entityIndex)].entity.name, storeIdentifier: storeIdentifier)
    }
  }

  /// The objects of rows: those that are alive, else new faults, which take their rows where they are true still.
  func objects(_ range: Range<Int>, in context: ManagedObjectContext) -> [ManagedObject] {
    let areTrue = areTrue(in: context)
    var objects: [ManagedObject] = []
    objects.reserveCapacity(range.count)
    for entry in batch.entries[range] {
      guard let object = object(entry, in: context) else { continue }
      if areTrue {
        if object.loading == .fault, object.snapshot == nil, object.layout.index == Int(entry.entityIndex) {
          object.snapshot = batch.snapshot(of: entry)
        }
        if object.companions == nil { object.companions = rows }
      }
      objects.append(object)
    }
    return objects
  }

  private func object(_ entry: RowBatch.Entry, in context: ManagedObjectContext) -> ManagedObject? {
    if let object = table.map[entry.key] { return object }
    let layout = layouts[Int(entry.entityIndex)]
    guard entry.key < 0 else { return context.makeFault(layout, key: entry.key, in: table) }
    // A new object of the parent context.
    return context.registeredOrFault(
      .named(rowKey: entry.key, entityName: layout.entity.name, storeIdentifier: storeIdentifier))
  }
}

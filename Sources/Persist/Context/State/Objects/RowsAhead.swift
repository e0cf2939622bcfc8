/// Rows of faults that were read along with the row of another fault.
struct RowsAhead {
  /// The maximum number of rows that wait for use.
  private static let maximumCount = 65_536

  fileprivate var run = ReadRun()
  private var rows: [Int64: RowSnapshot] = Dictionary()

  var includesNeighbors: Bool { run.readsAhead && rows.count < Self.maximumCount }

  func contains(_ key: Int64) -> Bool { rows[key] != nil }

  /// Returns a row, which isn't needed here any longer.
  mutating func remove(_ key: Int64) -> RowSnapshot? { rows.isEmpty ? nil : rows.removeValue(forKey: key) }

  /// Keeps the rows besides that of the fault that was fired, if they may be used later.
  mutating func add(
    _ batch: RowBatch, besides key: Int64, isNext: Bool, at moment: ReadMoment?, in context: ManagedObjectContext
  ) {
    if !run.didRead(isNext: isNext, at: moment, in: context) { rows.removeAll() }
    guard moment != nil, batch.count > 1 else { return }
    for row in batch where row.key != key { rows[row.key] = row.snapshot }
  }
}

extension ObjectTable {
  /// Returns the row of a fault; nil if there is none.
  func row(of fault: ManagedObject, from store: any RowSource) throws -> RowSnapshot? {
    let isNext = rowsAhead.run.continues(in: context, of: store)
    if isNext, let row = rowsAhead.remove(fault.key) { return row }
    let keys = isNext && rowsAhead.includesNeighbors ? keysOfNeighbors(of: fault, store.readAhead) : [fault.key]
    let query = RowQuery(entity: fault.layout.entity, includesSubentities: false, keys: keys)
    let (batch, moment) = try store.rowsWithMoment(query)
    rowsAhead.add(batch, besides: fault.key, isNext: isNext, at: moment, in: context)
    guard let row = batch.first(where: { $0.key == fault.key })?.snapshot else { return nil }
    if fault.layout.byteCount(of: row) > ReadRun.maximumRowSize { rowsAhead.run.stop() }
    return row
  }

  /// The keys of a fault and of neighbors: faults of its entity whose rows haven't been read.
  private func keysOfNeighbors(of fault: ManagedObject, _ extent: ReadAhead) -> [Int64] {
    let start = fault.key & ~(extent.neighborhood - 1)
    let neighbors = (start...start + (extent.neighborhood - 1)).lazy.filter { [self] key in
      guard let neighbor = map[key], neighbor.isWithoutRow, neighbor.layout === fault.layout else { return false }
      return neighbor !== fault && !rowsAhead.contains(key)
    }
    return [fault.key] + neighbors.prefix(rowsAhead.run.groupSize(extent) - 1)
  }
}

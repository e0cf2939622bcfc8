/// Rows of faults, read along with the row of a neighboring fault.
///
/// A program that fires faults one after another usually fires those with neighboring keys too, and most of the cost of
/// a fault is its statement. After a few faults in quick succession, each statement therefore also reads the rows of
/// other faults with neighboring keys. A row that was read ahead is used only within the few milliseconds for which the
/// row source answers for it (``RowSource/isRecent(_:)``): a fault reads what its own statement would have read.
struct RowsAhead {
  /// The number of consecutive keys that are neighbors; a power of two.
  static let neighborhood: Int64 = 64
  /// The number of rows that a statement reads. More would save little, and waste more if the neighbors aren't used:
  /// reading 16 rows takes about twice the time of one.
  static let groupSize = 16
  /// The number of consecutive faults that are read on their own.
  static let singleReads = 4
  /// The size in bytes above which rows aren't read ahead.
  static let maximumRowSize = 1024
  /// The maximum number of rows that wait for use.
  static let maximumCount = 65_536

  private var rows: [Int64: RowSnapshot] = [:]
  private var moment: ReadMoment?
  /// The context's ``ManagedObjectContext/rowGeneration`` at that moment.
  private var generation = 0
  private var readCount = 0

  /// Whether neighbors are to be read with the next row.
  var includesNeighbors: Bool { readCount >= Self.singleReads && rows.count < Self.maximumCount }

  func contains(_ key: Int64) -> Bool { rows[key] != nil }

  /// Whether the rows may be used.
  func areValid(in context: ManagedObjectContext, of store: any RowSource) -> Bool {
    guard let moment, generation == context.rowGeneration else { return false }
    return store.isRecent(moment)
  }

  /// Returns a row, which isn't needed here any longer.
  mutating func remove(_ key: Int64) -> RowSnapshot? { rows.isEmpty ? nil : rows.removeValue(forKey: key) }

  /// Records that a row was read by a statement of its own, or with its neighbors.
  ///
  /// - Parameters:
  ///   - isNext: Whether the statement followed the previous one closely.
  ///   - moment: The moment of reading; nil if the rows can't be used later.
  mutating func didRead(
    _ batch: RowBatch, besides key: Int64, isNext: Bool, at moment: ReadMoment?, in context: ManagedObjectContext
  ) {
    if moment == nil || moment?.changeCount != self.moment?.changeCount || generation != context.rowGeneration {
      rows.removeAll()
    }
    readCount = isNext ? readCount + 1 : 0
    (self.moment, generation) = (moment, context.rowGeneration)
    guard moment != nil else { return }
    for row in batch where row.key != key { rows[row.key] = row.snapshot }
  }

  mutating func stop() { readCount = 0 }
}

extension ObjectTable {
  /// Returns the row of a fault; nil if there is none.
  func row(of fault: ManagedObject, from store: any RowSource) throws -> RowSnapshot? {
    let isNext = rowsAhead.areValid(in: context, of: store)
    if isNext, let row = rowsAhead.remove(fault.key) { return row }
    let keys = isNext && rowsAhead.includesNeighbors ? keysOfNeighbors(of: fault) : [fault.key]
    let query = RowQuery(entity: fault.layout.entity, includesSubentities: false, keys: keys)
    let (batch, moment) = try store.rowsWithMoment(query)
    rowsAhead.didRead(batch, besides: fault.key, isNext: isNext, at: moment, in: context)
    guard let row = batch.first(where: { $0.key == fault.key })?.snapshot else { return nil }
    if fault.layout.byteCount(of: row) > RowsAhead.maximumRowSize { rowsAhead.stop() }
    return row
  }

  /// The keys of a fault and of neighbors: faults of its entity whose rows haven't been read.
  private func keysOfNeighbors(of fault: ManagedObject) -> [Int64] {
    let start = fault.key & ~(RowsAhead.neighborhood - 1)
    let neighbors = (start...start + (RowsAhead.neighborhood - 1)).lazy.filter { [self] key in
      guard let neighbor = map[key], neighbor.isWithoutRow, neighbor.layout === fault.layout else { return false }
      return neighbor !== fault && !rowsAhead.contains(key)
    }
    return [fault.key] + neighbors.prefix(RowsAhead.groupSize - 1)
  }
}

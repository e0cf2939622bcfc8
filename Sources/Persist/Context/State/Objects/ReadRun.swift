/// Reads of one kind that follow each other closely, during which rows are read ahead.
///
/// A program that reads the rows or members of one object after another usually continues with objects whose keys are
/// near, and most of the cost of a small read is its statement. Rows that were read ahead are used only within the few
/// milliseconds for which the row source vouches for them (``RowSource/isRecent(_:)``), so that the program gets what a
/// statement of its own would have read.
struct ReadRun {
  /// The number of reads at the beginning of a run that don't read ahead.
  static let singleReads = 4
  /// The size in bytes of a row above which nothing is read ahead.
  static let maximumRowSize = 1024

  private var moment: ReadMoment?
  /// The graph's ``ObjectGraph/rowGeneration`` at that moment.
  private var generation = 0
  private var count = 0
  /// The number of rows that the last statement read for each object.
  private var rowsPerObject = 1

  /// Whether a read now belongs to the run, and what was read ahead may be used.
  func continues(in context: ManagedObjectContext, of store: any RowSource) -> Bool {
    guard let moment, generation == context.graph.rowGeneration else { return false }
    return store.isRecent(moment)
  }

  /// Whether the next statement is to read ahead, if the run continues.
  var readsAhead: Bool { count >= Self.singleReads }

  /// The number of objects that the next statement is to read for.
  func groupSize(_ extent: ReadAhead) -> Int {
    readsAhead ? extent.groupSize(count - Self.singleReads, rowsPerObject: rowsPerObject) : 1
  }

  /// Records the number of rows that the last statement read for several objects each.
  mutating func record(rows: Int, of objects: Int) { rowsPerObject = rows / max(objects, 1) }

  /// Records that a statement has read.
  ///
  /// - Parameters:
  ///   - isNext: Whether it belongs to the run. Otherwise another run begins.
  ///   - moment: The moment of reading; nil if nothing read then can be used later.
  /// - Returns: Whether what was read ahead before is still valid.
  mutating func didRead(isNext: Bool, at moment: ReadMoment?, in context: ManagedObjectContext) -> Bool {
    defer { (self.moment, generation) = (moment, context.graph.rowGeneration) }
    count = isNext ? count + 1 : 0
    return moment != nil && moment?.changeCount == self.moment?.changeCount && generation == context.graph.rowGeneration
  }

  /// Ends the run, because the rows are large.
  mutating func stop() { count = 0 }
}

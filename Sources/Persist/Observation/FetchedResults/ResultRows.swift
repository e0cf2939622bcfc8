/// Reads the rows of results in batches, and releases those of batches that weren't requested recently.
final class ResultRows {
  private let context: ManagedObjectContext
  private let size: Int
  /// The two most recent batches, so that scrolling back and forth across a batch border reads neither again.
  private var recent: [[ResultItem]] = []

  init(_ context: ManagedObjectContext, size: Int) {
    self.context = context
    self.size = size
  }

  /// Ensures that the row of the result at a path is read.
  func read(around path: ResultIndexPath, of results: ResultArrangement) {
    guard let item = results.item(at: path), item.object.loading == .fault, item.object.snapshot == nil else { return }
    let section = results.sections[path.section].items
    let start = path.row / size * size
    let batch = Array(section[start..<min(start + size, section.count)])
    context.prefetchRows(of: batch.map(\.object))
    recent.insert(batch, at: 0)
    while recent.count > 2 { for item in recent.removeLast() { release(item) } }
  }

  /// Releases the row of an object, unless the object is changed or held elsewhere.
  private func release(_ item: ResultItem) {
    guard item.object.change == .none, isKnownUniquelyReferenced(&item.object) else { return }
    switch item.object.loading {
    case .loaded: item.object.becomeFault()
    case .fault: item.object.forgetFetchedRow()
    case .awakening, .missing: break
    }
  }
}

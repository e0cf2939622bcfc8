package import Persist

/// Fills a store with random objects, slice by slice.
package struct FillPass {
  private let store: StoreWriter
  private let rows: Int
  private let seed: UInt64

  /// - Parameters:
  ///   - rows: the number of objects of each concrete entity.
  ///   - seed: the random seed; equal seeds produce equal objects.
  package init(store: StoreWriter, rows: Int, seed: UInt64) {
    self.store = store
    self.rows = rows
    self.seed = seed
  }

  /// - Parameter report: called after each slice with the number of objects created so far.
  /// - Returns: the number of objects.
  package func run(_ report: (Int) -> Void) throws -> Int {
    let model = store.model
    let slice = try FillSlice(model)
    let firstNumbers = try model.entities.map { try store.greatestKey(in: $0.root) + 1 }
    var generator = SeededGenerator(seed: seed)
    var made = 0
    // The slices have equal sizes: a short last one might be too small for a relationship's minimum count.
    let sliceCount = max(1, (rows + slice.size - 1) / slice.size)
    for number in 0..<sliceCount {
      let range = (rows * number / sliceCount)..<(rows * (number + 1) / sliceCount)
      let writes = try slice.writes(range, firstNumbers: firstNumbers, using: &generator)
      try store.commit(writes)
      made += writes.inserts.count
      report(made)
    }
    return made
  }
}

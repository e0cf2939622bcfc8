import Persist
package import PersistTools

/// Fills a store with random objects, slice by slice.
package struct FillPass {
  private let store: StoreWriter
  private let rows: Int
  private let rowsOf: [String: Int]
  private let seed: UInt64

  /// The greatest possible number of objects of each entity.
  package static let rowLimit = 1_000_000_000

  /// - Parameters:
  ///   - rows: the number of objects of each concrete entity. There are more of those that required relationships of
  ///     others need.
  ///   - rowsOf: the exact numbers of objects of some entities by name.
  ///   - seed: the random seed; equal seeds produce equal objects.
  package init(store: StoreWriter, rows: Int, rowsOf: [String: Int] = [:], seed: UInt64) {
    self.store = store
    self.rows = rows
    self.rowsOf = rowsOf
    self.seed = seed
  }

  /// - Parameter report: called after each slice with the number of objects created so far.
  /// - Returns: the number of objects.
  /// - Throws: `PersistenceError.Code.invalidRequest` if the number of objects is negative or beyond ``rowLimit``, or
  ///   if there are no keys for them.
  package func run(_ report: (Int) -> Void) throws -> Int {
    guard (0...Self.rowLimit).contains(rows) else {
      throw PersistenceError(
        .invalidRequest, "A store can't be filled with \(rows) objects of each entity.",
        fix: "The number has to be between 0 and \(Self.rowLimit).")
    }
    let model = store.model
    var counts = try FillCounts(model, rows: rows, chosen: rowsOf)
    let slice = try FillSlice(model)
    let firstNumbers = try model.entities.map { entity -> Int64 in
      let greatest = try store.greatestKey(in: entity.root)
      guard greatest < Int64.max / 2 else {
        throw PersistenceError(
          .invalidRequest, at: .entity(entity.name), "The store has an object with the key \(greatest), after which "
            + "there are too few keys for random objects.")
      }
      return greatest + 1
    }
    var generator = SeededGenerator(seed: seed)
    var made = 0
    // The slices have equal sizes: a short last one might be too small for a relationship's minimum count.
    let sliceCount = counts.sliceCount(ofSize: slice.size)
    for number in 0..<sliceCount {
      let before = counts.used
      let writes = try slice.writes(
        counts.next(slice: number, of: sliceCount), before: before, firstNumbers: firstNumbers, using: &generator)
      try store.commit(writes)
      made += writes.inserts.count
      report(made)
    }
    return made
  }
}

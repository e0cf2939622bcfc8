/// The keys of inserted rows, by their temporary numbers.
///
/// Numbers come from a counter, so that those of one save are mostly consecutive and fit in an array.
package struct TemporaryKeys {
  private var base: UInt64 = 0
  private var dense: [Int64] = []
  private var sparse: [UInt64: Int64] = [:]

  package init() {}

  /// - Parameter keys: Temporary numbers and the keys of their rows.
  package init(_ keys: [(number: UInt64, key: Int64)]) {
    guard let least = keys.lazy.map(\.number).min(), let greatest = keys.lazy.map(\.number).max() else { return }
    if greatest - least < UInt64(keys.count) * 4 {
      base = least
      // No row has the key 0.
      dense = Array(repeating: 0, count: Int(greatest - least) + 1)
      for (number, key) in keys { dense[Int(number - least)] = key }
    } else {
      sparse = Dictionary(keys.map { ($0.number, $0.key) }, uniquingKeysWith: { first, _ in first })
    }
  }

  package subscript(number: UInt64) -> Int64? {
    guard number >= base else { return sparse[number] }
    let index = number - base
    guard index < UInt64(dense.count) else { return sparse[number] }
    let key = dense[Int(index)]
    return key == 0 ? nil : key
  }
}

/// The long lists of constants that `IN` and `CONTAINS` search, indexed so that the cost per object doesn't depend on
/// the length of a list.
///
/// A list is identified by the address of its parts, since comparing lists would cost as much as searching them; its
/// parts are retained for that reason. The index is built at the second search, because a single search is faster
/// without one.
struct ConstantLists {
  /// The least length worth indexing: shorter lists are searched linearly at the same speed.
  static let least = 16

  private struct Key: Hashable {
    let address: UnsafeRawPointer?
    let count: Int
    let options: FetchPredicate.Options
  }

  /// A list whose parts are all constants.
  final class List {
    fileprivate let parts: [FetchExpression]
    private let values: [StoredValue]
    private let options: FetchPredicate.Options
    private var index: ConstantIndex?
    private var isSearched = false

    fileprivate init?(_ parts: [FetchExpression], _ options: FetchPredicate.Options) {
      guard parts.allSatisfy({ $0.constantValue != nil }) else { return nil }
      (self.parts, self.options) = (parts, options)
      values = parts.compactMap(\.constantValue)
    }

    /// Whether the list contains a value; see ``FetchValue/isSame(as:options:)``.
    func contains(_ value: FetchValue) -> Bool {
      guard let stored = value.stored else {
        if case .collection(let members) = value, !members.isEmpty { return false }
        return contains(.null)
      }
      defer { isSearched = true }
      if isSearched, !options.contains(.localeSensitive) {
        let index = index ?? ConstantIndex(values, options)
        self.index = index
        return index.contains(stored)
      }
      return values.contains { $0.isSame(as: stored, options: options) }
    }
  }

  private var lists: [Key: List] = Dictionary()

  /// The list with these parts; nil if any of them isn't a constant.
  mutating func list(of parts: [FetchExpression], _ options: FetchPredicate.Options) -> List? {
    let address = parts.withUnsafeBufferPointer { UnsafeRawPointer($0.baseAddress) }
    let key = Key(address: address, count: parts.count, options: options)
    if let known = lists[key] { return known }
    let list = List(parts, options)
    lists[key] = list
    return list
  }
}

/// The long lists of constants that `IN` and `CONTAINS` look into, so that each object costs the same however long a
/// list is.
///
/// A list is known by where its parts are in memory, since comparing it would cost as much as searching it. It is held
/// for that. What finds a value in it is made when it is searched for the second time: a single search is faster
/// without.
struct ConstantLists {
  /// Shorter lists are searched as fast by going through them.
  static let least = 16

  private struct Key: Hashable {
    let address: UnsafeRawPointer?
    let count: Int
    let options: FetchPredicate.Options
  }

  /// A list whose parts are constants.
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

    /// Whether a value is the same as one of the list's; see ``FetchValue/isSame(as:options:)``.
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

  private var lists: [Key: List] = [:]

  /// The list that some parts are; nil where one of them isn't a constant.
  mutating func list(of parts: [FetchExpression], _ options: FetchPredicate.Options) -> List? {
    let address = parts.withUnsafeBufferPointer { UnsafeRawPointer($0.baseAddress) }
    let key = Key(address: address, count: parts.count, options: options)
    if let known = lists[key] { return known }
    let list = List(parts, options)
    lists[key] = list
    return list
  }
}

import Foundation

/// One level of an order of results: a value of each object, how values compare, and a direction.
///
/// ```swift
/// FetchSortDescriptor("name", comparison: .localizedStandard)
/// FetchSortDescriptor("category.name", isAscending: false)
/// FetchSortDescriptor("items.@count")
/// ```
///
/// No value comes before every value. The order is the same whether a store sorts or objects are sorted in memory.
///
/// The name isn't `SortDescriptor` because Foundation has that one.
public struct FetchSortDescriptor: Sendable, Hashable {
  /// How texts compare; raw values are the selectors by which Core Data knows them. Other values have one order.
  public enum Comparison: String, Sendable, Hashable, CaseIterable {
    /// By their UTF-8 bytes, as SQLite does it: the only comparison that an index serves.
    case values = "compare:"
    case caseInsensitive = "caseInsensitiveCompare:"
    /// As the current locale orders texts.
    case localized = "localizedCompare:"
    case localizedCaseInsensitive = "localizedCaseInsensitiveCompare:"
    /// As lists of files are ordered: by the current locale, case aside, and numbers within texts by value.
    case localizedStandard = "localizedStandardCompare:"
  }

  /// An attribute's name, or a path to one over to-one relationships and composite attributes, or a to-many
  /// relationship followed by `@count`.
  public var key: String {
    didSet { keyPath = nil }
  }
  public var isAscending: Bool
  public var comparison: Comparison
  /// The key path whose names a request puts in the place of ``key``; nil where they are known.
  private(set) var keyPath: KeyPathReference?
  /// The full-text query whose best matches come first; nil for an order by values. See ``relevance(of:to:)``.
  public internal(set) var textQuery: String?

  public init(_ key: String, isAscending: Bool = true, comparison: Comparison = .values) {
    self.key = key
    self.isAscending = isAscending
    self.comparison = comparison
  }

  /// By what a Swift key path leads to: a request finds its names.
  public init(_ keyPath: KeyPathReference, isAscending: Bool = true, comparison: Comparison = .values) {
    self.init("\(keyPath)", isAscending: isAscending, comparison: comparison)
    self.keyPath = keyPath
  }

  /// The same with the other direction.
  public var reversed: FetchSortDescriptor {
    var other = self
    other.isAscending.toggle()
    return other
  }

  /// An order by how well texts fit what `MATCHTEXT` looks for: the best first.
  ///
  /// ```swift
  /// var request = try FetchRequest<ManagedObject>("Note", where: "body MATCHTEXT %@", query)
  /// request.sortDescriptors = [.relevance(of: "body", to: query)]
  /// ```
  ///
  /// How rare each word is among all texts of the store counts, how often it occurs, and how long the text is (BM25).
  /// Texts that don't match come last, and behind them objects with unsaved changes, which aren't in the store's index.
  ///
  /// - Parameter key: an attribute of the request's entity that is marked for full-text search.
  /// - SeeAlso: <https://sqlite.org/fts5.html#the_bm25_function>
  public static func relevance(of key: String, to query: String) -> FetchSortDescriptor {
    var descriptor = FetchSortDescriptor(key)
    descriptor.textQuery = query
    return descriptor
  }
}

extension FetchSortDescriptor.Comparison {
  func order(_ left: String, _ right: String) -> ValueOrder {
    switch self {
    case .values: TextComparison([]).order(left, right)
    case .caseInsensitive: TextComparison(.caseInsensitive).order(left, right)
    case .localized: localeOrder(left, right, [])
    case .localizedCaseInsensitive: localeOrder(left, right, .caseInsensitive)
    case .localizedStandard: localeOrder(left, right, [.caseInsensitive, .numeric, .widthInsensitive])
    }
  }

  private func localeOrder(_ left: String, _ right: String, _ options: String.CompareOptions) -> ValueOrder {
    switch left.compare(right, options: options, range: nil, locale: .current) {
    case .orderedAscending: .less
    case .orderedSame: .equal
    case .orderedDescending: .greater
    }
  }
}

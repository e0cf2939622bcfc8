import Foundation

/// One level of a sort order: a value of each object, a comparison, and a direction.
///
/// ```swift
/// FetchSortDescriptor("name", comparison: .localizedStandard)
/// FetchSortDescriptor("category.name", isAscending: false)
/// FetchSortDescriptor("items.@count")
/// ```
///
/// Null sorts before every value. Stores and in-memory sorting produce the same order.
///
/// It isn't named `SortDescriptor` because Foundation has a type of that name.
public struct FetchSortDescriptor: Sendable, Hashable {
  /// The comparison of texts; the raw values are Core Data's selectors. Other values have a single order.
  public enum Comparison: String, Sendable, Hashable, CaseIterable {
    /// By UTF-8 bytes, as in SQLite: the only comparison that an index supports.
    case values = "compare:"
    /// Like ``values``, but ignoring case, independently of the locale.
    case caseInsensitive = "caseInsensitiveCompare:"
    /// By the rules of the current locale.
    case localized = "localizedCompare:"
    /// By the rules of the current locale, ignoring case.
    case localizedCaseInsensitive = "localizedCaseInsensitiveCompare:"
    /// As file lists are sorted: by the current locale, ignoring case, with numbers within texts compared by value.
    case localizedStandard = "localizedStandardCompare:"
  }

  /// The name of an attribute, a path to one over to-one relationships and composite attributes, or a to-many
  /// relationship followed by `@count`.
  public var key: String {
    didSet { keyPath = nil }
  }
  /// Whether smaller values come first; null then comes before every value.
  public var isAscending: Bool
  /// The comparison of texts; values of other types have a single order.
  public var comparison: Comparison
  /// The key path that a request resolves into ``key``; nil if the key is already known.
  private(set) var keyPath: KeyPathReference?
  /// The full-text query to rank by, best matches first; nil for an order by values. See ``relevance(of:to:)``.
  public internal(set) var textQuery: String?

  /// Creates a level of a sort order.
  ///
  /// - Parameters:
  ///   - key: An attribute, a path to one over to-one relationships, or a to-many relationship followed by
  ///     `@count`.
  ///   - isAscending: Whether smaller values come first.
  ///   - comparison: The comparison of texts.
  public init(_ key: String, isAscending: Bool = true, comparison: Comparison = .values) {
    self.key = key
    self.isAscending = isAscending
    self.comparison = comparison
  }

  /// Sorts by the property of a Swift key path, which a request resolves to its names.
  public init(_ keyPath: KeyPathReference, isAscending: Bool = true, comparison: Comparison = .values) {
    self.init("\(keyPath)", isAscending: isAscending, comparison: comparison)
    self.keyPath = keyPath
  }

  /// Creates a level of a sort order like ``init(_:isAscending:comparison:)-(String,_,_)``, with the labels of
  /// NSSortDescriptor.
  public init(key: String, ascending: Bool, comparison: Comparison = .values) {
    self.init(key, isAscending: ascending, comparison: comparison)
  }

  /// Sorts by the property of a Swift key path, with the labels of NSSortDescriptor.
  ///
  /// ```swift
  /// request.sortDescriptors = [FetchSortDescriptor(keyPath: \Item.name, ascending: true)]
  /// ```
  public init<Root, Value>(
    keyPath: any KeyPath<Root, Value> & Sendable, ascending: Bool, comparison: Comparison = .values
  ) {
    self.init(KeyPathReference(keyPath), isAscending: ascending, comparison: comparison)
  }

  /// The same descriptor with the opposite direction.
  public var reversed: FetchSortDescriptor {
    var other = self
    other.isAscending.toggle()
    return other
  }

  /// An order by relevance to a `MATCHTEXT` query, best matches first.
  ///
  /// ```swift
  /// var request = try FetchRequest<ManagedObject>("Note", where: "body MATCHTEXT %@", query)
  /// request.sortDescriptors = [.relevance(of: "body", to: query)]
  /// ```
  ///
  /// The ranking (BM25) uses how rare each word is among all texts of the store, how often it occurs, and the length of
  /// the text. Texts that don't match come last, followed by objects with unsaved changes, which aren't in the store's
  /// index.
  ///
  /// - Parameters:
  ///   - key: An attribute of the request's entity that is marked for full-text search.
  ///   - query: The text of the query, as in the request's predicate.
  /// - SeeAlso: <https://sqlite.org/fts5.html#the_bm25_function>
  public static func relevance(of key: String, to query: String) -> FetchSortDescriptor {
    var descriptor = FetchSortDescriptor(key)
    descriptor.textQuery = query
    return descriptor
  }
}

extension FetchSortDescriptor.Comparison {
  @inline(never)
  package func order(_ left: String, _ right: String) -> ValueOrder {
    switch self {
    case .values: TextComparison([]).order(left, right)
    case .caseInsensitive: TextComparison(.caseInsensitive).order(left, right)
    case .localized: localeOrder(left, to: right, options: [])
    case .localizedCaseInsensitive: localeOrder(left, to: right, options: .caseInsensitive)
    case .localizedStandard: localeOrder(left, to: right, options: [.caseInsensitive, .numeric, .widthInsensitive])
    }
  }

  private func localeOrder(_ left: String, to right: String, options: String.CompareOptions) -> ValueOrder {
    switch left.compare(right, options: options, range: nil, locale: .current) {
    case .orderedAscending: .less
    case .orderedSame: .equal
    case .orderedDescending: .greater
    }
  }
}

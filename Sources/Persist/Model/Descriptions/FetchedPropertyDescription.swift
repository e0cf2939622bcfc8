/// A property whose objects come from a request instead of a relationship.
public struct FetchedPropertyDescription: Sendable, Hashable {
  /// The property's name, unique in its entity including inherited properties.
  public var name: String
  /// The request to run; its predicate may refer to the object as `$FETCH_SOURCE` and the property as
  /// `$FETCHED_PROPERTY`.
  public var request: FetchRequestDescription
  /// Xcode's setting, preserved but without effect: an empty result is always valid.
  public var isOptional: Bool
  /// The property's name in an older version; without effect on a migration, because nothing is stored.
  public var renamingIdentifier: String?
  /// Annotations by key, which the predicate can read as `$FETCHED_PROPERTY.userInfo`.
  public var userInfo: [String: String]
  /// The property's entries in a model file that no property here represents, preserved unchanged.
  public var unknown: [String: String]

  /// Creates a fetched property.
  public init(
    _ name: String, request: FetchRequestDescription, isOptional: Bool = true, renamingIdentifier: String? = nil,
    userInfo: [String: String] = [:], unknown: [String: String] = [:]
  ) {
    self.name = name
    self.request = request
    self.isOptional = isOptional
    self.renamingIdentifier = renamingIdentifier
    self.userInfo = userInfo
    self.unknown = unknown
  }
}

/// A fetch request as described by a model: a template, or the request of a fetched property.
public struct FetchRequestDescription: Sendable, Hashable {
  /// The kind of results; raw values are Core Data's.
  public enum ResultType: Int, Sendable, Hashable, CaseIterable {
    /// Objects.
    case objects = 0
    /// Identifiers of objects.
    case objectIDs = 1
    /// Rows of property values.
    case dictionaries = 2
    /// The number of objects.
    case count = 4
  }

  /// A sort descriptor: a key path and a direction.
  public struct Sort: Sendable, Hashable {
    /// The name of an attribute, or a path to one over to-one relationships.
    public var key: String
    /// Whether smaller values come first. True by default.
    public var isAscending: Bool
    /// The selector of the comparison, such as `caseInsensitiveCompare:`; nil for the natural order of the values.
    public var selector: String?

    /// Creates a level of a sort order.
    public init(_ key: String, isAscending: Bool = true, selector: String? = nil) {
      self.key = key
      self.isAscending = isAscending
      self.selector = selector
    }
  }

  /// The name of the entity to fetch.
  public var entity: String
  /// The predicate's format string, including its `$variables`.
  public var predicate: String?
  /// The levels of the sort order, the most significant first.
  public var sort: [Sort]
  /// The maximum number of results; 0 for no limit.
  public var fetchLimit: Int
  /// The number of rows read at once during iteration; 0 for a suitable default.
  public var fetchBatchSize: Int
  /// Whether the results include objects of subentities.
  public var includesSubentities: Bool
  /// Whether the rows' values are read with the results; otherwise each result costs another read on first use.
  public var includesPropertyValues: Bool
  /// Whether the context's unsaved changes are taken into account.
  public var includesPendingChanges: Bool
  /// Whether results remain faults until first use.
  public var returnsObjectsAsFaults: Bool
  /// Whether duplicate rows of dictionary results are removed.
  public var returnsDistinctResults: Bool
  /// The result type set in the model. A ``FetchRequest`` created from the template has the type chosen in Swift
  /// instead.
  public var resultType: ResultType
  /// The request's entries in a model file that no property here represents, preserved unchanged.
  public var unknown: [String: String]

  /// Creates the description of a request; by default for all objects of an entity and its subentities.
  public init(
    entity: String, predicate: String? = nil, sort: [Sort] = [], fetchLimit: Int = 0, fetchBatchSize: Int = 0,
    includesSubentities: Bool = true, includesPropertyValues: Bool = true, includesPendingChanges: Bool = true,
    returnsObjectsAsFaults: Bool = true, returnsDistinctResults: Bool = false, resultType: ResultType = .objects,
    unknown: [String: String] = [:]
  ) {
    self.entity = entity
    self.predicate = predicate
    self.sort = sort
    self.fetchLimit = fetchLimit
    self.fetchBatchSize = fetchBatchSize
    self.includesSubentities = includesSubentities
    self.includesPropertyValues = includesPropertyValues
    self.includesPendingChanges = includesPendingChanges
    self.returnsObjectsAsFaults = returnsObjectsAsFaults
    self.returnsDistinctResults = returnsDistinctResults
    self.resultType = resultType
    self.unknown = unknown
  }
}

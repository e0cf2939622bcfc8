/// A property whose objects come from a request instead of a relationship.
public struct FetchedPropertyDescription: Sendable, Hashable {
  public var name: String
  public var request: FetchRequestDescription
  public var isOptional: Bool
  public var renamingIdentifier: String?
  public var userInfo: [String: String]
  /// The property's entries in a model file that no property here represents, preserved unchanged.
  public var unknown: [String: String]

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
    case objects = 0
    case objectIDs = 1
    case dictionaries = 2
    case count = 4
  }

  /// A sort descriptor: a key path and a direction.
  public struct Sort: Sendable, Hashable {
    public var key: String
    public var isAscending: Bool
    /// The selector of the comparison, such as `caseInsensitiveCompare:`; nil for the natural order of the values.
    public var selector: String?

    public init(_ key: String, isAscending: Bool = true, selector: String? = nil) {
      self.key = key
      self.isAscending = isAscending
      self.selector = selector
    }
  }

  public var entity: String
  /// The predicate's format string, including its `$variables`.
  public var predicate: String?
  public var sort: [Sort]
  public var fetchLimit: Int
  public var fetchBatchSize: Int
  public var includesSubentities: Bool
  public var includesPropertyValues: Bool
  public var includesPendingChanges: Bool
  public var returnsObjectsAsFaults: Bool
  public var returnsDistinctResults: Bool
  public var resultType: ResultType
  /// The request's entries in a model file that no property here represents, preserved unchanged.
  public var unknown: [String: String]

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

public import Foundation
import Persist

/// A result of a fetch request: an object, an identifier, a dictionary or a count.
public protocol NSFetchRequestResult: AnyObject {}

extension ManagedObjectID: NSFetchRequestResult {}
extension NSDictionary: NSFetchRequestResult {}
extension NSNumber: NSFetchRequestResult {}

/// The kinds of results of requests.
public struct NSFetchRequestResultType: OptionSet, Sendable, Hashable {
  /// The bits.
  public let rawValue: UInt

  /// Creates a kind from bits.
  public init(rawValue: UInt) { self.rawValue = rawValue }

  /// Objects.
  public static let managedObjectResultType = Self([])
  /// Identifiers.
  public static let managedObjectIDResultType = Self(rawValue: 1)
  /// Dictionaries of values.
  public static let dictionaryResultType = Self(rawValue: 2)
  /// The number of objects.
  public static let countResultType = Self(rawValue: 4)
}

/// The kinds of requests.
public enum NSPersistentStoreRequestType: UInt, Sendable {
  /// A fetch.
  case fetchRequestType = 1
  /// A save.
  case saveRequestType = 2
  /// A batch insert.
  case batchInsertRequestType = 5
  /// A batch update.
  case batchUpdateRequestType = 6
  /// A batch delete.
  case batchDeleteRequestType = 7
}

// Unchecked: as in Core Data, a request isn't changed while a context executes it.
/// A request to stores.
open class NSPersistentStoreRequest: NSObject, NSCopying, @unchecked Sendable {
  /// The stores; nil for all.
  open var affectedStores: [NSPersistentStore]?
  /// The kind of the request.
  open var requestType: NSPersistentStoreRequestType { .fetchRequestType }

  /// Returns a copy; the request itself if its class has nothing to copy.
  open func copy(with zone: NSZone? = nil) -> Any { self }

  final var storeIdentifiers: [String]? { affectedStores?.map(\.identifier) }
}

// Unchecked: results aren't changed after their creation.
/// The result of a request.
open class NSPersistentStoreResult: NSObject, @unchecked Sendable {
}

// Unchecked: as its superclass is.
/// A request for objects, identifiers, dictionaries or a count.
open class NSFetchRequest<ResultType>: NSPersistentStoreRequest, @unchecked Sendable {
  /// The entity.
  open var entity: NSEntityDescription? {
    didSet { if let entity { requestedName = entity.name } }
  }
  fileprivate var requestedName: String?
  /// The predicate of the results; nil for all.
  open var predicate: NSPredicate?
  /// The sort order.
  open var sortDescriptors: [NSSortDescriptor]?
  /// The greatest number of results; 0 for no limit.
  open var fetchLimit = 0
  /// The number of results to skip.
  open var fetchOffset = 0
  /// The number of rows to read at a time; 0 for all. The results are then faults, and the rows of a batch are read
  /// when one of its objects is used.
  open var fetchBatchSize = 0
  /// The kind of the results.
  open var resultType = NSFetchRequestResultType.managedObjectResultType
  /// Whether objects of subentities are results, too.
  open var includesSubentities = true
  /// Whether rows are read, and not only identifiers.
  open var includesPropertyValues = true
  /// Whether unsaved changes are taken into account.
  open var includesPendingChanges = true
  /// Whether objects are faults.
  open var returnsObjectsAsFaults = true
  /// Whether objects that the context has are refreshed.
  open var shouldRefreshRefetchedObjects = false
  /// Whether equal dictionaries appear once.
  open var returnsDistinctResults = false
  /// The relationships whose objects are read together with the results.
  open var relationshipKeyPathsForPrefetching: [String]?
  /// The columns of dictionaries, by name or description.
  open var propertiesToFetch: [Any]?
  /// The properties by which dictionaries are grouped.
  open var propertiesToGroupBy: [Any]?
  /// The predicate of groups.
  open var havingPredicate: NSPredicate?

  /// Creates a request without an entity.
  public override init() { super.init() }

  /// Creates a request for the objects of an entity.
  public convenience init(entityName: String) {
    self.init()
    requestedName = entityName
  }

  /// The name of the entity.
  open var entityName: String? { entity?.name ?? requestedName }

  /// Executes the request in the context whose queue runs the caller.
  open func execute() throws -> [ResultType] {
    guard let context = NSManagedObjectContext.current else {
      throw CocoaErrors.error(
        PersistenceError(
          .invalidRequest, "execute() was called outside of a context's perform.",
          fix: "Use the context's fetch(_:)."))
    }
    return try context.fetch(self)
  }

  open override func copy(with zone: NSZone? = nil) -> Any {
    let other = NSFetchRequest<ResultType>()
    copyProperties(to: other)
    return other
  }

  /// Returns a copy with another type of results.
  final func returning<Other>(_ type: Other.Type) -> NSFetchRequest<Other> {
    let other = NSFetchRequest<Other>()
    copyProperties(to: other)
    return other
  }

  private func copyProperties<Other>(to other: NSFetchRequest<Other>) {
    other.entity = entity
    other.requestedName = requestedName
    other.predicate = predicate
    other.sortDescriptors = sortDescriptors
    other.fetchLimit = fetchLimit
    other.fetchOffset = fetchOffset
    other.fetchBatchSize = fetchBatchSize
    other.resultType = resultType
    other.includesSubentities = includesSubentities
    other.includesPropertyValues = includesPropertyValues
    other.includesPendingChanges = includesPendingChanges
    other.returnsObjectsAsFaults = returnsObjectsAsFaults
    other.shouldRefreshRefetchedObjects = shouldRefreshRefetchedObjects
    other.returnsDistinctResults = returnsDistinctResults
    other.relationshipKeyPathsForPrefetching = relationshipKeyPathsForPrefetching
    other.propertiesToFetch = propertiesToFetch
    other.propertiesToGroupBy = propertiesToGroupBy
    other.havingPredicate = havingPredicate
    other.affectedStores = affectedStores
  }

  open override var description: String {
    "<NSFetchRequest entity: \(entityName ?? ""), predicate: \(predicate?.description ?? "none")>"
  }
}

extension NSFetchRequest {
  /// Returns the request of Persist's.
  final func persistRequest<Result>(_ type: Result.Type) throws -> FetchRequest<Result> {
    guard let entityName else {
      throw PersistenceError(.invalidRequest, "The request has no entity.", fix: "Set its entity.")
    }
    var request = FetchRequest<Void>(entityName, sortedBy: try sorts(), limit: fetchLimit, offset: fetchOffset)
    request.predicate = try predicate?.fetchPredicate()
    request.fetchBatchSize = fetchBatchSize
    request.includesSubentities = includesSubentities
    request.includesPropertyValues = includesPropertyValues
    request.includesPendingChanges = includesPendingChanges
    request.returnsObjectsAsFaults = returnsObjectsAsFaults
    request.shouldRefreshRefetchedObjects = shouldRefreshRefetchedObjects
    request.returnsDistinctResults = returnsDistinctResults
    request.relationshipKeyPathsForPrefetching = relationshipKeyPathsForPrefetching ?? []
    request.affectedStoreIdentifiers = storeIdentifiers
    request.propertiesToFetch = (propertiesToFetch ?? []).map(Self.column)
    request.propertiesToGroupBy = (propertiesToGroupBy ?? []).map(Self.column)
    request.havingPredicate = try havingPredicate?.fetchPredicate()
    return request.returning(Result.self)
  }

  private func sorts() throws -> [FetchSortDescriptor] {
    try (sortDescriptors ?? []).map { try $0.fetchSortDescriptor() }
  }

  private static func column(_ property: Any) -> ExpressionDescription {
    switch property {
    case let expression as NSExpressionDescription:
      let type = expression.expressionResultType
      return ExpressionDescription(
        expression.name, expression.expression?.fetchExpression ?? .constant(.null),
        resultType: type == .undefinedAttributeType ? nil : type.persistType)
    case let property as NSPropertyDescription: return ExpressionDescription(property.name)
    default: return ExpressionDescription("\(property)")
    }
  }

  /// Describes the request as a template of a model.
  final func requestDescription() throws -> FetchRequestDescription {
    let sort = try sorts().map { sort in
      FetchRequestDescription.Sort(
        sort.key, isAscending: sort.isAscending, selector: sort.comparison == .values ? nil : sort.comparison.rawValue)
    }
    return FetchRequestDescription(
      entity: entityName ?? "", predicate: try predicate?.fetchPredicate().format, sort: sort, fetchLimit: fetchLimit,
      fetchBatchSize: fetchBatchSize, includesSubentities: includesSubentities,
      includesPropertyValues: includesPropertyValues, includesPendingChanges: includesPendingChanges,
      returnsObjectsAsFaults: returnsObjectsAsFaults, returnsDistinctResults: returnsDistinctResults,
      resultType: FetchRequestDescription.ResultType(rawValue: Int(resultType.rawValue)) ?? .objects)
  }

  convenience init(_ template: FetchRequestDescription) {
    self.init(entityName: template.entity)
    predicate = template.predicate.map { NSPredicate(format: $0) }
    if !template.sort.isEmpty {
      sortDescriptors = template.sort.map { sort in
        NSSortDescriptor(key: sort.key, ascending: sort.isAscending, selector: sort.selector.map { Selector($0) })
      }
    }
    fetchLimit = template.fetchLimit
    fetchBatchSize = template.fetchBatchSize
    includesSubentities = template.includesSubentities
    includesPropertyValues = template.includesPropertyValues
    includesPendingChanges = template.includesPendingChanges
    returnsObjectsAsFaults = template.returnsObjectsAsFaults
    returnsDistinctResults = template.returnsDistinctResults
    resultType = NSFetchRequestResultType(rawValue: UInt(template.resultType.rawValue))
  }
}

/// A request for results of any type.
protocol FetchingRequest: NSPersistentStoreRequest {
  func results(in context: NSManagedObjectContext) throws -> Any
  func returning<Other>(_ type: Other.Type) -> NSFetchRequest<Other>
  func count(in context: NSManagedObjectContext) throws -> Int
  func comparedResults(in context: NSManagedObjectContext) throws -> [Any]
}

extension NSFetchRequest: FetchingRequest {
  func results(in context: NSManagedObjectContext) throws -> Any { try context.fetch(self) }
}

extension NSManagedObjectContext {
  /// Executes a request.
  ///
  /// - Throws: An error in the domain `NSCocoaErrorDomain`.
  public func fetch<ResultType>(_ request: NSFetchRequest<ResultType>) throws -> [ResultType] {
    let results: [Any] = try bridging {
      try withParents {
        switch request.resultType {
        case .managedObjectIDResultType: try base.fetchObjectIDs(request.persistRequest(ManagedObjectID.self))
        case .countResultType: [NSNumber(value: try base.count(for: request.persistRequest(ManagedObject.self)))]
        case .dictionaryResultType: try dictionaries(request)
        default:
          if request.readsInBatches(in: self) { try faults(request.persistRequest(ManagedObjectID.self)) } else {
            try base.fetch(request.persistRequest(ManagedObject.self))
          }
        }
      }
    }
    return results.map { result in
      guard let typed = result as? ResultType else {
        stop("\(result) is of class \(type(of: result)), not \(ResultType.self).")
      }
      return typed
    }
  }

  /// Counts the objects that a request finds.
  ///
  /// - Throws: An error in the domain `NSCocoaErrorDomain`.
  public func count<ResultType>(for request: NSFetchRequest<ResultType>) throws -> Int {
    try bridging { try withParents { try base.count(for: request.persistRequest(ManagedObject.self)) } }
  }

  private func dictionaries<ResultType>(_ request: NSFetchRequest<ResultType>) throws -> [NSDictionary] {
    var query = try request.persistRequest(FetchedRow.self)
    if query.propertiesToFetch.isEmpty, let entity = request.entityName.flatMap({ model?.entitiesByName[$0] }) {
      query.propertiesToFetch = entity.attributesByName.values.filter { !$0.isTransient }.map(\.name).sorted()
        .map { ExpressionDescription($0) }
    }
    return try base.fetch(query).map { row in
      let values = row.storedValues.compactMapValues { FoundationValue.any($0) }
      return NSDictionary(dictionary: values)
    }
  }
}

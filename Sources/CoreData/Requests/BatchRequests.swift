public import Foundation
public import Persist

/// The kinds of results of batch inserts.
public enum NSBatchInsertRequestResultType: UInt, Sendable {
  /// Whether it succeeded.
  case statusOnly = 0
  /// The identifiers of the objects.
  case objectIDs = 1
  /// The number of objects.
  case count = 2
}

/// The kinds of results of batch updates.
public enum NSBatchUpdateRequestResultType: UInt, Sendable {
  /// Whether it succeeded.
  case statusOnlyResultType = 0
  /// The identifiers of the updated objects.
  case updatedObjectIDsResultType = 1
  /// The number of updated objects.
  case updatedObjectsCountResultType = 2
}

/// The kinds of results of batch deletes.
public enum NSBatchDeleteRequestResultType: UInt, Sendable {
  /// Whether it succeeded.
  case resultTypeStatusOnly = 0
  /// The identifiers of the deleted objects.
  case resultTypeObjectIDs = 1
  /// The number of deleted objects.
  case resultTypeCount = 2
}

// Unchecked: as its superclass is.
/// Inserts rows without objects.
open class NSBatchInsertRequest: NSPersistentStoreRequest, @unchecked Sendable {
  private var requestedName: String
  /// The entity.
  open var entity: NSEntityDescription?
  /// The kind of the result.
  open var resultType = NSBatchInsertRequestResultType.statusOnly
  /// The values of the new objects by attribute.
  open var objectsToInsert: [[String: Any]]?
  /// Fills the values of one object; true if there are no more.
  open var dictionaryHandler: ((NSMutableDictionary) -> Bool)?
  /// Fills one object; true if there are no more.
  open var managedObjectHandler: ((NSManagedObject) -> Bool)?

  /// Creates a request for an entity.
  public init(entityName: String, objects: [[String: Any]]) {
    requestedName = entityName
    objectsToInsert = objects
  }

  /// Creates a request for an entity.
  public init(entity: NSEntityDescription, objects: [[String: Any]]) {
    requestedName = entity.name ?? ""
    self.entity = entity
    objectsToInsert = objects
  }

  /// Creates a request for an entity.
  public init(entityName: String, dictionaryHandler handler: @escaping (NSMutableDictionary) -> Bool) {
    requestedName = entityName
    dictionaryHandler = handler
  }

  /// Creates a request for an entity.
  public init(entity: NSEntityDescription, dictionaryHandler handler: @escaping (NSMutableDictionary) -> Bool) {
    requestedName = entity.name ?? ""
    self.entity = entity
    dictionaryHandler = handler
  }

  /// Creates a request for an entity.
  public init(entityName: String, managedObjectHandler handler: @escaping (NSManagedObject) -> Bool) {
    requestedName = entityName
    managedObjectHandler = handler
  }

  /// Creates a request for an entity.
  public init(entity: NSEntityDescription, managedObjectHandler handler: @escaping (NSManagedObject) -> Bool) {
    requestedName = entity.name ?? ""
    self.entity = entity
    managedObjectHandler = handler
  }

  /// The name of the entity.
  open var entityName: String { requestedName }
  open override var requestType: NSPersistentStoreRequestType { .batchInsertRequestType }

  func persistRequest(in context: NSManagedObjectContext) throws -> BatchInsertRequest {
    var request: BatchInsertRequest
    if let objectsToInsert {
      request = BatchInsertRequest(entityName, objectsToInsert.map(Self.values))
    } else if let dictionaryHandler {
      request = BatchInsertRequest(entityName) { (values: inout [String: Any?]) in
        let dictionary = NSMutableDictionary()
        if dictionaryHandler(dictionary) { return true }
        values = Self.values(dictionary as? [String: Any] ?? [:])
        return false
      }
    } else {
      request = try objectRequest(in: context)
    }
    request.resultType =
      switch resultType {
      case .statusOnly: .statusOnly
      case .objectIDs: .objectIDs
      case .count: .count
      }
    request.affectedStoreIdentifier = storeIdentifiers?.first
    return request
  }

  /// Fills one object without a context again and again.
  private func objectRequest(in context: NSManagedObjectContext) throws -> BatchInsertRequest {
    guard let entity = entity ?? context.model?.entitiesByName[entityName], let managedObjectHandler else {
      throw PersistenceError(.unknownEntity, at: .entity(entityName), "The model has no entity '\(entityName)'.")
    }
    let type = context.managedObjectClass(of: entity)
    let attributes = entity.attributesByName.values.filter { !$0.isTransient }.map(\.name)
    return BatchInsertRequest(entityName) { (values: inout [String: Any?]) in
      let object = type.create(entity, in: nil)
      if managedObjectHandler(object) { return true }
      for name in attributes { values[name] = .some(object.plain[name]) }
      return false
    }
  }

  private static func values(_ values: [String: Any]) -> [String: Any?] {
    values.mapValues { $0 is NSNull ? nil : ManagedValue.persist($0) }
  }
}

// Unchecked: as its superclass is.
/// Updates rows without objects.
open class NSBatchUpdateRequest: NSPersistentStoreRequest, @unchecked Sendable {
  private var requestedName: String
  /// The entity.
  open var entity: NSEntityDescription
  /// The predicate of the objects to update; nil for all.
  open var predicate: NSPredicate?
  /// Whether objects of subentities are updated, too.
  open var includesSubentities = true
  /// The kind of the result.
  open var resultType = NSBatchUpdateRequestResultType.statusOnlyResultType
  /// The new values or expressions by property.
  open var propertiesToUpdate: [AnyHashable: Any]?

  /// Creates a request for an entity.
  public init(entityName: String) {
    requestedName = entityName
    entity = NSEntityDescription()
    entity.name = entityName
  }

  /// Creates a request for an entity.
  public init(entity: NSEntityDescription) {
    requestedName = entity.name ?? ""
    self.entity = entity
  }

  /// The name of the entity.
  open var entityName: String { requestedName }
  open override var requestType: NSPersistentStoreRequestType { .batchUpdateRequestType }

  func persistRequest() throws -> BatchUpdateRequest {
    var properties: [String: FetchExpression] = [:]
    for (key, value) in propertiesToUpdate ?? [:] {
      let name = (key.base as? NSPropertyDescription)?.name ?? "\(key.base)"
      properties[name] =
        try (value as? NSExpression)?.fetchExpression
        ?? .constant(PredicateArgument.value(ManagedValue.persist(value)))
    }
    var request = BatchUpdateRequest(entityName, where: try predicate?.fetchPredicate(), set: properties)
    request.includesSubentities = includesSubentities
    request.affectedStoreIdentifiers = storeIdentifiers
    request.resultType =
      switch resultType {
      case .statusOnlyResultType: .statusOnlyResultType
      case .updatedObjectIDsResultType: .updatedObjectIDsResultType
      case .updatedObjectsCountResultType: .updatedObjectsCountResultType
      }
    return request
  }
}

// Unchecked: as its superclass is.
/// Deletes rows without objects, and applies delete rules.
open class NSBatchDeleteRequest: NSPersistentStoreRequest, @unchecked Sendable {
  /// The request for the objects.
  public let fetchRequest: NSFetchRequest<any NSFetchRequestResult>
  private let objectIDs: [NSManagedObjectID]?
  /// The kind of the result.
  open var resultType = NSBatchDeleteRequestResultType.resultTypeStatusOnly

  /// Creates a request for the objects that another one finds.
  public init(fetchRequest request: NSFetchRequest<any NSFetchRequestResult>) {
    fetchRequest = request
    objectIDs = nil
  }

  /// Creates a request for objects of one entity.
  public init(objectIDs: [NSManagedObjectID]) {
    fetchRequest = NSFetchRequest(entityName: objectIDs.first?.entityName ?? "")
    self.objectIDs = objectIDs
  }

  open override var requestType: NSPersistentStoreRequestType { .batchDeleteRequestType }

  func persistRequest() throws -> BatchDeleteRequest {
    var request =
      if let objectIDs { BatchDeleteRequest(objectIDs: objectIDs) } else {
        BatchDeleteRequest(try fetchRequest.persistRequest(ManagedObjectID.self))
      }
    request.resultType =
      switch resultType {
      case .resultTypeStatusOnly: .resultTypeStatusOnly
      case .resultTypeObjectIDs: .resultTypeObjectIDs
      case .resultTypeCount: .resultTypeCount
      }
    return request
  }
}

// Unchecked: as its superclass is.
/// The result of a batch insert.
open class NSBatchInsertResult: NSPersistentStoreResult, @unchecked Sendable {
  /// A number, a Boolean or identifiers, according to ``resultType``.
  public let result: Any?
  /// The kind of the result.
  public let resultType: NSBatchInsertRequestResultType

  init(_ result: Any?, _ type: NSBatchInsertRequestResultType) { (self.result, resultType) = (result, type) }
}

// Unchecked: as its superclass is.
/// The result of a batch update.
open class NSBatchUpdateResult: NSPersistentStoreResult, @unchecked Sendable {
  /// A number, a Boolean or identifiers, according to ``resultType``.
  public let result: Any?
  /// The kind of the result.
  public let resultType: NSBatchUpdateRequestResultType

  init(_ result: Any?, _ type: NSBatchUpdateRequestResultType) { (self.result, resultType) = (result, type) }
}

// Unchecked: as its superclass is.
/// The result of a batch delete.
open class NSBatchDeleteResult: NSPersistentStoreResult, @unchecked Sendable {
  /// A number, a Boolean or identifiers, according to ``resultType``.
  public let result: Any?
  /// The kind of the result.
  public let resultType: NSBatchDeleteRequestResultType

  init(_ result: Any?, _ type: NSBatchDeleteRequestResultType) { (self.result, resultType) = (result, type) }
}

// Unchecked: as its superclass is.
/// The result of a request that runs later.
open class NSPersistentStoreAsynchronousResult: NSPersistentStoreResult, @unchecked Sendable {
  /// The context of the request.
  public let managedObjectContext: NSManagedObjectContext
  /// The error of the request.
  public internal(set) var operationError: (any Error)?
  /// The progress, with the number of results as its unit.
  public internal(set) var progress: Progress?
  /// Whether the request was canceled.
  let isCanceled = Locked(false)

  init(in context: NSManagedObjectContext) { managedObjectContext = context }

  /// Cancels a request that hasn't begun: it then has no results.
  open func cancel() { isCanceled.withLock { $0 = true } }
}

// Unchecked: as its superclass is.
/// The result of an asynchronous request, whose values are there when the request's block runs.
open class NSAsynchronousFetchResult<ResultType>: NSPersistentStoreAsynchronousResult, @unchecked Sendable {
  /// The request for the objects.
  public let fetchRequest: NSAsynchronousFetchRequest<ResultType>
  /// The results; nil until the request has run.
  public internal(set) var finalResult: [ResultType]?

  init(_ request: NSAsynchronousFetchRequest<ResultType>, in context: NSManagedObjectContext) {
    fetchRequest = request
    super.init(in: context)
  }
}

// Unchecked: as its superclass is.
/// A request that runs on the context's queue, later.
open class NSAsynchronousFetchRequest<ResultType>: NSPersistentStoreRequest, @unchecked Sendable {
  /// A block that runs with the result.
  public typealias CompletionBlock = (NSAsynchronousFetchResult<ResultType>) -> Void
  /// The request for the objects.
  public let fetchRequest: NSFetchRequest<ResultType>
  /// The block that runs with the result, on the context's queue.
  public let completionBlock: CompletionBlock?
  /// The expected number of results, for a progress.
  open var estimatedResultCount = 0

  /// Creates a request for the objects that another one finds.
  public init(fetchRequest request: NSFetchRequest<ResultType>, completionBlock block: CompletionBlock? = nil) {
    fetchRequest = request
    completionBlock = block
  }
}

/// A request that runs on its context's queue later.
private protocol AsynchronousRequest: NSPersistentStoreRequest {
  func start(in context: NSManagedObjectContext) -> NSPersistentStoreResult
}

extension NSAsynchronousFetchRequest: AsynchronousRequest {
  fileprivate func start(in context: NSManagedObjectContext) -> NSPersistentStoreResult {
    let result = NSAsynchronousFetchResult(self, in: context)
    let progress = Progress(totalUnitCount: Int64(estimatedResultCount))
    result.progress = progress
    context.perform {
      if result.isCanceled.withLock({ $0 }) || progress.isCancelled {
        result.operationError = CocoaError(.userCancelled)
      } else {
        do { result.finalResult = try context.fetch(self.fetchRequest) } catch { result.operationError = error }
      }
      progress.completedUnitCount = Int64(result.finalResult?.count ?? 0)
      self.completionBlock?(result)
    }
    return result
  }
}

extension NSManagedObjectContext {
  final func result(of request: NSPersistentStoreRequest) throws -> NSPersistentStoreResult {
    switch request {
    case let request as NSBatchInsertRequest:
      return NSBatchInsertResult(
        Self.any(try base.execute(request.persistRequest(in: self)).result), request.resultType)
    case let request as NSBatchUpdateRequest:
      return NSBatchUpdateResult(Self.any(try base.execute(request.persistRequest()).result), request.resultType)
    case let request as NSBatchDeleteRequest:
      return NSBatchDeleteResult(Self.any(try base.execute(request.persistRequest()).result), request.resultType)
    case let request as NSPersistentHistoryChangeRequest: return try execute(history: request)
    case let request as any AsynchronousRequest: return request.start(in: self)
    default:
      throw PersistenceError(
        PersistenceError.Code(NSPersistentStoreUnsupportedRequestTypeError, "invalidRequest"),
        "Requests of class \(type(of: request)) can't be executed.", fix: "Use fetch(_:).")
    }
  }

  private static func any(_ result: Any?) -> Any? {
    switch result {
    case let count as Int: NSNumber(value: count)
    case let status as Bool: NSNumber(value: status)
    default: result
    }
  }
}

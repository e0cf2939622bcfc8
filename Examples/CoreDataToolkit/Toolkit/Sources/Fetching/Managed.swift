import CoreData
import Foundation

public protocol Managed: AnyObject, NSFetchRequestResult {
  static var entity: NSEntityDescription { get }
  static var entityName: String { get }
  static var defaultSortDescriptors: [NSSortDescriptor] { get }
  static var defaultPredicate: NSPredicate { get }
  var managedObjectContext: NSManagedObjectContext? { get }
}

extension Managed {
  public static var defaultSortDescriptors: [NSSortDescriptor] { return [] }
  public static var defaultPredicate: NSPredicate { return NSPredicate(value: true) }

  public static var sortedFetchRequest: NSFetchRequest<Self> {
    let request = NSFetchRequest<Self>(entityName: entityName)
    request.sortDescriptors = defaultSortDescriptors
    request.predicate = defaultPredicate
    return request
  }

  public static func sortedFetchRequest(with predicate: NSPredicate) -> NSFetchRequest<Self> {
    let request = sortedFetchRequest
    guard let existingPredicate = request.predicate else { fatalError("must have predicate") }
    request.predicate = NSCompoundPredicate(andPredicateWithSubpredicates: [existingPredicate, predicate])
    return request
  }

  public static func predicate(format: String, _ args: CVarArg...) -> NSPredicate {
    let p = withVaList(args) { NSPredicate(format: format, arguments: $0) }
    return predicate(p)
  }

  public static func predicate(_ predicate: NSPredicate) -> NSPredicate {
    return NSCompoundPredicate(andPredicateWithSubpredicates: [defaultPredicate, predicate])
  }
}

extension Managed where Self: NSManagedObject {
  public static var entity: NSEntityDescription { return entity() }
  public static var entityName: String { return entity.name! }

  public static func findOrCreate(
    in context: NSManagedObjectContext, matching predicate: NSPredicate, configure: (Self) -> Void
  ) -> Self {
    guard let object = findOrFetch(in: context, matching: predicate) else {
      let newObject: Self = context.insertObject()
      configure(newObject)
      return newObject
    }
    return object
  }

  public static func findOrFetch(in context: NSManagedObjectContext, matching predicate: NSPredicate) -> Self? {
    guard let object = materializedObject(in: context, matching: predicate) else {
      return fetch(in: context) { request in
        request.predicate = predicate
        request.returnsObjectsAsFaults = false
        request.fetchLimit = 1
      }.first
    }
    return object
  }

  public static func fetch(
    in context: NSManagedObjectContext, configurationBlock: (NSFetchRequest<Self>) -> Void = { _ in }
  ) -> [Self] {
    let request = NSFetchRequest<Self>(entityName: Self.entityName)
    configurationBlock(request)
    return try! context.fetch(request)
  }

  public static func count(in context: NSManagedObjectContext, configure: (NSFetchRequest<Self>) -> Void = { _ in })
    -> Int
  {
    let request = NSFetchRequest<Self>(entityName: entityName)
    configure(request)
    return try! context.count(for: request)
  }

  public static func materializedObject(in context: NSManagedObjectContext, matching predicate: NSPredicate) -> Self? {
    for object in context.registeredObjects where !object.isFault {
      guard let result = object as? Self, predicate.evaluate(with: result) else { continue }
      return result
    }
    return nil
  }

  public static func fetchSingleObject(
    in context: NSManagedObjectContext, cacheKey: String, configure: (NSFetchRequest<Self>) -> Void
  ) -> Self? {
    if let cached = context.object(forSingleObjectCacheKey: cacheKey) as? Self { return cached }
    let result = fetch(in: context) { request in
      configure(request)
      request.fetchLimit = 2
    }
    guard result.count <= 1 else { fatalError("Returned multiple objects, expected max 1") }
    context.set(result.first, forSingleObjectCacheKey: cacheKey)
    return result.first
  }
}

private let singleObjectCacheKey = "SingleObjectCache"
private typealias SingleObjectCache = [String: NSManagedObject]

extension NSManagedObjectContext {
  public func set(_ object: NSManagedObject?, forSingleObjectCacheKey key: String) {
    var cache = userInfo[singleObjectCacheKey] as? SingleObjectCache ?? [:]
    cache[key] = object
    userInfo[singleObjectCacheKey] = cache
  }

  public func object(forSingleObjectCacheKey key: String) -> NSManagedObject? {
    guard let cache = userInfo[singleObjectCacheKey] as? [String: NSManagedObject] else { return nil }
    return cache[key]
  }
}

// MARK: - Active-record style

extension NSFetchRequestResult where Self: NSManagedObject {
  public static func newFetchRequest() -> NSFetchRequest<Self> {
    let request = NSFetchRequest<Self>(entityName: Self.entity().name!)
    return request
  }

  public static func fetchOne(
    where predicate: NSPredicate, sort: [NSSortDescriptor] = [], includesPendingChanges: Bool = true,
    in context: NSManagedObjectContext
  ) throws -> Self? {
    let request = newFetchRequest()
    request.predicate = predicate
    request.sortDescriptors = sort
    request.fetchLimit = 1
    request.includesPendingChanges = includesPendingChanges
    request.returnsObjectsAsFaults = false
    return try context.fetch(request).first
  }

  public static func fetchUnique(where predicate: NSPredicate, in context: NSManagedObjectContext) throws -> Self? {
    let request = newFetchRequest()
    request.predicate = predicate
    request.fetchLimit = 2
    let found = try context.fetch(request)
    switch found.count {
    case 0: return nil
    case 1: return found[0]
    default: throw StackError.storeNotLoaded("Returned multiple objects, expected max 1")
    }
  }

  public static func fetchObjectIDs(where predicate: NSPredicate? = nil, in context: NSManagedObjectContext) throws
    -> [NSManagedObjectID]
  {
    let request = NSFetchRequest<NSManagedObjectID>(entityName: entity().name!)
    request.resultType = .managedObjectIDResultType
    request.includesPropertyValues = false
    request.predicate = predicate
    return try context.fetch(request)
  }

  public static func deleteAll(
    where predicate: NSPredicate = NSPredicate(value: true), limit: Int = 0, in context: NSManagedObjectContext
  ) throws {
    try autoreleasepool {
      let request = newFetchRequest()
      request.predicate = predicate
      request.includesPropertyValues = false
      request.fetchLimit = limit
      for object in try context.fetch(request) { context.delete(object) }
    }
  }

  public static func batchDelete(in context: NSManagedObjectContext, where predicate: NSPredicate? = nil) throws
    -> NSBatchDeleteResult
  {
    let request = NSFetchRequest<NSFetchRequestResult>(entityName: entity().name!)
    request.predicate = predicate
    let batch = NSBatchDeleteRequest(fetchRequest: request)
    batch.resultType = .resultTypeObjectIDs
    return try context.execute(batch) as! NSBatchDeleteResult
  }

  @discardableResult
  public static func asyncFetch(
    in context: NSManagedObjectContext, estimatedResultCount: Int = 0,
    configure: (NSFetchRequest<Self>) -> Void = { _ in },
    completion: @escaping (Result<[Self], NSError>) -> Void
  ) throws -> NSAsynchronousFetchResult<Self> {
    let request = newFetchRequest()
    configure(request)
    let async = NSAsynchronousFetchRequest(fetchRequest: request) { (result: NSAsynchronousFetchResult<Self>) in
      if let error = result.operationError {
        completion(.failure(error as NSError))
      } else if let final = result.finalResult {
        completion(.success(final))
      }
    }
    async.estimatedResultCount = estimatedResultCount
    return try context.execute(async) as! NSAsynchronousFetchResult<Self>
  }
}

extension NSFetchRequest {
  public convenience init(entity: NSEntityDescription, predicate: NSPredicate? = nil, batchSize: Int = 0) {
    self.init()
    self.entity = entity
    self.predicate = predicate
    self.fetchBatchSize = batchSize
  }

  public func andPredicate(_ other: NSPredicate) {
    guard let current = predicate else {
      predicate = other
      return
    }
    predicate = NSCompoundPredicate(type: .and, subpredicates: [current, other])
  }
}

extension Collection where Element: NSManagedObject {
  public func fetchFaults() throws {
    guard !self.isEmpty else { return }
    guard let context = self.first?.managedObjectContext else { fatalError("Managed object must have context") }
    let faults = self.filter { $0.isFault }
    guard let object = faults.first else { return }
    let request = NSFetchRequest<NSFetchRequestResult>()
    request.entity = object.entity
    request.returnsObjectsAsFaults = false
    request.predicate = NSPredicate(format: "self in %@", faults)
    _ = try context.fetch(request)
  }
}

extension NSManagedObject {
  public final var persistentChangedValues: [String: Any] {
    let keys =
      entity.attributesByName.filter { !$0.value.isTransient }.map { $0.key } + Array(entity.relationshipsByName.keys)
    return changedValues().filter { keys.contains($0.key) }
  }
  public func changedValue(forKey key: String) -> Any? { changedValues()[key] }
  public func committedValue(forKey key: String) -> Any? { committedValues(forKeys: [key])[key] }

  public func refresh(mergeChanges: Bool = true) {
    managedObjectContext?.refresh(self, mergeChanges: mergeChanges)
  }

  public func evaluate(with format: String) -> Bool { NSPredicate(format: format).evaluate(with: self) }

  public final func inContext<T: NSManagedObject>(_ context: NSManagedObjectContext) throws -> T? {
    if objectID.isTemporaryID { try managedObjectContext?.obtainPermanentIDs(for: [self]) }
    return try context.existingObject(with: objectID) as? T
  }

  public func safeAccess<T>(_ block: (NSManagedObject) -> T) -> T {
    guard let context = managedObjectContext else { preconditionFailure("\(self) has no context.") }
    return context.performAndWait { block(self) }
  }
}

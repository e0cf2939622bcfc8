import CoreData
import Foundation

public protocol DomainConvertible {
  associatedtype Domain
  func toDomain() -> Domain
}

public protocol StorageRepository {
  associatedtype Entity: NSManagedObject
  func get(predicate: NSPredicate?, sortDescriptors: [NSSortDescriptor]?) async -> Result<[Entity], Error>
  func create() async -> Result<Entity, Error>
  func delete(entity: Entity) async -> Result<Bool, Error>
}

public enum CoreDataError: Error {
  case invalidManagedObjectType
  case notFound(NSManagedObjectID)
  case validation([String])
  case constraint(String)
  case underlying(NSError)

  public init(_ error: Error) {
    let error = error as NSError
    guard error.domain == NSCocoaErrorDomain else {
      self = .underlying(error)
      return
    }
    switch error.code {
    case NSValidationMultipleErrorsError:
      let details = error.userInfo[NSDetailedErrorsKey] as? [NSError] ?? []
      self = .validation(details.compactMap { $0.userInfo[NSValidationKeyErrorKey] as? String }.sorted())
    case NSValidationErrorMinimum...NSValidationErrorMaximum:
      self = .validation([error.userInfo[NSValidationKeyErrorKey] as? String ?? ""])
    case NSManagedObjectConstraintMergeError:
      let conflicts = error.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSConstraintConflict]
      self = .constraint(conflicts?.first?.constraint.first ?? "")
    case NSManagedObjectMergeError:
      self = .underlying(error)
    default: self = .underlying(error)
    }
  }
}

public class CoreDataRepository<T: NSManagedObject>: StorageRepository {
  public typealias Entity = T
  private let managedObjectContext: NSManagedObjectContext

  public init(managedObjectContext: NSManagedObjectContext) {
    self.managedObjectContext = managedObjectContext
  }

  public func get(predicate: NSPredicate?, sortDescriptors: [NSSortDescriptor]?) async -> Result<[T], Error> {
    let fetchRequest = Entity.fetchRequest()
    fetchRequest.predicate = predicate
    fetchRequest.sortDescriptors = sortDescriptors
    do {
      return try await managedObjectContext.perform { [managedObjectContext] in
        if let fetchResults = try managedObjectContext.fetch(fetchRequest) as? [Entity] {
          return .success(fetchResults)
        } else {
          return .failure(CoreDataError.invalidManagedObjectType)
        }
      }
    } catch {
      return .failure(error)
    }
  }

  public func create() async -> Result<T, Error> {
    let className = String(describing: Entity.self)
    guard
      let managedObject = NSEntityDescription.insertNewObject(forEntityName: className, into: managedObjectContext)
        as? Entity
    else {
      return .failure(CoreDataError.invalidManagedObjectType)
    }
    return .success(managedObject)
  }

  public func delete(entity: T) async -> Result<Bool, Error> {
    managedObjectContext.delete(entity)
    return .success(true)
  }

  public func read<Output>(_ url: URL, map: @escaping (T) throws -> Output) async throws -> Output {
    try await managedObjectContext.perform(schedule: .immediate) { [context = managedObjectContext] in
      guard let id = context.persistentStoreCoordinator?.managedObjectID(forURIRepresentation: url) else {
        throw CoreDataError.invalidManagedObjectType
      }
      let object = try context.existingObject(with: id)
      guard !object.isDeleted else { throw CoreDataError.notFound(id) }
      guard let typed = object as? T else { throw CoreDataError.invalidManagedObjectType }
      return try map(typed)
    }
  }

  public func aggregate(_ function: String, attribute: NSAttributeDescription, predicate: NSPredicate) async throws
    -> Int
  {
    let expressionDescription = NSExpressionDescription()
    let keyPathExp = NSExpression(forKeyPath: attribute.name)
    expressionDescription.expression = NSExpression(forFunction: function, arguments: [keyPathExp])
    expressionDescription.name = function
    expressionDescription.expressionResultType = attribute.attributeType
    let request = NSFetchRequest<NSDictionary>(entityName: attribute.entity.name ?? "")
    request.predicate = predicate
    request.propertiesToFetch = expressionDescription.expression == nil ? nil : [expressionDescription]
    request.resultType = .dictionaryResultType
    let result = try await managedObjectContext.perform { [context = managedObjectContext] in try context.fetch(request)
    }
    guard let asserted = result.first as? [String: Int], let value = asserted[function] else { return 0 }
    return value
  }

  public func count(_ predicate: NSPredicate) async throws -> Int {
    try await managedObjectContext.perform { [context = managedObjectContext] in
      let request = NSFetchRequest<NSNumber>(entityName: Entity.entity().name!)
      request.predicate = predicate
      request.resultType = .countResultType
      let direct = try context.count(for: request)
      assert(try! context.fetch(request).first!.intValue == direct)
      return direct
    }
  }

  public func stream(_ request: NSFetchRequest<T>) -> AsyncStream<[T]> {
    AsyncStream { continuation in
      let provider = StreamProvider(request: request, context: managedObjectContext) { continuation.yield($0) }
      continuation.onTermination = { _ in provider.stop() }
      provider.start()
    }
  }
}

final class StreamProvider<T: NSManagedObject>: NSObject, NSFetchedResultsControllerDelegate, @unchecked Sendable {
  private let frc: NSFetchedResultsController<T>
  private let context: NSManagedObjectContext
  private let handler: ([T]) -> Void

  init(request: NSFetchRequest<T>, context: NSManagedObjectContext, handler: @escaping ([T]) -> Void) {
    self.context = context
    self.handler = handler
    if request.sortDescriptors == nil { request.sortDescriptors = [] }
    frc = NSFetchedResultsController(
      fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
    super.init()
    frc.delegate = self
  }

  func start() {
    context.perform {
      do {
        try self.frc.performFetch()
        self.handler(self.frc.fetchedObjects ?? [])
      } catch { print(error) }
    }
  }

  func stop() { frc.delegate = nil }

  func controllerDidChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) {
    handler(controller.fetchedObjects as? [T] ?? [])
  }
}

/// The last writer in the store wins for one attribute.
public class CounterMergePolicy: NSMergePolicy {
  public init() { super.init(merge: .mergeByPropertyObjectTrumpMergePolicyType) }

  override public func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
    var sums: [(NSManagedObject, Int64)] = []
    for conflict in list {
      guard let source = conflict.sourceObject as? Product, let snapshot = conflict.objectSnapshot else { continue }
      let base = snapshot["stock"] as? Int64 ?? 0
      let store = (conflict.persistedSnapshot ?? conflict.cachedSnapshot)?["stock"] as? Int64 ?? 0
      let mine = source.stock?.int64Value ?? 0
      sums.append((source, store + mine - base))
    }
    try super.resolve(optimisticLockingConflicts: list)
    for (object, value) in sums { object.setValue(value, forKey: "stock") }
  }

  override public func resolve(constraintConflicts list: [NSConstraintConflict]) throws {
    guard list.allSatisfy({ $0.databaseObject != nil }) else {
      return try super.resolve(constraintConflicts: list)
    }
    for conflict in list {
      for object in conflict.conflictingObjects {
        for key in object.entity.attributesByName.keys where object.value(forKey: key) == nil {
          object.setValue(conflict.databaseObject?.value(forKey: key), forKey: key)
        }
      }
    }
    try super.resolve(constraintConflicts: list)
  }
}

@objc(TagListTransformer)
public final class TagListTransformer: ValueTransformer {
  static let name = NSValueTransformerName(rawValue: String(describing: TagListTransformer.self))

  public static func register() {
    ValueTransformer.setValueTransformer(TagListTransformer(), forName: name)
  }

  override public class func transformedValueClass() -> AnyClass { NSData.self }
  override public class func allowsReverseTransformation() -> Bool { true }

  override public func transformedValue(_ value: Any?) -> Any? {
    guard let tags = value as? [String] else { return nil }
    return try? JSONEncoder().encode(tags)
  }

  override public func reverseTransformedValue(_ value: Any?) -> Any? {
    guard let data = value as? Data else { return nil }
    return try? JSONDecoder().decode([String].self, from: data)
  }
}

@objc(ColorTransformer)
public final class ColorTransformer: NSSecureUnarchiveFromDataTransformer {
  override public static var allowedTopLevelClasses: [AnyClass] {
    super.allowedTopLevelClasses + [NSArray.self, NSString.self]
  }

  public static func register() {
    let transformer = ColorTransformer()
    ValueTransformer.setValueTransformer(transformer, forName: NSValueTransformerName("ColorTransformer"))
  }
}

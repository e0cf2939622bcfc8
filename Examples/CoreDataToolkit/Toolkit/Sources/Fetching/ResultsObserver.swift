import CoreData
import Foundation

public struct FetchedSection<T: NSFetchRequestResult> {
  public let objects: [T]
  public let name: String
  public let indexTitle: String?
}

public enum FetchedChange<T> {
  case insert(object: T, indexPath: IndexPath)
  case delete(object: T, indexPath: IndexPath)
  case move(object: T, from: IndexPath, to: IndexPath)
  case update(object: T, indexPath: IndexPath)
}

/// Wraps a controller with closures.
public final class FetchedResultsObserver<T: NSManagedObject>: NSObject, NSFetchedResultsControllerDelegate {
  public let controller: NSFetchedResultsController<T>
  public var onChanges: (([FetchedChange<T>]) -> Void)?
  public var onSections: (([Int], [Int]) -> Void)?
  private var changes: [FetchedChange<T>] = []
  private var insertedSections: [Int] = []
  private var deletedSections: [Int] = []
  public private(set) var events: [String] = []

  public init(
    request: NSFetchRequest<T>, in context: NSManagedObjectContext, sectionNameKeyPath: String? = nil,
    cacheName: String? = nil
  ) throws {
    controller = NSFetchedResultsController(
      fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: sectionNameKeyPath, cacheName: cacheName
    )
    super.init()
    controller.delegate = self
    try controller.performFetch()
  }

  public var sections: [FetchedSection<T>] {
    (controller.sections ?? []).map { info in
      FetchedSection(objects: info.objects as? [T] ?? [], name: info.name, indexTitle: info.indexTitle)
    }
  }

  public subscript(indexPath: IndexPath) -> T { controller.object(at: indexPath) }
  public func indexPath(for object: T) -> IndexPath? { controller.indexPath(forObject: object) }

  public func setPredicate(_ predicate: NSPredicate?) throws {
    controller.fetchRequest.predicate = predicate
    NSFetchedResultsController<NSFetchRequestResult>.deleteCache(withName: controller.cacheName)
    try controller.performFetch()
  }

  // MARK: NSFetchedResultsControllerDelegate

  public func controllerWillChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) {
    events.append("will")
    changes = []
    insertedSections = []
    deletedSections = []
  }

  public func controller(
    _ controller: NSFetchedResultsController<NSFetchRequestResult>, didChange anObject: Any, at indexPath: IndexPath?,
    for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
  ) {
    guard let object = anObject as? T else { return }
    switch type {
    case .insert:
      guard let newIndexPath = newIndexPath else { fatalError("Index path should be not nil") }
      changes.append(.insert(object: object, indexPath: newIndexPath))
      events.append("insert \(newIndexPath.section).\(newIndexPath.item)")
    case .update:
      guard let indexPath = indexPath else { fatalError("Index path should be not nil") }
      changes.append(.update(object: object, indexPath: indexPath))
      events.append("update \(indexPath.section).\(indexPath.item)")
    case .move:
      guard let indexPath = indexPath, let newIndexPath = newIndexPath else { fatalError() }
      changes.append(.move(object: object, from: indexPath, to: newIndexPath))
      events.append("move \(indexPath.section).\(indexPath.item)->\(newIndexPath.section).\(newIndexPath.item)")
    case .delete:
      guard let indexPath = indexPath else { fatalError("Index path should be not nil") }
      changes.append(.delete(object: object, indexPath: indexPath))
      events.append("delete \(indexPath.section).\(indexPath.item)")
    @unknown default:
      fatalError()
    }
  }

  public func controller(
    _ controller: NSFetchedResultsController<NSFetchRequestResult>, didChange sectionInfo: NSFetchedResultsSectionInfo,
    atSectionIndex sectionIndex: Int, for type: NSFetchedResultsChangeType
  ) {
    switch type {
    case .insert: insertedSections.append(sectionIndex)
    case .delete: deletedSections.append(sectionIndex)
    default: break
    }
    events.append("section \(type == .insert ? "+" : "-")\(sectionIndex) \(sectionInfo.name)")
  }

  public func controllerDidChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) {
    events.append("did")
    onChanges?(changes)
    onSections?(insertedSections, deletedSections)
  }

  public func resetEvents() { events = [] }
}

/// Watches one object.
public final class ManagedObjectObserver {
  public enum ChangeType { case delete, update }
  private var token: NSObjectProtocol?

  public init?(object: NSManagedObject, changeHandler: @escaping (ChangeType) -> Void) {
    guard let moc = object.managedObjectContext else { return nil }
    // Compared on the context's queue alone, where the context posts.
    nonisolated(unsafe) let watched = object
    token = NotificationCenter.default.addObserver(
      forName: .NSManagedObjectContextObjectsDidChange, object: moc, queue: nil
    ) { note in
      let invalidatedAll = note.userInfo?[NSInvalidatedAllObjectsKey] != nil
      func objects(_ key: String) -> Set<NSManagedObject> { (note.userInfo?[key] as? Set<NSManagedObject>) ?? Set() }
      if invalidatedAll
        || objects(NSDeletedObjectsKey).union(objects(NSInvalidatedObjectsKey)).contains(where: { $0 === watched })
      {
        return changeHandler(.delete)
      }
      if objects(NSUpdatedObjectsKey).union(objects(NSRefreshedObjectsKey)).contains(watched) { changeHandler(.update) }
    }
  }

  deinit {
    if let token = token { NotificationCenter.default.removeObserver(token) }
  }
}

// MARK: - Aggregates

public struct Aggregate {
  public let function: String
  public let keyPath: String
  public let type: NSAttributeType

  public func fetch<T: NSManagedObject>(
    _ entity: T.Type, predicate: NSPredicate? = nil, in context: NSManagedObjectContext
  ) throws -> NSNumber? {
    let description = NSExpressionDescription()
    description.name = "result"
    description.expression = NSExpression(forFunction: function, arguments: [NSExpression(forKeyPath: keyPath)])
    description.expressionResultType = type
    let request = NSFetchRequest<NSDictionary>(entityName: T.entity().name ?? "")
    request.resultType = .dictionaryResultType
    request.propertiesToFetch = [description]
    request.predicate = predicate
    request.includesPendingChanges = false
    let values = try context.fetch(request)
    return values.first?["result"] as? NSNumber
  }

  public static func grouped<T: NSManagedObject>(
    _ entity: T.Type, by key: String, having predicate: NSPredicate?, in context: NSManagedObjectContext
  ) throws -> [String: Int] {
    let countExpression = NSExpression(forFunction: "count:", arguments: [NSExpression(forKeyPath: key)])
    let count = NSExpressionDescription()
    count.name = "count"
    count.expression = countExpression
    count.expressionResultType = .integer64AttributeType
    let request = NSFetchRequest<NSFetchRequestResult>(entityName: T.entity().name!)
    request.resultType = .dictionaryResultType
    request.propertiesToFetch = [key, count]
    request.propertiesToGroupBy = [key]
    request.havingPredicate = predicate
    request.sortDescriptors = [NSSortDescriptor(key: key, ascending: true)]
    guard let rows = try context.fetch(request) as? [[String: Any]] else { return [:] }
    var result: [String: Int] = [:]
    for row in rows { result["\(row[key] ?? "nil")"] = row["count"] as? Int }
    return result
  }
}

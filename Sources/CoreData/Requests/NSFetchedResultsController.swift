public import Foundation
import Persist

public enum NSFetchedResultsChangeType: UInt, Sendable {
  case insert = 1
  case delete = 2
  case move = 3
  case update = 4

  fileprivate init(_ type: FetchedResultsChangeType) {
    self =
      switch type {
      case .insert: .insert
      case .delete: .delete
      case .move: .move
      case .update: .update
      }
  }
}

public protocol NSFetchedResultsSectionInfo {
  var name: String { get }
  var indexTitle: String? { get }
  var numberOfObjects: Int { get }
  var objects: [Any]? { get }
}

public protocol NSFetchedResultsControllerDelegate: AnyObject {
  func controllerWillChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>)
  func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>)
  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
    at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?)
  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    didChange sectionInfo: any NSFetchedResultsSectionInfo, atSectionIndex sectionIndex: Int,
    for type: NSFetchedResultsChangeType)
  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>, sectionIndexTitleForSectionName name: String
  ) -> String?
}

extension NSFetchedResultsControllerDelegate {
  public func controllerWillChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {}
  public func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {}
  public func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
    at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
  ) {}
  public func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    didChange sectionInfo: any NSFetchedResultsSectionInfo, atSectionIndex sectionIndex: Int,
    for type: NSFetchedResultsChangeType
  ) {}
  public func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>, sectionIndexTitleForSectionName name: String
  ) -> String? { name.first.map { String($0).uppercased() } }
}

private struct SectionInfo: NSFetchedResultsSectionInfo {
  let name: String
  let indexTitle: String?
  let numberOfObjects: Int
  let objects: [Any]?

  init(_ section: FetchedResultsSection<ManagedObject>) {
    name = section.name
    indexTitle = section.indexTitle
    numberOfObjects = section.numberOfObjects
    objects = section.objects
  }
}

open class NSFetchedResultsController<ResultType>: NSObject, @unchecked Sendable {
  // Unchecked: used on the queue of its context.
  public let fetchRequest: NSFetchRequest<ResultType>
  public let managedObjectContext: NSManagedObjectContext
  public let sectionNameKeyPath: String?
  public let cacheName: String?
  open weak var delegate: (any NSFetchedResultsControllerDelegate)? {
    didSet { relay.delegate = delegate }
  }
  private var controller: FetchedResultsController<ManagedObject>?
  private let relay = DelegateRelay()

  public init(
    fetchRequest: NSFetchRequest<ResultType>, managedObjectContext context: NSManagedObjectContext,
    sectionNameKeyPath: String?, cacheName name: String?
  ) {
    self.fetchRequest = fetchRequest
    managedObjectContext = context
    self.sectionNameKeyPath = sectionNameKeyPath
    cacheName = name
  }

  open class func deleteCache(withName name: String?) {}

  open func performFetch() throws {
    try managedObjectContext.bridging {
      try managedObjectContext.withParents {
        let context = managedObjectContext.base
        let controller = FetchedResultsController<ManagedObject>(
          fetchRequest: try fetchRequest.persistRequest(ManagedObject.self), managedObjectContext: context,
          sectionNameKeyPath: sectionNameKeyPath)
        // The delegate's protocol can't be generic, so that controllers of all results are handed over as one type.
        relay.controller = unsafeDowncast(self as AnyObject, to: NSFetchedResultsController<any NSFetchRequestResult>.self)
        controller.delegate = relay
        try controller.performFetch()
        self.controller = controller
      }
    }
  }

  open var fetchedObjects: [ResultType]? { controller?.fetchedObjects?.compactMap { $0 as? ResultType } }
  open var sections: [any NSFetchedResultsSectionInfo]? { controller?.sections?.map(SectionInfo.init) }
  open var sectionIndexTitles: [String] { controller?.sectionIndexTitles ?? [] }

  open func sectionIndexTitle(forSectionName name: String) -> String? {
    controller?.sectionIndexTitle(forSectionName: name)
  }

  open func section(forSectionIndexTitle title: String, at index: Int) -> Int {
    controller?.section(forSectionIndexTitle: title, at: index) ?? 0
  }

  open func object(at indexPath: IndexPath) -> ResultType {
    guard let controller, let object = controller.object(at: ResultIndexPath(indexPath)) as? ResultType else {
      stop("There is no result at \(indexPath).")
    }
    return object
  }

  open func indexPath(forObject object: ResultType) -> IndexPath? {
    (object as? ManagedObject).flatMap { controller?.indexPath(forObject: $0) }.map(\.foundation)
  }
}

extension ResultIndexPath {
  fileprivate init(_ path: IndexPath) { self.init(section: path[0], row: path[1]) }
}

private final class DelegateRelay: FetchedResultsControllerDelegate {
  typealias Object = ManagedObject
  weak var delegate: (any NSFetchedResultsControllerDelegate)?
  weak var controller: NSFetchedResultsController<any NSFetchRequestResult>?

  func controllerWillChangeContent(_ controller: FetchedResultsController<ManagedObject>) {
    send { $0.controllerWillChangeContent($1) }
  }

  func controllerDidChangeContent(_ controller: FetchedResultsController<ManagedObject>) {
    send { $0.controllerDidChangeContent($1) }
  }

  func controller(
    _ controller: FetchedResultsController<ManagedObject>, didChange section: FetchedResultsSection<ManagedObject>,
    atSectionIndex index: Int, for type: FetchedResultsChangeType
  ) {
    send { $0.controller($1, didChange: SectionInfo(section), atSectionIndex: index, for: .init(type)) }
  }

  func controller(
    _ controller: FetchedResultsController<ManagedObject>, didChange object: ManagedObject,
    at indexPath: ResultIndexPath?, for type: FetchedResultsChangeType, newIndexPath: ResultIndexPath?
  ) {
    send {
      $0.controller(
        $1, didChange: object, at: indexPath?.foundation, for: .init(type), newIndexPath: newIndexPath?.foundation)
    }
  }

  func controller(
    _ controller: FetchedResultsController<ManagedObject>, sectionIndexTitleForSectionName name: String
  ) -> String? {
    var title: String?
    send { title = $0.controller($1, sectionIndexTitleForSectionName: name) }
    return title
  }

  private func send(
    _ message: (
      any NSFetchedResultsControllerDelegate, NSFetchedResultsController<any NSFetchRequestResult>
    ) -> Void
  ) {
    if let delegate, let controller { message(delegate, controller) }
  }
}

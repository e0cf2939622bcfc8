public import Foundation
import Persist

/// The kinds of changes.
public enum NSFetchedResultsChangeType: UInt, Sendable {
  /// An insertion.
  case insert = 1
  /// A deletion.
  case delete = 2
  /// A move to another place.
  case move = 3
  /// A change of values in the same place.
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

/// A section of a controller's results.
public protocol NSFetchedResultsSectionInfo {
  /// The value of the section key path, as text.
  var name: String { get }
  /// The title in an index of sections.
  var indexTitle: String? { get }
  /// The number of objects.
  var numberOfObjects: Int { get }
  /// The objects.
  var objects: [Any]? { get }
}

/// An object that is told of changes to a controller's results.
public protocol NSFetchedResultsControllerDelegate: AnyObject {
  /// Called after changes with the differences between the results, without regard to sections.
  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    didChangeContentWith diff: CollectionDifference<NSManagedObjectID>)
  /// Called before changes.
  func controllerWillChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>)
  /// Called after changes.
  func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>)
  /// Called for a change of an object or section, or to ask for a section's title in the index.
  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
    at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?)
  /// Called for a change of an object or section, or to ask for a section's title in the index.
  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    didChange sectionInfo: any NSFetchedResultsSectionInfo, atSectionIndex sectionIndex: Int,
    for type: NSFetchedResultsChangeType)
  /// Called for a change of an object or section, or to ask for a section's title in the index.
  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>, sectionIndexTitleForSectionName name: String
  ) -> String?
}

extension NSFetchedResultsControllerDelegate {
  /// Does nothing; the differences aren't computed any more.
  public func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    didChangeContentWith diff: CollectionDifference<NSManagedObjectID>
  ) {
    controller.stopDifferences()
  }

  /// Called before changes.
  public func controllerWillChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {}
  /// Called after changes.
  public func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {}
  /// Called for a change of an object or section, or to ask for a section's title in the index.
  public func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
    at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
  ) {}
  /// Called for a change of an object or section, or to ask for a section's title in the index.
  public func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    didChange sectionInfo: any NSFetchedResultsSectionInfo, atSectionIndex sectionIndex: Int,
    for type: NSFetchedResultsChangeType
  ) {}
  /// Called for a change of an object or section, or to ask for a section's title in the index.
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

/// The contents of a controller, shared with the one that the delegate gets, whose type names no class of results.
private final class ControlledResults {
  var controller: FetchedResultsController<ManagedObject>?
  let relay = DelegateRelay()
}

// Unchecked: used on the queue of its context.
/// The results of a request, in sections, which follow the context's changes.
open class NSFetchedResultsController<ResultType>: NSObject, @unchecked Sendable {
  private let request: NSFetchRequest<ResultType>
  private let context: NSManagedObjectContext
  private let names: (sectionKeyPath: String?, cache: String?)
  /// The request, which has sort descriptors.
  open var fetchRequest: NSFetchRequest<ResultType> { request }
  /// The context.
  open var managedObjectContext: NSManagedObjectContext { context }
  /// The key path whose values divide the results into sections.
  open var sectionNameKeyPath: String? { names.sectionKeyPath }
  /// A name for a cache of sections. There is no cache here.
  open var cacheName: String? { names.cache }
  private let results: ControlledResults
  /// The controller that the delegate gets.
  private var shared: NSFetchedResultsController<any NSFetchRequestResult>?

  /// Creates a controller, whose results are there after ``performFetch()``.
  public init(
    fetchRequest: NSFetchRequest<ResultType>, managedObjectContext context: NSManagedObjectContext,
    sectionNameKeyPath: String?, cacheName name: String?
  ) {
    request = fetchRequest
    self.context = context
    names = (sectionNameKeyPath, name)
    results = ControlledResults()
  }

  fileprivate init<Other>(sharing other: NSFetchedResultsController<Other>, _ results: ControlledResults) {
    request = other.fetchRequest.returning(ResultType.self)
    context = other.managedObjectContext
    names = (other.sectionNameKeyPath, other.cacheName)
    self.results = results
  }

  /// The object that is told of changes.
  open weak var delegate: (any NSFetchedResultsControllerDelegate)? {
    get { results.relay.delegate }
    set {
      results.relay.delegate = newValue
      results.relay.remember(results.controller)
    }
  }

  /// Ends the computation of differences, which the delegate doesn't use.
  final func stopDifferences() { results.relay.objects = nil }

  /// Does nothing: there is no cache.
  open class func deleteCache(withName name: String?) {}

  /// Executes the request.
  ///
  /// - Throws: An error in the domain `NSCocoaErrorDomain`.
  open func performFetch() throws {
    try managedObjectContext.bridging {
      try managedObjectContext.withParents {
        let context = managedObjectContext.base
        let request = try fetchRequest.persistRequest(ManagedObject.self)
        let controller =
          if let path = sectionNameKeyPath, !isStored(path) {
            FetchedResultsController(fetchRequest: request, managedObjectContext: context) { Self.name(path, $0) }
          } else {
            FetchedResultsController(
              fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: sectionNameKeyPath)
          }
        if let own = self as? NSFetchedResultsController<any NSFetchRequestResult> {
          results.relay.controller = own
        } else {
          let shared = NSFetchedResultsController<any NSFetchRequestResult>(sharing: self, results)
          (results.relay.controller, self.shared) = (shared, shared)
        }
        controller.delegate = results.relay
        try controller.performFetch()
        results.controller = controller
        results.relay.remember(controller)
      }
    }
  }

  /// Whether a key path consists of properties of the model. Others, such as `@objc` properties of the class, are read
  /// from the objects.
  private func isStored(_ path: String) -> Bool {
    var entity = fetchRequest.entityName.flatMap { managedObjectContext.model?.entitiesByName[$0] }
    for key in path.split(separator: ".").map(String.init) {
      guard let property = entity?.propertiesByName[key], !property.isTransient else { return false }
      entity = (property as? NSRelationshipDescription)?.destinationEntity
    }
    return true
  }

  private static func name(_ path: String, _ object: ManagedObject) -> String? {
    (object as? NSManagedObject)?.value(forKeyPath: path).map { "\($0)" }
  }

  /// The results; nil before ``performFetch()``.
  open var fetchedObjects: [ResultType]? { results.controller?.fetchedObjects?.compactMap { $0 as? ResultType } }
  /// The sections; nil before ``performFetch()``.
  open var sections: [any NSFetchedResultsSectionInfo]? { results.controller?.sections?.map(SectionInfo.init) }
  /// The titles in an index of sections.
  open var sectionIndexTitles: [String] { results.controller?.sectionIndexTitles ?? [] }

  /// Returns the title of a section in the index.
  open func sectionIndexTitle(forSectionName name: String) -> String? {
    results.controller?.sectionIndexTitle(forSectionName: name)
  }

  /// Returns the section for a title of the index.
  open func section(forSectionIndexTitle title: String, at index: Int) -> Int {
    results.controller?.section(forSectionIndexTitle: title, at: index) ?? 0
  }

  /// Returns the object at an index path. Stops the program if there is none.
  open func object(at indexPath: IndexPath) -> ResultType {
    guard let object = results.controller?.object(at: ResultIndexPath(indexPath)) as? ResultType else {
      stop("There is no result at \(indexPath).")
    }
    return object
  }

  /// Returns the index path of an object; nil if it isn't a result.
  open func indexPath(forObject object: ResultType) -> IndexPath? {
    (object as? ManagedObject).flatMap { results.controller?.indexPath(forObject: $0) }.map(\.foundation)
  }

  // Two controllers are equal if they show the same results: delegates are called with another instance than the
  // program's.
  open override func isEqual(_ other: Any?) -> Bool { (other as? any SharedResults)?.identity == identity }
  open override var hash: Int { identity.hashValue }
}

/// A controller for results of any type.
protocol SharedResults {
  var identity: ObjectIdentifier { get }
  func returning<Other>(_ type: Other.Type) -> NSFetchedResultsController<Other>
}

extension NSFetchedResultsController: SharedResults {
  var identity: ObjectIdentifier { ObjectIdentifier(results) }

  /// Returns a controller with the same contents for another type of results.
  func returning<Other>(_ type: Other.Type) -> NSFetchedResultsController<Other> {
    NSFetchedResultsController<Other>(sharing: self, results)
  }
}

extension ResultIndexPath {
  fileprivate init(_ path: IndexPath) { self.init(section: path[0], row: path[1]) }
}

private final class DelegateRelay: FetchedResultsControllerDelegate {
  typealias Object = ManagedObject
  weak var delegate: (any NSFetchedResultsControllerDelegate)?
  weak var controller: NSFetchedResultsController<any NSFetchRequestResult>?
  /// The results before the next change; nil if the delegate doesn't use differences.
  var objects: [ManagedObject]?

  func remember(_ controller: FetchedResultsController<ManagedObject>?) {
    objects = delegate == nil ? nil : controller?.fetchedObjects
  }

  func controllerWillChangeContent(_ controller: FetchedResultsController<ManagedObject>) {
    send { $0.controllerWillChangeContent($1) }
  }

  func controllerDidChangeContent(_ controller: FetchedResultsController<ManagedObject>) {
    if let old = objects {
      objects = controller.fetchedObjects
      // Identifiers as they are now: those of new objects change with their first save.
      let difference = (objects ?? []).map(\.objectID).difference(from: old.map(\.objectID)).inferringMoves()
      send { $0.controller($1, didChangeContentWith: difference) }
    }
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

import PersistTestSupport

@testable import Persist
@testable import PersistModel

/// People and their workplaces: the lists shown in the tests of results controllers.
enum Staff {
  static let model = ModelDescription(entities: [
    EntityDescription(
      "Person",
      attributes: [
        AttributeDescription("firstName", .string), AttributeDescription("lastName", .string),
        AttributeDescription("team", .string), AttributeDescription("salary", .int32),
      ],
      relationships: [RelationshipDescription("group", to: "Group", inverse: "people")]),
    EntityDescription("Boss", parent: "Person"),
    EntityDescription(
      "Group", attributes: [AttributeDescription("name", .string)],
      relationships: [RelationshipDescription("people", toMany: "Person", inverse: "group")]),
  ])

  static func request(
    by keys: [String] = ["firstName"], where format: String? = nil
  ) throws -> FetchRequest<ManagedObject> {
    var request = FetchRequest<ManagedObject>("Person", sortedBy: keys.map { FetchSortDescriptor($0) })
    request.predicate = try format.map { try FetchPredicate($0) }
    return request
  }

  static func controller(
    _ context: ManagedObjectContext, by keys: [String] = ["firstName"], where format: String? = nil,
    sections: String? = nil
  ) throws -> FetchedResultsController<ManagedObject> {
    let controller = FetchedResultsController(
      fetchRequest: try request(by: keys, where: format), managedObjectContext: context, sectionNameKeyPath: sections)
    try controller.performFetch()
    return controller
  }
}

extension ManagedObjectContext {
  @discardableResult
  func person(_ name: String, team: String? = nil, salary: Int = 1) throws -> ManagedObject {
    try make("Person", ["firstName": name, "team": team, "salary": salary])
  }
}

/// Records the delegate's calls, one line each.
final class ResultsRecorder: FetchedResultsControllerDelegate {
  private(set) var calls: [String] = []
  private(set) var differences: [FetchedResultsDifference] = []

  func forget() { (calls, differences) = ([], []) }

  func controllerWillChangeContent(_ controller: FetchedResultsController<ManagedObject>) { calls.append("will") }

  func controller(
    _ controller: FetchedResultsController<ManagedObject>, didChange section: FetchedResultsSection<ManagedObject>,
    atSectionIndex index: Int, for type: FetchedResultsChangeType
  ) {
    calls.append("section \(type) \(section.name) \(index)")
  }

  func controller(
    _ controller: FetchedResultsController<ManagedObject>, didChange object: ManagedObject,
    at indexPath: ResultIndexPath?, for type: FetchedResultsChangeType, newIndexPath: ResultIndexPath?
  ) {
    let before = indexPath.map(\.description) ?? "-"
    calls.append("\(type) \(before) \(newIndexPath.map(\.description) ?? "-")")
  }

  func controller(
    _ controller: FetchedResultsController<ManagedObject>, didChangeContentWith difference: FetchedResultsDifference
  ) {
    differences.append(difference)
  }

  func controllerDidChangeContent(_ controller: FetchedResultsController<ManagedObject>) { calls.append("did") }
}

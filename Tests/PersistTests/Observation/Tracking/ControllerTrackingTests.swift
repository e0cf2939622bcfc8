import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Observation of results")
struct ControllerTrackingTests {
  @Test("Results notify of added, removed and moved objects, however they are read, and not of other values")
  func results() throws {
    try withStack(SampleModels.people) { stack in
      let context = stack.context()
      let ann = try context.make("Person", ["name": "Ann", "salary": 1])
      try context.make("Person", ["name": "Bea", "salary": 1])
      try context.save()
      let controller = FetchedResultsController(
        fetchRequest: FetchRequest<ManagedObject>("Person", sortedBy: "name"), managedObjectContext: context)
      func observers() throws -> [Told] {
        [
          try tracking { controller.fetchedObjects }.told, try tracking { controller.sections }.told,
          try tracking { controller.snapshot }.told, try tracking { controller.numberOfObjects }.told,
        ]
      }
      func expectTold(_ count: Int, _ work: () throws -> Void) throws {
        let observers = try observers()
        try work()
        context.processPendingChanges()
        #expect(observers.map(\.count) == Array(repeating: count, count: 4))
      }
      try expectTold(1) { try controller.performFetch() }
      try expectTold(0) { ann["salary"] = 2 }
      try expectTold(1) { ann["name"] = "Cis" }
      try expectTold(1) { try context.make("Person", ["name": "Don"]) }
      try expectTold(1) { context.delete(ann) }
      try expectTold(1) { context.rollback() }
      try expectTold(1) { context.reset() }
      let other = stack.context()
      let names = try tracking { controller.fetchedObjects?.count }
      try other.make("Person", ["name": "Eva"])
      try other.save()
      context.automaticallyMergesChangesFromParent = true
      try other.make("Person", ["name": "Fay"])
      try other.save()
      context.processPendingChanges()
      #expect(names.told.count == 1)
    }
  }
}

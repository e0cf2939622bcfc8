import PersistTestSupport

@testable import Persist
@testable import PersistCore
@testable import PersistModel

/// Creates a store with a number of people, each named after its number, with the number's last two digits as salary.
func withNumberedPeople(_ count: Int, _ body: (PersistentStoreCoordinator) throws -> Void) throws {
  try withTemporaryStore { url in
    let coordinator = PersistentStoreCoordinator(model: try ManagedObjectModel(SampleModels.people))
    try coordinator.addStore(at: url)
    let context = ManagedObjectContext(coordinator)
    for number in 0..<count { try context.make("Person", ["name": "\(number)", "salary": number % 100]) }
    try context.save()
    try body(coordinator)
  }
}

import PersistTestSupport

@testable import Persist
@testable import PersistCore
@testable import PersistModel

/// Runs `body` with a store of people who have as many pets as their number modulo 7.
func withPeopleAndPets(
  _ count: Int, options: StoreOptions = StoreOptions(), _ body: (PersistentStoreCoordinator) throws -> Void
) throws {
  try withTemporaryStore { url in
    let coordinator = PersistentStoreCoordinator(model: try ManagedObjectModel(SampleModels.pets))
    try coordinator.addStore(at: url, options: options)
    let writer = ManagedObjectContext(coordinator)
    try makePeopleWithPets(count, in: writer)
    try writer.save()
    try body(coordinator)
  }
}

/// Creates people in the order of their numbers, who have as many pets as their number modulo 7.
func makePeopleWithPets(_ count: Int, in context: ManagedObjectContext) throws {
  for number in 0..<count {
    let person = try context.make("Person", ["name": "person \(number)"])
    for pet in petNames(ofPerson: number) { try context.make("Pet", ["name": pet, "owner": person]) }
  }
}

/// Returns the names of a person's pets, in alphabetical order.
func petNames(ofPerson number: Int) -> [String] { (0..<number % 7).map { "pet \(number) \($0)" } }

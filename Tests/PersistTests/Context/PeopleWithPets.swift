@testable import Persist

/// Creates people in the order of their numbers, who have as many pets as their number modulo 7.
func makePeopleWithPets(_ count: Int, in context: ManagedObjectContext) throws {
  for number in 0..<count {
    let person = try context.make("Person", ["name": "person \(number)"])
    for pet in petNames(ofPerson: number) { try context.make("Pet", ["name": pet, "owner": person]) }
  }
}

/// Returns the names of a person's pets, in alphabetical order.
func petNames(ofPerson number: Int) -> [String] { (0..<number % 7).map { "pet \(number) \($0)" } }

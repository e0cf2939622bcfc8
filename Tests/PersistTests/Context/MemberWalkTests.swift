import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

/// Members of owners that are visited one after another, which are read in groups.
@Suite("Walks through members of one owner after another")
struct MemberWalkTests {
  private static let count = 800

  /// Returns the people of a context in the order of their numbers.
  private func people(_ context: ManagedObjectContext) throws -> [ManagedObject] {
    try context.fetch(FetchRequest("Person")).sorted { ($0.objectID.primaryKey ?? 0) < ($1.objectID.primaryKey ?? 0) }
  }

  @Test("Every member comes once, however long the program works on an owner", arguments: [1, 7])
  func slow(_ milliseconds: Int) throws {
    try withPeopleAndPets(Self.count) { coordinator in
      let context = ManagedObjectContext(coordinator)
      for (number, person) in try people(context).prefix(200).enumerated() {
        try #expect(person.names("pets") == petNames(ofPerson: number))
        if number % 5 == 0 { Thread.sleep(forTimeInterval: Double(milliseconds) / 1000) }
      }
    }
  }

  @Test("A walk that skips owners, or ends early, finds the members of those that it visits", arguments: [2, 3, 17])
  func skipping(_ step: Int) throws {
    try withPeopleAndPets(Self.count) { coordinator in
      let context = ManagedObjectContext(coordinator)
      for start in [0, 1, 400] {
        let all = try people(context)
        for number in stride(from: start, to: min(start + 300, Self.count), by: step) {
          try #expect(all[number].names("pets") == petNames(ofPerson: number))
        }
        context.refreshAllObjects()
      }
    }
  }

  /// The context that saves while another one walks.
  private enum Writer: CaseIterable { case another, same, batch }

  @Test("A walk shows what others, or it itself, saved before it reached an owner", arguments: Writer.allCases)
  private func changes(_ writer: Writer) throws {
    try withPeopleAndPets(Self.count) { coordinator in
      var random = SeededRandom(seed: 1848)
      let context = ManagedObjectContext(coordinator)
      let other = writer == .same ? context : ManagedObjectContext(coordinator)
      var expected = (0..<Self.count).map(petNames)
      let ids = try people(other).map(\.objectID)
      for (number, person) in try people(context).enumerated() {
        try #expect(person.names("pets") == expected[number].sorted(), "\(number)")
        let next = number + 1 + Int(random.next() % 40)
        // Most owners are followed by the next without a change, so that members are read ahead.
        guard next < Self.count, random.next() % 10 == 0 else { continue }
        switch (writer, random.next() % 2) {
        case (.batch, _):
          try other.execute(BatchDeleteRequest("Pet", where: FetchPredicate("owner == %@", ids[next])))
          expected[next] = []
        case (_, 0):
          let owner = try other.existingObject(with: ids[next])
          try other.make("Pet", ["name": "pet \(next) new \(number)", "owner": owner])
          try other.save()
          expected[next].append("pet \(next) new \(number)")
        default:
          guard let name = expected[next].first else { continue }
          try other.named("Pet", name)["owner"] = try other.existingObject(with: ids[number])
          try other.save()
          expected[next].removeFirst()
        }
      }
    }
  }
}

import Foundation
import Observation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore

@Suite("Cost of observation")
struct TrackingCostTests {
  private final class Token: Sendable {}

  @Test("Reading outside of observation leaves nothing behind, also after another object was observed")
  func unobserved() throws {
    try withStack(SampleModels.people) { stack in
      let context = stack.context()
      let people = try (0..<20).map { try context.make("Person", ["name": "\($0)"]) }
      try context.save()
      func read(_ people: some Sequence<ManagedObject>) {
        for person in people {
          _ = (person["name"], person.string(at: 0), person.isDeleted, person.version, person.changedValues())
        }
      }
      read(people)
      #expect(people.allSatisfy { !$0.marks.contains(.observed) })
      _ = try tracking { people[0]["name"] }
      read(people)
      _ = try tracking { people[1]["salary"] }
      read(people)
      people[0]["name"] = "another"
      read(people)
      #expect(people.indices.filter { people[$0].marks.contains(.observed) } == [0, 1])
    }
  }

  @Test(
    "A context after another one, whose objects were observed or not, tracks reads of its own",
    arguments: [false, true])
  func sequence(observes: Bool) throws {
    try withStack(SampleModels.people) { stack in
      let context = stack.context()
      for name in ["Ann", "Bea"] { try context.make("Person", ["name": name]) }
      try context.save()
      for round in 1...3 {
        let first = stack.context()
        var people = try first.fetch(FetchRequest("Person", sortedBy: "name"))
        if observes { _ = try tracking { people[0]["name"] } }
        _ = people[1]["name"]
        #expect(people.map { $0.marks.contains(.observed) } == [observes, false])
        people = []
        _ = consume first
        let second = stack.context()
        let others = try second.fetch(FetchRequest("Person", sortedBy: "name"))
        for person in others { _ = person["name"] }
        #expect(!others.contains { $0.marks.contains(.observed) })
        let notices = LockProtected(0)
        withObservationTracking { _ = others[1]["name"] } onChange: { notices.withLock { $0 += 1 } }
        others[0]["name"] = "Ada \(round)"
        #expect(notices.withLock { $0 } == 0)
        others[1]["name"] = "Bob \(round)"
        #expect(notices.withLock { $0 } == 1)
      }
    }
  }

  @Test("State retained by an observer is released with the observed objects, and after it was notified")
  func endOfObservers() throws {
    try withStack(SampleModels.people) { stack in
      let context = stack.context()
      for name in ["Ann", "Bea"] { try context.make("Person", ["name": name]) }
      try context.save()
      weak var weakToken: Token?
      func observe(_ people: [ManagedObject]) {
        let token = Token()
        weakToken = token
        withObservationTracking {
          for person in people { _ = (person["name"], person.isDeleted) }
        } onChange: {
          withExtendedLifetime(token) {}
        }
      }
      var people = try context.fetch(FetchRequest("Person"))
      // Several observers, so that others than the first also find the objects unobserved.
      for _ in 0..<3 { observe(people) }
      #expect(weakToken != nil)
      people = []
      #expect(context.registeredObjects.isEmpty)
      #expect(weakToken == nil)

      people = try context.fetch(FetchRequest("Person"))
      observe(people)
      people[0]["name"] = "Cis"
      #expect(weakToken == nil)
    }
  }

  @Test("Contexts on several threads are observed at once")
  func threads() async throws {
    let coordinator = PersistentStoreCoordinator(model: try ManagedObjectModel(SampleModels.people))
    try coordinator.addInMemoryStore()
    try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<4 {
        group.addTask {
          let context = ManagedObjectContext(coordinator)
          let people = try (0..<50).map { _ in try context.make("Person") }
          var told = 0
          for round in 0..<20 {
            for person in people {
              let name = try tracking { person["name"] }
              person["name"] = "\(round)"
              told += name.told.count
            }
          }
          return told
        }
      }
      for try await told in group { #expect(told == 1000) }
    }
  }

  @Test("An object without a context is observed too")
  func loose() throws {
    let model = try ManagedObjectModel(SampleModels.people)
    let person = ManagedObject(entity: try model.entity(named: "Person"), insertInto: nil)
    _ = person["name"]
    #expect(!person.marks.contains(.observed))
    let name = try tracking { person["name"] }
    let salary = try tracking { person["salary"] }
    person["name"] = "Ann"
    #expect((name.told.count, salary.told.count) == (1, 0))
  }
}

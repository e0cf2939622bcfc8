import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore

@Suite("Rows read ahead for faults")
struct RowsAheadTests {
  private static let count = 640

  private struct Stack {
    let store: any PersistentStore
    let context: ManagedObjectContext
    let people: [ManagedObject]

    /// Another coordinator's context of the same file, if one is needed.
    let other: ManagedObjectContext

    func statements(_ body: () throws -> Void) rethrows -> Int {
      let before = store.statementCount
      try body()
      return store.statementCount - before
    }

    /// Fires so many faults that rows of others are read ahead.
    func fire() { for person in people.prefix(8) { _ = person["name"] } }

    /// The fault next to the fired ones.
    var next: ManagedObject { people[8] }
  }

  /// Runs `body` with a context that has only faults.
  private func withFaults(
    nameLength: Int = 10, inOrder: Bool = true, _ body: (Stack) throws -> Void
  ) throws {
    let model = try ManagedObjectModel(SampleModels.people)
    try withTemporaryStore { url in
      let store = try createStore(at: url, model: model)
      let coordinator = PersistentStoreCoordinator(model: model)
      try coordinator.add(store)
      let writer = ManagedObjectContext(coordinator)
      for number in 0..<Self.count {
        let name = "\(number) " + String(repeating: "x", count: nameLength)
        try writer.make("Person", ["name": name, "salary": number])
      }
      try writer.save()
      let other = PersistentStoreCoordinator(model: model)
      try other.add(openStore(at: url, model: model))
      let context = ManagedObjectContext(coordinator)
      var random = SeededRandom(seed: 5)
      let ids = try context.fetchObjectIDs(FetchRequest("Person", sortedBy: "salary"))
      let people = (inOrder ? ids : ids.shuffled(using: &random)).map(context.object(with:))
      try body(Stack(store: store, context: context, people: people, other: ManagedObjectContext(other)))
      for coordinator in [coordinator, other] {
        for store in coordinator.persistentStores { try coordinator.remove(store) }
      }
    }
  }

  /// Writes as another program would: through a connection that no coordinator knows.
  private func writeFromOutside(_ stack: Stack) throws {
    let url = try #require(stack.store.url)
    try ForeignSQL.run(named: "UPDATE ZPERSON SET ZSALARY = ZSALARY + 1000, Z_OPT = Z_OPT + 1", at: url)
  }

  @Test("Faults that are fired one after another are read in groups, in any order", arguments: [true, false])
  func groups(inOrder: Bool) throws {
    try withFaults(inOrder: inOrder) { stack in
      let statements = stack.statements {
        let sum = stack.people.reduce(0) { $0 + ($1["salary"] as? Int ?? 0) }
        #expect(sum == (0..<Self.count).reduce(0, +))
      }
      // A tenth on an idle machine; more if it pauses the test for longer than rows may be used.
      #expect(statements < Self.count / 3)
    }
  }

  @Test("The first faults read only their own rows")
  func first() throws {
    try withFaults { stack in
      let statements = stack.statements { for person in stack.people.prefix(3) { _ = person["name"] } }
      // The way to a server takes longer than reading more rows.
      #expect(TestEngine.current == .sqlite ? statements == 3 : statements <= 3)
      #expect(stack.people.allSatisfy { $0.snapshot == nil || !$0.isFault })
    }
  }

  @Test("Large rows aren't read ahead")
  func largeRows() throws {
    try withFaults(nameLength: 2000) { stack in
      #expect(stack.statements { for person in stack.people { _ = person["name"] } } == Self.count)
    }
  }

  @Test("A fault reads what was saved just before: by its own context, by another, and through another coordinator")
  func savesInThisProgram() throws {
    try withFaults { stack in
      func save(in context: ManagedObjectContext, _ salary: Int) throws {
        try context.existingObject(with: stack.next.objectID).setValue(salary, forKey: "salary")
        try context.save()
      }
      stack.fire()
      try save(in: ManagedObjectContext(stack.context.persistentStoreCoordinator), -1)
      #expect(stack.next["salary"] as? Int == -1)
      stack.context.refreshAllObjects()
      stack.fire()
      try save(in: stack.other, -2)
      #expect(stack.next["salary"] as? Int == -2)
      stack.context.refreshAllObjects()
      stack.fire()
      try stack.context.execute(BatchUpdateRequest("Person", set: ["salary": .value(-3)]))
      stack.context.refresh(stack.next, mergeChanges: false)
      #expect(stack.next["salary"] as? Int == -3)
    }
  }

  @Test("A fault reads what another program saved, at the latest after the time for which rows may be used")
  func savesOfOtherPrograms() throws {
    try withFaults { stack in
      stack.fire()
      try writeFromOutside(stack)
      Thread.sleep(forTimeInterval: 0.01)
      #expect(stack.next["salary"] as? Int == 1008)
    }
  }

  @Test(
    "Once anything in the program has read another program's changes, every fault does",
    .aboutFiles("the counter of changes in SQLite's file"))
  func noticedChanges() throws {
    try withFaults { stack in
      stack.fire()
      try writeFromOutside(stack)
      let reader = ManagedObjectContext(stack.context.persistentStoreCoordinator)
      var wealthy = FetchRequest<ManagedObject>("Person")
      wealthy.predicate = try FetchPredicate("salary >= 1000")
      try #expect(reader.count(for: wealthy) == Self.count)
      #expect(stack.next["salary"] as? Int == 1008)
    }
  }

  @Test("Refreshed and reset contexts read every row again")
  func refreshing() throws {
    for refresh: (Stack) -> Void in [
      { $0.context.refreshAllObjects() }, { $0.context.refresh($0.people[0], mergeChanges: false) },
    ] {
      try withFaults { stack in
        stack.fire()
        try writeFromOutside(stack)
        refresh(stack)
        #expect(stack.next["salary"] as? Int == 1008)
      }
    }
  }

  @Test("A pinned context reads its own state ahead")
  func pinned() throws {
    try withFaults { stack in
      try stack.context.setQueryGeneration(from: .current)
      stack.fire()
      try writeFromOutside(stack)
      Thread.sleep(forTimeInterval: 0.01)
      #expect(stack.next["salary"] as? Int == 8)
      #expect(stack.people[20]["salary"] as? Int == 20)
      try stack.context.setQueryGeneration(from: nil)
      #expect(stack.people[21]["salary"] as? Int == 1021)
    }
  }

  @Test("A deleted neighbor is missed by its own fault")
  func deletedNeighbor() throws {
    try withFaults { stack in
      try stack.other.delete(stack.other.existingObject(with: stack.next.objectID))
      try stack.other.save()
      stack.context.shouldDeleteInaccessibleFaults = true
      stack.fire()
      #expect(stack.next["salary"] == nil)
      #expect(stack.people[9]["salary"] as? Int == 9)
    }
  }
}

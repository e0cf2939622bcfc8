import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Related objects stay alive")
struct RelatedObjectsTests {
  /// A store of owners with items that counts statements.
  private struct Stack {
    let store: any PersistentStore
    let coordinator: PersistentStoreCoordinator

    func context() -> ManagedObjectContext { ManagedObjectContext(coordinator, classes: ["Pet": Flagged.self]) }

    /// Checks the number of statements that run in `body`.
    func statements(_ body: () throws -> Void) rethrows -> Int {
      let before = store.statementCount
      try body()
      return store.statementCount - before
    }

    func expectStatements(
      _ count: Int, at place: SourceLocation = #_sourceLocation, _ body: () throws -> Void
    ) rethrows {
      let run = try statements(body)
      #expect(run == count, sourceLocation: place)
    }

    func expectStatements(
      atMost limit: Int, at place: SourceLocation = #_sourceLocation, _ body: () throws -> Void
    ) rethrows {
      let run = try statements(body)
      #expect(run <= limit, sourceLocation: place)
    }
  }

  /// A class with a property that isn't in any store.
  final class Flagged: ManagedObject {
    var flag = false
  }

  private func withOwners(_ owners: Int, pets: Int, _ body: (Stack) throws -> Void) throws {
    let model = try ManagedObjectModel(SampleModels.pets)
    try withTemporaryStore { url in
      let store = try createStore(at: url, model: model)
      let coordinator = PersistentStoreCoordinator(model: model)
      try coordinator.add(store)
      let stack = Stack(store: store, coordinator: coordinator)
      let context = stack.context()
      for owner in 0..<owners {
        let person = try context.make("Person", ["name": "person \(owner)"])
        for pet in 0..<pets { try context.make("Pet", ["name": "pet \(pet)", "owner": person]) }
      }
      try context.save()
      _ = try stack.context().count(for: FetchRequest("Person"))
      try body(stack)
    }
  }

  private func names(_ objects: some Sequence<ManagedObject>) -> [String] {
    objects.compactMap { $0["name"] as? String }
  }

  @Test("100 items of 10 owners read 10 owners once, the first ones singly and the others together")
  func toOne() throws {
    try withOwners(10, pets: 10) { stack in
      let pets = try stack.context().fetch(FetchRequest("Pet"))
      // The context is released immediately: nothing of the objects works then.
      #expect(pets.allSatisfy { $0.one("owner") == nil })
      let context = stack.context()
      let held = try context.fetch(FetchRequest("Pet"))
      stack.expectStatements(atMost: 10) { #expect(names(held.compactMap { $0.one("owner") }).count == 100) }
      stack.expectStatements(0) { #expect(names(held.compactMap { $0.one("owner") }).count == 100) }
      _ = context
    }
  }

  @Test("A second iteration over members reads nothing, nor does one over the inverse")
  func toMany() throws {
    try withOwners(10, pets: 250) { stack in
      let context = stack.context()
      let people = try context.fetch(FetchRequest("Person"))
      func walk() throws -> Int {
        try people.reduce(0) { count, person in
          try count + person.related("pets").reduce(0) { $0 + (names([$1, $1.one("owner") ?? $1]).count) }
        }
      }
      // For each owner at most the first rows, which aren't all, the members, and their rows in groups of 100.
      try stack.expectStatements(atMost: 50) { try #expect(walk() == 5000) }
      try stack.expectStatements(0) { try #expect(walk() == 5000) }
    }
  }

  @Test("Indexed access reads rows in batches, as map does")
  func byPlace() throws {
    try withOwners(1, pets: 250) { stack in
      let context = stack.context()
      let person = try context.named("Person", "person 0")
      let pets = try person.related("pets")
      // The first rows, which aren't all; the members; three batches.
      stack.expectStatements(5) { #expect(pets.map { $0["name"] as? String }.count == 250) }
      stack.expectStatements(0) { #expect(pets.map { $0["name"] as? String }.count == 250) }
    }
  }

  @Test("Prefetching a relationship whose members are known reads the missing rows in one statement")
  func prefetchingKnown() throws {
    try withOwners(10, pets: 10) { stack in
      let context = stack.context()
      let people = try context.fetch(FetchRequest("Person"))
      for person in people { #expect(try person.related("pets").count == 10) }
      var request = FetchRequest("Person")
      request.relationshipKeyPathsForPrefetching = ["pets"]
      try stack.expectStatements(2) { _ = try context.fetch(request) }
      try stack.expectStatements(0) { for person in people { _ = names(try person.related("pets")) } }
      // All are loaded: only the fetch's own statement remains.
      try stack.expectStatements(1) { _ = try context.fetch(request) }
    }
  }

  @Test("State kept beside a related object's row lives as long as its owner is held")
  func plainProperties() throws {
    try withOwners(2, pets: 3) { stack in
      let context = stack.context()
      let person = try context.named("Person", "person 0")
      for pet in try person.related("pets") { (pet as? Flagged)?.flag = true }
      func areFlagged() throws -> Bool { try person.related("pets").allSatisfy { ($0 as? Flagged)?.flag == true } }
      #expect(try areFlagged())
      // Saves, fetches, merges and others' changes don't end it.
      person["name"] = "somebody"
      try context.save()
      #expect(try areFlagged())
      let other = stack.context()
      try other.named("Person", "somebody")["nickname"] = "x"
      for pet in try other.fetch(FetchRequest("Pet")) { pet["name"] = "renamed" }
      try other.save()
      context.mergeChanges(from: SavedChanges(updated: Set([person.objectID])))
      #expect(try areFlagged())
      // A member added to iterated members is retained as they are.
      let pet = try #require(try context.make("Pet", ["name": "new", "owner": person]) as? Flagged)
      pet.flag = true
      try context.save()
      #expect(try areFlagged())
    }
  }

  @Test("A rollback restores the same instances that were related")
  func rollback() throws {
    try withOwners(2, pets: 1) { stack in
      let context = ManagedObjectContext(stack.coordinator, classes: ["Person": Flagged.self])
      let people = try context.fetch(FetchRequest("Person", sortedBy: "name"))
      let pet = try #require(try people[0].related("pets").first)
      func owner() -> Flagged? { pet["owner"] as? Flagged }
      owner()?.flag = true
      pet["owner"] = people[1]
      context.rollback()
      #expect(owner()?.flag == true)
      pet["owner"] = people[1]
      try context.save()
      #expect(owner()?.flag == false)
    }
  }
}

/// Tests that count all living objects of a class.
@Suite("Related objects are released", .serialized)
struct RelatedObjectsGoTests {
  private var living: Int { HeldNode.living.withLock { $0 } }

  private func withNodes(_ count: Int, _ body: (ManagedObjectContext) throws -> Void) throws {
    let coordinator = PersistentStoreCoordinator(model: try ManagedObjectModel(HeldNode.model))
    try coordinator.addInMemoryStore()
    let context = ManagedObjectContext(coordinator, classes: HeldNode.classes)
    do {
      var nodes: [HeldNode] = []
      for number in 0..<count { nodes.append(try context.makeNode(number, next: nodes.last)) }
      nodes.first?.next = nodes.last
      try context.save()
    }
    context.reset()
    try body(context)
  }

  /// Iterates both ways through all nodes, so that each retains and is retained.
  private func walk(_ context: ManagedObjectContext) throws {
    for node in try context.nodes() { for other in try node.members("previous") { #expect(other.next === node) } }
  }

  @Test("Objects that only retain each other are released by a reset, a refresh of all, and with their context")
  func cycles() async {
    await #expect(processExitsWith: .success) {
      let tests = RelatedObjectsGoTests()
      try tests.withNodes(50) { context in
        try tests.walk(context)
        try Excess.require(tests.living == 50, "walked: \(tests.living)")
        context.reset()
        try Excess.require(tests.living == 0, "reset: \(tests.living)")
        try tests.walk(context)
        context.refreshAllObjects()
        try Excess.require(tests.living == 0, "refreshed: \(tests.living)")
        try tests.walk(context)
        // Counting the registered objects releases unreachable ones.
        try Excess.require(context.registeredObjects.isEmpty && tests.living == 0, "listed: \(tests.living)")
        try tests.walk(context)
      }
      try Excess.require(tests.living == 0, "gone: \(tests.living)")
    }
  }

  @Test("Objects related in cycles are released during a loop that creates, saves and iterates")
  func loops() async {
    await #expect(processExitsWith: .success) {
      let tests = RelatedObjectsGoTests()
      let coordinator = PersistentStoreCoordinator(model: try ManagedObjectModel(HeldNode.model))
      try coordinator.addInMemoryStore()
      let context = ManagedObjectContext(coordinator, classes: HeldNode.classes)
      let held = try context.makeNode(0)
      var most = 0
      for round in 1...500 {
        do {
          let first = try context.makeNode(round)
          let second = try context.makeNode(-round, next: first)
          first.next = second
          for node in [first, second] { _ = try node.members("previous").map { $0.next?.next } }
          try context.save()
        }
        most = max(most, tests.living)
      }
      try Excess.require(most < 200, "\(most) at once")
      try Excess.require(context.registeredObjects == [held], "left: \(tests.living)")
    }
  }

  @Test("A chain of 20,000 objects that retain each other is released without recursion")
  func chain() async {
    await #expect(processExitsWith: .success) {
      let tests = RelatedObjectsGoTests()
      try tests.withNodes(20_000) { context in
        for isCycle in [false, true] {
          do {
            let nodes = try context.nodes()
            for node in nodes { _ = node.next }
            if isCycle { for node in nodes { _ = try node.members("previous") } }
          }
          context.cycles.collect()
          try Excess.require(tests.living == 0, "\(tests.living)")
        }
      }
    }
  }

  @Test("Deleting, changing and refreshing release related objects")
  func letGo() async {
    await #expect(processExitsWith: .success) {
      let tests = RelatedObjectsGoTests()
      try tests.withNodes(10) { context in
        let node = try context.nodes()[4]
        try Excess.require(node.next?.next != nil && tests.living == 3, "\(tests.living)")
        node.next = try context.makeNode(100)
        try context.save()
        try Excess.require(tests.living == 2, "changed: \(tests.living)")
        if let next = node.next { context.delete(next) }
        try context.save()
        try Excess.require(tests.living == 1 && node.next == nil, "deleted: \(tests.living)")
        _ = try node.members("previous")
        try Excess.require(tests.living == 2, "walked: \(tests.living)")
        context.refresh(node, mergeChanges: false)
        try Excess.require(tests.living == 1, "refreshed: \(tests.living)")
      }
    }
  }

  @Test("An object that no longer retains others is forgotten if it is deleted together with those that retain it")
  func deletedTogether() async {
    await #expect(processExitsWith: .success) {
      let tests = RelatedObjectsGoTests()
      try tests.withNodes(10) { context in
        do {
          let holder = try context.nodes()[5]
          let node = try #require(holder.next)
          try Excess.require(node.next != nil, "no third node")
          node.next = nil
          try context.save()
          for object in [node, holder] { context.delete(object) }
          try context.save()
        }
        try Excess.require(tests.living == 0, "deleted: \(tests.living)")
        // Counting the registered objects examines all that both retain and are retained.
        _ = try context.makeNode(100)
        try Excess.require(context.registeredObjects.count == 1, "registered: \(context.registeredObjects.count)")
      }
    }
  }
}

private struct Excess: Error, CustomStringConvertible {
  let description: String

  static func require(_ condition: Bool, _ excess: String) throws {
    if !condition { throw Excess(description: excess) }
  }
}

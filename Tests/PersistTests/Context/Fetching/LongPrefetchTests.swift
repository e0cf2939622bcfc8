import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore

/// Prefetched members, of few owners and of so many that another thread still reads them when the fetch returns.
@Suite("Prefetching members of many owners")
struct LongPrefetchTests {
  /// Below and above the number from which members are read in groups.
  static let counts = [PrefetchPass.minimumOwnerCount - 1, 3000]

  /// Fetches people with their pets, by number unless another order is given.
  private func people(
    in context: ManagedObjectContext, sortedBy descriptors: [FetchSortDescriptor] = []
  ) throws -> [ManagedObject] {
    var request = FetchRequest("Person", sortedBy: descriptors)
    request.relationshipKeyPathsForPrefetching = ["pets"]
    return try context.fetch(request)
  }

  private func number(of person: ManagedObject) -> Int {
    (person["name"] as? String).flatMap { Int($0.dropFirst("person ".count)) } ?? -1
  }

  @Test("Every owner has its members, in whatever order owners are fetched and visited", arguments: counts)
  func members(_ count: Int) throws {
    try withPeopleAndPets(count) { coordinator in
      for order in [[], [FetchSortDescriptor("name")], [FetchSortDescriptor("name", isAscending: false)]] {
        let context = ManagedObjectContext(coordinator)
        let all = try people(in: context, sortedBy: order)
        #expect(all.count == count)
        var random = SeededRandom(seed: 7)
        let visited = order.count == 1 ? all.shuffled(using: &random) : all
        for person in visited {
          try #expect(person.names("pets") == petNames(ofPerson: number(of: person)))
          try #expect(person.related("pets").allSatisfy { $0.one("owner") === person })
        }
      }
    }
  }

  @Test("Another thread reads most members, in a few statements, if there is another processor")
  func statements() throws {
    try withPeopleAndPets(3000) { coordinator in
      let context = ManagedObjectContext(coordinator)
      let store = try #require(coordinator.openStores.first)
      _ = try context.count(for: FetchRequest("Person"))
      let before = store.statementCount
      let all = try people(in: context)
      let petCount = (0..<3000).reduce(0) { $0 + petNames(ofPerson: $1).count }
      #expect(try all.reduce(0) { try $0 + $1.related("pets").count } == petCount)
      let isExpected = TestEngine.current == .sqlite && StoreThreads.processorCount > 1
      #expect((coordinator.threads.reading.threadCount > 0) == isExpected)
      try waitUntilReleased(store)
      // The people; three groups of pets; four that begin and end the transaction; with a key one that keeps the other
      // connection's temporary content in memory.
      let limit = (isExpected ? 9 : 2) + (TestKey.isUsed ? 1 : 0)
      #expect(store.statementCount - before <= limit, "\(store.statementCount - before)")
    }
  }

  /// Waits until no thread reads a held state of a store.
  private func waitUntilReleased(_ store: any PersistentStore) throws {
    guard let store = store as? SQLiteStore else { return }
    for _ in 0..<5000 where store.pool.heldStates.isHolding { Thread.sleep(forTimeInterval: 0.001) }
    #expect(!store.pool.heldStates.isHolding)
  }

  @Test("Members are those of the fetch, whatever others save before they are visited", arguments: counts)
  func oneState(_ count: Int) throws {
    try withPeopleAndPets(count) { coordinator in
      let other = ManagedObjectContext(coordinator)
      let theirs = try other.fetch(FetchRequest("Person"))
      let context = ManagedObjectContext(coordinator)
      let mine = try people(in: context)
      for number in 0..<count {
        switch number % 3 {
        case 0: try other.make("Pet", ["name": "new", "owner": theirs[number]])
        case 1: for pet in try theirs[number].related("pets") { other.delete(pet) }
        default: for pet in try theirs[number].related("pets") { pet["owner"] = theirs[number - 1] }
        }
      }
      try other.save()
      for (number, person) in mine.enumerated() {
        try #expect(person.related("pets").count == petNames(ofPerson: number).count, "\(number)")
      }
    }
  }

  /// An event between the fetch and the visit of all members.
  private enum Event: CaseIterable { case change, save, rollback, merge, refetch, undo }

  @Test("Changes before members are visited show in them", arguments: counts, Event.allCases)
  private func changes(_ count: Int, _ event: Event) throws {
    try withPeopleAndPets(count) { coordinator in
      let context = ManagedObjectContext(coordinator)
      if event == .undo { context.undoManager = .init() }
      let changing = event == .merge ? ManagedObjectContext(coordinator) : context
      let saves = EventRecorder(changing)
      let mine = try people(in: context)
      let changed = event == .merge ? try changing.fetch(FetchRequest("Person")) : mine
      var expected = (0..<count).map(petNames)
      for number in stride(from: 3, to: count, by: 97) {
        try changing.make("Pet", ["name": "new", "owner": changed[number]])
        expected[number].append("new")
        guard let pet = try changed[number - 1].related("pets").first, let name = pet["name"] as? String
        else { continue }
        expected[number - 1].removeAll { $0 == name }
        if number % 2 == 0 {
          changing.delete(pet)
        } else {
          pet["owner"] = changed[number - 3]
          expected[number - 3].append(name)
        }
      }
      switch event {
      case .change: break
      case .save: try context.save()
      case .rollback: context.rollback()
      case .undo:
        context.processPendingChanges()
        context.undo()
      case .merge:
        try changing.save()
        context.mergeChanges(from: try #require(saves.saves.last?.savedChanges))
      case .refetch: try #expect(people(in: context) == mine)
      }
      if event == .rollback || event == .undo { expected = (0..<count).map(petNames) }
      for (number, person) in mine.enumerated() {
        try #expect(person.names("pets") == expected[number].sorted(), "\(number)")
      }
    }
  }

  @Test("A reading that nobody waits for ends with its owners, and when the context is reset or the store removed")
  func end() throws {
    try withPeopleAndPets(3000) { coordinator in
      let store = try #require(coordinator.openStores.first)
      for round in 0..<20 {
        let context = ManagedObjectContext(coordinator)
        var all = try people(in: context)
        if round % 2 == 0 { try #expect(all[round * 50].names("pets") == petNames(ofPerson: round * 50)) }
        switch round % 4 {
        case 0: all = []
        case 1:
          context.reset()
          try #expect(all.last?.related("pets").isEmpty == true)
        case 2:
          context.refreshAllObjects()
          try #expect(all.last?.names("pets") == petNames(ofPerson: 2999))
        default: break
        }
      }
      try waitUntilReleased(store)
      let context = ManagedObjectContext(coordinator)
      let all = try people(in: context)
      for store in coordinator.persistentStores { try coordinator.remove(store) }
      for person in all { _ = try? person.related("pets").count }
    }
  }

  @Test("Members whose state is given up before they are read are those of the newest state")
  func expired() throws {
    var options = StoreOptions()
    options.queryGenerationLifetime = .milliseconds(1)
    try withPeopleAndPets(3000, options: options) { coordinator in
      let other = ManagedObjectContext(coordinator)
      for round in 0..<10 {
        let context = ManagedObjectContext(coordinator)
        let mine = try people(in: context)
        try other.make("Pet", ["name": "new \(round)", "owner": other.existingObject(with: mine[2999].objectID)])
        try other.save()
        for (number, person) in mine.enumerated() {
          let names = try person.names("pets").filter { !$0.hasPrefix("new") }
          #expect(names == petNames(ofPerson: number), "\(number)")
        }
        let added = try #require(try mine.last?.names("pets").count { $0.hasPrefix("new") })
        #expect(added == round || added == round + 1)
      }
    }
  }
}

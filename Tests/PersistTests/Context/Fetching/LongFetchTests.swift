import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

/// Fetches whose rows are read on another thread while the objects of others are created.
@Suite("Fetches of many rows")
struct LongFetchTests {
  private static let count = 11_000

  private func names(_ objects: [ManagedObject]) -> [String] { objects.map { $0["name"] as? String ?? "" } }

  private func request(_ sort: String? = nil, ascending: Bool = true) -> FetchRequest<ManagedObject> {
    var request = FetchRequest("Person")
    if let sort { request.sortDescriptors = [FetchSortDescriptor(key: sort, ascending: ascending)] }
    return request
  }

  @Test("All rows come in order, sorted or not, with a limit, an offset and a predicate")
  func order() throws {
    try withNumberedPeople(Self.count) { coordinator in
      let all = (0..<Self.count).map(String.init)
      try #expect(names(ManagedObjectContext(coordinator).fetch(request())) == all)
      try #expect(names(ManagedObjectContext(coordinator).fetch(request("name"))) == all.sorted())
      var some = request("name", ascending: false)
      (some.fetchOffset, some.fetchLimit) = (10, 7000)
      try #expect(names(ManagedObjectContext(coordinator).fetch(some)) == Array(all.sorted(by: >)[10..<7010]))
      var young = request()
      young.predicate = try FetchPredicate("salary < 50")
      let expected = (0..<Self.count).filter { $0 % 100 < 50 }.map(String.init)
      try #expect(names(ManagedObjectContext(coordinator).fetch(young)) == expected)
    }
  }

  @Test("Another thread reads on after the first rows, if there is another processor")
  func thread() throws {
    try withNumberedPeople(Self.count) { coordinator in
      try #expect(ManagedObjectContext(coordinator).fetch(request()).count == Self.count)
      let isExpected = TestEngine.current == .sqlite && StoreThreads.processorCount > 1
      #expect((coordinator.threads.reading.threadCount > 0) == isExpected)
    }
  }

  @Test("Rows of registered objects come in parts too, without their values, and all on the calling thread")
  func known() throws {
    try withNumberedPeople(Self.count) { coordinator in
      let entity = try #require(ManagedObjectContext(coordinator).model.entitiesByName["Person"])
      let store = try #require(coordinator.stores(holding: entity).first)
      var parts: [[Int64]] = []
      var unread = 0
      let held = KnownRows { key, _ in key.isMultiple(of: 2) }
      try store.forEachPart(
        of: RowQuery(entity: entity), monitor: nil, held: held, on: coordinator.threads.reading
      ) { rows in
        parts.append(rows.map(\.key))
        unread += rows.filter { $0.snapshot == nil }.count
      }
      let keys = parts.flatMap { $0 }
      #expect(parts.count > (TestEngine.current == .sqlite ? 2 : 0))
      #expect(keys.count == Self.count && keys == keys.sorted() && unread == Self.count / 2)
      #expect(coordinator.threads.reading.threadCount == 0)
    }
  }

  @Test("Registered, changed, new and deleted objects are in their places")
  func overlaid() throws {
    try withNumberedPeople(Self.count) { coordinator in
      let context = ManagedObjectContext(coordinator)
      let first = try context.fetch(request("name")).filter { Int($0["name"] as? String ?? "")! % 1000 == 7 }
      #expect(first.count == 11)
      context.delete(first[0])
      first[1]["name"] = "zzz"
      try context.make("Person", ["name": "aaa"])
      let found = try context.fetch(request("name"))
      #expect(found.count == Self.count && found.last === first[1])
      #expect(names(found) == names(found).sorted() && !found.contains(first[0]))
      #expect(Set(found.map(ObjectIdentifier.init)).isSuperset(of: first[1...].map(ObjectIdentifier.init)))
    }
  }

  @Test("Parts of an answer are from one state of the store, whoever writes meanwhile")
  func oneState() throws {
    try withNumberedPeople(Self.count) { coordinator in
      let writer = ManagedObjectContext(coordinator)
      let entity = try #require(writer.model.entitiesByName["Person"])
      let store = try #require(coordinator.stores(holding: entity).first)
      var salaries: [Int64] = []
      var parts = 0
      let comesInParts = store.readsConcurrently
      let (query, threads) = (RowQuery(entity: entity), coordinator.threads.reading)
      try store.forEachPart(of: query, monitor: nil, held: nil, on: threads) { rows in
        parts += 1
        let slot = try #require(entity.property(named: "salary")).slot
        salaries += rows.compactMap { $0.snapshot?.integer(slot) }
        for person in try writer.fetch(FetchRequest("Person")) { person["salary"] = -1 }
        try writer.save()
      }
      #expect(parts > (comesInParts ? 2 : 0) && salaries.count == Self.count && salaries.allSatisfy { $0 >= 0 })
    }
  }

  @Test("A fetch is answered while all reading threads are busy, and by many threads at once")
  func busyThreads() throws {
    try withNumberedPeople(Self.count) { coordinator in
      let gate = DispatchSemaphore(value: 0)
      for _ in 0..<StoreThreads.readingLanes { coordinator.threads.reading.add { gate.wait() } }
      defer { for _ in 0..<StoreThreads.readingLanes { gate.signal() } }
      let counts = LockProtected<[Int]>([])
      DispatchQueue.concurrentPerform(iterations: 2 * StoreThreads.readingLanes) { _ in
        let count = (try? ManagedObjectContext(coordinator).fetch(FetchRequest("Person")).count) ?? 0
        counts.withLock { $0.append(count) }
      }
      #expect(counts.withLock { $0 } == Array(repeating: Self.count, count: 2 * StoreThreads.readingLanes))
    }
  }

  @Test("A read that is canceled between two parts ends with an error or is complete, and leaves the store readable")
  func cancelled() throws {
    try withNumberedPeople(Self.count) { coordinator in
      let entity = try #require(ManagedObjectContext(coordinator).model.entitiesByName["Person"])
      let store = try #require(coordinator.stores(holding: entity).first)
      let query = RowQuery(entity: entity)
      let monitor = ReadMonitor()
      var rows = 0
      var isCancelled = false
      do {
        try store.forEachPart(of: query, monitor: monitor, held: nil, on: coordinator.threads.reading) { part in
          rows += part.count
          monitor.cancel()
        }
      } catch is CancellationError {
        isCancelled = true
      }
      // The thread that reads ahead may have read everything by then.
      #expect(isCancelled ? rows < Self.count : rows == Self.count)
      #expect(throws: CancellationError.self) {
        try store.forEachPart(of: query, monitor: monitor, held: nil, on: coordinator.threads.reading) { _ in }
      }
      try #expect(store.rows(query).count == Self.count)
    }
  }
}

import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Asynchronous fetching")
struct AsyncFetchTests {
  /// A store with the given number of persons, p0000 onward, whose salaries are their numbers.
  private func withPeople(
    _ count: Int, _ body: (PersistentStoreCoordinator, SQLiteStore) async throws -> Void
  ) async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let model = try ManagedObjectModel(SampleModels.people)
    let store = try SQLiteStore.create(folder.appendingPathComponent("people.sqlite"), model: model)
    defer { try? store.close() }
    let coordinator = PersistentStoreCoordinator(model: model)
    try coordinator.add(store)
    var number = 0
    try ManagedObjectContext(coordinator).execute(
      BatchInsertRequest("Person") { row in
        guard number < count else { return false }
        row["name"] = .string(String(format: "p%04d", number))
        row["salary"] = .integer(Int64(number))
        number += 1
        return true
      })
    try await body(coordinator, store)
  }

  @Test("All of 10,000 objects are returned, and the progress reaches their number (FET-19)")
  func progress() async throws {
    try await withPeople(10_000) { coordinator, _ in
      let context = ManagedObjectContext(coordinator)
      let progress = Progress(totalUnitCount: -1)
      let people = try await context.fetch(FetchRequest("Person", sortedBy: "name"), progress: progress)
      #expect(people.count == 10_000 && people[7]["name"] as? String == "p0007")
      #expect(progress.completedUnitCount == 10_000 && progress.totalUnitCount == 10_000)
    }
  }

  @Test("Objects, identifiers, rows and counts equal those of a blocking fetch, unsaved changes included")
  func results() async throws {
    try await withPeople(50) { coordinator, _ in
      let context = ManagedObjectContext(coordinator)
      let request = try FetchRequest("Person", where: "salary > 45", sortedBy: [.init("name")])
      let first = try context.fetch(request)
      first[0]["salary"] = 1
      context.delete(first[1])
      try context.make("Person", ["name": "z", "salary": 99])
      let objects = try await context.fetch(request, progress: nil)
      #expect(names(objects) == ["p0048", "p0049", "z"])
      let ids = try await context.fetch(request.returning(ManagedObjectID.self), progress: nil)
      let counts = try await context.fetch(request.returning(Int.self), progress: nil)
      let rows = try await context.fetch(request.returning(FetchedRow.self), progress: nil)
      #expect(ids.count == 3 && counts == [3] && rows.count == 4)
    }
  }

  @Test("A count is counted by the store, with and without unsaved changes, and within the limit")
  func count() async throws {
    try await withTemporaryFolder { folder in
      let stack = try TestStack(
        ManagedObjectModel(SampleModels.people), at: folder.appendingPathComponent("store.sqlite"))
      let context = stack.context()
      for salary in 0..<20 { try context.make("Person", ["name": "p", "salary": salary]) }
      try context.save()
      var request = try FetchRequest<Int>("Person", where: "salary >= 5", sortedBy: [.init("salary")])
      let before = (calls: stack.store.calls, counts: stack.store.counts)
      var found = try await context.fetch(request, progress: nil)
      #expect(found == [15])
      #expect(stack.store.calls - before.calls == 1 && stack.store.counts - before.counts == 1)
      let people = try context.fetch(FetchRequest("Person", sortedBy: "salary"))
      people[0]["salary"] = 100
      people[6]["salary"] = 1
      context.delete(people[7])
      for limit in [0, 4, 100] {
        for offset in [0, 3, 50] {
          (request.fetchLimit, request.fetchOffset) = (limit, offset)
          found = try await context.fetch(request, progress: nil)
          #expect(try found == [context.count(for: request)], "\(limit) \(offset)")
        }
      }
      // Roots are computed in memory.
      request = try FetchRequest<Int>("Person", where: "sqrt:(salary) < 3")
      found = try await context.fetch(request, progress: nil)
      #expect(try found == [context.count(for: request)] && found != [0])
      try stack.store.close()
    }
  }

  @Test("A change made while the rows are being read is respected")
  func reentrance() async throws {
    try await withPeople(2000) { coordinator, _ in
      let owner = await ContextOwner(coordinator)
      async let count = owner.fetchCount()
      async let change: Void = owner.insert()
      try await change
      let found = try await count
      #expect(found == 2000 || found == 2001)
      let last = try await owner.fetchCount()
      #expect(last == 2001)
    }
  }

  @Test("Canceling the task or the progress stops the statement; the reader remains usable")
  func cancellation() async throws {
    try await withPeople(20_000) { coordinator, store in
      for cancelsProgress in [false, true] {
        let progress = Progress(totalUnitCount: -1)
        let task = Task {
          let context = ManagedObjectContext(coordinator)
          return try await context.fetch(
            FetchRequest("Person", where: "name MATCHES '(p*)*(0*)*[0-9]*x?'"), progress: progress).count
        }
        if cancelsProgress { progress.cancel() } else { task.cancel() }
        await #expect(throws: CancellationError.self) { try await task.value }
      }
      let context = ManagedObjectContext(coordinator)
      let again = try context.fetch(FetchRequest("Person"))
      #expect(again.count == 20_000)
    }
  }

  @Test("An interrupted read throws, and the same connection can read again")
  func interruption() async throws {
    try await withPeople(20_000) { coordinator, store in
      let monitor = LockProtected<ReadMonitor?>(nil)
      let stopping = ReadMonitor { rows in if rows >= 2000 { monitor.withLock { $0 }?.cancel() } }
      monitor.withLock { $0 = stopping }
      let query = RowQuery(entity: try coordinator.managedObjectModel.entity(named: "Person"))
      #expect(throws: CancellationError.self) { try store.rows(query, monitor: stopping) }
      #expect(throws: CancellationError.self) { try store.rows(query, monitor: stopping) }
      try #expect(store.rows(query, monitor: nil).count == 20_000)
    }
  }

  @Test(
    "A stream yields every result once and retains at most a batch", arguments: [[], [FetchSortDescriptor("name")]])
  func stream(_ order: [FetchSortDescriptor]) async throws {
    try await withPeople(2500) { coordinator, _ in
      let context = ManagedObjectContext(coordinator)
      try context.make("Person", ["name": "unsaved", "salary": 3])
      var request = FetchRequest("Person", sortedBy: order)
      request.fetchBatchSize = 100
      var (sum, count, most) = (0, 0, 0)
      for try await person in context.stream(request) {
        sum += person["salary"] as? Int ?? 0
        count += 1
        if count.isMultiple(of: 50) { most = max(most, context.registeredObjects.count) }
      }
      #expect(count == 2501 && sum == 2499 * 2500 / 2 + 3 && most <= 101)
    }
  }

  @Test(
    "A stream yields every result once, even if the program saves new ones meanwhile, and none that it deletes",
    arguments: [[], [FetchSortDescriptor("name")]])
  func streamWithChanges(_ order: [FetchSortDescriptor]) async throws {
    try await withPeople(3) { coordinator, _ in
      let context = ManagedObjectContext(coordinator)
      let deleted = try context.make("Person", ["name": "q1"])
      try context.make("Person", ["name": "q2"])
      var request = FetchRequest("Person", sortedBy: order)
      request.fetchBatchSize = 1
      var seen: [String] = []
      for try await person in context.stream(request) {
        seen.append(person["name"] as? String ?? "")
        if person["name"] as? String == "p0001" { context.delete(deleted) }
        try context.save()
      }
      #expect(seen == ["p0000", "p0001", "p0002", "q2"])
    }
  }

  @Test("A canceled stream ends")
  func cancelledStream() async throws {
    try await withPeople(2500) { coordinator, _ in
      let task = Task {
        var count = 0
        for try await _ in ManagedObjectContext(coordinator).stream(FetchRequest("Person")) {
          count += 1
          if count == 700 { withUnsafeCurrentTask { $0?.cancel() } }
        }
        return count
      }
      await #expect(throws: CancellationError.self) { try await task.value }
    }
  }
}

/// An actor with a context of its own.
private actor ContextOwner {
  private let context: ManagedObjectContext

  init(_ coordinator: PersistentStoreCoordinator) async { context = ManagedObjectContext(coordinator) }

  func fetchCount() async throws -> Int { try await context.fetch(FetchRequest("Person"), progress: nil).count }

  func insert() throws { try context.create("Person") }
}

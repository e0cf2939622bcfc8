import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Unread sequences")
struct UnreadSequenceTests {
  @MainActor private static func makeContext() throws -> ManagedObjectContext {
    let coordinator = PersistentStoreCoordinator(model: try ManagedObjectModel(SampleModels.people))
    try coordinator.addInMemoryStore()
    return ManagedObjectContext(coordinator)
  }

  /// Posts to NotificationCenter, which another test may have requested, require recording changes too.
  private static func isUnobserved(_ context: ManagedObjectContext) -> Bool { context.tracker?.isIdle != false }

  @Test("A released sequence leaves nothing behind: after the next save, the context records no changes")
  @MainActor
  func neverIterated() async throws {
    let context = try Self.makeContext()
    _ = context.savedChanges
    _ = context.objectsDidChange
    _ = context.willSave
    _ = context.didSave
    try context.make("Person")
    try context.save()
    #expect(Self.isUnobserved(context))
    try context.make("Person")
    try context.save()
    #expect(Self.isUnobserved(context))
  }

  @Test("A task canceled before it begins, or ended, leaves nothing behind") @MainActor
  func cancelled() async throws {
    let context = try Self.makeContext()
    let saves = Task { @MainActor in for await _ in context.savedChanges {} }
    let changes = Task { @MainActor in for await _ in context.objectsDidChange {} }
    let merging = Task { @MainActor in await context.mergeChangesContinuously() }
    for task in [saves, changes, merging] { task.cancel() }
    for task in [saves, changes, merging] { await task.value }
    #expect(!context.automaticallyMergesChangesFromParent)
    try context.make("Person")
    try context.save()
    #expect(Self.isUnobserved(context))

    let running = Task { @MainActor in for await _ in context.savedChanges {} }
    await Task.yield()
    try context.make("Person")
    try context.save()
    #expect(!Self.isUnobserved(context))
    running.cancel()
    await running.value
    try context.make("Person")
    try context.save()
    #expect(Self.isUnobserved(context))
  }

  /// The elements that several tasks received from one sequence.
  @MainActor private final class Received {
    var changes = 0
    var ended = 0
  }

  @MainActor private static func wait(until isDone: () -> Bool) async throws {
    for _ in 0..<2_000 where !isDone() { try await Task.sleep(for: .milliseconds(1)) }
  }

  @Test("Several tasks may await one sequence: none of them is forgotten, and canceling one leaves the others waiting")
  @MainActor
  func severalTasks() async throws {
    let context = try Self.makeContext()
    let changes = context.objectsDidChange
    let received = Received()
    let tasks = (0..<3).map { _ in
      Task { @MainActor in
        for await change in changes { received.changes += change.inserted.count }
        received.ended += 1
      }
    }
    await Task.yield()
    tasks[2].cancel()
    try await Self.wait { received.ended == 1 }
    #expect(received.ended == 1)
    try context.make("Person")
    try await Self.wait { received.changes == 1 }
    #expect(received.changes == 1 && received.ended == 1)
    for task in tasks { task.cancel() }
    try await Self.wait { received.ended == 3 }
    #expect(received.ended == 3)
    withExtendedLifetime(context) {}
  }

  @Test("Changes are reported as before once there is an observer again") @MainActor
  func again() async throws {
    let context = try Self.makeContext()
    _ = context.objectsDidChange
    let first = try context.make("Person")
    try context.save()
    #expect(Self.isUnobserved(context))
    first["name"] = "Ann"
    let changes = context.objectsDidChange
    let second = try context.make("Person")
    var next = changes.makeAsyncIterator()
    let change = await next.next(isolation: #isolation)
    #expect(change?.updated == [first] && change?.inserted == [second])
  }

  @Test("Unread saves are merged, so that a limited number is queued, and none of them is lost") @MainActor
  func joinedSaves() async throws {
    let context = try Self.makeContext()
    let (saves, objects, changes) = (context.savedChanges, context.didSave, context.objectsDidChange)
    var ids: Set<ManagedObjectID> = []
    for _ in 0..<150 {
      let person = try context.make("Person")
      try context.save()
      ids.insert(person.objectID)
    }
    var found: Set<ManagedObjectID> = []
    var count = 0
    var next = saves.makeAsyncIterator()
    while found.count < 150, let changes = await next.next() {
      found.formUnion(changes.insertedObjectIDs)
      count += 1
    }
    #expect(found == ids && count == 100)
    var (saved, told) = (objects.makeAsyncIterator(), changes.makeAsyncIterator())
    var (savedCount, toldCount) = (0, 0)
    for _ in 0..<100 {
      savedCount += await saved.next(isolation: #isolation)?.inserted.count ?? 0
      toldCount += await told.next(isolation: #isolation)?.inserted.count ?? 0
    }
    #expect(savedCount == 150 && toldCount == 150)
  }

  /// Counts how often the memory of merged changes is replaced while saves of new objects are added.
  private static func replacements(
    _ count: Int, _ add: (SavedChanges) -> Void, merged: () -> SavedChanges?
  ) throws -> Int {
    var (replacements, former) = (0, UInt(0))
    for key in 0..<count {
      let id = ManagedObjectID(entityName: "Person", storeIdentifier: "store", key: .permanent(Int64(key)))
      add(SavedChanges(inserted: [id]))
      let ids = try #require(merged()).insertedObjectIDs
      // A set is a reference to the memory of its elements.
      let address = withUnsafeBytes(of: ids) { $0.load(as: UInt.self) }
      if address != former { replacements += 1 }
      former = address
    }
    return replacements
  }

  @Test("Unread saves are merged in place, so that the cost of one doesn't grow with the number of those before it")
  func mergedInPlace() throws {
    let mailbox = SavedChangesMailbox()
    let ofMail = try Self.replacements(3_000, mailbox.post) {
      if case .changes(let changes)? = mailbox.content { changes } else { nil }
    }
    #expect(ofMail < 30)
    let unread = if case .changes(let changes)? = mailbox.take() { changes.count } else { 0 }
    #expect(unread == 3_000)

    let buffer = SavedChangesBuffer()
    for _ in 0..<99 { buffer.enqueue(SavedChanges()) }
    let ofBuffer = try Self.replacements(3_000, buffer.enqueue) { buffer.pending.last }
    #expect(ofBuffer < 30)
    #expect(buffer.pending.count == 100 && buffer.pending.last?.count == 3_000)
  }

  @Test("More than the limit is reported as incomplete; merging it compares everything") @MainActor
  func incomplete() async throws {
    let context = try Self.makeContext()
    let view = ManagedObjectContext(context.persistentStoreCoordinator)
    let ann = try context.make("Person", ["name": "Ann"])
    try context.save()
    let copy = try view.existingObject(with: ann.objectID)
    let controller = FetchedResultsController(
      fetchRequest: FetchRequest<ManagedObject>("Person", sortedBy: "name"), managedObjectContext: view)
    try controller.performFetch()
    let (saves, objects) = (context.savedChanges, context.didSave)
    ann["name"] = "Anna"
    try context.save()
    for _ in 0..<SavedChanges.waitingCapacity { try context.make("Person") }
    try context.save()
    var next = saves.makeAsyncIterator()
    let changes = try #require(await next.next())
    #expect(changes.isIncomplete && changes.count == 0 && !changes.isEmpty)
    var saved = objects.makeAsyncIterator()
    #expect(await saved.next(isolation: #isolation)?.savedChanges.isIncomplete == true)
    view.mergeChanges(from: changes)
    #expect(copy["name"] as? String == "Anna")
    #expect(controller.numberOfObjects == SavedChanges.waitingCapacity + 1)
  }
}

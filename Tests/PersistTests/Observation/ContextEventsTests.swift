import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore

@Suite("Events as sequences")
struct ContextEventsTests {
  @MainActor private static func makeContext() throws -> ManagedObjectContext {
    let coordinator = PersistentStoreCoordinator(model: try ManagedObjectModel(SampleModels.people))
    try coordinator.addInMemoryStore()
    return ManagedObjectContext(coordinator)
  }

  @Test("Events posted before they are requested are queued, in order") @MainActor
  func buffered() async throws {
    let context = try Self.makeContext()
    let (changes, saves) = (context.objectsDidChange, context.didSave)
    let person = try context.make("Person")
    try context.save()
    person["name"] = "Ann"
    var next = changes.makeAsyncIterator()
    #expect(await next.next(isolation: #isolation)?.inserted == [person])
    #expect(await next.next(isolation: #isolation)?.updated == [person])
    var saved = saves.makeAsyncIterator()
    #expect(await saved.next(isolation: #isolation)?.savedChanges.insertedObjectIDs == [person.objectID])
  }

  @Test("A waiting task receives all changes of one synchronous stretch as one event, without explicit processing")
  @MainActor
  func waiting() async throws {
    let context = try Self.makeContext()
    let changes = context.objectsDidChange
    let counts = Task { @MainActor in
      var counts: [Int] = []
      for await change in changes {
        counts.append(change.inserted.count)
        if counts.count == 2 { break }
      }
      return counts
    }
    await Task.yield()
    for _ in 0..<5 { try context.make("Person") }
    // Until the first event was received; then a second stretch begins.
    while context.tracker?.hasPendingChanges == true { await Task.yield() }
    for _ in 0..<3 { try context.make("Person") }
    #expect(await counts.value == [5, 3])
  }

  @Test("A sequence ends when its context is deallocated, and when its task is canceled") @MainActor
  func ends() async throws {
    var context: ManagedObjectContext? = try Self.makeContext()
    let changes = try #require(context?.objectsDidChange)
    let ended = Task { @MainActor in
      for await _ in changes {}
      return true
    }
    await Task.yield()
    context = nil
    #expect(await ended.value)

    let other = try Self.makeContext()
    let endless = other.didSave
    let cancelled = Task { @MainActor in
      for await _ in endless {}
      return true
    }
    await Task.yield()
    cancelled.cancel()
    #expect(await cancelled.value)
  }

  @Test("Saves as identifiers reach another actor, and end with the context")
  func acrossActors() async throws {
    let (stream, coordinator) = try await MainActor.run {
      let context = try Self.makeContext()
      let stream = context.savedChanges
      try context.make("Person")
      try context.save()
      try context.save()
      return (stream, context.persistentStoreCoordinator)
    }
    var inserted: [Int] = []
    for await changes in stream { inserted.append(changes.insertedObjectIDs.count) }
    #expect(inserted == [1, 0])
    withExtendedLifetime(coordinator) {}
  }
}

import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("The changes of one object")
struct ObjectChangesTests {
  @MainActor private static func makeContext() throws -> ManagedObjectContext {
    let coordinator = PersistentStoreCoordinator(model: try ManagedObjectModel(SampleModels.people))
    try coordinator.addInMemoryStore()
    return ManagedObjectContext(coordinator)
  }

  @Test("A stretch of changes is one element, with the names of the changed properties") @MainActor
  func elements() async throws {
    let context = try Self.makeContext()
    let person = try context.make("Person")
    try context.save()
    var changes = context.changes(of: person).makeAsyncIterator()
    person["name"] = "Ann"
    person["name"] = "Bea"
    var change = await changes.next(isolation: MainActor.shared)
    #expect(change == ObjectChange(properties: ["name"], isOfState: true))
    Task { @MainActor in person["salary"] = 5 }
    change = await changes.next(isolation: MainActor.shared)
    #expect(change == ObjectChange(properties: ["salary"], isOfState: false))
    try context.save()
    change = await changes.next(isolation: MainActor.shared)
    #expect(change == ObjectChange(properties: [], isOfState: true))
  }

  @Test("The sequence ends when the object's deletion is saved, or the context is reset or deallocated") @MainActor
  func ends() async throws {
    var context: ManagedObjectContext? = try Self.makeContext()
    let people = try (0..<3).compactMap { _ in try context?.make("Person") }
    try context?.save()
    var sequences = people.compactMap { context?.changes(of: $0).makeAsyncIterator() }
    context?.delete(people[0])
    #expect(await sequences[0].next(isolation: MainActor.shared)?.isOfState == true)
    try context?.save()
    #expect(await sequences[0].next(isolation: MainActor.shared) != nil)
    #expect(await sequences[0].next(isolation: MainActor.shared) == nil)
    context?.reset()
    while await sequences[1].next(isolation: MainActor.shared) != nil {}
    let person = try #require(try context?.make("Person"))
    let changes = try #require(context?.changes(of: person))
    let ended = Task { @MainActor in for await _ in changes {} }
    await Task.yield()
    context = nil
    await ended.value
  }

  @Test("An object of another context produces no changes, and a canceled task ends its sequence") @MainActor
  func others() async throws {
    let (context, other) = (try Self.makeContext(), try Self.makeContext())
    let person = try context.make("Person")
    for await _ in other.changes(of: person) { Issue.record("told of another context's object") }
    let endless = Task { @MainActor in for await _ in context.changes(of: person) {} }
    await Task.yield()
    endless.cancel()
    await endless.value
  }
}

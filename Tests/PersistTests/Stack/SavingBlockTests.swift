import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore

@Suite("Saving in a block")
@MainActor
struct SavingBlockTests {
  private let container: PersistentContainer

  init() throws { container = try PersistentContainer(inMemory: ManagedObjectModel(SampleModels.people)) }

  @Test("Objects inserted, changed and deleted by a block are in the main actor's context when it returns (IMP-11)")
  func asynchronous() async throws {
    let view = container.viewContext
    for name in ["Ann", "Ben"] { try view.make("Person", ["name": name, "salary": 1]) }
    try view.save()
    let (ann, ben) = try (view.named("Person", "Ann"), view.named("Person", "Ben"))
    let id = try await container.save { context in
      try context.named("Person", "Ann")["salary"] = 2
      context.delete(try context.named("Person", "Ben"))
      let new = try context.make("Person", ["name": "Cid"])
      try context.obtainPermanentIDs(for: [new])
      return new.objectID
    }
    #expect(ann["salary"] as? Int == 2 && ben.isDeleted)
    try #expect(view.existingObject(with: id)["name"] as? String == "Cid")
    try #expect(!view.hasChanges && view.names("Person") == ["Ann", "Cid"])
  }

  @Test("An asynchronous block does the same, and one that throws saves nothing")
  func waiting() async throws {
    let view = container.viewContext
    try container.saveAndWait { try $0.make("Person", ["name": "Ann"]) }
    let ann = try view.named("Person", "Ann")
    try container.saveAndWait { context in
      try context.named("Person", "Ann")["salary"] = 5
    }
    #expect(ann["salary"] as? Int == 5)
    await #expect(throws: PersistenceError.self) {
      try await container.save { context in
        try context.make("Person", ["name": "Ben"])
        throw PersistenceError(.invalidRequest, "enough")
      }
    }
    try #expect(view.names("Person") == ["Ann"])
  }

  @Test("What a block saves itself is in the main actor's context even if the block or its last save then fails")
  func ownSavesBeforeErrors() async throws {
    let view = container.viewContext
    try view.make("Person", ["name": "Ann", "salary": 1])
    try view.save()
    let ann = try view.named("Person", "Ann")
    struct Enough: Error {}
    await #expect(throws: Enough.self) {
      try await container.save { context in
        try context.named("Person", "Ann")["salary"] = 2
        try context.save()
        throw Enough()
      }
    }
    #expect(ann["salary"] as? Int == 2)
    #expect(throws: Enough.self) {
      try container.saveAndWait { context in
        try context.named("Person", "Ann")["salary"] = 3
        try context.save()
        throw Enough()
      }
    }
    #expect(ann["salary"] as? Int == 3)
    await #expect(throws: PersistenceError.self) {
      try await container.save(retrying: 1) { context in
        try context.named("Person", "Ann")["salary"] = 4
        try context.save()
        throw PersistenceError(.mergeConflict, "again")
      }
    }
    #expect(ann["salary"] as? Int == 4)
  }

  @Test("A block's context isn't observed, and a view context that is first used meanwhile sees the save")
  func unobserved() async throws {
    let container = container
    try await container.save { context in
      try context.make("Person", ["name": "Ann"])
      #expect(context.isUnobserved)
      try context.save()
      try context.named("Person", "Ann")["salary"] = 3
      #expect(context.isUnobserved)
    }
    let gate = DispatchSemaphore(value: 0)
    let saved = Task {
      try await container.save { context in
        try context.named("Person", "Ann")["salary"] = 4
        gate.wait()
      }
    }
    let ann = try container.viewContext.named("Person", "Ann")
    let before = ann["salary"] as? Int
    gate.signal()
    try await saved.value
    #expect(before == 3 && ann["salary"] as? Int == 4)
  }
}

extension ManagedObjectContext {
  /// Whether nothing in this context waits for its events. Observers of notifications, which other tests may have, make
  /// every context of the process track its changes.
  fileprivate var isUnobserved: Bool { tracker?.isIdle ?? true }
}

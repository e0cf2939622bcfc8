import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistModel

@Suite("Metadata of stores")
struct StoreMetadataTests {
  private let people: ManagedObjectModel

  init() throws { people = try ManagedObjectModel(SampleModels.people) }

  @Test("The types of stores that can be added are listed (CRD-01)")
  func types() {
    #expect(PersistentStoreCoordinator.registeredStoreTypes == [.sqlite, .inMemory, .postgreSQL])
  }

  @Test("A store reports its type, and can be found by its URL (CRD-02)")
  func typeAndURL() throws {
    try withTemporaryStore { url in
      let coordinator = PersistentStoreCoordinator(model: people)
      let store = try coordinator.addStore(at: url)
      if url.isFileURL { #expect(FileManager.default.fileExists(atPath: url.path)) }
      #expect(store.type == .ofTests && coordinator.store(at: url) == store)
      try #expect(coordinator.metadata(of: store).type == StoreType.ofTests.rawValue)
    }
  }

  @Test("Metadata set on an open store reach the file with the next save, not before (CRD-04)")
  func nextSave() throws {
    try withTemporaryStore { url in
      let coordinator = PersistentStoreCoordinator(model: people)
      let store = try coordinator.addStore(at: url)
      let context = ManagedObjectContext(coordinator)
      try context.make("Person", ["name": "Alice"])
      try set("first", coordinator, store)
      try #expect(PersistentStoreCoordinator.metadata(at: url).values["author"] == nil)
      try #expect(coordinator.metadata(of: store).values["author"] == .string("first"))
      try context.save()
      try #expect(PersistentStoreCoordinator.metadata(at: url).values["author"] == .string("first"))
      let second = PersistentStoreCoordinator(model: people)
      try #expect(second.metadata(of: second.addStore(at: url)).values["author"] == .string("first"))
    }
  }

  @Test("A save without changes writes metadata that were set, and a failing save doesn't")
  func saveWithoutChanges() throws {
    try withTemporaryStore { url in
      let coordinator = PersistentStoreCoordinator(model: try ManagedObjectModel(SampleModels.staff))
      let store = try coordinator.addStore(at: url)
      let context = ManagedObjectContext(coordinator)
      try set("first", coordinator, store)
      let invalid = try context.make("Employee")
      #expect(throws: PersistenceError.self) { try context.save() }
      try #expect(PersistentStoreCoordinator.metadata(at: url).values["author"] == nil)
      context.delete(invalid)
      try context.save()
      try #expect(PersistentStoreCoordinator.metadata(at: url).values["author"] == .string("first"))
    }
  }

  @Test("Metadata that were set but not saved are discarded with the stack")
  func unsaved() throws {
    try withTemporaryStore { url in
      let coordinator = PersistentStoreCoordinator(model: people)
      let store = try coordinator.addStore(at: url)
      try set("first", coordinator, store)
      try coordinator.remove(store)
      try #expect(PersistentStoreCoordinator.metadata(at: url).values["author"] == nil)
    }
  }

  @Test(
    "Metadata that were set but not saved go along with a store that is moved", .aboutFiles("files that are moved"),
    arguments: [false, true])
  func moved(throughMemory: Bool) throws {
    try withTemporaryStore { url in
      let coordinator = PersistentStoreCoordinator(model: people)
      var store = try coordinator.addStore(at: url)
      let other = otherStore("Other", beside: url)
      try set("first", coordinator, store)
      if throughMemory {
        store = try coordinator.migratePersistentStore(store, to: nil)
        try #expect(coordinator.metadata(of: store).values["author"] == .string("first"))
        try set("second", coordinator, store)
      }
      store = try coordinator.migratePersistentStore(store, to: other)
      let author = PropertyList.string(throughMemory ? "second" : "first")
      try #expect(coordinator.metadata(of: store).values["author"] == author)
      try #expect(PersistentStoreCoordinator.metadata(at: url).identifier != store.identifier)
      try coordinator.remove(store)
      try #expect(PersistentStoreCoordinator.metadata(at: other).values["author"] == author)
      try #expect(PersistentStoreCoordinator.metadata(at: url).values["author"] == nil)
    }
  }

  @Test("Metadata set by file URL are written immediately; a stack sees them after adding the store again (CRD-05)")
  func byURL() throws {
    try withTemporaryStore { url in
      let coordinator = PersistentStoreCoordinator(model: people)
      let store = try coordinator.addStore(at: url)
      var metadata = try PersistentStoreCoordinator.metadata(at: url)
      metadata.values["author"] = .string("other")
      try PersistentStoreCoordinator.setMetadata(metadata, at: url)
      try #expect(PersistentStoreCoordinator.metadata(at: url).values["author"] == .string("other"))
      try coordinator.remove(store)
      let again = try coordinator.addStore(at: url)
      try #expect(coordinator.metadata(of: again).values["author"] == .string("other"))
      #expect(again.identifier == store.identifier)
    }
  }

  @Test("Metadata that identify the model can't be overwritten")
  func ownKeys() throws {
    try withTemporaryStore { url in
      let coordinator = PersistentStoreCoordinator(model: people)
      let store = try coordinator.addStore(at: url)
      let bare = StoreMetadata(identifier: store.identifier, values: ["author": .string("x")])
      try coordinator.setMetadata(bare, of: store)
      try ManagedObjectContext(coordinator).save()
      try PersistentStoreCoordinator.setMetadata(bare, at: url)
      try coordinator.remove(store)
      try coordinator.addStore(at: url)
      let read = try PersistentStoreCoordinator.metadata(at: url)
      #expect(read.versionHashes.keys.sorted() == ["Person"] && read.type == StoreType.ofTests.rawValue)
      #expect(read.values["author"] == .string("x"))
    }
  }

  @Test("An open store keeps its identifier, and a read-only store its metadata")
  func refusals() throws {
    try withTemporaryStore { url in
      let coordinator = PersistentStoreCoordinator(model: people)
      let store = try coordinator.addStore(at: url)
      let other = StoreMetadata(identifier: "other", values: [:])
      #expect(persistError { try coordinator.setMetadata(other, of: store) }?.code == .invalidRequest)
      try coordinator.remove(store)
      let reader = try coordinator.addStore(at: url, options: StoreOptions(isReadOnly: true))
      let metadata = try coordinator.metadata(of: reader)
      #expect(persistError { try coordinator.setMetadata(metadata, of: reader) }?.code == .storeReadOnly)
    }
  }

  private func set(_ author: String, _ coordinator: PersistentStoreCoordinator, _ store: StoreInfo) throws {
    var metadata = try coordinator.metadata(of: store)
    metadata.values["author"] = .string(author)
    try coordinator.setMetadata(metadata, of: store)
  }
}

import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Coordinator")
struct CoordinatorTests {
  private let people: ManagedObjectModel
  private let richer: ManagedObjectModel

  init() throws {
    people = try ManagedObjectModel(SampleModels.people)
    var description = SampleModels.people
    description.entities[0].attributes.append(AttributeDescription("title", .string))
    richer = try ManagedObjectModel(description)
  }

  @Test("Adding a store creates its file, and removing it closes it")
  func adding() throws {
    try withTemporaryStore { url in
      let coordinator = PersistentStoreCoordinator(model: people)
      let store = try coordinator.addStore(at: url)
      #expect(store.type == .ofTests && store.url == url && coordinator.store(at: url) == store)
      let memory = try coordinator.addInMemoryStore()
      #expect(memory.type == "InMemory" && coordinator.persistentStores == [store, memory])
      #expect(persistError { try coordinator.addStore(at: url) }?.code == .storeOpenFailed)
      try coordinator.remove(store)
      #expect(coordinator.persistentStores == [memory])
      #expect(persistError { try coordinator.remove(store) }?.code == .invalidRequest)
      try coordinator.addStore(at: url)
      #expect(coordinator.persistentStores.map(\.identifier) == [memory.identifier, store.identifier])
    }
  }

  @Test("A copy of an open store isn't opened with it: its objects would have the same identifiers")
  func copies() throws {
    try withTemporaryFolder { folder in
      let first = folder.appendingPathComponent("a.sqlite")
      let second = folder.appendingPathComponent("b.sqlite")
      let coordinator = PersistentStoreCoordinator(model: people)
      let store = try coordinator.addStore(at: first)
      try coordinator.remove(store)
      try FileManager.default.copyItem(at: first, to: second)
      try coordinator.addStore(at: first)
      #expect(persistError { try coordinator.addStore(at: second) }?.code == .storeOpenFailed)
    }
  }

  @Test("A missing store isn't created if the options say so")
  func missing() throws {
    try withTemporaryStore { url in
      let coordinator = PersistentStoreCoordinator(model: people)
      for options in [StoreOptions(createsIfMissing: false), StoreOptions(isReadOnly: true)] {
        #expect(persistError { try coordinator.addStore(at: url, options: options) }?.code == .fileAccess)
      }
      let location = StoreLocation(url)
      try #expect(location.engine.canCreateStore(at: location))
      let wrong = StoreOptions(configuration: "none")
      #expect(persistError { try coordinator.addStore(at: url, options: wrong) }?.code == .modelNotFound)
    }
  }

  @Test("A store of another model is refused with 134100 and all differences in words, and stays unchanged")
  func incompatible() throws {
    try withTemporaryStore { url in
      try PersistentStoreCoordinator(model: people).addStoreAndClose(at: url)
      let before = try StoreSnapshot(url)
      let error = try #require(
        persistError { try PersistentStoreCoordinator(model: richer).addStore(at: url) })
      #expect(error.code == .incompatibleModel && error.code.rawValue == 134100)
      #expect(error.errors.contains { $0.message.contains("title") || $0.message.contains("Person") }, "\(error)")
      #expect(error.fix?.contains("automaticMigration") == true)
      try #expect(StoreSnapshot(url) == before)
    }
  }

  @Test("The text of an error for users shows the first of many differences once, and the number of the others")
  func manyDifferences() throws {
    let names = (100..<400).map { "Entity\($0)" }
    try withTemporaryStore { url in
      try PersistentStoreCoordinator(model: people).addStoreAndClose(at: url)
      let other = try ManagedObjectModel(ModelDescription(entities: names.map { EntityDescription($0) }))
      let error = try #require(persistError { try PersistentStoreCoordinator(model: other).addStore(at: url) })
      #expect(names.allSatisfy { name in error.errors.contains { $0.message.contains(name) } })
      let text = error.localizedDescription
      #expect(text.utf8.count < 10_000 && text.contains(" more."))
      #expect(text.components(separatedBy: "The model has 'Entity100'").count == 2, "\(text)")
    }
  }

  @Test("A store that differs only in what isn't stored opens without a migration")
  func compatible() throws {
    var description = SampleModels.people
    description.entities[0].attributes[0].defaultValue = .string("nobody")
    description.entities[0].className = "Human"
    let other = try ManagedObjectModel(description)
    try withTemporaryStore { url in
      try PersistentStoreCoordinator(model: people).addStoreAndClose(at: url)
      let coordinator = PersistentStoreCoordinator(model: other)
      try coordinator.addStore(at: url)
      let context = ManagedObjectContext(coordinator)
      #expect(try context.make("Person")["name"] as? String == "nobody")
    }
  }

  @Test("With a migrator, a store of another model is passed to it, and then opened")
  func migrator() throws {
    /// Creates the store anew instead of migrating it.
    final class Replacing: StoreMigrator {
      let calls = LockProtected(0)
      func migrateStore(
        at url: URL, to model: ManagedObjectModel, registry: ModelRegistry?, options: StoreOptions
      ) throws {
        calls.withLock { $0 += 1 }
        let location = StoreLocation(url)
        try location.engine.destroyStore(at: location)
        try createStore(at: url, model: model).close()
      }
    }
    try withTemporaryStore { url in
      try PersistentStoreCoordinator(model: people).addStoreAndClose(at: url)
      let migrator = Replacing()
      let coordinator = PersistentStoreCoordinator(model: richer)
      let readOnly = StoreOptions(isReadOnly: true, migrator: migrator)
      #expect(persistError { try coordinator.addStore(at: url, options: readOnly) }?.code == .storeReadOnly)
      try coordinator.addStore(at: url, options: StoreOptions(migrator: migrator))
      #expect(migrator.calls.withLock { $0 } == 1)
      try ManagedObjectContext(coordinator).make("Person", ["title": "Dr"])
    }
  }

  @Test("Destroying a store deletes everything that belongs to it, and nothing else")
  func destroying() throws {
    try withTemporaryFolder { folder in
      let url = folder.appendingPathComponent("Store.sqlite")
      let coordinator = PersistentStoreCoordinator(model: try ManagedObjectModel(SampleModels.types))
      try coordinator.addStore(at: url)
      let context = ManagedObjectContext(coordinator)
      try context.make("Sample", ["external": Data(repeating: 1, count: 500_000)])
      try context.save()
      let neighbour = folder.appendingPathComponent("Store.txt")
      try Data("kept".utf8).write(to: neighbour)
      #expect(try FolderSnapshot(folder).paths.count > 2)
      try coordinator.destroyPersistentStore(at: url)
      #expect(try FolderSnapshot(folder).paths == ["Store.txt"] && coordinator.persistentStores.isEmpty)
      try coordinator.destroyPersistentStore(at: url)
      // The name of an unfinished copy of a store.
      let other = folder.appendingPathComponent("Store.txt.partial-\(UUID().uuidString)", isDirectory: true)
      try FileManager.default.createDirectory(at: other, withIntermediateDirectories: false)
      try Data("kept".utf8).write(to: other.appendingPathComponent("Store.txt"))
      let before = try FolderSnapshot(folder)
      #expect(persistError { try coordinator.destroyPersistentStore(at: neighbour) }?.code == .notAStore)
      try #expect(FolderSnapshot(folder) == before)
    }
  }

  @Test("A file that isn't a store is refused and stays unchanged")
  func notStores() throws {
    try withTemporaryFolder { folder in
      let coordinator = PersistentStoreCoordinator(model: people)
      let text = folder.appendingPathComponent("text.sqlite")
      try Data(repeating: 65, count: 10_000).write(to: text)
      let before = try FolderSnapshot(folder)
      #expect(persistError { try coordinator.addStore(at: text) } != nil)
      #expect(persistError { try coordinator.addStore(at: folder) } != nil)
      #expect(persistError { _ = try PersistentStoreCoordinator.metadata(at: text) } != nil)
      try #expect(FolderSnapshot(folder) == before && coordinator.persistentStores.isEmpty)
    }
  }

  @Test("A removed store's objects keep the values they read; saving and further reads are errors, not crashes")
  func removedStore() throws {
    try withTemporaryStore { url in
      let coordinator = PersistentStoreCoordinator(model: people)
      let store = try coordinator.addStore(at: url)
      let context = ManagedObjectContext(coordinator)
      let ann = try context.make("Person", ["name": "Ann"])
      try context.make("Person", ["name": "Bob"])
      try context.save()
      let other = ManagedObjectContext(coordinator)
      var request = FetchRequest("Person", sortedBy: "name")
      request.includesPropertyValues = false
      request.sortDescriptors = []
      let faults = try other.fetch(request)
      try coordinator.remove(store)
      #expect(ann["name"] as? String == "Ann" && faults[0]["name"] == nil)
      #expect(persistError { _ = try other.fetch(request) } != nil)
      ann["name"] = "Bea"
      #expect(persistError { try context.save() } != nil)
      #expect(ann["name"] as? String == "Bea" && context.hasChanges)
    }
  }
}

extension PersistentStoreCoordinator {
  func addStoreAndClose(at url: URL) throws { try remove(addStore(at: url)) }
}

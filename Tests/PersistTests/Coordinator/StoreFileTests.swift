import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel
@testable import PersistTools

@Suite("Moving, replacing and backing up stores")
struct StoreFileTests {
  private let model: ManagedObjectModel

  init() throws {
    model = try ManagedObjectModel(
      ModelDescription(entities: [
        EntityDescription(
          "Person",
          attributes: [
            AttributeDescription("name", .string), AttributeDescription("photo", .binary, allowsExternalStorage: true),
          ],
          relationships: [
            RelationshipDescription("pets", toMany: "Pet", inverse: "owner", isOrdered: true),
            RelationshipDescription("friends", toMany: "Person", inverse: "friends"),
          ]),
        EntityDescription(
          "Pet", attributes: [AttributeDescription("name", .string)],
          relationships: [RelationshipDescription("owner", to: "Person", inverse: "pets")]),
      ]))
  }

  private let photo = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })

  /// Ann with two pets, a photo in a file and a friend.
  private func fill(_ coordinator: PersistentStoreCoordinator) throws {
    let context = ManagedObjectContext(coordinator)
    let ann = try context.make("Person", ["name": "Ann", "photo": photo])
    let ben = try context.make("Person", ["name": "Ben"])
    try ann.many("friends").insert(ben)
    for name in ["Rex", "Ada"] { try ann.many("pets").insert(context.make("Pet", ["name": name])) }
    try context.save()
  }

  private func expectFilled(_ coordinator: PersistentStoreCoordinator) throws {
    let context = ManagedObjectContext(coordinator)
    let ann = try context.named("Person", "Ann")
    try #expect(ann.names("pets") == ["Rex", "Ada"] && ann.names("friends") == ["Ben"])
    #expect(ann["photo"] as? Data == photo)
    try #expect(context.count(for: FetchRequest("Person")) == 2)
  }

  private func open(_ url: URL, options: StoreOptions = StoreOptions()) throws -> PersistentStoreCoordinator {
    let coordinator = PersistentStoreCoordinator(model: model)
    try coordinator.addStore(at: url, options: options)
    return coordinator
  }

  /// Checks that a store passes its own check.
  private func expectWhole(_ url: URL) throws {
    try checkStore(at: url) { Issue.record(Comment(rawValue: $0.detail)) }
  }

  private func externalFiles(_ url: URL) -> [String] { ExternalDataFolder(storeAt: url).names() }

  @Test("A store moves to another file with relationships, large values and metadata, and is assigned an identifier")
  func moveToFile() throws {
    try withTemporaryFolder { folder in
      let (first, second) = (folder.appendingPathComponent("a.sqlite"), folder.appendingPathComponent("b.sqlite"))
      let coordinator = try open(first)
      try fill(coordinator)
      let old = coordinator.persistentStores[0]
      var metadata = try coordinator.metadata(of: old)
      metadata.values["author"] = .string("tester")
      try coordinator.setMetadata(metadata, of: old)
      try ManagedObjectContext(coordinator).save()
      let id = try ManagedObjectContext(coordinator).named("Person", "Ann").objectID

      let new = try coordinator.migratePersistentStore(old, to: second)
      #expect(coordinator.persistentStores == [new] && new.url == second && new.identifier != old.identifier)
      try expectFilled(coordinator)
      try #expect(coordinator.metadata(of: new).values["author"] == .string("tester"))
      #expect(coordinator.managedObjectID(forURIRepresentation: id.uriRepresentation()) == nil)
      let moved = try ManagedObjectContext(coordinator).named("Person", "Ann").objectID
      #expect(moved.primaryKey == id.primaryKey && moved != id)

      try expectFilled(open(first))
      #expect(externalFiles(first).count == (TestKey.isUsed ? 0 : 1) && externalFiles(first) == externalFiles(second))
      try coordinator.destroyPersistentStore(at: first)
      #expect(externalFiles(first).isEmpty)
      try coordinator.remove(new)
      try expectFilled(open(second))
      try expectWhole(second)
    }
  }

  @Test("A store moves from a file into memory and back")
  func moveThroughMemory() throws {
    try withTemporaryFolder { folder in
      let (first, second) = (folder.appendingPathComponent("a.sqlite"), folder.appendingPathComponent("b.sqlite"))
      let coordinator = try open(first)
      try fill(coordinator)
      let memory = try coordinator.migratePersistentStore(coordinator.persistentStores[0], to: nil)
      #expect(memory.type == .inMemory && memory.url == nil)
      try coordinator.destroyPersistentStore(at: first)
      try expectFilled(coordinator)
      let context = ManagedObjectContext(coordinator)
      try context.make("Pet", ["name": "Tom"])
      try context.save()
      let file = try coordinator.migratePersistentStore(memory, to: second)
      #expect(file.type == .sqlite)
      try coordinator.remove(file)
      let again = try open(second)
      try expectFilled(again)
      try #expect(ManagedObjectContext(again).names("Pet").contains("Tom"))
      try #expect(PersistentStoreCoordinator.metadata(at: second).type == "SQLite")
    }
  }

  @Test("If moving fails, the coordinator still has the old store")
  func moveRefused() throws {
    try withTemporaryFolder { folder in
      let (first, second) = (folder.appendingPathComponent("a.sqlite"), folder.appendingPathComponent("b.sqlite"))
      try Data("here".utf8).write(to: second)
      let coordinator = try open(first)
      try fill(coordinator)
      let store = coordinator.persistentStores[0]
      #expect(persistError { try coordinator.migratePersistentStore(store, to: second) }?.code == .fileAccess)
      try #expect(String(contentsOf: second, encoding: .utf8) == "here")
      try fill(coordinator)
      try #expect(ManagedObjectContext(coordinator).count(for: FetchRequest("Person")) == 4)
    }
  }

  @Test("A backup of a store in use is a complete store, and restores its contents")
  func backup() throws {
    try withTemporaryFolder { folder in
      let (url, copy) = (folder.appendingPathComponent("a.sqlite"), folder.appendingPathComponent("copy.sqlite"))
      let coordinator = try open(url)
      try fill(coordinator)
      let store = coordinator.persistentStores[0]
      try coordinator.backUp(store, to: copy)
      #expect(persistError { try coordinator.backUp(store, to: copy) }?.code == .fileAccess)
      let context = ManagedObjectContext(coordinator)
      for person in try context.findAll("Person") { context.delete(person) }
      try context.make("Person", ["name": "Zoe", "photo": photo])
      try context.save()

      #expect(
        persistError { try coordinator.replacePersistentStore(at: url, withPersistentStoreFrom: copy) }?.code
          == .invalidRequest)
      try coordinator.remove(store)
      try coordinator.replacePersistentStore(at: url, withPersistentStoreFrom: copy)
      let restored = try coordinator.addStore(at: url)
      #expect(restored.identifier == store.identifier)
      try expectFilled(coordinator)
      #expect(externalFiles(url) == externalFiles(copy))
      try expectWhole(url)
    }
  }

  @Test("A backup continues while others save, and the copy shows a single state")
  func backupUnderLoad() throws {
    try withTemporaryFolder { folder in
      let coordinator = try open(folder.appendingPathComponent("a.sqlite"))
      let store = coordinator.persistentStores[0]
      DispatchQueue.concurrentPerform(iterations: 2) { worker in
        if worker == 0 {
          let context = ManagedObjectContext(coordinator)
          for _ in 0..<40 {
            // Two at a time: a copy with an odd number would show an intermediate state.
            _ = try? (context.make("Person"), context.make("Person"))
            try? context.save()
          }
        } else {
          for index in 0..<5 {
            do {
              let copy = folder.appendingPathComponent("copy\(index).sqlite")
              try coordinator.backUp(store, to: copy)
              let count = try ManagedObjectContext(open(copy)).count(for: FetchRequest("Person"))
              #expect(count % 2 == 0)
            } catch {
              Issue.record(error)
            }
          }
        }
      }
      try #expect(ManagedObjectContext(coordinator).count(for: FetchRequest("Person")) == 80)
    }
  }

  @Test("A program that has a replaced store open notices it at the next fetch")
  func replaceOpen() throws {
    try withTemporaryFolder { folder in
      let (url, other) = (folder.appendingPathComponent("a.sqlite"), folder.appendingPathComponent("b.sqlite"))
      let reader = try open(url)
      let context = ManagedObjectContext(reader)
      try context.make("Person", ["name": "Old"])
      try context.save()
      try fill(open(other))
      try PersistentStoreCoordinator(model: model).replacePersistentStore(at: url, withPersistentStoreFrom: other)
      #expect(persistError { _ = try ManagedObjectContext(reader).names("Person") }?.code == .storeExchanged)
      try #expect(ManagedObjectContext(open(url)).names("Person") == ["Ann", "Ben"])
    }
  }

  @Test("Replacing a missing store creates one; replacing with a file that isn't a store changes nothing")
  func replaceNothing() throws {
    try withTemporaryFolder { folder in
      let (url, other) = (folder.appendingPathComponent("a.sqlite"), folder.appendingPathComponent("b.sqlite"))
      try fill(open(other))
      let coordinator = PersistentStoreCoordinator(model: model)
      try coordinator.replacePersistentStore(at: url, withPersistentStoreFrom: other)
      try expectFilled(open(url))
      let text = folder.appendingPathComponent("text")
      try Data(repeating: 65, count: 5000).write(to: text)
      #expect(
        persistError { try coordinator.replacePersistentStore(at: url, withPersistentStoreFrom: text) } != nil)
      try expectFilled(open(url))
    }
  }

  /// Not every file system shows what happens to an empty folder: many report a size for it.
  @Test("A folder isn't replaced by a store", arguments: [false, true])
  func replaceFolder(isEmpty: Bool) throws {
    try withTemporaryFolder { folder in
      let (url, other) = (folder.appendingPathComponent("a.sqlite"), folder.appendingPathComponent("b.sqlite"))
      try fill(open(other))
      try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
      if !isEmpty { try Data("kept".utf8).write(to: url.appendingPathComponent("notes.txt")) }
      let error = persistError {
        try PersistentStoreCoordinator(model: model).replacePersistentStore(at: url, withPersistentStoreFrom: other)
      }
      #expect(error?.code == .storeOpenFailed)
      #expect(error?.message.contains("is a folder") == true, "\(String(describing: error))")
      try #expect(FileManager.default.contentsOfDirectory(atPath: url.path) == (isEmpty ? [] : ["notes.txt"]))
    }
  }

  @Test("Stores of real programs can be replaced and backed up too", .needsSharedData)
  func realStores() throws {
    try withCopy(ofStore: "bookmarks/Bookmarks_V4.sqlite") { url in
      let copy = url.deletingLastPathComponent().appendingPathComponent("copy.sqlite")
      try StoreBackup.copy(storeAt: url, to: copy)
      let (first, second) = try (rowCounts(url), rowCounts(copy))
      #expect(first == second && first.contains { $0 > 0 })
    }
  }

  private func rowCounts(_ url: URL) throws -> [Int] {
    let contents = try StoreContents(readingStoreAt: url, registry: nil)
    return try contents.model.entities.map { try contents.count(of: $0) }
  }

  @Test("Results and objects of a store that was removed remain after a reset, without values")
  func removedAndReset() throws {
    try withTemporaryStore { url in
      let coordinator = try open(url)
      let context = ManagedObjectContext(coordinator)
      try fill(coordinator)
      let results = try context.fetchBatched(FetchRequest<ManagedObject>("Person", sortedBy: "name"))
      let ben = try context.named("Person", "Ben")
      try coordinator.remove(#require(coordinator.persistentStores.first))
      context.reset()
      #expect(results.count == 2 && results[0].objectID == results.objectIDs[0])
      for person in [results[0], results[1], ben] { #expect(person["name"] == nil) }
      #expect(persistError { try context.save() } != nil)
    }
  }

  @Test("Contexts find the rows of a store that was removed and added again", arguments: [true, false])
  func addedAgain(isReset: Bool) throws {
    try withTemporaryStore { url in
      let coordinator = try open(url)
      let context = ManagedObjectContext(coordinator)
      try fill(coordinator)
      let id = try context.named("Person", "Ann").objectID
      try coordinator.remove(#require(coordinator.persistentStores.first))
      try coordinator.addStore(at: url)
      if isReset { context.reset() }
      let ann = try context.existingObject(with: id)
      #expect(ann["name"] as? String == "Ann")
      try #expect(ann === context.named("Person", "Ann"))
      try #expect(ann.names("friends") == ["Ben"])
      ann["name"] = "Anna"
      try context.save()
      try #expect(ManagedObjectContext(coordinator).names("Person") == ["Anna", "Ben"])
    }
  }

  @Test("A reset releases the tables of stores that were removed and added again, unless results use them")
  func releasedTables() throws {
    try withTemporaryStore { url in
      let coordinator = try open(url)
      try fill(coordinator)
      let context = ManagedObjectContext(coordinator)
      func addAgain() throws {
        try coordinator.remove(#require(coordinator.persistentStores.first))
        try coordinator.addStore(at: url)
        try #expect(context.named("Person", "Ann").names("friends") == ["Ben"])
        context.reset()
      }
      _ = try context.named("Person", "Ann")
      for _ in 0..<3 {
        try addAgain()
        #expect(context.graph.tables.stores.count == 1)
      }
      let request = FetchRequest<ManagedObject>("Person", sortedBy: "name")
      var results: BatchedResults<ManagedObject>? = try context.fetchBatched(request)
      try addAgain()
      #expect(context.graph.tables.stores.count == 2)
      let names = results?.map { $0["name"] as? String }
      #expect(names == ["Ann", "Ben"])
      results = nil
      context.reset()
      #expect(context.graph.tables.stores.count == 1)
    }
  }
}

import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel
@testable import PersistTools

/// Stores in one folder whose names differ only in the extension have the same folder of large values.
@Suite("Large values in folders that stores share", .aboutFilesOfLargeValues)
struct SharedLargeValuesTests {
  private let model: ManagedObjectModel

  init() throws {
    model = try ManagedObjectModel(
      ModelDescription(entities: [
        EntityDescription(
          "Item",
          attributes: [
            AttributeDescription("name", .string), AttributeDescription("photo", .binary, allowsExternalStorage: true),
          ])
      ]))
  }

  private static func photo(_ number: UInt8) -> Data { Data(repeating: number, count: 300_000) }

  private func open(_ url: URL) throws -> PersistentStoreCoordinator {
    let coordinator = PersistentStoreCoordinator(model: model)
    try coordinator.addStore(at: url)
    return coordinator
  }

  private func close(_ coordinator: PersistentStoreCoordinator) throws {
    for store in coordinator.persistentStores { try coordinator.remove(store) }
  }

  /// Creates a store with one item, and closes it.
  private func make(_ url: URL, photo: UInt8 = 1) throws {
    let coordinator = try open(url)
    try save(coordinator, photo: photo)
    try close(coordinator)
  }

  /// Saves a photo in the only item.
  private func save(_ coordinator: PersistentStoreCoordinator, photo: UInt8) throws {
    let context = ManagedObjectContext(coordinator)
    let item = try context.fetch(FetchRequest("Item")).first ?? context.make("Item")
    item["photo"] = Self.photo(photo)
    try context.save()
  }

  private func expectPhoto(_ number: UInt8, at url: URL) throws {
    let coordinator = try open(url)
    let context = ManagedObjectContext(coordinator)
    let item = try #require(context.fetch(FetchRequest("Item")).first)
    #expect(item["photo"] as? Data == Self.photo(number))
    try close(coordinator)
    try StoreCheck.check(storeAt: url) { problem in
      // Values that a store no longer names stay in a shared folder until they are swept.
      if problem.kind != .orphanFile { Issue.record(Comment(rawValue: problem.detail)) }
    }
  }

  private func withPair(_ name: String, _ body: (_ store: URL, _ other: URL) throws -> Void) throws {
    try withTemporaryFolder { folder in
      try body(folder.appendingPathComponent("Store.sqlite"), folder.appendingPathComponent(name))
    }
  }

  static let names = ["Store.bak", "Store.sqlite.bak", "Store"]

  @Test("A failed migration deletes its backup, but no value of the store", arguments: names)
  func failedMigration(name: String) throws {
    struct Refusal: Error {}
    try withPair(name) { store, backup in
      try make(store)
      #expect(throws: Refusal.self) {
        try BackedUpMigration(store: store, backup: .kept(at: backup)).run { throw Refusal() }
      }
      #expect(FileState(backup) == nil)
      try expectPhoto(1, at: store)
    }
  }

  @Test("A migration that is killed after its backup loses no value of the store", arguments: names)
  func killedMigration(name: String) throws {
    try withPair(name) { store, backup in
      try make(store)
      do {
        let folder = try BackupFolder(besideStoreAt: store, for: .kept(at: backup))
        try StoreBackup.copy(storeAt: store, to: folder.copy)
      }
      try expectPhoto(1, at: store)
      #expect(FileState(BackupFolder.url(besideStoreAt: store)) == nil)
    }
  }

  @Test("A backup keeps the values that the store replaces and deletes, and restores them", arguments: names)
  func backup(name: String) throws {
    try withPair(name) { store, backup in
      let coordinator = try open(store)
      try save(coordinator, photo: 1)
      try coordinator.backUp(coordinator.persistentStores[0], to: backup)
      try save(coordinator, photo: 2)
      try close(coordinator)
      try expectPhoto(2, at: store)
      try expectPhoto(1, at: backup)
      _ = try StoreRepair.repair(storeAt: store)
      try expectPhoto(1, at: backup)
      let other = PersistentStoreCoordinator(model: model)
      try other.replacePersistentStore(at: store, withPersistentStoreFrom: backup)
      try expectPhoto(1, at: store)
      try other.destroyPersistentStore(at: store)
      try expectPhoto(1, at: backup)
      try other.destroyPersistentStore(at: backup)
      try #expect(FileManager.default.contentsOfDirectory(atPath: store.deletingLastPathComponent().path) == [])
    }
  }

  @Test("A moved store keeps its values when the original is destroyed", arguments: names)
  func moved(name: String) throws {
    try withPair(name) { store, other in
      let coordinator = try open(store)
      try save(coordinator, photo: 1)
      try coordinator.migratePersistentStore(coordinator.persistentStores[0], to: other)
      try coordinator.destroyPersistentStore(at: store)
      #expect(FileState(store) == nil)
      try close(coordinator)
      try expectPhoto(1, at: other)
      #expect(ExternalDataFolder(storeAt: other).names().count == 1)
    }
  }

  private final class Refusing: EntityMigrationPolicy {
    override func end(_ mapping: EntityMapping, manager: MigrationManager) throws {
      throw PersistenceError(.migrationFailed, "The policy refuses.")
    }
  }

  @Test("A store that is migrated into another file keeps its values when the migration fails", arguments: names)
  func failedCopy(name: String) throws {
    try withPair(name) { store, other in
      try make(store)
      var items = EntityMapping("Items", from: "Item", to: "Item", policy: String(describing: Refusing.self))
      items.attributeMappings = [PropertyMapping("photo", valueExpression: .source("photo"))]
      let manager = MigrationManager(sourceModel: model, destinationModel: model)
      #expect(throws: PersistenceError.self) {
        try manager.migrateStore(
          from: store, to: other, mappingModel: MappingModel("Items", entityMappings: [items]),
          policies: MigrationPolicies([Refusing.self]))
      }
      #expect(FileState(other) == nil)
      try expectPhoto(1, at: store)
    }
  }

  @Test("The first save after an unclean end, a check and a repair spare the values of the other store")
  func sweep() throws {
    try withPair("Store.v2") { one, other in
      try make(other, photo: 2)
      let running = try open(one)
      try save(running, photo: 1)
      let orphan = ExternalDataFolder(storeAt: one).url.appendingPathComponent(UUID().uuidString)
      try Self.photo(3).write(to: orphan)
      // The log of a store that is open looks like that of a killed process.
      let second = try open(one)
      try save(second, photo: 4)
      #expect(FileState(orphan) == nil)
      try close(running)
      try close(second)
      try expectPhoto(2, at: other)
      try expectPhoto(4, at: one)
      try Self.photo(3).write(to: orphan)
      var found: [StoreProblem.Kind] = []
      try StoreCheck.check(storeAt: one) { found.append($0.kind) }
      #expect(found == [.orphanFile])
      _ = try StoreRepair.repair(storeAt: one)
      try expectPhoto(2, at: other)
      try expectPhoto(4, at: one)
      #expect(ExternalDataFolder(storeAt: one).names().count == 2)
    }
  }

  @Test("While a database in the same folder can't be read, no file that no row names is deleted")
  func unreadable() throws {
    try withPair("Store.v2") { one, other in
      try make(one)
      let head = try Data(contentsOf: one).prefix(100)
      try (head + Data(repeating: 0xA5, count: 5000)).write(to: other)
      let orphan = ExternalDataFolder(storeAt: one).url.appendingPathComponent(UUID().uuidString)
      try Self.photo(3).write(to: orphan)
      try expectPhoto(1, at: one)
      _ = try StoreRepair.repair(storeAt: one)
      #expect(FileState(orphan) != nil)
      try FileManager.default.removeItem(at: other)
      _ = try StoreRepair.repair(storeAt: one)
      #expect(FileState(orphan) == nil)
    }
  }

  @Test("Destroying a store deletes its values, but none of the other store")
  func destroyed() throws {
    try withPair("Store.v2") { one, other in
      try make(one, photo: 1)
      try make(other, photo: 2)
      try PersistentStoreCoordinator(model: model).destroyPersistentStore(at: one)
      #expect(ExternalDataFolder(storeAt: other).names().count == 1)
      try expectPhoto(2, at: other)
      try PersistentStoreCoordinator(model: model).destroyPersistentStore(at: other)
      try #expect(FileManager.default.contentsOfDirectory(atPath: one.deletingLastPathComponent().path) == [])
    }
  }

  @Test("What a killed process left of a copy doesn't keep the values of a destroyed store")
  func leftovers() throws {
    try withPair("Copy.sqlite") { store, copy in
      try make(store)
      let leftover = copy.deletingLastPathComponent()
        .appendingPathComponent("Copy.sqlite.partial-\(UUID().uuidString)", isDirectory: true)
      try FileManager.default.createDirectory(at: leftover, withIntermediateDirectories: false)
      try Data([1]).write(to: leftover.appendingPathComponent("Copy.sqlite"))
      try StoreBackup.copy(storeAt: store, to: copy)
      try PersistentStoreCoordinator(model: model).destroyPersistentStore(at: copy)
      let left = try FileManager.default.contentsOfDirectory(atPath: store.deletingLastPathComponent().path)
      #expect(left.sorted() == [".Store_SUPPORT", "Store.sqlite"])
    }
  }

  @Test("A store that is opened by a symbolic link has its values beside the file")
  func link() throws {
    try withTemporaryFolder { folder in
      let places = ["a", "b"].map { folder.appendingPathComponent($0, isDirectory: true) }
      for place in places { try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true) }
      let store = places[0].appendingPathComponent("Store.sqlite")
      let link = places[1].appendingPathComponent("Link.db")
      try make(store)
      try FileManager.default.createSymbolicLink(at: link, withDestinationURL: store)
      try expectPhoto(1, at: link)
      let coordinator = try open(link)
      try save(coordinator, photo: 2)
      try close(coordinator)
      try expectPhoto(2, at: store)
      // Values beside the link are those that a program wrote there.
      let values = ExternalDataFolder(storeAt: store)
      let beside = places[1].appendingPathComponent(".Link_SUPPORT/_EXTERNAL_DATA", isDirectory: true)
      try FileManager.default.createDirectory(at: beside, withIntermediateDirectories: true)
      for name in values.names() {
        try FileManager.default.moveItem(
          at: values.url.appendingPathComponent(name), to: beside.appendingPathComponent(name))
      }
      try expectPhoto(2, at: link)
      try PersistentStoreCoordinator(model: model).destroyPersistentStore(at: link)
      for place in places { try #expect(FileManager.default.contentsOfDirectory(atPath: place.path) == []) }
    }
  }

  @Test("A copy of a store that others write has every value that its rows name")
  func copiedWhileWritten() throws {
    try withPair("Copies") { store, copies in
      try FileManager.default.createDirectory(at: copies, withIntermediateDirectories: true)
      let coordinator = try open(store)
      try save(coordinator, photo: 0)
      let isEnded = LockProtected(false)
      let ended = DispatchSemaphore(value: 0)
      Thread.detachNewThread {
        var number: UInt8 = 0
        while !isEnded.withLock({ $0 }) {
          number &+= 1
          do { try save(coordinator, photo: number) } catch { Issue.record(error) }
        }
        ended.signal()
      }
      for number in 0..<20 {
        let copy = copies.appendingPathComponent("Copy \(number).sqlite")
        try StoreBackup.copy(storeAt: store, to: copy)
        try StoreCheck.check(storeAt: copy) { problem in
          // Files of replaced values may be deleted only after they were copied.
          if problem.kind != .orphanFile { Issue.record(Comment(rawValue: problem.detail)) }
        }
      }
      isEnded.withLock { $0 = true }
      ended.wait()
      try close(coordinator)
    }
  }
}

import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Moved stores, and the coordinator's notifications")
struct StoreMoveTests {
  private let model: ManagedObjectModel

  init() throws { model = try ManagedObjectModel(SampleModels.people) }

  @Test(
    "After a store is moved, contexts continue with the new file, their objects and their changes",
    .aboutFiles("a file that is moved"))
  func moved() throws {
    try withTemporaryStore { url in
      let coordinator = PersistentStoreCoordinator(model: model)
      let store = try coordinator.addStore(at: url, options: StoreOptions(pragmas: ["journal_mode": "DELETE"]))
      let context = ManagedObjectContext(coordinator)
      let ann = try context.make("Person", ["name": "Ann", "salary": 1])
      try context.save()
      let other = url.deletingLastPathComponent().appendingPathComponent("Moved.sqlite")
      try FileManager.default.moveItem(at: url, to: other)
      ann["salary"] = 2
      let moved = try coordinator.setURL(other, for: store)
      #expect(moved.url == other && moved.identifier == store.identifier)
      #expect(coordinator.persistentStores == [moved])
      try context.save()
      try context.make("Person", ["name": "Ben"])
      try context.save()
      #expect(!FileManager.default.fileExists(atPath: url.path))
      try coordinator.remove(moved)
      let again = PersistentStoreCoordinator(model: model)
      try again.addStore(at: other)
      let found = try ManagedObjectContext(again).fetch(FetchRequest("Person", sortedBy: "name"))
      #expect(found.map { $0["name"] as? String } == ["Ann", "Ben"] && found.first?["salary"] as? Int == 2)
    }
  }

  @Test("A store that continues in a copy records its history as the copy does", .aboutFiles("copies"))
  func historyOfCopy() throws {
    try withTemporaryStore { url in
      let copy = otherStore("Copy", beside: url)
      let coordinator = PersistentStoreCoordinator(model: model)
      let store = try coordinator.addStore(at: url)
      try coordinator.backUp(store, to: copy)
      let other = PersistentStoreCoordinator(model: model)
      try other.remove(other.addStore(at: copy, options: StoreOptions(tracksHistory: true)))
      try coordinator.setURL(copy, for: store)
      let context = ManagedObjectContext(coordinator)
      try context.make("Person", ["name": "Ann"])
      try context.save()
      try #expect(MadeStore.rows("SELECT COUNT(*) FROM ATRANSACTION", at: copy) == [["1"]])
      let again = try other.addStore(at: copy)
      try other.disableHistory(of: again, keepingPast: false)
      try other.remove(again)
      try context.make("Person", ["name": "Ben"])
      try context.save()
      #expect(coordinator.openStores[0].history == nil)
    }
  }

  @Test(
    "A store with a history that continues in a copy notices when another program deletes it there",
    .aboutFiles("copies"))
  func historyDeletedInCopy() throws {
    try withTemporaryStore { url in
      let copy = otherStore("Copy", beside: url)
      let coordinator = PersistentStoreCoordinator(model: model)
      let store = try coordinator.addStore(at: url, options: StoreOptions(tracksHistory: true))
      try coordinator.backUp(store, to: copy)
      try coordinator.setURL(copy, for: store)
      let other = PersistentStoreCoordinator(model: model)
      try other.disableHistory(of: other.addStore(at: copy), keepingPast: false)
      let context = ManagedObjectContext(coordinator)
      try context.make("Person", ["name": "Ann"])
      try context.save()
      try #expect(ManagedObjectContext(other).count(for: FetchRequest("Person")) == 1)
    }
  }

  @Test("A context that is pinned to a state of a store's former file fails until it moves on", .aboutFiles("copies"))
  func pinned() throws {
    try withTemporaryStore { url in
      let copy = otherStore("Copy", beside: url)
      let coordinator = PersistentStoreCoordinator(model: model)
      let store = try coordinator.addStore(at: url)
      let writer = ManagedObjectContext(coordinator)
      try writer.make("Person", ["name": "Ann"])
      try writer.save()
      let context = ManagedObjectContext(coordinator)
      try context.setQueryGeneration(from: .current)
      try #expect(context.count(for: FetchRequest("Person")) == 1)
      try coordinator.backUp(store, to: copy)
      let moved = try coordinator.setURL(copy, for: store)
      let error = persistError { _ = try context.count(for: FetchRequest("Person")) }
      #expect(error?.code == .queryGenerationExpired)
      context.refreshAllObjects()
      try #expect(context.count(for: FetchRequest("Person")) == 1)
      try coordinator.remove(moved)
    }
  }

  @Test(
    "Writes that wait while their store continues in another file, and late reads, use that file",
    .aboutFiles("copies"))
  func waiting() throws {
    try withTemporaryStore { url in
      let copy = otherStore("Copy", beside: url)
      let coordinator = PersistentStoreCoordinator(model: model)
      let store = try coordinator.addStore(at: url, options: StoreOptions(busyTimeout: .seconds(60)))
      try coordinator.backUp(store, to: copy)
      let former = try #require(coordinator.openStores[0] as? SQLiteStore).pool
      let ended = DispatchSemaphore(value: 0)
      let works: [@Sendable () throws -> Void] = [
        { _ = try coordinator.setURL(copy, for: store) },
        {
          let context = ManagedObjectContext(coordinator)
          try context.make("Person", ["name": "Ann"])
          try context.save()
        },
      ]
      // The turn passes in the order of the requests.
      try former.write { _ in
        for (index, work) in works.enumerated() {
          Thread.detachNewThread {
            do { try work() } catch { Issue.record(error) }
            ended.signal()
          }
          while former.turn.waitingCount <= index { Thread.sleep(forTimeInterval: 0.001) }
        }
      }
      for _ in works { try #require(ended.wait(timeout: .now() + 120) == .success) }
      let count: SQLText = "SELECT COUNT(*) FROM ZPERSON"
      try #expect(former.readOnce { try $0.first(count) { $0.integer(0) } } == 1)
      try #expect(MadeStore.rows("SELECT COUNT(*) FROM ZPERSON", at: copy) == [["1"]])
      try #expect(MadeStore.rows("SELECT COUNT(*) FROM ZPERSON", at: url) == [["0"]])
      for open in coordinator.persistentStores { try coordinator.remove(open) }
    }
  }

  @Test(
    "A file that is missing, contains another store or isn't one is refused, and the store continues as before",
    .aboutFiles("files that are no stores"))
  func refused() throws {
    try withTemporaryStore { url in
      let coordinator = PersistentStoreCoordinator(model: model)
      let store = try coordinator.addStore(at: url)
      let other = otherStore("Other", beside: url)
      #expect(persistError { try coordinator.setURL(other, for: store) }?.code == .fileAccess)
      #expect(!FileManager.default.fileExists(atPath: other.path))
      let stranger = PersistentStoreCoordinator(model: model)
      try stranger.remove(stranger.addStore(at: other))
      #expect(persistError { try coordinator.setURL(other, for: store) }?.code == .invalidRequest)
      try Data("no store".utf8).write(to: other)
      #expect(persistError { try coordinator.setURL(other, for: store) } != nil)
      let memory = try coordinator.addInMemoryStore()
      #expect(persistError { try coordinator.setURL(url, for: memory) }?.code == .storeTypeMismatch)
      let context = ManagedObjectContext(coordinator)
      try context.make("Person", ["name": "Ann"])
      try context.save()
      #expect(coordinator.persistentStores.first?.url == url)
    }
  }

  /// The name of a store's file or schema.
  private func shortName(_ url: URL) -> String { ServerAddress(url)?.schema ?? url.lastPathComponent }

  @Test("Adding, moving and removing a store is posted, with the store under the key of the operation")
  func notifications() throws {
    try withTemporaryStore { url in
      let coordinator = PersistentStoreCoordinator(model: model)
      let seen = LockProtected<[String]>([])
      let names = [
        PersistentStoreCoordinator.storesWillChangeNotification, .init("PersistentStoreCoordinatorStoresDidChange"),
        PersistentStoreCoordinator.willRemoveStoreNotification,
      ]
      let observers = names.map { name in
        NotificationCenter.default.addObserver(forName: name, object: coordinator, queue: nil) { note in
          let keys = (note.userInfo ?? [:]).sorted { "\($0.key)" < "\($1.key)" }.map { key, value in
            "\(key) \((value as? [StoreInfo])?.compactMap { $0.url.map(shortName) }.joined(separator: ",") ?? "?")"
          }
          let what = name.rawValue.replacingOccurrences(of: "PersistentStoreCoordinator", with: "")
          seen.withLock { $0.append("\(what) \(keys.joined(separator: " "))") }
        }
      }
      defer { for observer in observers { NotificationCenter.default.removeObserver(observer) } }
      let store = try coordinator.addStore(at: url)
      let other = otherStore("Other", beside: url)
      let moved = try coordinator.migratePersistentStore(store, to: other)
      try coordinator.remove(moved)
      let (name, otherName) = (shortName(url), shortName(other))
      #expect(
        seen.withLock { $0 } == [
          "StoresWillChange added \(name)", "StoresDidChange added \(name)",
          "WillRemoveStore removed \(name)", "StoresWillChange removed \(name)",
          "StoresDidChange added \(otherName) changed \(name),\(otherName) removed \(name)",
          "WillRemoveStore removed \(otherName)",
          "StoresWillChange removed \(otherName)", "StoresDidChange removed \(otherName)",
        ])
      #expect(persistError { try coordinator.remove(moved) }?.code == .invalidRequest)
      #expect(seen.withLock { $0.count } == 8)
    }
  }
}

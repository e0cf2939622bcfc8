import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Open stores changed by others", .serialized)
struct StoreWatchTests {
  /// A stack that continues with what it opened.
  private struct OpenStore {
    let coordinator: PersistentStoreCoordinator
    let context: ManagedObjectContext

    init(_ model: ManagedObjectModel, at url: URL) throws {
      coordinator = PersistentStoreCoordinator(model: model)
      try coordinator.addStore(at: url)
      context = ManagedObjectContext(coordinator)
    }
  }

  @Test(
    "A program notices that another one migrates its open store, and keeps its changes",
    arguments: MigrationScenario.Way.allCases, [true, false])
  func migrated(way: MigrationScenario.Way, hasLog: Bool) throws {
    let scenario = try MigrationScenario(way)
    try withTemporaryStore { url in
      try scenario.makeStore(at: url, marks: 12)
      if !hasLog, url.isFileURL { try MadeStore.run("PRAGMA journal_mode = DELETE", at: url) }
      let options = StoreOptions(pragmas: hasLog ? [:] : ["journal_mode": "DELETE"])
      let coordinator = PersistentStoreCoordinator(model: scenario.versions[0].model)
      try coordinator.addStore(at: url, options: options)
      let context = ManagedObjectContext(coordinator)
      let first = try #require(try context.fetch(FetchRequest("Mark", sortedBy: "b")).first)
      first["a"] = "saved before"
      try context.save()

      try BuiltProgram.run("MigrationRunner", storeArgument(url), way.rawValue, "10")
      let after = try StoreDump(of: scenario.newest.model, at: url)

      first["a"] = "changed after"
      let new = try context.make("Mark", ["a": "inserted after"])
      #expect(persistError { try context.save() }?.code == .incompatibleModel)
      #expect(first["a"] as? String == "changed after" && context.insertedObjects == [new])
      for _ in 0..<2 {
        let request = try FetchRequest<ManagedObject>("Mark", where: "b >= 0")
        #expect(persistError { _ = try context.fetch(request) }?.code == .incompatibleModel)
        #expect(persistError { _ = try context.count(for: FetchRequest("Tag")) }?.code == .incompatibleModel)
      }
      #expect(persistError { try context.save() }?.code == .incompatibleModel)
      #expect(try StoreDump(of: scenario.newest.model, at: url) == after)
    }
  }

  @Test("A migration that changes only entity numbers is noticed too")
  func numbers() throws {
    func version(_ number: Int, _ names: String...) throws -> ModelVersion {
      let entities = [EntityDescription("Note", attributes: [AttributeDescription("text", .string)])]
        + names.map { EntityDescription($0, parent: "Note") }
      return ModelVersion(name: "\(number)", model: try model(entities))
    }
    let versions = [try version(1, "Zettel"), try version(2, "Letter", "Zettel")]
    try withTemporaryStore { url in
      let open = try OpenStore(versions[0].model, at: url)
      try open.context.make("Zettel", ["text": "before"])
      try open.context.save()
      try AutomaticMigrator().migrate(
        storeAt: url, to: versions[1], registry: ModelRegistry(versions: versions))
      #expect(persistError { _ = try open.context.fetch(FetchRequest("Note")) }?.code == .incompatibleModel)
      try open.context.make("Zettel", ["text": "after"])
      #expect(persistError { try open.context.save() }?.code == .incompatibleModel)
      #expect(try MadeStore.rows("SELECT ZTEXT FROM ZNOTE", at: url) == [["before"]])
    }
  }

  private func model(_ entities: [EntityDescription]) throws -> ManagedObjectModel {
    try ManagedObjectModel(ModelDescription(entities: entities))
  }

  @Test("Changes that keep the model disturb no program: rows, indexes, a vacuum, metadata; a restored backup does")
  func harmless() throws {
    let people = try ManagedObjectModel(SampleModels.people)
    try withTemporaryStore { url in
      let open = try OpenStore(people, at: url)
      try open.context.make("Person", ["name": "Ann"])
      try open.context.save()
      let backup = otherStore("backup", beside: url)
      try open.coordinator.backUp(try #require(open.coordinator.persistentStores.first), to: backup)
      var metadata = try PersistentStoreCoordinator.metadata(at: url)
      metadata.values["note"] = .string("by another")
      try PersistentStoreCoordinator.setMetadata(metadata, at: url)
      for sql in [
        "CREATE INDEX OTHERS ON ZPERSON (ZNAME)", "UPDATE ZPERSON SET Z_OPT = Z_OPT + 1", "VACUUM", "ANALYZE",
      ] {
        try MadeStore.run(sql, at: url)
        try open.context.make("Person", ["name": sql])
        try open.context.save()
        _ = try open.context.fetch(FetchRequest("Person"))
      }
      #expect(try open.context.count(for: FetchRequest("Person")) == 5)
      try PersistentStoreCoordinator(model: people).replacePersistentStore(at: url, withPersistentStoreFrom: backup)
      open.context.reset()
      #expect(persistError { _ = try open.context.count(for: FetchRequest("Person")) }?.code == .storeExchanged)
      try open.context.make("Person", ["name": "Ben"])
      #expect(persistError { try open.context.save() }?.code == .storeExchanged)
    }
  }

  @Test("A coordinator whose file was overwritten closes it once, and then releases it", arguments: [true, false])
  func overwritten(isReadByOthers: Bool) throws {
    let people = try ManagedObjectModel(SampleModels.people)
    try withTemporaryStore { url in
      let other = otherStore("other", beside: url)
      for path in [url, other] { try OpenStore(people, at: path).coordinator.removeAll() }
      let contents = try Data(contentsOf: other)
      // SQLite's memory of a connection that is closed twice isn't always in use again.
      for _ in 0..<20 {
        let open = try OpenStore(people, at: url)
        try open.context.make("Person", ["name": "Ann"])
        try open.context.save()
        let held = try isReadByOthers ? open.coordinator.openStores[0].generation() : nil
        let file = try FileHandle(forWritingTo: url)
        try file.truncate(atOffset: 0)
        try file.write(contentsOf: contents)
        try file.close()
        for suffix in ["-wal", "-shm"] { try FileManager.default.removeItem(atPath: url.path + suffix) }
        #expect(persistError { _ = try open.context.count(for: FetchRequest("Person")) } != nil)
        try open.coordinator.removeAll()
        _ = held
      }
    }
  }

  @Test("A check that has read an earlier state than another thread knows reads again, and reports only the later one")
  func overtakenCheck() throws {
    let people = try ManagedObjectModel(SampleModels.people)
    try withTemporaryFile { url in
      try SQLiteStore.create(url, model: people).close()
      // Without the record of its model, the store's hashes are compared: while a state is checked.
      try MadeStore.run("DROP TABLE PERSIST_METADATA", at: url)
      let catalog = try SQLiteConnection.reading(url) { try StoreCatalog($0) }
      let (metadata, checking) = (catalog.metadata, LockProtected<StoreWatch?>(nil))
      let opened = OpenedStore(
        at: url, identifier: catalog.metadata.identifier, map: catalog.tableMap(of: people)
      ) {
        _ = try? MadeStore.run("CREATE INDEX LATER ON ZPERSON (ZNAME)", at: url)
        checking.withLock { $0 }?.supersede()
        return metadata
      }
      let watch = StoreWatch(url, mark: catalog.mark, opened)
      checking.withLock { $0 = watch }
      defer { checking.withLock { $0 = nil } }
      let reported = LockProtected<[StoreMark]>([])
      watch.whenChanged { catalog in reported.withLock { $0.append(catalog.mark) } }
      try MadeStore.run("CREATE INDEX EARLIER ON ZPERSON (ZNAME)", at: url)
      let connection = try SQLiteConnection(url, mode: .readWrite, options: StoreOptions())
      defer { connection.close() }
      try watch.check(connection)
      try #expect(reported.withLock { $0 } == [StoreMark(connection)])
      try #expect(watch.changedCatalog(connection) == nil)
    }
  }

  @Test(
    "Checking for changes by others takes no statement if nothing else writes",
    .aboutFiles("the counter of changes in SQLite's file"))
  func cost() throws {
    let people = try ManagedObjectModel(SampleModels.people)
    try withTemporaryStore { url in
      let store = try SQLiteStore.create(url, model: people)
      func statements(_ body: () throws -> Void) rethrows -> Int {
        let before = store.pool.counts.executed
        try body()
        return store.pool.counts.executed - before
      }
      func write() throws { try store.pool.write { try $0.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = Z_MAX") } }
      try write()
      #expect(try statements(write) == 3)
      try MadeStore.run("CREATE TABLE OTHER (X)", at: url)
      #expect(try statements(write) > 4)
      try MadeStore.run("INSERT INTO OTHER VALUES (1)", at: url)
      #expect(try statements(write) == 4)
      #expect(try statements(write) == 3)
      try store.close()
    }
  }

  // MARK: Deleted and replaced

  /// Possible events for the file of an open store.
  enum Loss: CaseIterable {
    case deleted, exchanged, overwritten

    func happen(to url: URL, other: URL) throws {
      switch self {
      case .deleted: try StoreFiles(storeAt: url).delete()
      case .exchanged:
        try StoreFiles(storeAt: url).delete()
        try FileManager.default.copyItem(at: other, to: url)
      case .overwritten:
        let model = try ManagedObjectModel(SampleModels.people)
        try PersistentStoreCoordinator(model: model).replacePersistentStore(at: url, withPersistentStoreFrom: other)
      }
    }
  }

  @Test("A store that is deleted or replaced while open accepts no more changes", arguments: Loss.allCases)
  func lost(loss: Loss) throws {
    let people = try ManagedObjectModel(SampleModels.people)
    try withTemporaryFolder { folder in
      let (url, other) = (folder.appendingPathComponent("A.sqlite"), folder.appendingPathComponent("B.sqlite"))
      try PersistentStoreCoordinator(model: people).addStoreAndClose(at: other)
      let open = try OpenStore(people, at: url)
      try open.context.make("Person", ["name": "before"])
      try open.context.save()
      try loss.happen(to: url, other: other)
      try open.context.make("Person", ["name": "after"])
      for _ in 0..<2 {
        #expect(persistError { try open.context.save() }?.code == .storeExchanged)
        #expect(open.context.insertedObjects.count == 1)
      }
      // Closing leaves the file that now has the name unchanged.
      for info in open.coordinator.persistentStores { try open.coordinator.remove(info) }
      let fresh = try OpenStore(people, at: url)
      #expect(try fresh.context.count(for: FetchRequest("Person")) == 0)
      try fresh.context.make("Person", ["name": "new"])
      try fresh.context.save()
    }
  }

  @Test("A store that another coordinator of the program has open isn't destroyed, whatever name is used")
  func destroyed() throws {
    let people = try ManagedObjectModel(SampleModels.people)
    try withTemporaryFolder { folder in
      let (url, link) = (folder.appendingPathComponent("A.sqlite"), folder.appendingPathComponent("Link.sqlite"))
      let open = try OpenStore(people, at: url)
      try FileManager.default.createSymbolicLink(at: link, withDestinationURL: url)
      let other = PersistentStoreCoordinator(model: people)
      for name in [url, link] {
        #expect(persistError { try other.destroyPersistentStore(at: name) }?.code == .storeBusy)
      }
      try open.context.make("Person", ["name": "kept"])
      try open.context.save()
      // Its own coordinator closes it first, and it can also be closed before.
      let second = try OpenStore(people, at: url)
      #expect(persistError { try open.coordinator.destroyPersistentStore(at: url) }?.code == .storeBusy)
      #expect(try second.context.count(for: FetchRequest("Person")) == 1)
      for info in second.coordinator.persistentStores { try second.coordinator.remove(info) }
      try open.coordinator.destroyPersistentStore(at: url)
      #expect(FileState(url) == nil && open.coordinator.persistentStores.isEmpty)
    }
  }
}

extension PersistentStoreCoordinator {
  fileprivate func removeAll() throws { for store in persistentStores { try remove(store) } }
}

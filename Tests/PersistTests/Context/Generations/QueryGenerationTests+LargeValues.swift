import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

extension QueryGenerationTests {
  @Test(
    "A large value is kept as long as a context can read it; one deleted by another program is reported as missing",
    .aboutFilesOfLargeValues)
  func largeValues() throws {
    try withTwo { reader, writer in
      func photo(_ byte: UInt8) -> Data { Data(repeating: byte, count: 300_000) }
      let own = ManagedObjectContext(reader)
      let person = try own.make("Person", ["photo": photo(1)])
      try own.save()
      let context = try pinned(reader)
      let same = try #require(try context.fetch(FetchRequest("Person")).first)
      person["photo"] = photo(2)
      try own.save()
      #expect(same["photo"] as? Data == photo(1))
      let folder = try #require(reader.openStores[0].url.map { ExternalDataFolder(storeAt: $0) })
      #expect(folder.names().count == 2)
      context.reset()
      #expect(folder.names().count == 1, "Nobody reads the first state any more.")

      let again = try #require(try context.fetch(FetchRequest("Person")).first)
      let other = ManagedObjectContext(writer)
      try #require(try other.fetch(FetchRequest("Person")).first)["photo"] = photo(3)
      let former = folder.names()
      try other.save()
      #expect(folder.names().count == 2)
      // As another program would.
      for name in former { try FileManager.default.removeItem(at: #require(try folder.file(named: name))) }
      _ = again["photo"]
      #expect(persistError { _ = try context.fetch(FetchRequest("Tag")) }?.code == .queryGenerationExpired)
      context.refreshAllObjects()
      #expect(again["photo"] as? Data == photo(3))
    }
  }

  @Test(
    "A large value that is replaced while a state is being acquired is kept for that state",
    .aboutFilesOfLargeValues)
  func replacedMeanwhile() throws {
    try withTemporaryStore { url in
      let writer = try open(url)
      let first = ManagedObjectContext(writer)
      try first.make("Person", ["photo": Data(repeating: 1, count: 300_000)])
      try first.save()
      let pool = try SQLiteConnectionPool(url, options: StoreOptions())
      _ = try pool.read { try $0.first(.objectCount) { $0.integer(0) } }
      // Without the record of its model, the store's hashes are compared: when the transaction of the state has begun.
      try MadeStore.run("DROP TABLE PERSIST_METADATA", at: url)
      let catalog = try SQLiteConnection.reading(url) { try StoreCatalog($0) }
      let metadata = catalog.metadata
      let replacements = LockProtected(0)
      let opened = OpenedStore(
        at: url, identifier: catalog.metadata.identifier, map: catalog.tableMap(of: writer.managedObjectModel)
      ) {
        let other = ManagedObjectContext(writer)
        guard let person = try? other.fetch(FetchRequest("Person")).first else { return metadata }
        person["photo"] = Data(repeating: 2, count: 300_000)
        if (try? other.save()) != nil { replacements.withLock { $0 += 1 } }
        return metadata
      }
      let earlier = StoreMark(schemaVersion: 0, identifier: catalog.mark.identifier, propertyList: Data())
      pool.setWatch(StoreWatch(url, mark: earlier, opened))
      let state = try #require(try pool.holdingPresentState())
      #expect(replacements.withLock { $0 } == 1)
      let folder = ExternalDataFolder(storeAt: url)
      #expect(folder.names().count == 2)
      state.close()
      #expect(folder.names().count == 1)
      pool.close()
      for store in writer.persistentStores { try writer.remove(store) }
    }
  }
}

import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

/// Versions that don't differ in anything that affects rows.
@Suite("Versions with identical storage")
struct AlikeVersionTests {
  private static func item(
    _ version: String, transient: Bool = false, indexes: [FetchIndexDescription] = []
  ) throws -> ModelVersion {
    var attributes = [AttributeDescription("name", .string), AttributeDescription("size", .int32)]
    if transient { attributes.append(AttributeDescription("shown", .string, isTransient: true)) }
    let entity = EntityDescription("Item", attributes: attributes, indexes: indexes)
    return ModelVersion(name: version, model: try ManagedObjectModel(ModelDescription(entities: [entity])))
  }

  private func withStore(of version: ModelVersion, _ body: (URL) throws -> Void) throws {
    try withTemporaryStore { url in
      let coordinator = PersistentStoreCoordinator(model: version.model)
      let store = try coordinator.addStore(at: url)
      let context = ManagedObjectContext(coordinator)
      try context.create("Item")["name"] = "Tea"
      try context.save()
      try coordinator.remove(store)
      try body(url)
    }
  }

  private func versionName(_ url: URL, _ registry: ModelRegistry) throws -> String? {
    try StoreIdentification.identify(storeAt: url, registry: registry).version?.name
  }

  @Test("A store has a version that adds a transient attribute after a migration, and after opening with a migrator")
  func transientAttribute() throws {
    let versions = try [Self.item("1"), Self.item("2", transient: true)]
    let registry = ModelRegistry(versions: versions)
    try withStore(of: versions[0]) { url in
      try #expect(versionName(url, registry) == "1")
      let report = try AutomaticMigrator().migrate(storeAt: url, to: versions[1], registry: registry)
      #expect(report.way == .none)
      try #expect(versionName(url, registry) == "2")
      try AutomaticMigrator().migrate(storeAt: url, to: versions[0], registry: registry)
      try #expect(versionName(url, registry) == "1")
      let before = try StoreSnapshot(url)
      try AutomaticMigrator().migrate(storeAt: url, to: versions[0], registry: registry)
      try #expect(StoreSnapshot(url) == before, "nothing is written twice")
      let coordinator = PersistentStoreCoordinator(model: versions[1].model, registry: registry)
      try coordinator.remove(coordinator.addStore(at: url, options: .automaticMigration))
      try #expect(versionName(url, registry) == "2")
    }
  }

  /// The names of the indexes by size, in lower case.
  private func indexes(_ url: URL) throws -> [String] {
    let store = try RawStore(url, mode: .readOnly)
    defer { store.close() }
    let indexes = try store.catalog().schema.indexes
    return indexes.filter { $0.sql?.lowercased().contains("size") == true }.map { $0.name.lowercased() }
  }

  private var bySizeName: String { TestEngine.current == .sqlite ? "Z_Item_bySize" : "item_by_size_index" }

  @Test("An index added to the model is created when the store is opened for writing, once")
  func newIndex() throws {
    let bySize = FetchIndexDescription("bySize", elements: [.init(.property("size"))])
    let (old, new) = (try Self.item("1"), try Self.item("2", indexes: [bySize]))
    try withStore(of: old) { url in
      let coordinator = PersistentStoreCoordinator(model: new.model)
      try coordinator.remove(coordinator.addStore(at: url, options: StoreOptions(isReadOnly: true)))
      try #expect(indexes(url) == [])
      try coordinator.remove(coordinator.addStore(at: url))
      try #expect(indexes(url) == [bySizeName.lowercased()])
      let before = try StoreSnapshot(url)
      try coordinator.remove(coordinator.addStore(at: url))
      try #expect(StoreSnapshot(url) == before)
    }
  }

  @Test("If steps are deferred, the index waits; one of another name with the same columns suffices")
  func deferredIndex() throws {
    let bySize = FetchIndexDescription("bySize", elements: [.init(.property("size"))])
    let (old, new) = (try Self.item("1"), try Self.item("2", indexes: [bySize]))
    try withStore(of: old) { url in
      let coordinator = PersistentStoreCoordinator(model: new.model)
      let store = try coordinator.addStore(at: url, options: .automaticMigrationDeferringWork)
      let table = TestEngine.current == .sqlite ? "ZITEM" : "item"
      #expect(try coordinator.deferredSteps() == [.createIndex(bySizeName, table: table)])
      try #expect(indexes(url) == [])
      try coordinator.finishDeferredMigration()
      try #expect(indexes(url) == [bySizeName.lowercased()])
      try coordinator.remove(store)
    }
    try withStore(of: old) { url in
      // On a server, an index with another order of nulls would serve no order of Persist.
      let column = TestEngine.current == .sqlite ? "ZSIZE" : "ZSIZE NULLS FIRST"
      try MadeStore.run("CREATE INDEX ZITEM_ZSIZE_INDEX ON ZITEM (\(column))", at: url)
      let coordinator = PersistentStoreCoordinator(model: new.model)
      try coordinator.remove(coordinator.addStore(at: url))
      try #expect(indexes(url) == ["zitem_zsize_index"])
    }
  }
}

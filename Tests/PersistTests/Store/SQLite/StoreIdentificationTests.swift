import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Identification of stores", .needsSharedData)
struct StoreIdentificationTests {
  /// A real store with the version according to its origin's own tests, and how that is found.
  struct Known: Sendable, CustomTestStringConvertible {
    let store: String
    let models: String
    let version: String
    var origin = ModelOrigin.registry
    var testDescription: String { store }

    static let all: [Known] = [
      Known(
        store: "cars/Fixtures/SampleModel_V1.sqlite", models: "cars/SampleModel.xcdatamodeld", version: "SampleModel"),
      Known(
        store: "cars/Fixtures/SampleModel_V2.sqlite", models: "cars/SampleModel.xcdatamodeld", version: "SampleModel2"),
      Known(store: "cars/Fixtures/SampleModel_V1.sqlite", models: "cars/Fixtures", version: "SampleModel"),
      Known(store: "cars/Fixtures/SampleModel_V2.sqlite", models: "cars/Fixtures", version: "SampleModel2"),
      Known(store: "content/BundledPreseededDatabaseTests/Test.sqlite", models: "content", version: "Test"),
      Known(
        store: "employees/Stores/MWKCoreDataTests.sqlite", models: "employees", version: "MWKCoreDataTests",
        origin: .columns),
      Known(
        store: "employees/Stores/MWKCoreDataTests2.sqlite", models: "employees", version: "MWKCoreDataTests2",
        origin: .columns),
    ]
      + (1...5).map { number in
        let name = "Moody" + (number == 1 ? "" : " \(number)")
        return Known(store: "moody/\(name).moody", models: "moody", version: name)
      }
      + (1...4).map { number in
        Known(
          store: "bookmarks/Bookmarks_V\(number).sqlite", models: "bookmarks",
          version: "BookmarksModel" + (number == 1 ? "" : " \(number)"))
      }
      + (1...3).map { number in
        Known(
          store: "posts/CoreDataMigration_Example_\(number).sqlite", models: "posts",
          version: "CoreDataMigration_Example" + (number == 1 ? "" : " \(number)"))
      }
  }

  @Test("Each real store has the version that wrote it, among the versions of its family", arguments: Known.all)
  func family(_ known: Known) throws {
    let registry = try ModelRegistry(contentsOf: SharedData.url(known.models))
    let found = try StoreIdentification.identify(storeAt: SharedData.url(known.store), registry: registry)
    #expect(found.version?.name == known.version)
    #expect(found.origin == known.origin)
    #expect(found.tableMap.differences == [])
  }

  @Test("Each real store has the version that wrote it, among every model of the collection", arguments: Known.all)
  func everything(_ known: Known) throws {
    let found = try StoreIdentification.identify(storeAt: SharedData.url(known.store), registry: Self.everything)
    #expect(found.version?.name == known.version)
  }

  private static let everything = try? ModelRegistry(
    contentsOf: (SharedData.folder ?? URL(fileURLWithPath: "/")).appendingPathComponent("coredata"))

  @Test("Without given models, a store has its own; one without is refused", arguments: SharedData.stores)
  func embedded(_ store: URL) throws {
    do {
      let found = try StoreIdentification.identify(storeAt: store)
      #expect(found.origin == .embedded && found.version == nil)
      #expect(found.tableMap.differences == [])
    } catch let error as PersistenceError {
      #expect(error.code == .missingSourceModel)
      #expect(store.path.contains("/employees/"))
    }
  }

  @Test("A store whose model isn't given has its own; one without is refused with every difference")
  func strangers() throws {
    let registry = try ModelRegistry(contentsOf: SharedData.url("posts"))
    let found = try StoreIdentification.identify(storeAt: SharedData.url("moody/Moody 3.moody"), registry: registry)
    #expect(found.origin == .embedded && found.version == nil)
    let error = #expect(throws: PersistenceError.self) {
      try StoreIdentification.identify(
        storeAt: SharedData.url("employees/Stores/MWKCoreDataTests2.sqlite"), registry: registry)
    }
    #expect(error?.code == .missingSourceModel)
    #expect(error?.errors.isEmpty == false)
  }

  @Test("A store with Persist's record of the model is identified by the fingerprints")
  func noted() throws {
    try withCopy(ofStore: "moody/Moody 2.moody") { url in
      let registry = try ModelRegistry(contentsOf: SharedData.url("moody"))
      let before = try StoreIdentification.identify(storeAt: url, registry: registry)
      let connection = try SQLiteConnection(url, mode: .readWrite)
      try connection.transaction { try before.metadata.record(before.model, in: connection) }
      connection.close()
      let after = try StoreIdentification.identify(storeAt: url, registry: registry)
      #expect(after.origin == .fingerprint && after.version?.name == "Moody 2")
      #expect(after.metadata == before.metadata)
      #expect(try StoreIdentification.identify(storeAt: url).model.fingerprints == before.model.fingerprints)
    }
  }

  @Test("Inspecting a store changes nothing", arguments: SharedData.stores)
  func untouched(_ store: URL) throws {
    try withCopy(ofStore: store) { copy in
      let before = try FolderSnapshot(copy.deletingLastPathComponent())
      _ = try? StoreIdentification.identify(storeAt: copy, registry: Self.everything)
      _ = try StoreIdentification.metadata(storeAt: copy)
      #expect(try FolderSnapshot(copy.deletingLastPathComponent()) == before)
    }
  }
}

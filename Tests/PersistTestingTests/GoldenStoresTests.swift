import Foundation
import PersistTestSupport
import PersistTesting
import Testing

@testable import Persist
@testable import PersistModel

@Suite("Golden stores")
struct GoldenStoresTests {
  private func shop() throws -> ModelRegistry { try ModelRegistry(contentsOf: PackageFolder.models) }

  @Test("A store of each released version is created once, and all migrate to the newest one")
  func check() throws {
    try withTemporaryFolder { folder in
      let stores = try GoldenStores(in: folder, registry: shop())
      #expect(stores.versions.map(\.name) == ["Shop", "Shop 2"])
      try #expect(stores.make().map(\.lastPathComponent) == ["Shop.sqlite", "Shop 2.sqlite"])
      let before = try FolderSnapshot(folder)
      #expect(before.paths == ["Shop", "Shop/Shop 2.sqlite", "Shop/Shop.sqlite"])

      var counts: [String: Int] = [:]
      let outcomes = try stores.check { version, context in
        counts[version.name] = try context.count(for: FetchRequest("Item"))
      }
      #expect(outcomes.map(\.report.from) == ["Shop", "Shop 2"])
      #expect(outcomes.map(\.report.to) == ["Shop 3", "Shop 3"])
      #expect(counts == ["Shop": 12, "Shop 2": 12])
      try #expect(FolderSnapshot(folder) == before)
    }
  }

  @Test("The lock lists the released versions, including the current one")
  func locked() throws {
    try withTemporaryFolder { folder in
      var lock = ModelLock()
      try lock.lock(shop(), version: "Shop 3")
      let stores = try GoldenStores(in: folder, registry: shop(), lock: lock)
      try #expect(stores.check().map(\.report.way) == [.none])
    }
  }

  @Test("A released version that is missing or can't be read is reported, and the others are checked", arguments: [
    true, false,
  ])
  func unavailable(_ hasStores: Bool) throws {
    try withTemporaryFolder { folder in
      let models = folder.appendingPathComponent("Shop.xcdatamodeld")
      let golden = folder.appendingPathComponent("Golden")
      try FileManager.default.copyItem(at: PackageFolder.models.appendingPathComponent("Shop.xcdatamodeld"), to: models)
      var lock = ModelLock()
      try lock.lock(ModelRegistry(contentsOf: models))
      if hasStores { try GoldenStores(in: golden, registry: ModelRegistry(contentsOf: models), lock: lock).make() }

      try Data("<broken".utf8).write(to: models.appendingPathComponent("Shop 2.xcdatamodel/contents"))
      try FileManager.default.removeItem(at: models.appendingPathComponent("Shop.xcdatamodel"))
      let registry = try ModelRegistry(contentsOf: models)
      let stores = GoldenStores(in: golden, registry: registry, lock: lock)
      #expect(stores.versions.map(\.name) == ["Shop 3", "Shop", "Shop 2"])
      var checked: [String] = []
      let error = #expect(throws: PersistenceError.self) {
        try stores.check { version, _ in checked.append(version.name) }
      }
      #expect(error?.errors.count == 2)
      #expect(error?.errors.first?.message.contains("'Shop' of 'Shop' is gone") == true)
      #expect(error?.errors.last?.place.file?.path.contains("Shop 2.xcdatamodel") == true)
      #expect(checked == ["Shop 3"])
      if hasStores {
        try #expect(stores.make() == [])
      } else {
        #expect(throws: PersistenceError.self) { try stores.make() }
      }
      // Without a lock, every version in the files but the current one is released.
      #expect(GoldenStores(in: golden, registry: registry).versions.map(\.name) == ["Shop 2"])
    }
  }

  @Test("A released version whose whole model is gone is reported, unless the registry is only a part")
  func missingModel() throws {
    try withTemporaryFolder { folder in
      var lock = ModelLock()
      try lock.lock(shop(), version: "Shop 3")
      let entity = EntityDescription("Coin", attributes: [AttributeDescription("name", .string)])
      let box = ModelVersion(name: "1", model: try ManagedObjectModel(ModelDescription(entities: [entity])))
      try lock.lock(ModelRegistry(versions: [box], family: "Box"))

      let stores = try GoldenStores(in: folder, registry: shop(), lock: lock)
      var checked: [String] = []
      let error = #expect(throws: PersistenceError.self) {
        try stores.check { version, _ in checked.append(version.name) }
      }
      #expect(error?.code == .releasedVersionChanged && error?.message.contains("'1' of 'Box' is gone") == true)
      #expect(checked == ["Shop 3"])
      try #expect(GoldenStores(in: folder, registry: shop(), lock: lock, isPart: true).check().count == 1)
    }
  }

  @Test("A store that can't be filled isn't left behind, where it would count as made")
  func unfillable() throws {
    func version(_ name: String, _ more: AttributeDescription...) throws -> ModelVersion {
      let entity = EntityDescription(
        "Item", attributes: [AttributeDescription("flag", .boolean)] + more, uniquenessConstraints: [["flag"]])
      return ModelVersion(name: name, model: try ManagedObjectModel(ModelDescription(entities: [entity])))
    }
    let registry = try ModelRegistry(
      versions: [version("1"), version("2", AttributeDescription("more", .string))], family: "Box")
    try withTemporaryFolder { folder in
      var stores = GoldenStores(in: folder, registry: registry)
      for _ in 0..<2 {
        let error = #expect(throws: PersistenceError.self) { try stores.check() }
        #expect(error?.code == .invalidRequest)
        try #expect(FolderSnapshot(folder).paths.filter { $0.contains("sqlite") } == [])
      }
      stores.rows = 1
      try #expect(stores.make().map(\.lastPathComponent) == ["1.sqlite"])
    }
  }

  @Test("A store that can't be filled hides no other problem and prevents no other store")
  func unfillableAmongOthers() throws {
    func version(_ name: String, _ more: [String], isUnique: Bool = false) throws -> ModelVersion {
      let entity = EntityDescription(
        "Item", attributes: [AttributeDescription("flag", .boolean)] + more.map { AttributeDescription($0, .string) },
        uniquenessConstraints: isUnique ? [["flag"]] : [])
      return ModelVersion(name: name, model: try ManagedObjectModel(ModelDescription(entities: [entity])))
    }
    let gone = try version("0", [])
    let one = try version("1", ["a"], isUnique: true)
    let (two, three) = try (version("2", ["a", "b"]), version("3", ["a", "b", "c"]))
    var lock = ModelLock()
    try lock.lock(ModelRegistry(versions: [gone, one, two, three], family: "Box"))
    let registry = ModelRegistry(versions: [one, two, three], family: "Box")
    try withTemporaryFolder { folder in
      let stores = GoldenStores(in: folder, registry: registry, lock: lock)
      let unmade = #expect(throws: PersistenceError.self) { try stores.make() }
      #expect(unmade?.errors.count == 2)
      try #expect(FolderSnapshot(folder).paths.filter { $0.contains("sqlite") } == ["Box/2.sqlite", "Box/3.sqlite"])
    }
    try withTemporaryFolder { folder in
      var checked: [String] = []
      let stores = GoldenStores(in: folder, registry: registry, lock: lock)
      let failed = #expect(throws: PersistenceError.self) {
        try stores.check { version, _ in checked.append(version.name) }
      }
      #expect(failed?.errors.contains { $0.message.contains("'0' of 'Box' is gone") } == true)
      #expect(failed?.errors.contains { $0.message.contains("version '1' can't be created") } == true)
      #expect(failed?.errors.count == 2 && checked == ["2", "3"])
    }
  }

  @Test("A released version changed since, and one that can't be migrated, are reported with their stores")
  func failing() throws {
    func version(_ name: String, _ attributes: AttributeDescription...) throws -> ModelVersion {
      ModelVersion(
        name: name,
        model: try ManagedObjectModel(
          ModelDescription(entities: [EntityDescription("Item", attributes: attributes)])))
    }
    let one = try version("1", AttributeDescription("size", .string))
    let two = try version("2", AttributeDescription("size", .string), AttributeDescription("more", .string))
    let three = try version("3", AttributeDescription("size", .date))
    try withTemporaryFolder { folder in
      let before = ModelRegistry(versions: [one, two], family: "Box")
      try GoldenStores(in: folder, registry: before).check()
      let changed = ModelRegistry(
        versions: [try version("1", AttributeDescription("width", .string)), two], family: "Box")
      let error = #expect(throws: PersistenceError.self) { try GoldenStores(in: folder, registry: changed).check() }
      #expect(error?.message.contains("The store of version '1'") == true)
      #expect(error?.place.store?.lastPathComponent == "1.sqlite")

      let impossible = ModelRegistry(versions: [one, two, three], family: "Box")
      let errors = #expect(throws: PersistenceError.self) { try GoldenStores(in: folder, registry: impossible).check() }
      #expect(errors?.errors.count == 2)
      #expect(errors?.code == .migrationFailed)
    }
  }

  @Test("The migration is the application's: its mapping models and stages run", .needsSharedData)
  func migrator() throws {
    try withTemporaryFolder { folder in
      let registry = try ModelRegistry(contentsOf: SharedData.url("cars"))
      let stores = GoldenStores(in: folder, registry: registry)
      #expect(!stores.versions.isEmpty)
      try #expect(stores.make().count == stores.versions.count)
    }
  }
}

import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Migrating real stores and chains", .needsSharedData)
struct RealChainTests {
  private static func registry(_ path: String) throws -> ModelRegistry {
    try ModelRegistry(contentsOf: SharedData.url(path))
  }

  /// Migrates a store and checks every law: values kept, tables as in a new store, no findings of a check.
  private func migrate(
    _ url: URL, to name: String, _ registry: ModelRegistry, isOld: Bool = false
  ) throws -> MigrationReport {
    let source = try StoreIdentification.identify(storeAt: url, registry: registry)
    let destination = try registry.version(named: name)
    let version = try #require(source.version)
    let hop = try MigrationHop(from: version, to: destination, registry: registry)
    let before = try StoreDump(of: source.model, at: url)
    let plan = try MigrationPlan(storeAt: url, to: destination, registry: registry)
    #expect(plan.blockers == [])
    let report = try AutomaticMigrator().migrate(storeAt: url, to: destination, registry: registry)
    let after = try StoreDump(of: destination.model, at: url)
    let expected = before.migrated(by: hop.comparison)
    #expect(after.withoutDerived(destination.model).differences(from: expected) == [])
    let now = try StoreIdentification.identify(storeAt: url, registry: registry)
    #expect(now.version?.name == name)
    #expect(now.origin == .fingerprint)
    #expect(now.metadata.identifier == source.metadata.identifier)
    #expect(now.tableMap.differences == [])
    #expect(now.tableMap.unexplained == [])
    try MadeStore.expectNewStore(of: destination.model, at: url, isOld: isOld)
    var problems: [StoreProblem] = []
    try checkStore(at: url, registry: registry) { problems.append($0) }
    #expect(problems == [])
    return report
  }

  @Test("posts: version 1 to 2")
  func posts() throws {
    let registry = try Self.registry("posts/Model")
    try withCopy(ofStore: "posts/CoreDataMigration_Example_1.sqlite") { url in
      let report = try migrate(url, to: "CoreDataMigration_Example 2", registry)
      #expect(report.hops == 1)
      try #expect(
        MadeStore.rows("SELECT ZPOSTID, ZHEXCOLOR FROM ZPOST ORDER BY ZPOSTID DESC LIMIT 1", at: url)
          == [["FFFECB21-6645-4FDD-B8B0-B960D0E61F5A", "1BB732"]])
    }
  }

  @Test("moody: version 1 to 2")
  func moody() throws {
    let registry = try Self.registry("moody/Moody.xcdatamodeld")
    try withCopy(ofStore: "moody/Moody.moody") { _ = try migrate($0, to: "Moody 2", registry, isOld: true) }
  }

  @Test("bookmarks: every version to the newest", arguments: 1...4)
  func bookmarks(version: Int) throws {
    let registry = try Self.registry("bookmarks")
    try withCopy(ofStore: "bookmarks/Bookmarks_V\(version).sqlite") { url in
      _ = try migrate(url, to: "BookmarksModel 6", registry)
    }
  }

  @Test("employees: version 1 to 2, a store without an embedded model")
  func employees() throws {
    let registry = try Self.registry("employees")
    try withCopy(ofStore: "employees/Stores/MWKCoreDataTests.sqlite") { url in
      _ = try migrate(url, to: "MWKCoreDataTests2", registry, isOld: true)
    }
  }

  @Test("cars: version 1 to 2, and 2 to 3 without its mapping model")
  func cars() throws {
    let registry = try Self.registry("cars/SampleModel.xcdatamodeld")
    try withCopy(ofStore: "cars/Fixtures/SampleModel_V1.sqlite") { url in
      _ = try migrate(url, to: "SampleModel2", registry)
      _ = try migrate(url, to: "SampleModel3", registry)
    }
  }

  /// The next version of any model: every root entity has a new attribute, names change, and a new entity comes first,
  /// which shifts the numbers of all others in rows, in names and in the history.
  private func changedModel(_ model: ManagedObjectModel) throws -> ManagedObjectModel {
    var description = model.description
    let uses = Dictionary(
      grouping: description.entities.flatMap { $0.attributes.map(\.name) }, by: { $0 }).mapValues(\.count)
    for index in description.entities.indices {
      var entity = description.entities[index]
      let position = entity.attributes.firstIndex {
        $0.type == .string && $0.renamingIdentifier == nil && uses[$0.name] == 1
      }
      if let position {
        entity.attributes[position].renamingIdentifier = entity.attributes[position].name
        entity.attributes[position].name += "Renamed"
        entity.indexes = []
        entity.compoundIndexes = []
        entity.uniquenessConstraints = []
      }
      if entity.parent == nil {
        entity.attributes.append(AttributeDescription("addedByTest", .string, default: .string("new")))
      }
      description.entities[index] = entity
    }
    description.entities.append(EntityDescription("AAAA", attributes: [AttributeDescription("name", .string)]))
    return try ManagedObjectModel(description)
  }

  @Test("Every real store can be migrated to a changed version of its own model", arguments: SharedData.stores)
  func everyStore(store: URL) throws {
    let known = try ModelRegistry(contentsOf: store.deletingLastPathComponent().deletingLastPathComponent())
    try withCopy(ofStore: store) { url in
      let source = try StoreIdentification.identify(storeAt: url, registry: known)
      let changed = ModelVersion(name: "changed", model: try changedModel(source.model))
      let registry = ModelRegistry(versions: [ModelVersion(name: "own", model: source.model), changed])
      func problems() throws -> Set<StoreProblem.Kind> {
        var kinds: Set<StoreProblem.Kind> = []
        try checkStore(at: url, registry: registry) { kinds.insert($0.kind) }
        return kinds
      }
      let before = try StoreDump(of: source.model, at: url)
      let kinds = try problems()
      let hop = try MigrationHop(from: registry.versions[0], to: changed, registry: registry)
      try AutomaticMigrator().migrate(storeAt: url, to: changed, registry: registry)
      let after = try StoreDump(of: changed.model, at: url)
      let expected = before.migrated(by: hop.comparison)
      #expect(after.withoutDerived(changed.model).differences(from: expected) == [])
      try #expect(problems().subtracting(kinds) == [])
      let now = try StoreIdentification.identify(storeAt: url, registry: registry)
      #expect(now.version?.name == "changed")
      #expect(now.metadata.frameworkVersion == source.metadata.frameworkVersion)
    }
  }

  @Test(
    "wallet: filled stores migrate from the first version to the last, and through single hops",
    arguments: [
      ("SubstrateDataModel", "SubstrateDataModel", "SubstrateDataModel39"),
      ("UserDataModel", "MultiassetUserDataModel", "MultiassetUserDataModel20"),
    ])
  func wallet(family: String, first: String, last: String) throws {
    let registry = try Self.registry("wallet/Storage/\(family).xcdatamodeld")
    let start = try registry.version(named: first)
    try withTemporaryStore { url in
      try MadeStore.make(start.model, at: url)
      try MadeStore.fill(start.model, at: url, rows: 7, seed: 1)
      let copy = otherStore("copy", beside: url)
      try MadeStore.make(start.model, at: copy)
      try MadeStore.fill(start.model, at: copy, rows: 7, seed: 1)
      let report = try migrate(url, to: last, registry)
      #expect(report.hops == 1)
      let end = try registry.version(named: last)
      let copied = try AutomaticMigrator(alwaysCopies: true).migrate(storeAt: copy, to: end, registry: registry)
      #expect(copied.way == .copy)
      #expect(copied.hops == 1)
      let (inPlace, byCopy) = (try StoreDump(of: end.model, at: url), try StoreDump(of: end.model, at: copy))
      #expect(byCopy.differences(from: inPlace) == [])
      try MadeStore.expectNewStore(of: end.model, at: copy)
    }
    let versions = registry.families[0].versions.drop { $0.name != first }
    for (number, (version, next)) in zip(versions, versions.dropFirst()).enumerated()
    where TestLength.isLong || number % 4 == 0 {
      try withTemporaryStore { url in
        try MadeStore.make(version.model, at: url)
        try MadeStore.fill(version.model, at: url, rows: 5, seed: 2)
        _ = try migrate(url, to: next.name, registry)
      }
    }
  }
}

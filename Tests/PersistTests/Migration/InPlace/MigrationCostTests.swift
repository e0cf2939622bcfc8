import Foundation
import PersistTestSupport
import Testing

@testable import Persist

/// The cost of opening a store apart from its rows, in connections and statements.
@Suite("Cost of opening and migrating a store, in connections and statements")
struct MigrationCostTests {
  private static func library(_ attributes: String...) throws -> ManagedObjectModel {
    try model(
      EntityDescription(
        "Author", attributes: [.init("name", .string)],
        relationships: [.init("books", toMany: "Book", inverse: "author")]),
      EntityDescription(
        "Book", attributes: attributes.map { .init($0, .string) },
        relationships: [.init("author", to: "Author", inverse: "books")]))
  }

  private struct Cost {
    let connections: Int
    let statements: [String]

    /// How often the names and columns of all tables were read.
    var schemaReads: Int { statements.count { $0.contains("pragma_table_info") } }
  }

  /// The cost of one `addStore` with the second model for a store of the first.
  private func cost(
    from old: ManagedObjectModel, to new: ManagedObjectModel, _ options: StoreOptions = .automaticMigration
  ) throws -> Cost {
    try withTemporaryFolder { folder in
      let url = folder.appendingPathComponent("Cost-\(UUID().uuidString).sqlite")
      let first = PersistentStoreCoordinator(model: old)
      try first.remove(first.addStore(at: url))
      let census = StatementCensus(of: url)
      defer { census.end() }
      let coordinator = PersistentStoreCoordinator(model: new, registry: ModelRegistry(versions: [
        ModelVersion(name: "1", model: old), ModelVersion(name: "2", model: new),
      ]))
      let store = try coordinator.addStore(at: url, options: options)
      let cost = Cost(connections: census.connections, statements: census.statements)
      try coordinator.remove(store)
      try MadeStore.expectNewStore(of: new, at: url)
      return cost
    }
  }

  @Test("Opening a store of the current model takes one connection, which doesn't read the schema")
  func opening() throws {
    let model = try Self.library("title")
    let cost = try cost(from: model, to: model)
    #expect(cost.connections == 1)
    #expect(cost.schemaReads == 0)
    #expect(cost.statements.count <= 20, "\(cost.statements)")
  }

  @Test("Adding an attribute reads the schema to find the model, to check the result, and to open the store")
  func attribute() throws {
    let cost = try cost(from: Self.library("title"), to: Self.library("title", "subtitle"))
    // To find the model; to survey without writing; to migrate; to open.
    #expect(cost.connections == 4)
    #expect(cost.schemaReads == 3)
    #expect(cost.statements.count <= 94, "\(cost.statements)")
  }

  @Test("A store changed by others between the survey and the migration is surveyed again and migrated correctly")
  func changedMeanwhile() throws {
    let (old, new) = (try Self.library("title"), try Self.library("title", "subtitle"))
    try withTemporaryStore { url in
      let first = PersistentStoreCoordinator(model: old)
      try first.remove(first.addStore(at: url))
      let versions = [ModelVersion(name: "1", model: old), ModelVersion(name: "2", model: new)]
      let registry = ModelRegistry(versions: versions)
      let known = try StoreIdentification.identify(storeAt: url, registry: registry)
      let hop = try MigrationHop(from: known.source, to: versions[1], registry: registry)
      let direct = StoreSurvey(known, hop: hop)
      try MadeStore.run("ALTER TABLE ZBOOK ADD COLUMN ZMINE VARCHAR", "CREATE INDEX MINE ON ZBOOK (ZMINE)", at: url)
      _ = try InPlaceMigration(
        url: url, destination: versions[1], registry: registry, options: StoreOptions(), migrator: AutomaticMigrator(),
        survey: direct
      ).run()
      let store = try RawStore(url, mode: .readOnly)
      defer { store.close() }
      let words = try StoreWords(new, at: url)
      let table = try store.catalog().schema.table(named: words["ZBOOK"])
      #expect(table?.column(named: "ZMINE") != nil && table?.column(named: words["ZSUBTITLE"]) != nil)
      try #expect(StoreIdentification.identify(storeAt: url, registry: registry).model === new)
    }
  }

  @Test("The digest of a model is computed from its description's text once")
  func digest() throws {
    let model = try Self.library("title")
    #expect(model.digest == model.description.digest)
    #expect(model.digest == model.digest)
  }
}

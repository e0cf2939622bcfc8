#if canImport(PersistPostgreSQL)
  import Foundation
  @testable import PersistPostgreSQL
  import PersistTestSupport
  import Testing

  @testable import Persist
  @testable import PersistCore
  @testable import PersistModel

  /// The counterpart of ``MappingLossTests``, for conditions that the engines write in different words.
  @Suite("Losses by mapping models on a server", .needsServer)
  struct ServerMappingLossTests {
    private static func order(_ modifier: String) throws -> ModelVersion {
      var order = EntityDescription(
        "Order",
        attributes: [
          .init("billing", .string), .init("shipping", .string), .init("size", .int64), .init("parts", .int64),
        ])
      order.versionHashModifier = modifier
      return ModelVersion(name: modifier, model: try model(order))
    }

    private static let reason = "Order: objects that the filter of 'IEM_Transform_Order' leaves out"

    @Test(
      "A filter that is valid in a file is counted, or may leave out any object",
      arguments: [
        ("billing == shipping", ", 1 row", 2), ("billing != shipping", ", 2 rows", 1),
        ("size == 16777217", ", 2 rows", 1), ("size / parts == 8", "", 1), ("billing LIKE[c] 'M*'", "", 3),
      ])
    func filters(filter: String, count: String, kept: Int) throws {
      let registry = ModelRegistry(versions: [try Self.order("1"), try Self.order("2")])
      try TestServer.withSchema { text in
        let url = try #require(URL(string: text))
        let coordinator = PersistentStoreCoordinator(model: registry.versions[0].model)
        let store = try coordinator.addStore(at: url)
        let context = ManagedObjectContext(coordinator)
        for (shipping, size, parts) in [("Mons", 16_777_216, 0), ("Mons", 16_777_217, 1), ("Metz", 16, 2)] {
          try context.make("Order", ["billing": "Mons", "shipping": shipping, "size": size, "parts": parts])
        }
        try context.save()
        try coordinator.remove(store)
        var mapping = try MappingModel.inferred(from: registry.versions[0].model, to: registry.versions[1].model)
        (mapping.sourceVersion, mapping.destinationVersion) = ("1", "2")
        try mapping.edit("Order") { $0.sourceExpression = .sourceObjects(of: "Order", where: filter) }
        let migrator = AutomaticMigrator(allowsLoss: true, mappingModels: [mapping])
        let target = registry.versions[1]
        let plan = try MigrationPlan(storeAt: url, to: target, registry: registry, migrator: migrator)
        #expect(plan.losses.map(\.description) == [Self.reason + count])
        try migrator.migrate(storeAt: url, to: target, registry: registry)
        try #expect(ForeignSQL.run("SELECT count(*) FROM \"order\"", at: url) == [["\(kept)"]])
      }
    }
  }
#endif

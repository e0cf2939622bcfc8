#if canImport(PersistPostgreSQL)
  import Foundation
  @testable import PersistPostgreSQL
  import PersistTestSupport
  import Testing

  @testable import Persist
  @testable import PersistCore
  @testable import PersistModel

  /// Changes of column types by migrations.
  @Suite("Changes of column types on a server", .needsServer)
  struct ServerRetypingTests {
    private typealias Sample = ColumnTypeSample

    /// The types of a store that was made before servers' stores had types of their own.
    private static let olderTypes = [
      "ALTER TABLE item ALTER COLUMN is_active TYPE bigint USING is_active::int",
      "ALTER TABLE item ALTER COLUMN token TYPE bytea USING uuid_send(token)",
      "ALTER TABLE item ALTER COLUMN small TYPE bigint, ALTER COLUMN rank TYPE bigint",
    ]

    @Test(
      "A store with wider columns is used as it is, and a migration gives it the present types",
      arguments: [true, false])
    func older(copies: Bool) throws {
      let versions = try [
        ModelVersion(name: "1", model: Sample.model()),
        ModelVersion(name: "2", model: Sample.model(Sample.attributes + [.init("extra", .string)])),
      ]
      try Sample.withStore(of: versions[0].model) { url, context in
        try Sample.fill(context)
        let before = try Sample.values(context)
        try ForeignSQL.run(Self.olderTypes, at: url)
        let second = try Sample.reopened(url, versions[0].model)
        try #expect(Sample.values(second) == before)
        #expect(try second.count(for: FetchRequest<ManagedObject>("Item", where: "isActive == 1")) == 8)
        #expect(try second.count(for: FetchRequest<ManagedObject>("Item", where: "token == %@", Sample.uuids[1])) == 12)
        try second.make("Item", ["number": 100, "isActive": true, "token": Sample.uuids[0], "small": 5])
        try second.save()
        let all = try Sample.values(second)
        let report = try AutomaticMigrator(alwaysCopies: copies).migrate(
          storeAt: url, to: versions[1], registry: ModelRegistry(versions: versions))
        #expect(report.way == (copies ? .copy : .inPlace))
        try #expect(Sample.values(Sample.reopened(url, versions[1].model)) == all)
        let types = try Sample.types(url)
        #expect(["is_active", "token", "small", "rank"].map { types[$0] } == ["boolean", "uuid", "smallint", "integer"])
      }
    }

    @Test("An attribute that gets another type keeps its values", arguments: [true, false])
    func retyped(copies: Bool) throws {
      func version(_ name: String, _ types: AttributeType...) throws -> ModelVersion {
        let names = ["flag", "count", "small", "wide", "rank", "ratio"]
        var item = EntityDescription("Item", attributes: zip(names, types).map { .init($0, $1) })
        item.attributes.append(.init("number", .int64))
        item.indexes = [FetchIndexDescription("byFlag", on: "flag")]
        item.uniquenessConstraints = [["number", "small"]]
        return ModelVersion(name: name, model: try ManagedObjectModel(ModelDescription(entities: [item])))
      }
      let versions = try [
        version("1", .boolean, .int64, .int16, .int64, .int16, .int32),
        version("2", .int16, .boolean, .int64, .int16, .int32, .double),
      ]
      try Sample.withStore(of: versions[0].model) { url, context in
        try context.make(
          "Item", ["number": 1, "flag": true, "count": 1, "small": -7, "wide": 9, "rank": 12, "ratio": 40_000])
        try context.make("Item", ["number": 2, "flag": false, "count": 0, "small": 3])
        try context.make("Item", ["number": 3])
        try context.save()
        try ForeignSQL.run(
          "GRANT SELECT ON item TO PUBLIC", "CREATE INDEX theirs ON item (rank DESC)",
          "CREATE FUNCTION noted() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$",
          "CREATE TRIGGER tells BEFORE UPDATE ON item FOR EACH ROW EXECUTE FUNCTION noted()", at: url)
        let report = try AutomaticMigrator(alwaysCopies: copies).migrate(
          storeAt: url, to: versions[1], registry: ModelRegistry(versions: versions))
        #expect(report.way == (copies ? .copy : .inPlace))
        let context = try Sample.reopened(url, versions[1].model)
        let items = try context.fetch(FetchRequest("Item", sortedBy: "number"))
        #expect(items.map { $0["flag"] as? Int } == [1, 0, nil])
        #expect(items.map { $0["count"] as? Bool } == [true, false, nil])
        #expect(items.map { $0["small"] as? Int } == [-7, 3, nil])
        #expect(items.map { $0["wide"] as? Int } == [9, nil, nil])
        #expect(items.map { $0["rank"] as? Int } == [12, nil, nil])
        #expect(items.map { $0["ratio"] as? Double } == [40_000, nil, nil])
        let types = try Sample.types(url)
        #expect(
          ["flag", "count", "small", "wide", "rank", "ratio"].map { types[$0] }
            == ["smallint", "boolean", "bigint", "smallint", "integer", "double precision"])
        let kept = """
          SELECT has_table_privilege('public', current_schema() || '.item', 'SELECT')::int, (SELECT count(*) \
          FROM pg_indexes WHERE schemaname = current_schema() AND indexname IN ('theirs', 'item_by_flag_index')), \
          (SELECT count(*) FROM pg_trigger WHERE tgname = 'tells' AND tgrelid = 'item'::regclass)
          """
        try #expect(ForeignSQL.run(kept, at: url) == [["1", "2", "1"]])
      }
    }

    @Test("A number that doesn't fit into the new type is a loss that the migration names before it changes anything")
    func refused() throws {
      func version(_ name: String, _ type: AttributeType) throws -> ModelVersion {
        ModelVersion(name: name, model: try Sample.model([.init("number", type)]))
      }
      let versions = try [version("1", .int64), version("2", .int16)]
      try Sample.withStore(of: versions[0].model) { url, context in
        try context.make("Item", ["number": 40_000])
        try context.save()
        let error = persistError {
          try AutomaticMigrator().migrate(storeAt: url, to: versions[1], registry: ModelRegistry(versions: versions))
        }
        #expect(error != nil)
        try #expect(ForeignSQL.run("SELECT number FROM item", at: url) == [["40000"]])
        try #expect(Sample.types(url)["number"] == "bigint")
      }
    }

    @Test("A view on a column that gets another type is an error with advice, and nothing changes")
    func view() throws {
      func version(_ name: String, _ type: AttributeType) throws -> ModelVersion {
        ModelVersion(name: name, model: try Sample.model([.init("number", type)]))
      }
      let versions = try [version("1", .int16), version("2", .int32)]
      try Sample.withStore(of: versions[0].model) { url, context in
        try context.make("Item", ["number": 4])
        try context.save()
        try ForeignSQL.run("CREATE VIEW report AS SELECT number FROM item", at: url)
        let error = persistError {
          try AutomaticMigrator().migrate(storeAt: url, to: versions[1], registry: ModelRegistry(versions: versions))
        }
        #expect(error?.code == .migrationFailed && error?.fix != nil, "\(String(describing: error))")
        try #expect(ForeignSQL.run("SELECT number FROM report", at: url) == [["4"]])
        try #expect(Sample.types(url)["number"] == "smallint")
      }
    }
  }
#endif

#if canImport(PersistPostgreSQL)
  import Foundation
  @testable import PersistPostgreSQL
  import PersistTestSupport
  import PersistTools
  import Testing

  @testable import Persist
  @testable import PersistCore
  @testable import PersistModel

  /// Default values of columns, for rows that SQL inserts.
  @Suite("Default values of columns on a server", .needsServer)
  struct ServerColumnDefaultTests {
    private typealias Sample = ColumnTypeSample

    private static let day = Date(timeIntervalSinceReferenceDate: -12345.678)

    private static let attributes: [AttributeDescription] = [
      .init("flag", .boolean, isOptional: false, default: .boolean(true)),
      .init("small", .int16, isOptional: false, default: .integer(-7)),
      .init("rank", .int32, default: .integer(40_000)), .init("large", .int64, default: .integer(.min)),
      .init("ratio", .double, default: .double(-0.1)), .init("day", .date, default: .date(day)),
      .init("price", .decimal, default: .decimal(Decimal(string: "-12.50") ?? 0)),
      .init("title", .string, isOptional: false, default: .string("it's \\ a 'title'\n(new)::text \\\u{301}'\u{301}")),
      .init("token", .uuid, default: .uuid(Sample.uuids[1])), .init("bytes", .binary, default: .data(Data([0, 1, 255]))),
      .init("photo", .binary, default: .data(Data([7])), allowsExternalStorage: true),
      .init("plain", .string),
    ]

    private static func model(_ attributes: [AttributeDescription] = attributes) throws -> ManagedObjectModel {
      try ManagedObjectModel(
        ModelDescription(entities: [
          EntityDescription("Item", attributes: attributes),
          EntityDescription(
            "Vip", parent: "Item", attributes: [.init("level", .int16, isOptional: false, default: .integer(3))]),
        ]))
    }

    private static func defaults(_ url: URL) throws -> [String: String] {
      let rows = try ForeignSQL.run(
        """
        SELECT column_name, column_default FROM information_schema.columns WHERE table_schema = current_schema() \
        AND table_name = 'item' AND column_default IS NOT NULL AND column_name NOT IN ('id', 'version', 'entity')
        """, at: url)
      return Dictionary(rows.map { ($0[0], $0[1]) }, uniquingKeysWith: { first, _ in first })
    }

    private static func values(_ object: ManagedObject) -> [String: AnyHashable] {
      Dictionary(
        attributes.map { ($0.name, object[$0.name] as? AnyHashable ?? AnyHashable("nil")) },
        uniquingKeysWith: { first, _ in first })
    }

    @Test("Constants are recognized, whatever their texts contain")
    func constants() {
      for text in ["'\u{301}a'", "'it''\u{301}s \\ (1)'::text", "'a\u{301}'::character varying", "(-12.5)::numeric"] {
        #expect(ServerColumnDefault.isConstant(text), "\(text)")
      }
      for text in ["now()", "'a' || 'b'", "nextval('a''\u{301}s'::regclass)", "a\u{301}"] {
        #expect(!ServerColumnDefault.isConstant(text), "\(text)")
      }
    }

    private static func migrate(
      _ url: URL, from old: ManagedObjectModel, to new: ManagedObjectModel, copies: Bool = false
    ) throws {
      let versions = [ModelVersion(name: "1", model: old), ModelVersion(name: "2", model: new)]
      let report = try AutomaticMigrator(allowsLoss: true, alwaysCopies: copies).migrate(
        storeAt: url, to: versions[1], registry: ModelRegistry(versions: versions))
      #expect(report.way == (copies ? .copy : .inPlace))
    }

    @Test("A row that SQL inserts has the model's default values, like a new object")
    func inserted() throws {
      let model = try Self.model()
      try Sample.withStore(of: model) { url, context in
        let object = try context.make("Item")
        let vip = try context.make("Vip")
        try context.save()
        try ForeignSQL.run("INSERT INTO item DEFAULT VALUES", at: url)
        let items = try context.fetch(FetchRequest<ManagedObject>("Item"))
        #expect(items.count == 3)
        let other = try #require(items.first { $0 !== object && $0 !== vip })
        #expect(Self.values(other) == Self.values(object))
        #expect(other["plain"] == nil)
        // Other rows of the table have no use for a subentity's value.
        let levels = "SELECT count(*) FROM item WHERE level IS NULL"
        try #expect(ForeignSQL.run(levels, at: url) == [["2"]])
        var problems: [StoreProblem] = []
        try StoreLocation(url).check(registry: nil) { problems.append($0) }
        #expect(problems == [])
        try withTemporaryFolder { folder in
          let file = StoreLocation(folder.appendingPathComponent("Copy.sqlite"))
          try StoreCopies.replaceStore(at: file, with: StoreLocation(url))
          try #expect(storedContents(at: file) == storedContents(at: StoreLocation(url)))
        }
      }
    }

    @Test("A store without them is opened as it is, and the next migration adds them", arguments: [false, true])
    func older(copies: Bool) throws {
      let old = try Self.model()
      try Sample.withStore(of: old) { url, context in
        let all = try Self.defaults(url)
        #expect(all.count == 11)
        for name in all.keys { try ForeignSQL.run("ALTER TABLE item ALTER COLUMN \(name) DROP DEFAULT", at: url) }
        let again = try Sample.reopened(url, old)
        try again.make("Item")
        try again.save()
        try #expect(Self.defaults(url) == [:])
        try Self.migrate(url, from: old, to: Self.model(Self.attributes + [.init("extra", .string)]), copies: copies)
        try #expect(Self.defaults(url) == all)
      }
    }

    @Test("Added, changed, removed and retyped attributes have the new model's default values", arguments: [false, true])
    func migrated(copies: Bool) throws {
      let old = try Self.model([
        .init("kept", .int64, default: .integer(1)), .init("changed", .string, default: .string("old")),
        .init("removed", .double, default: .double(1.5)), .init("flag", .boolean, default: .boolean(true)),
        .init("former", .int32, default: .integer(9), renamingIdentifier: "renamed"),
      ])
      let new = try Self.model([
        .init("kept", .int64, default: .integer(1)), .init("changed", .string, default: .string("new")),
        .init("removed", .double), .init("flag", .int16, default: .integer(4)),
        .init("renamed", .int32, default: .integer(9), renamingIdentifier: "renamed"),
        .init("added", .int64, isOptional: false, default: .integer(12)),
      ])
      try Sample.withStore(of: old) { url, context in
        try context.make("Item", ["changed": "stays"])
        try context.save()
        try Self.migrate(url, from: old, to: new, copies: copies)
        try ForeignSQL.run("INSERT INTO item DEFAULT VALUES", at: url)
        let reading = try Sample.reopened(url, new)
        let items = try reading.fetch(FetchRequest<ManagedObject>("Item", sortedBy: "changed"))
        let names = ["kept", "changed", "removed", "flag", "renamed", "added"]
        let values = items.map { item in names.map { name in item[name].map { "\($0)" } ?? "nil" } }
        #expect(values == [["1", "new", "nil", "4", "9", "12"], ["1", "stays", "1.5", "1", "9", "12"]])
      }
    }

    @Test("A default value of others that is computed remains")
    func computed() throws {
      let old = try Self.model()
      try Sample.withStore(of: old) { url, _ in
        try ForeignSQL.run(
          "ALTER TABLE item ALTER COLUMN plain SET DEFAULT current_user",
          "ALTER TABLE item ALTER COLUMN large SET DEFAULT 5 + 6",
          "ALTER TABLE item ALTER COLUMN token SET DEFAULT gen_random_uuid()", at: url)
        let before = try Self.defaults(url)
        try Self.migrate(url, from: old, to: Self.model(Self.attributes + [.init("extra", .string)]))
        try #expect(Self.defaults(url) == before)
        #expect(before["plain"] == "CURRENT_USER" && before["large"] == "(5 + 6)")
      }
    }

    @Test("A migration that changes no default value sets none")
    func unchanged() throws {
      let old = try Self.model()
      try Sample.withStore(of: old) { url, _ in
        let numbers = "SELECT oid FROM pg_attrdef WHERE adrelid = 'item'::regclass AND adnum > 3 ORDER BY adnum"
        let before = try ForeignSQL.run(numbers, at: url)
        try Self.migrate(url, from: old, to: Self.model(Self.attributes + [.init("extra", .string)]))
        try #expect(ForeignSQL.run(numbers, at: url) == before)
      }
    }
  }
#endif

#if canImport(PersistPostgreSQL)
  import Foundation
  @testable import PersistPostgreSQL
  import PersistTestSupport
  import Testing

  @testable import Persist
  @testable import PersistCore
  @testable import PersistModel

  /// Others' objects in a store's schema, and their changes of the store.
  @Suite("Surroundings of a store on a server", .needsServer)
  struct ServerSurroundingsTests {
    private static func version(_ name: String, _ attributes: String...) throws -> ModelVersion {
      ModelVersion(
        name: name,
        model: try ManagedObjectModel(
          ModelDescription(entities: [
            EntityDescription("Item", attributes: attributes.map { AttributeDescription($0, .string) })
          ])))
    }

    private static func registry() throws -> ModelRegistry {
      ModelRegistry(versions: [try version("1", "a", "x"), try version("2", "a", "b")])
    }

    private func withStore(_ sql: String..., body: (URL, ModelRegistry) throws -> Void) throws {
      let registry = try Self.registry()
      try TestServer.withSchema { text in
        let url = try #require(URL(string: text))
        try MadeStore.make(registry.versions[0].model, at: url)
        try ForeignSQL.run(["INSERT INTO item (id, entity, version, a) VALUES (1, 1, 1, 'one')"] + sql, at: url)
        try body(url, registry)
      }
    }

    private func migrate(_ url: URL, _ registry: ModelRegistry, copies: Bool = true) throws {
      let report = try AutomaticMigrator(alwaysCopies: copies).migrate(
        storeAt: url, to: registry.versions[1], registry: registry)
      #expect(report.way == (copies ? .copy : .inPlace))
    }

    @Test("Others' tables, rights, indexes and triggers remain when a migration replaces the store's tables")
    func kept() throws {
      try withStore(
        "CREATE TABLE notes (t text)", "INSERT INTO notes VALUES ('kept')", "CREATE VIEW shown AS SELECT t FROM notes",
        "CREATE INDEX mine ON item (upper(a))", "GRANT SELECT ON item TO PUBLIC",
        """
        CREATE FUNCTION noted() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN EXECUTE format('INSERT INTO %I.notes \
        VALUES (%L)', TG_TABLE_SCHEMA, NEW.a); RETURN NULL; END $$
        """,
        "CREATE TRIGGER tells AFTER UPDATE ON item FOR EACH ROW EXECUTE FUNCTION noted()"
      ) { url, registry in
        try migrate(url, registry)
        try #expect(ForeignSQL.run("SELECT a, b FROM item", at: url) == [["one", "nil"]])
        try ForeignSQL.run("UPDATE item SET a = 'two'", at: url)
        try #expect(ForeignSQL.run("SELECT t FROM shown ORDER BY t", at: url) == [["kept"], ["two"]])
        let index = "SELECT count(*) FROM pg_indexes WHERE schemaname = current_schema() AND indexname = 'mine'"
        try #expect(ForeignSQL.run(index, at: url) == [["1"]])
        let right = "SELECT has_table_privilege('public', current_schema() || '.item', 'SELECT')"
        try #expect(ForeignSQL.run(right, at: url) == [["1"]])
        try MadeStore.expectKeptSchemaOnly(at: url)
      }
    }

    @Test("Others' rights, default values and conditions of columns remain when a migration replaces their tables")
    func keptOfColumns() throws {
      try withStore(
        "GRANT UPDATE (a), UPDATE (x) ON item TO PUBLIC", "ALTER TABLE item ALTER a SET DEFAULT lower('NEW')",
        "ALTER TABLE item ALTER x SET DEFAULT lower('OLD')", "ALTER TABLE item ALTER a SET NOT NULL",
        "ALTER TABLE item ADD CONSTRAINT short CHECK (length(a) < 10)",
        "ALTER TABLE item ADD CONSTRAINT other CHECK (length(x) < 10)",
        "ALTER TABLE item ADD CONSTRAINT single EXCLUDE USING btree (a WITH =)"
      ) { url, registry in
        try migrate(url, registry)
        try ForeignSQL.run("INSERT INTO item (id, entity, version) VALUES (2, 1, 1)", at: url)
        try #expect(ForeignSQL.run("SELECT a, b FROM item ORDER BY id", at: url) == [["one", "nil"], ["new", "nil"]])
        for value in ["'0123456789'", "NULL", "'one'"] {
          #expect(throws: ForeignSQL.Failure.self, "\(value)") {
            try ForeignSQL.run("INSERT INTO item (id, entity, version, a) VALUES (3, 1, 1, \(value))", at: url)
          }
        }
        let right = "SELECT has_column_privilege('public', current_schema() || '.item', 'a', 'UPDATE')"
        try #expect(ForeignSQL.run(right, at: url) == [["1"]])
        try MadeStore.expectKeptSchemaOnly(at: url)
      }
    }

    @Test(
      "What would be lost is named before anything is copied, and the store stays unchanged",
      arguments: [
        ("CREATE VIEW report AS SELECT a FROM item", "view report"),
        ("ALTER TABLE item ADD COLUMN extra text", "column extra of item"),
        ("CREATE TABLE theirs (item bigint REFERENCES item)", "foreign key theirs_item_fkey"),
        ("CREATE POLICY own ON item USING (TRUE)", "policy own"),
      ])
    func refused(sql: String, word: String) throws {
      try withStore(sql) { url, registry in
        let before = try StoreSnapshot(url)
        let error = persistError { try migrate(url, registry) }
        #expect(error?.code == .migrationFailed && error?.message.contains(word) == true, "\(String(describing: error))")
        #expect(error?.fix != nil)
        try #expect(StoreSnapshot(url) == before)
      }
    }

    @Test("A view on a column that a migration removes in place is an error with advice, and nothing changes")
    func viewInPlace() throws {
      try withStore("CREATE VIEW report AS SELECT x FROM item") { url, registry in
        let before = try StoreSnapshot(url)
        let error = persistError { try migrate(url, registry, copies: false) }
        #expect(error?.code == .migrationFailed && error?.fix != nil, "\(String(describing: error))")
        try #expect(StoreSnapshot(url) == before)
      }
    }

    @Test("A migration in place leaves the indexes that both models declare as they are")
    func indexes() throws {
      func version(_ name: String, _ attributes: String...) throws -> ModelVersion {
        var item = EntityDescription("Item", attributes: attributes.map { AttributeDescription($0, .string) })
        item.indexes = [
          FetchIndexDescription("byA", on: "a"),
          FetchIndexDescription(
            "byOrder", elements: [.init(.property("order"), isAscending: false), .init(.property("a"))]),
        ]
        item.uniquenessConstraints = [["a", "order"]]
        return ModelVersion(name: name, model: try ManagedObjectModel(ModelDescription(entities: [item])))
      }
      let registry = ModelRegistry(versions: [try version("1", "a", "order"), try version("2", "a", "order", "b")])
      try TestServer.withSchema { text in
        let url = try #require(URL(string: text))
        try MadeStore.make(registry.versions[0].model, at: url)
        let identities = """
          SELECT relname::text, oid::text, relfilenode::text FROM pg_class \
          WHERE relnamespace = current_schema()::regnamespace AND relkind = 'i' ORDER BY relname
          """
        let before = try ForeignSQL.run(identities, at: url)
        #expect(before.count >= 4)
        try migrate(url, registry, copies: false)
        try #expect(ForeignSQL.run(identities, at: url) == before)
      }
    }

    @Test("A deleted store leaves others' tables; without any, its schema is deleted too")
    func destroyed() throws {
      try withStore("CREATE TABLE notes (t text)") { url, _ in
        let location = StoreLocation(url)
        try location.engine.destroyStore(at: location)
        let tables = "SELECT relname FROM pg_class WHERE relnamespace = current_schema()::regnamespace"
        try #expect(ForeignSQL.run(tables, at: url) == [["notes"]])
        try ForeignSQL.run("DROP TABLE notes", at: url)
        let coordinator = PersistentStoreCoordinator(model: try Self.registry().versions[0].model)
        try coordinator.remove(coordinator.addStore(at: url))
        try location.engine.destroyStore(at: location)
        let address = try #require(ServerAddress(url))
        let count = "SELECT count(*) FROM pg_namespace WHERE nspname = '\(address.schema)'"
        try #expect(ForeignSQL.run(count, at: url) == [["0"]])
      }
    }

    // MARK: Derived attributes

    private static func derived() throws -> ManagedObjectModel {
      try ManagedObjectModel(
        ModelDescription(entities: [
          EntityDescription(
            "Author",
            attributes: [
              .init("name", .string), .init("loud", .string, derivation: "uppercase:(name)"),
              .init("count", .int64, derivation: "books.@count"),
            ], relationships: [.init("books", toMany: "Book", inverse: "author")]),
          EntityDescription("Book", relationships: [.init("author", to: "Author", inverse: "books")]),
        ]))
    }

    @Test(
      "Triggers of derived attributes that others dropped or changed are created when the store is opened",
      arguments: [
        "DROP TRIGGER $1 ON author", "DROP FUNCTION $1() CASCADE", "ALTER TABLE author DISABLE TRIGGER $1",
        """
        CREATE OR REPLACE FUNCTION $1() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'
        """,
        "DROP FUNCTION persist_uppercase(text)",
        "CREATE OR REPLACE FUNCTION persist_uppercase(text) RETURNS text LANGUAGE sql IMMUTABLE STRICT AS 'SELECT $1'",
        """
        CREATE FUNCTION persist_da_old() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'; \
        CREATE TRIGGER persist_da_old AFTER INSERT ON author FOR EACH ROW EXECUTE FUNCTION persist_da_old()
        """,
      ])
    func derivedTriggers(damage: String) throws {
      let model = try Self.derived()
      try TestServer.withSchema { text in
        let url = try #require(URL(string: text))
        let coordinator = PersistentStoreCoordinator(model: model)
        try coordinator.remove(coordinator.addStore(at: url))
        let triggers = """
          SELECT t.tgname, pg_get_triggerdef(t.oid), t.tgenabled, p.prosrc FROM pg_trigger AS t \
          JOIN pg_proc AS p ON p.oid = t.tgfoid JOIN pg_class AS c ON c.oid = t.tgrelid \
          WHERE c.relnamespace = current_schema()::regnamespace ORDER BY 1
          """
        let before = try ForeignSQL.run(triggers, at: url)
        #expect(before.count > 3)
        let name = try #require(before.map { $0[0] }.first { $0.contains("author$loud") })
        // In SQL, $1 of the fourth kind is a parameter.
        try ForeignSQL.run(damage.replacing("$1 ON", with: "\(name) ON").replacing("FUNCTION $1", with: "FUNCTION \(name)")
          .replacing("TRIGGER $1", with: "TRIGGER \(name)"), at: url)
        // Without triggers, some of which would fail.
        try ForeignSQL.run(
          "SET session_replication_role = replica; "
            + "INSERT INTO author (id, entity, version, name) VALUES (9, 1, 1, 'é')", at: url)
        let again = PersistentStoreCoordinator(model: model)
        try again.addStore(at: url)
        try #expect(ForeignSQL.run(triggers, at: url) == before)
        let context = ManagedObjectContext(again)
        #expect(try context.named("Author", "é")["loud"] as? String == "É")
        let snapshot = try StoreSnapshot(url)
        try again.remove(#require(again.persistentStores.first))
        // Nothing is written if everything is there.
        try again.addStore(at: url)
        try #expect(StoreSnapshot(url) == snapshot)
      }
    }
  }

  extension MadeStore {
    /// Checks that no other schema remains beside a store's.
    fileprivate static func expectKeptSchemaOnly(at url: URL) throws {
      let others = "SELECT nspname FROM pg_namespace WHERE starts_with(nspname, current_schema() || '_')"
      try #expect(ForeignSQL.run(others, at: url) == [])
    }
  }
#endif

#if canImport(PersistPostgreSQL)
  import Foundation
  @testable import PersistPostgreSQL
  import PersistTestSupport
  import Testing

  @testable import Persist
  @testable import PersistCore
  @testable import PersistModel

  @Suite("Foreign keys of a store on a server", .needsServer)
  struct ServerForeignKeyTests {
    private static func shop(
      _ rule: DeleteRule = .nullify, order: String = "Order", customer: String = "customer"
    ) throws -> ManagedObjectModel {
      let renaming = customer == "customer" ? nil : "customer"
      return try ManagedObjectModel(
        ModelDescription(entities: [
          EntityDescription(
            order, renamingIdentifier: order == "Order" ? nil : "Order",
            attributes: [.init("number", .int64)],
            relationships: [
              .init(customer, to: "Customer", inverse: "orders", renamingIdentifier: renaming),
              .init("tags", toMany: "Tag", inverse: "orders"), .init("seller", to: "Customer", inverse: nil),
            ]),
          EntityDescription(
            "Customer", attributes: [.init("name", .string)],
            relationships: [
              .init("orders", toMany: order, inverse: customer, deleteRule: rule),
              .init("friends", toMany: "Customer", inverse: "friends"),
            ]),
          EntityDescription("Tag", relationships: [.init("orders", toMany: order, inverse: "tags")]),
          EntityDescription(
            "Team", relationships: [
              .init("members", toMany: "Customer", inverse: nil),
              .init("rivals", toMany: "Customer", inverse: nil, deleteRule: .noAction),
            ]),
        ]))
    }

    private func withStore(of model: ManagedObjectModel, _ body: (URL) throws -> Void) throws {
      try TestServer.withSchema { text in
        let url = try #require(URL(string: text))
        let coordinator = PersistentStoreCoordinator(model: model)
        try coordinator.remove(coordinator.addStore(at: url))
        try body(url)
      }
    }

    private func context(_ url: URL, _ model: ManagedObjectModel) throws -> ManagedObjectContext {
      let coordinator = PersistentStoreCoordinator(model: model)
      try coordinator.addStore(at: url)
      return ManagedObjectContext(coordinator)
    }

    private func keys(_ url: URL) throws -> [String] {
      try ForeignSQL.run(
        """
        SELECT conrelid::regclass::text || ': ' || conname || ' ' || pg_get_constraintdef(oid) FROM pg_constraint \
        WHERE contype = 'f' AND connamespace = current_schema()::regnamespace
        """, at: url
      ).map { $0[0] }.sorted()
    }

    private static func key(
      _ table: String, _ column: String, _ target: String, deletes: Bool = false, isChecked: Bool = true
    ) -> String {
      let effect = deletes ? "CASCADE" : "SET NULL"
      return "\(table): persist_\(column) FOREIGN KEY (\(column)) REFERENCES \(target)(id) ON DELETE \(effect) "
        + "DEFERRABLE INITIALLY DEFERRED" + (isChecked ? "" : " NOT VALID")
    }

    private static let others = [
      key("customer", "team_members_id", "team"), key("customer_friends", "customer_id", "customer", deletes: true),
      key("customer_friends", "friends_id", "customer", deletes: true),
    ]
    private static let ofOrders = [
      key("\"order\"", "customer_id", "customer"), key("order_tags", "order_id", "\"order\"", deletes: true),
      key("order_tags", "tag_id", "tag", deletes: true),
    ]

    @Test("Relationships are foreign keys, except those that keep the keys of deleted objects")
    func definitions() throws {
      try withStore(of: Self.shop()) { url in try #expect(keys(url) == (Self.ofOrders + Self.others).sorted()) }
      try withStore(of: Self.shop(.noAction)) { url in
        try #expect(keys(url) == (Self.ofOrders.dropFirst() + Self.others).sorted())
      }
    }

    @Test(
      "Rows that a migration changes twice don't keep it from changing their table, its indexes and its triggers",
      arguments: [false, true])
    func changedTwice(dangling: Bool) throws {
      func tree(isNew: Bool) throws -> ManagedObjectModel {
        let node = EntityDescription(
          "Node",
          attributes: [.init("name", .string), .init("path", .string, derivation: isNew ? "uppercase:(name)" : nil)],
          relationships: [
            .init("parent", to: "Node", inverse: "children"), .init("children", toMany: "Node", inverse: "parent"),
          ], indexes: isNew ? [FetchIndexDescription("byName", on: "name")] : [])
        // The numbers of entities change, and a reference gets a column for the entity that it leads to.
        let added = [EntityDescription("Area"), EntityDescription("Leaf", parent: "Node")]
        return try ManagedObjectModel(ModelDescription(entities: isNew ? [node] + added : [node]))
      }
      let (old, new) = try (tree(isNew: false), tree(isNew: true))
      try withStore(of: old) { url in
        let first = try context(url, old)
        let (root, leaf) = try (first.create("Node"), first.create("Node"))
        root["name"] = "root"
        leaf["parent"] = root
        try first.save()
        if dangling {
          let key = Self.key("node", "parent_id", "node", isChecked: false).dropFirst("node: ".count)
          try ForeignSQL.run("ALTER TABLE node DROP CONSTRAINT persist_parent_id", at: url)
          try ForeignSQL.run("INSERT INTO node (id, entity, version, parent_id) VALUES (99, 1, 1, 98)", at: url)
          try ForeignSQL.run("ALTER TABLE node ADD CONSTRAINT \(key)", at: url)
        }
        try AutomaticMigrator().migrate(
          storeAt: url, to: ModelVersion(name: "2", model: new), registry: ModelRegistry(versions: [
            ModelVersion(name: "1", model: old), ModelVersion(name: "2", model: new),
          ]))
        let second = try context(url, new)
        let nodes = try second.fetch(FetchRequest("Node"))
        #expect(nodes.compactMap { ($0["parent"] as? ManagedObject)?["name"] as? String } == ["root"])
        #expect(Set(nodes.map { $0["path"] as? String }) == ["ROOT", nil])
      }
    }

    @Test("The server refuses rows of other programs that refer to nothing, and clears references to deleted rows")
    func otherPrograms() throws {
      let model = try Self.shop()
      try withStore(of: model) { url in
        let context = try context(url, model)
        let customer = try context.make("Customer", ["name": "Ann"])
        let tag = try context.make("Tag", [:])
        let order = try context.make("Order", ["customer": customer, "seller": customer, "tags": Set([tag])])
        try context.save()
        #expect(throws: ForeignSQL.Failure.self) {
          try ForeignSQL.run("INSERT INTO \"order\" (customer_id) VALUES (999)", at: url)
        }
        try ForeignSQL.run("DELETE FROM customer", "DELETE FROM tag", at: url)
        try #expect(
          ForeignSQL.run("SELECT customer_id, seller_id IS NULL FROM \"order\"", at: url) == [["nil", "0"]])
        try #expect(ForeignSQL.run("SELECT count(*) FROM order_tags", at: url) == [["0"]])
        let second = try self.context(url, model)
        let found = try second.existingObject(with: order.objectID)
        #expect(found["customer"] as? ManagedObject == nil)
        try #expect(found.objectIDs(forRelationshipNamed: "tags").isEmpty)
      }
    }

    @Test("A save that refers to an object that was deleted meanwhile fails as a whole, and succeeds without it")
    func deletedMeanwhile() throws {
      let model = try Self.shop()
      try withStore(of: model) { url in
        let context = try context(url, model)
        let customer = try context.make("Customer", ["name": "Ann"])
        try context.save()
        let tag = try context.make("Tag", [:])
        let order = try context.make("Order", ["customer": customer, "number": 1, "tags": Set([tag])])
        try ForeignSQL.run("DELETE FROM customer", at: url)
        let error = try #require(persistError { try context.save() })
        #expect([.objectNotFound, .mergeConflict].contains(error.code), "\(error)")
        try #expect(ForeignSQL.run("SELECT count(*) FROM \"order\"", at: url) == [["0"]])
        try #expect(ForeignSQL.run("SELECT count(*) FROM tag", at: url) == [["0"]])
        order["customer"] = nil
        context.refresh(customer, mergeChanges: false)
        try context.save()
        try #expect(ForeignSQL.run("SELECT number, customer_id FROM \"order\"", at: url) == [["1", "nil"]])
      }
    }

    @Test("One save can replace an object and those that refer to it, in either order of their tables")
    func replacedInOneSave() throws {
      let model = try Self.shop()
      try withStore(of: model) { url in
        let context = try context(url, model)
        var customer = try context.make("Customer", ["name": "0"])
        let order = try context.make("Order", ["customer": customer, "number": 0])
        try context.save()
        for number in 1...3 {
          let next = try context.make("Customer", ["name": "\(number)"])
          next["friends"] = Set([next])
          order["customer"] = next
          try context.make("Order", ["customer": next, "number": number, "tags": Set([try context.make("Tag", [:])])])
          context.delete(customer)
          customer = next
          try context.save()
        }
        let rows = try ForeignSQL.run(
          "SELECT number, name FROM \"order\" AS o LEFT JOIN customer AS c ON c.id = customer_id ORDER BY 1", at: url)
        #expect(rows == [["0", "3"], ["1", "nil"], ["2", "nil"], ["3", "3"]])
        try #expect(ForeignSQL.run("SELECT count(*) FROM customer_friends", at: url) == [["1"]])
      }
    }

    @Test("A migration leaves the foreign keys of a new store", arguments: [true, false])
    func migrations(copies: Bool) throws {
      let versions = [
        ModelVersion(name: "1", model: try Self.shop()), ModelVersion(name: "2", model: try Self.shop(.noAction)),
        ModelVersion(name: "3", model: try Self.shop(order: "Purchase", customer: "buyer")),
      ]
      let registry = ModelRegistry(versions: versions)
      try withStore(of: versions[0].model) { url in
        let context = try context(url, versions[0].model)
        let customer = try context.make("Customer", ["name": "Ann"])
        try context.make("Order", ["customer": customer, "number": 1, "tags": Set([try context.make("Tag", [:])])])
        try context.save()
        let migrator = AutomaticMigrator(alwaysCopies: copies)
        try migrator.migrate(storeAt: url, to: versions[1], registry: registry)
        try #expect(keys(url) == (Self.ofOrders.dropFirst() + Self.others).sorted())
        try migrator.migrate(storeAt: url, to: versions[2], registry: registry)
        let names = [
          Self.key("purchase", "buyer_id", "customer"),
          Self.key("purchase_tags", "purchase_id", "purchase", deletes: true),
          Self.key("purchase_tags", "tag_id", "tag", deletes: true),
        ]
        try #expect(keys(url) == (names + Self.others).sorted())
        try #expect(ForeignSQL.run("SELECT number, buyer_id FROM purchase", at: url) == [["1", "1"]])
      }
    }

    @Test("A new foreign key isn't checked for rows that already refer to nothing, and the migration keeps them")
    func danglingRows() throws {
      let versions = [
        ModelVersion(name: "1", model: try Self.shop(.noAction)), ModelVersion(name: "2", model: try Self.shop()),
      ]
      try withStore(of: versions[0].model) { url in
        try ForeignSQL.run("INSERT INTO \"order\" (number, customer_id) VALUES (1, 999)", at: url)
        try AutomaticMigrator().migrate(storeAt: url, to: versions[1], registry: ModelRegistry(versions: versions))
        try #expect(keys(url).contains(Self.key("\"order\"", "customer_id", "customer", isChecked: false)))
        try #expect(ForeignSQL.run("SELECT customer_id FROM \"order\"", at: url) == [["999"]])
        #expect(throws: ForeignSQL.Failure.self) {
          try ForeignSQL.run("INSERT INTO \"order\" (customer_id) VALUES (998)", at: url)
        }
      }
    }
  }
#endif

#if canImport(PersistPostgreSQL)
  import Foundation
  @testable import PersistPostgreSQL
  import PersistTestSupport
  import Testing

  @testable import Persist
  @testable import PersistCore
  @testable import PersistModel

  @Suite("Validation rules that a server enforces", .needsServer)
  struct ServerRuleTests {
    private static func attribute(
      _ name: String, _ type: AttributeType, optional: Bool = true, _ validation: AttributeValidation
    ) -> AttributeDescription {
      var attribute = AttributeDescription(name, type)
      (attribute.isOptional, attribute.validation) = (optional, validation)
      return attribute
    }

    private static func description(maximum: Int64 = 10, price: String = "price") -> ModelDescription {
      var price = attribute(price, .int64, .init(minimum: .integer(0), maximum: .integer(maximum)))
      price.renamingIdentifier = "price"
      let code = attribute("code", .string, optional: false, .init())
      return ModelDescription(entities: [
        EntityDescription(
          "Item",
          attributes: [
            price, code, attribute("name", .string, optional: false, .init(minimumLength: 2, maximumLength: 4)),
            attribute("weight", .float, .init(minimum: .double(0.7))),
            attribute("size", .double, .init(maximum: .double(1.5))),
            attribute("cost", .decimal, .init(maximum: .decimal(Decimal(string: "9.99") ?? 0))),
            attribute("born", .date, .init(minimum: .date(Date(timeIntervalSinceReferenceDate: 0)))),
          ], uniquenessConstraints: [["code"]]),
        EntityDescription("Shape", isAbstract: true, attributes: [attribute("sides", .int16, .init())]),
        EntityDescription("Circle", parent: "Shape"),
        EntityDescription(
          "Square", parent: "Shape",
          attributes: [attribute("edge", .int32, optional: false, .init(minimum: .integer(1)))]),
      ])
    }

    private static let options: StoreOptions = {
      var options = StoreOptions.automaticMigration
      options.enforcesValidation = true
      return options
    }()

    private func open(
      _ url: URL, _ description: ModelDescription = Self.description(), options: StoreOptions = Self.options,
      from older: ModelDescription? = nil
    ) throws -> ManagedObjectContext {
      let model = try ManagedObjectModel(description)
      let versions = try older.map { [ModelVersion(name: "1", model: try ManagedObjectModel($0))] } ?? []
      let coordinator = PersistentStoreCoordinator(
        model: model, registry: ModelRegistry(versions: versions + [ModelVersion(name: "2", model: model)]))
      try coordinator.addStore(at: url, options: options)
      return ManagedObjectContext(coordinator)
    }

    private func withStore(_ body: (URL) throws -> Void) throws {
      try TestServer.withSchema { try body(#require(URL(string: $0))) }
    }

    /// Whether the server accepts a row that SQL inserts.
    private func accepts(_ columns: String, _ values: String, in table: String = "item", at url: URL) -> Bool {
      (try? ForeignSQL.run("INSERT INTO \(table) (\(columns)) VALUES (\(values))", at: url)) != nil
    }

    @Test("A row that SQL writes must fulfill the rules, which bind an optional attribute only if it has a value")
    func foreignRows() throws {
      try withStore { url in
        let context = try open(url)
        let item = try context.make(
          "Item",
          [
            "code": "a", "name": "ab𝄞", "price": 10, "weight": Float(0.7), "size": 1.5, "cost": Decimal(string: "9.99"),
            "born": Date(timeIntervalSinceReferenceDate: 0),
          ])
        try context.save()
        #expect(accepts("code, name", "'b', 'ab'", at: url))
        for (column, values) in [
          ("price", ["-1", "11"]), ("weight", ["0.69"]), ("size", ["1.6", "'infinity'"]), ("cost", ["9.991"]),
          ("born", ["-1"]), ("name", ["'a'", "'abcde'", "'abc𝄞'", "NULL"]),
        ] {
          for value in values {
            let names = column == "name" ? "code, name" : "code, name, \(column)"
            let row = column == "name" ? "'c', \(value)" : "'c', 'abc', \(value)"
            #expect(!accepts(names, row, at: url), "\(column) \(value)")
          }
        }
        #expect(accepts("code, name, price, born", "'d', 'abcd', 0, 1", at: url))
        // The rules of one entity of a table.
        let numbers = try ForeignSQL.run("SELECT name, entity FROM persist_entity", at: url)
        let number = Dictionary(uniqueKeysWithValues: numbers.map { ($0[0], $0[1]) })
        #expect(accepts("entity, sides", "\(number["Circle"] ?? ""), 1", in: "shape", at: url))
        #expect(!accepts("entity, sides", "\(number["Square"] ?? ""), 4", in: "shape", at: url))
        #expect(accepts("entity, edge", "\(number["Square"] ?? ""), 1", in: "shape", at: url))
        #expect(!accepts("entity, edge", "\(number["Square"] ?? ""), 0", in: "shape", at: url))
        // Rows exchange unique values.
        let other = try context.make("Item", ["code": "z", "name": "zz"])
        try context.save()
        (item["code"], other["code"]) = ("z", "a")
        try context.save()
      }
    }

    @Test("A request that validates nothing fails with an error that names the entity and the property")
    func violations() throws {
      try withStore { url in
        let context = try open(url)
        let item = try context.make("Item", ["code": "a", "name": "abc", "price": 1])
        try context.save()
        func expect(_ code: PersistenceError.Code, _ property: String, _ run: () throws -> Void) {
          let error = persistError(run)
          #expect(error?.code == code, "\(String(describing: error))")
          #expect(error?.place.entity == "Item" && error?.place.property == property)
          #expect(error?.message.hasPrefix("Item.\(property) ") == true)
        }
        expect(.validationNumberTooLarge, "price") {
          _ = try context.execute(BatchUpdateRequest("Item", set: ["price": .value(11)]))
        }
        expect(.validationStringTooLong, "name") {
          _ = try context.execute(BatchUpdateRequest("Item", set: ["name": .value("abcde")]))
        }
        expect(.validationStringTooShort, "name") {
          _ = try context.execute(BatchUpdateRequest("Item", set: ["name": .value("a")]))
        }
        expect(.validationDateTooSoon, "born") {
          let date = Date(timeIntervalSinceReferenceDate: -1)
          _ = try context.execute(BatchUpdateRequest("Item", set: ["born": .value(date)]))
        }
        expect(.validationNumberTooSmall, "price") {
          _ = try context.execute(BatchInsertRequest("Item", [["code": "b", "name": "abc", "price": -1]]))
        }
        item["price"] = 2
        try context.save()
        try #expect(ForeignSQL.run("SELECT price FROM item", at: url) == [["2"]])
      }
    }

    /// The law: a constraint accepts every value that validation accepts, and refuses others with the same error.
    @Test("Constraints agree with validation", .law("constraints-agree", short: 60, long: 3000))
    func agreement() throws {
      typealias Limit = (name: String, type: AttributeType, validation: AttributeValidation, values: [any Sendable])
      func decimals(_ texts: String...) -> [Decimal] { texts.map { Decimal(string: $0) ?? 0 } }
      let limits: [Limit] = [
        ("small", .int16, .init(minimum: .integer(-3), maximum: .double(9.5)), [-4, -3, 9, 10]),
        (
          "large", .int64, .init(minimum: .integer(.min), maximum: .integer(.max - 1)),
          [Int64.min, Int64.max - 1, Int64.max]
        ),
        (
          "real", .double, .init(minimum: .double(-0.1), maximum: .double(0.3)),
          [-0.1, -0.1.nextDown, 0.3, 0.1 + 0.2, -0.0]
        ),
        ("half", .double, .init(minimum: .integer(0)), [Double.infinity, -Double.leastNonzeroMagnitude, 0.0]),
        (
          "float", .float, .init(minimum: .double(0.1), maximum: .double(0.7)),
          [Float(0.1), Float(0.1).nextDown, Float(0.7).nextUp]
        ),
        (
          "cost", .decimal, .init(minimum: .decimal(Decimal(string: "0.1") ?? 0), maximum: .double(12.5)),
          decimals("0.1", "0.09999999999999999999999999999999", "12.5", "12.500000000000000000000000001")
        ),
        (
          "born", .date, .init(minimum: .date(.init(timeIntervalSinceReferenceDate: 0.5))),
          [0.5, 0.5.nextDown, 0.5.nextUp, -1e9].map { Date(timeIntervalSinceReferenceDate: $0) }
        ),
        (
          "text", .string, .init(minimumLength: 2, maximumLength: 5),
          ["", "a", "ab", "𝄞", "𝄞𝄞a", "𝄞𝄞𝄞", "e\u{301}e\u{301}e\u{301}", "\r\n"]
        ),
        (
          "link", .uri, .init(minimumLength: 2, maximumLength: 5),
          [URL(string: "http://a.b/c") ?? URL(fileURLWithPath: "/")]
        ),
      ]
      let attributes = limits.map { Self.attribute($0.name, $0.type, $0.validation) }
      let description = ModelDescription(entities: [
        EntityDescription("Base"), EntityDescription("Other", parent: "Base"),
        EntityDescription("Item", parent: "Base", attributes: attributes), EntityDescription("Sub", parent: "Item"),
      ])
      try withStore { url in
        let server = try open(url, description)
        let memory = PersistentStoreCoordinator(model: try ManagedObjectModel(description))
        try memory.addInMemoryStore()
        func code(
          _ context: ManagedObjectContext, _ entity: String, _ name: String, _ value: any Sendable
        ) -> PersistenceError.Code? {
          let error = persistError {
            let object = try context.make(entity, [:])
            try object.setValue(value, forKey: name)
            try context.save()
          }
          context.rollback()
          return error?.code
        }
        forEachSeed { seed in
          do {
            var random = SeededRandom(seed: seed)
            let limit = limits[Int.random(in: 0..<limits.count, using: &random)]
            guard let value = limit.values.randomElement(using: &random) else { return }
            let entity = Bool.random(using: &random) ? "Item" : "Sub"
            let validated = code(ManagedObjectContext(memory), entity, limit.name, value)
            let saved = code(ManagedObjectContext(server.persistentStoreCoordinator), entity, limit.name, value)
            #expect(saved == validated, "\(limit.name) \(value)")
            // A batch validates nothing.
            let object = try server.make(entity, [:])
            try server.save()
            let error = persistError {
              let value = try #require(value as? any FetchArgument)
              try server.execute(BatchUpdateRequest(entity, set: [limit.name: .value(value)]))
            }
            #expect(error?.code == validated, "\(limit.name) \(value): \(String(describing: error))")
            server.refreshAllObjects()
            server.delete(object)
            try server.save()
          } catch {
            Issue.record(error)
          }
        }
      }
    }

    @Test("The constraints follow migrations, also those by programs without the option", arguments: [false, true])
    func migrations(usesOption: Bool) throws {
      try withStore { url in
        let context = try open(url)
        try context.make("Item", ["code": "a", "name": "abc", "price": 10])
        try context.save()
        func constraints() throws -> Set<String> {
          try Set(
            ForeignSQL.run(
              "SELECT conname FROM pg_constraint WHERE conname LIKE 'persist\\_ck\\_%' "
                + "AND connamespace = current_schema()::regnamespace", at: url
            ).map { $0[0] })
        }
        let first = try constraints()
        #expect(first.count == 11, "\(first.sorted())")
        let newer = Self.description(maximum: 5, price: "amount")
        let options = usesOption ? Self.options : .automaticMigration
        let migrated = try open(url, newer, options: options, from: Self.description())
        try #expect(constraints().count == 11 && constraints() != first)
        // A row that violates the new rule stays, and each that is written from now on fulfills it.
        try #expect(migrated.fetch(FetchRequest("Item")).map { $0["amount"] as? Int } == [10])
        #expect(!accepts("code, name, amount", "'b', 'abc', 6", at: url))
        #expect(accepts("code, name, amount", "'b', 'abc', 5", at: url))
        // Others drop one, and the next program that asks for it gets it back.
        let name = try #require(constraints().sorted().first { $0.contains("amount_maximum") })
        try ForeignSQL.run("ALTER TABLE item DROP CONSTRAINT \(name)", at: url)
        _ = try open(url, newer, options: .automaticMigration)
        try #expect(constraints().count == 10)
        _ = try open(url, newer)
        try #expect(constraints().count == 11)
      }
    }

    @Test("A store without the option has no constraints, and a file refuses it")
    func optional() throws {
      try withStore { url in
        _ = try open(url, options: StoreOptions())
        #expect(accepts("code, name, price", "'c', 'a', 11", at: url))
        // The row stays as it is.
        _ = try open(url)
        #expect(!accepts("code, name, price", "'d', 'a', 11", at: url))
        try #expect(ForeignSQL.run("SELECT count(*) FROM item", at: url) == [["1"]])
      }
      try withTemporaryFile { url in
        #expect(persistError { _ = try open(url) }?.code == .invalidRequest)
      }
    }
  }
#endif

#if canImport(PersistPostgreSQL)
  import Foundation
  @testable import PersistPostgreSQL
  import PersistTestSupport
  import Testing

  @testable import Persist
  @testable import PersistCore
  @testable import PersistModel

  /// The law: rows of values are the same from a server and from a file.
  @Suite("Values computed by a server", .needsServer)
  struct ServerValueTests {
    private static let description = ModelDescription(entities: [
      EntityDescription(
        "Employee",
        attributes: [
          .init("name", .string), .init("salary", .int32), .init("rate", .decimal), .init("isActive", .boolean),
          .init("score", .double), .init("since", .date), .init("big", .int64), .init("level", .int16),
        ],
        relationships: [.init("department", to: "Department", inverse: "employees")]),
      EntityDescription(
        "Department", attributes: [.init("name", .string), .init("size", .double)],
        relationships: [.init("employees", toMany: "Employee", inverse: "department")]),
    ])

    private func open(_ location: StoreLocation) throws -> ManagedObjectContext {
      let coordinator = PersistentStoreCoordinator(model: try ManagedObjectModel(Self.description))
      try coordinator.addStore(location)
      return ManagedObjectContext(coordinator)
    }

    private func fill(_ context: ManagedObjectContext) throws {
      let departments = try ["Sales", "R", "empty"].map { try context.make("Department", ["name": $0, "size": 0.5]) }
      for number in 0..<8 {
        let employee = try context.make("Employee", ["name": "\(number % 3)", "department": departments[number % 2]])
        guard number != 5 else { continue }
        for (name, value) in [
          ("salary", number % 3), ("rate", Decimal(number % 3) / 2), ("isActive", number % 2 == 0),
          ("score", Double(number % 4) + 0.5), ("since", Date(timeIntervalSinceReferenceDate: Double(number % 3) + 0.25)),
          ("big", Int.max - number), ("level", number),
        ] as [(String, Any)] { employee[name] = value }
      }
      try context.save()
    }

    /// The rows in words, sorted, because groups have no order.
    private func rows(
      _ context: ManagedObjectContext, _ entity: String, _ formats: [String], isGrouped: Bool
    ) throws -> [String] {
      let columns = try formats.enumerated().map { ExpressionDescription("c\($0)", try FetchExpression($1)) }
      var request = FetchRequest<FetchedRow>(entity)
      request.propertiesToFetch = columns
      if isGrouped { request.propertiesToGroupBy = Array(columns.dropLast()) }
      return try context.fetch(request).map { row in
        columns.indices.map { "\(row.storedValue(forKey: "c\($0)") ?? .null)" }.joined(separator: " ")
      }.sorted()
    }

    @Test("Rows of values are those that a file computes")
    func agreement() throws {
      let ofEmployees = [
        "name", "salary", "rate", "isActive", "score", "since", "big", "level", "department.size", "department",
        "TERNARY(isActive == YES, score, score)", "TERNARY(isActive == YES, salary, level)",
        "TERNARY(isActive == YES, rate, rate)", "TERNARY(isActive == YES, isActive, isActive)",
        "TERNARY(isActive == YES, since, since)", "noindex:(score)", "noindex:(salary)", "CAST(score, 'NSNumber')",
        "CAST(salary, 'NSNumber')", "CAST(since, 'NSNumber')", "department.employees.@max.score",
        "department.employees.@min.salary", "department.employees.@count", "score + 1", "salary + 1",
      ]
      let ofDepartments = ["score", "salary", "since", "level", "big", "isActive"].flatMap { name in
        ["employees.@max.\(name)", "employees.@min.\(name)", "employees.@sum.\(name)"]
      } + ["employees.@count", "employees.@avg.score", "TERNARY(name == 'R', employees.@max.score, employees.@min.score)"]
      try withTemporaryFolder { folder in
        try TestServer.withSchema { url in
          let file = try open(StoreLocation(folder.appendingPathComponent("Store.sqlite")))
          let server = try open(.postgreSQL(url))
          try fill(file)
          try fill(server)
          func expectSame(_ entity: String, _ formats: [String], isGrouped: Bool = false) throws {
            // Both refuse the same.
            let expected = try? rows(file, entity, formats, isGrouped: isGrouped)
            let found = try? rows(server, entity, formats, isGrouped: isGrouped)
            #expect(withoutStores(found) == withoutStores(expected), "\(entity) \(formats) \(isGrouped)")
          }
          for (entity, formats) in [("Employee", ofEmployees), ("Department", ofDepartments)] {
            for format in formats {
              try expectSame(entity, ["name", format])
              try expectSame(entity, [format, "@count"], isGrouped: true)
              for function in ["min", "max", "sum", "average", "count"] {
                try expectSame(entity, ["\(function):(\(format))"])
                try expectSame(entity, ["name", "\(function):(\(format))"], isGrouped: true)
              }
            }
          }
        }
      }
    }

    private func withoutStores(_ rows: [String]?) -> [String]? {
      rows?.map { $0.replacing(/x-coredata:\/\/[-0-9A-Fa-f]+/, with: "") }
    }

    @Test("Decimals of other programs that differ only in their zeros are of one group")
    func scales() throws {
      try TestServer.withSchema { text in
        let context = try open(.postgreSQL(text))
        let url = try #require(URL(string: text))
        try ForeignSQL.run("INSERT INTO employee (rate) VALUES (1.5), (1.50), (2), (2.00), (2.5)", at: url)
        try #expect(
          rows(context, "Employee", ["rate", "@count"], isGrouped: true).map { $0.filter { !$0.isLetter } }.count == 3)
      }
    }
  }
#endif

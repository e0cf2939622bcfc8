#if canImport(PersistPostgreSQL)
  import Foundation
  @testable import PersistPostgreSQL
  import PersistTestSupport
  import Testing

  @testable import Persist
  @testable import PersistCore
  @testable import PersistModel

  /// Truth values, UUIDs and integers in columns of the server's own types.
  @Suite("Column types of a store on a server", .needsServer)
  struct ServerColumnTypeTests {
    private typealias Sample = ColumnTypeSample

    @Test("Attributes have columns of the types that people who use SQL expect, and other programs can write them")
    func definitions() throws {
      let derived = AttributeDescription("partCount", .int16, derivation: "parts.@count")
      let model = try Sample.model(Sample.attributes + [.init("day", .date), derived])
      try Sample.withStore(of: model) { url, context in
        let wanted = [
          "is_active": "boolean", "token": "uuid", "small": "smallint", "rank": "integer", "large": "bigint",
          "ratio": "double precision", "day": "persist_date", "part_count": "bigint", "owner_id": "bigint",
        ]
        let types = try Sample.types(url)
        #expect(types.filter { wanted[$0.key] != nil } == wanted)
        try ForeignSQL.run(
          "INSERT INTO item (is_active, token, small, rank) VALUES (true, '\(Sample.uuids[1])', -3, 70000)", at: url)
        let item = try #require(context.fetch(FetchRequest<ManagedObject>("Item")).first)
        #expect(item["isActive"] as? Bool == true && item["token"] as? UUID == Sample.uuids[1])
        #expect(item["small"] as? Int == -3 && item["rank"] as? Int == 70_000)
        item["isActive"] = false
        item["token"] = Sample.uuids[0]
        try context.save()
        let found = "SELECT count(*) FROM item WHERE NOT is_active AND token = '\(Sample.uuids[0])' AND rank > 1"
        try #expect(ForeignSQL.run(found, at: url) == [["1"]])
      }
    }

    @Test("Values are kept whether rows are saved one by one, together, or copied", arguments: [1, 24, 1200])
    func kept(count: Int) throws {
      let model = try Sample.model()
      try Sample.withStore(of: model) { url, context in
        try Sample.fill(context, count: count)
        let before = try Sample.values(context)
        try #expect(Sample.values(Sample.reopened(url, model)) == before)
        for (number, item) in try context.fetch(FetchRequest("Item", sortedBy: "number")).enumerated() {
          item["isActive"] = number % 2 == 0
          item["token"] = number % 5 == 0 ? nil : Sample.uuids[0]
          item["small"] = number % 100
          item["rank"] = Int(Int32.max) - number
        }
        try context.save()
        let after = try Sample.values(context)
        #expect(after != before)
        try #expect(Sample.values(Sample.reopened(url, model)) == after)
      }
    }

    private static let formats = [
      "isActive == YES", "isActive == 1", "isActive == 0", "isActive != 1", "isActive == 2", "isActive < 1",
      "isActive < 5", "isActive > 0.5", "isActive >= -1", "isActive IN {1, 7}", "isActive IN {0, 0.5}",
      "NOT isActive == 1", "isActive == NULL", "isActive BETWEEN {0, 3}", "isActive == small", "isActive < rank",
      "isActive == owner.isActive", "isActive != owner.isActive", "isActive == ratio",
      "ANY parts.isActive == YES", "ALL parts.isActive == 0",
      "parts.@sum.isActive > 1", "parts.@max.isActive == 1", "parts.@min.isActive < small",
      "SUBQUERY(parts, $p, $p.isActive == isActive).@count > 0", "TERNARY(isActive == 1, rank, small) == 0",
      "TERNARY(small > 0, isActive, rank) == 1", "token == %@", "token != %@", "token < %@", "token >= %@",
      "token IN {%@}", "token == NULL", "token == owner.token", "token == 'no UUID'", "ANY parts.token == %@",
      "TERNARY(small > 0, token, owner.token) == %@", "small == 32767", "small > 32767", "small < 70000.5",
      "small == 1e300", "small == rank", "rank == large", "small < large", "small == ratio", "rank > 2147483646.5",
      "rank == 9223372036854775807", "small IN {0, 32767, 40000, 0.5}", "rank BETWEEN {-2147483649, 0.5}",
      "parts.@sum.rank > 1", "parts.@sum.small < 0", "owner.small == small", "owner.rank < large",
    ]

    @Test("Every comparison is that of memory, and the server evaluates it")
    func comparisons() throws {
      try Sample.withStore(of: Sample.model()) { _, context in
        try Sample.fill(context)
        let all = try context.fetch(FetchRequest("Item", sortedBy: "number"))
        let store = try #require(context.persistentStoreCoordinator.openStores.first as? PostgreSQLStore)
        var differences: [String] = []
        var inMemory: [String] = []
        for format in Self.formats {
          for token in Sample.uuids where format.contains("%@") || token == Sample.uuids[0] {
            let predicate = try FetchPredicate(format: format, argumentArray: format.contains("%@") ? [token] : nil)
            let wanted = try all.filter { try predicate.evaluate(with: $0) }.map(\.objectID)
            var request = FetchRequest<ManagedObject>("Item", sortedBy: "number")
            request.predicate = predicate
            let found = try context.fetch(request).map(\.objectID)
            if found != wanted { differences.append("\(predicate): \(found.count) instead of \(wanted.count)") }
            if try store.divide(predicate, over: store.model.entities[0]).rest != nil { inMemory.append(format) }
          }
        }
        #expect(differences == [])
        // Integers and doubles of two columns are compared in memory, as exactly as there.
        #expect(inMemory == ["isActive == ratio", "small == ratio"])
      }
    }

    @Test("Orders, groups and aggregates are those of a file")
    func aggregates() throws {
      let model = try Sample.model()
      func answers(_ context: ManagedObjectContext) throws -> [String] {
        var lines: [String] = []
        for name in ["isActive", "token", "small", "rank"] {
          for isAscending in [true, false] {
            var request = FetchRequest<ManagedObject>("Item")
            request.sortDescriptors = [.init(name, isAscending: isAscending), .init("number")]
            lines.append("\(name) \(isAscending): \(try context.fetch(request).map { "\($0["number"] ?? 0)" })")
          }
          var request = FetchRequest<FetchedRow>("Item")
          request.propertiesToGroupBy = [ExpressionDescription(stringLiteral: name)]
          request.propertiesToFetch = [
            ExpressionDescription(stringLiteral: name),
            ExpressionDescription("count", .key("@count")),
            ExpressionDescription("sum", .key("@sum.isActive")),
            ExpressionDescription("least", .key("@max.small")),
            ExpressionDescription("total", .key("@sum.rank")),
          ]
          let groups = try context.fetch(request).map { row in
            [name, "count", "sum", "least", "total"].map { "\(row[$0] ?? "nil")" }.joined(separator: " ")
          }
          lines.append("\(name): \(groups.sorted())")
        }
        return lines
      }
      try withTemporaryFile { file in
        let context = try Sample.reopened(file, model)
        try Sample.fill(context)
        let wanted = try answers(context)
        try Sample.withStore(of: model) { _, context in
          try Sample.fill(context)
          try #expect(answers(context) == wanted)
        }
      }
    }

    @Test("Unique UUIDs and truth values are named in conflicts, and found by upserts")
    func uniqueness() throws {
      var entity = EntityDescription("Tag", attributes: [
        .init("token", .uuid), .init("isActive", .boolean), .init("small", .int16), .init("name", .string),
      ])
      entity.uniquenessConstraints = [["token", "isActive", "small"]]
      let model = try ManagedObjectModel(ModelDescription(entities: [entity]))
      try Sample.withStore(of: model) { url, context in
        try context.make("Tag", ["token": Sample.uuids[1], "isActive": true, "small": 7])
        try context.save()
        let second = try Sample.reopened(url, model)
        try second.make("Tag", ["token": Sample.uuids[1], "isActive": true, "small": 7])
        let error = try #require(persistError { try second.save() })
        #expect(error.code == .constraintConflict)
        #expect(error.message.contains(Sample.uuids[1].uuidString) && error.message.contains("true"), "\(error)")
        second.mergePolicy = .mergeByPropertyObjectTrump
        try second.execute(
          BatchInsertRequest(
            "Tag", [
              ["token": Sample.uuids[1], "isActive": true, "small": 7, "name": "upserted"],
              ["token": Sample.uuids[0], "small": 1],
            ]))
        try #expect(
          ForeignSQL.run("SELECT name, is_active, small FROM tag ORDER BY token DESC", at: url).map { $0[0] }
            == ["upserted", "nil"])
      }
    }

    @Test("Values that are computed in the store have the column's type, and numbers out of its range change nothing")
    func batchUpdates() throws {
      let model = try Sample.model()
      try Sample.withStore(of: model) { url, context in
        try Sample.fill(context)
        let before = try Sample.values(context)
        let sets = [
          "isActive": "small", "small": "isActive + 1", "large": "rank * 4", "rank": "TERNARY(isActive == 1, 1, small)",
        ]
        let set = try sets.mapValues { try FetchExpression($0) }
        try context.execute(BatchUpdateRequest("Item", set: set))
        let rows = try ForeignSQL.run(
          "SELECT is_active, small, large, rank FROM item WHERE number = 3", at: url)
        #expect(rows.first?.dropFirst() == ["2", "8589934588", "1"][...], "\(rows)")
        let after = try Sample.values(Sample.reopened(url, model))
        #expect(after != before)
        let error = persistError {
          try context.execute(BatchUpdateRequest("Item", set: ["small": try FetchExpression("large * 1000")]))
        }
        #expect([.validationNumberTooLarge, .validationNumberTooSmall].contains(error?.code))
        #expect(error?.message.contains("int16") == true, "\(String(describing: error))")
        try #expect(Sample.values(Sample.reopened(url, model)) == after)
      }
    }

    @Test("Derived attributes count and copy truth values")
    func derived() throws {
      let model = try Sample.model(
        Sample.attributes + [
          .init("activeParts", .int32, derivation: "parts.isActive.@sum"),
          .init("isOwnerActive", .boolean, derivation: "owner.isActive"),
          .init("hasActive", .boolean, derivation: "parts.isActive.@max"),
          .init("ownerToken", .uuid, derivation: "owner.token"),
        ])
      try Sample.withStore(of: model) { url, context in
        let owner = try context.make("Item", ["number": 0, "isActive": true, "token": Sample.uuids[1]])
        let parts = try (1...3).map { try context.make("Item", ["number": $0, "isActive": $0 > 1, "owner": owner]) }
        try context.save()
        func texts() throws -> [[String]] {
          try ForeignSQL.run(
            "SELECT active_parts, is_owner_active, has_active, owner_token FROM item ORDER BY number LIMIT 2", at: url)
        }
        let token = Sample.uuids[1].uuidString.lowercased()
        try #expect(texts() == [["2", "nil", "1", "nil"], ["0", "1", "nil", token]])
        owner["isActive"] = false
        parts[1]["isActive"] = nil
        parts[2]["isActive"] = false
        try context.save()
        try #expect(texts() == [["0", "nil", "0", "nil"], ["0", "0", "nil", token]])
      }
    }
  }
#endif

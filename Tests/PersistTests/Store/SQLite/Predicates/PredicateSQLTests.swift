import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Predicates as SQL")
struct PredicateSQLTests {
  private static let model = ModelDescription(entities: [
    EntityDescription(
      "Item",
      attributes: [
        AttributeDescription("name", .string), AttributeDescription("price", .double), AttributeDescription("code", .uuid),
      ],
      relationships: [
        RelationshipDescription("owner", to: "Person", inverse: "items"),
        RelationshipDescription("tags", toMany: "Tag", inverse: "items"),
      ],
      indexes: [
        FetchIndexDescription("byName", on: "name"), FetchIndexDescription("byPrice", on: "price"),
        FetchIndexDescription("byCode", on: "code"),
      ]),
    EntityDescription(
      "Person", attributes: [AttributeDescription("name", .string)],
      relationships: [RelationshipDescription("items", toMany: "Item", inverse: "owner")]),
    EntityDescription(
      "Tag", attributes: [AttributeDescription("label", .string)],
      relationships: [RelationshipDescription("items", toMany: "Item", inverse: "tags")]),
  ])

  private func withStore(_ body: (any PersistentStore, Entity) throws -> Void) throws {
    let model = try ManagedObjectModel(Self.model)
    try withTemporaryStore { url in
      let store = try createStore(at: url, model: model)
      defer { try? store.close() }
      try body(store, model.entity(named: "Item"))
    }
  }

  private func plan(_ format: String, _ store: any PersistentStore, _ entity: Entity) throws -> String {
    var query = RowQuery(entity: entity)
    let predicate = try FetchPredicate(format)
    let division = try store.divide(predicate, over: entity)
    try #require(division.rest == nil, "\(format)")
    query.predicate = division.stored
    return try #require(try store.explain(query)).plan.joined(separator: "; ")
  }

  @Test(
    "Equality, prefixes, ranges, lists and relationships use indexes", .aboutFiles("SQLite's plans"),
    arguments: [
      "name == 'Tea'", "name BEGINSWITH 'Te'", "name >= 'a' AND name < 'b'", "name IN {'a', 'b'}", "price BETWEEN {1, 2}",
      "price > 5", "price == 5", "code == CAST('E621E1F8-C36C-495A-93FC-0C247A3E6E5F', 'NSUUID')",
      "name == 'a' OR name == 'b'", "name == 'a' AND price > 1", "name == nil",
      "code == 'E621E1F8-C36C-495A-93FC-0C247A3E6E5F'", "name ==[n] 'Tea'", "name BEGINSWITH[n] 'Te'",
      "name BETWEEN[n] {'a', 'b'}", "name IN[n] {'a', 'b'}",
    ])
  func indexes(_ format: String) throws {
    try withStore { store, entity in
      let plan = try plan(format, store, entity)
      #expect(plan.contains("USING INDEX") || plan.contains("USING COVERING INDEX"), "\(plan)")
      #expect(!plan.contains("SCAN"), "\(plan)")
    }
  }

  @Test("A relationship is followed by key and not by scanning tables", .aboutFiles("SQLite's plans"))
  func relationships() throws {
    try withStore { store, entity in
      for format in ["ANY tags.label == 'x'", "owner.name == 'x'", "owner.items.@count > 2"] {
        let plan = try plan(format, store, entity)
        #expect(plan.components(separatedBy: "SCAN").count == 2, "\(plan)")
      }
    }
  }

  @Test("Whether there is a member is determined without counting all of them", .aboutFiles("SQLite's plans"))
  func existence() throws {
    try withStore { store, entity in
      for format in [
        "tags.@count > 0", "tags.@count == 0", "0 < tags.@count", "SUBQUERY(tags, $t, $t.label == 'x').@count != 0",
      ] {
        var query = RowQuery(entity: entity)
        query.predicate = try FetchPredicate(format)
        let sql = try #require(try store.explain(query)).sql
        #expect(sql.contains("EXISTS") || sql.contains("IN (SELECT"), "\(format): \(sql)")
        #expect(!sql.contains("COUNT"), "\(format): \(sql)")
      }
    }
  }

  @Test(
    "A fetch by predicate with a limit is one statement, however many rows there are",
    .aboutFiles("SQLite's statements"))
  func oneStatement() throws {
    try withStack(Self.model) { stack in
      let context = stack.context()
      let people = try (0..<5).map { try context.make("Person", ["name": "p\($0)"]) }
      for number in 0..<200 {
        try context.make("Item", ["name": "item \(number)", "price": Double(number), "owner": people[number % 5]])
      }
      try context.save()
      let fresh = stack.context()
      var request = try FetchRequest(
        "Item", where: "owner.name == 'p3' AND name CONTAINS[cd] 'ITEM 1' AND price > 20", sortedBy: [.init("price")],
        limit: 4)
      let before = stack.store.calls
      let found = try fresh.fetch(request)
      #expect(found.map { $0["price"] as? Double } == [103, 108, 113, 118])
      #expect(stack.store.calls == before + 1)
      request.fetchLimit = 0
      #expect(try fresh.count(for: request) == 20)
      #expect(stack.store.calls == before + 2)
      let id = try #require(found.first).objectID
      #expect(try fresh.fetch(FetchRequest("Item", where: "SELF == %@", id)) == [found[0]])
      #expect(try fresh.count(for: FetchRequest("Item", where: "SELF IN %@", [id])) == 1)
    }
  }

  @Test("Lists and disjunctions of any length are evaluated")
  func large() throws {
    try withStore { store, entity in
      var query = RowQuery(entity: entity)
      let count = 40_000
      for predicate in [
        FetchPredicate.compare(.key("name"), .in, .value((0..<count).map { "n\($0) \"'" })),
        .compare(.key("price"), .in, .value((0..<count).map { $0 })),
        .compare(.key("price"), .in, .value((0..<count).map { Double($0) + 0.5 })),
        .compare(.key("code"), .in, .value((0..<count).map { _ in UUID() })),
        .or((0..<count / 2).map { .compare(.key("name"), .equal, .value("n\($0)")) }),
        .compare(
          .current, .in,
          .value((1...count).map {
            ManagedObjectID(entityName: "Item", storeIdentifier: store.identifier, key: .permanent(Int64($0)))
          })),
      ] {
        query.predicate = try store.divide(predicate, over: entity).stored
        #expect(try store.count(query) == 0)
      }
    }
  }

  @Test("A regular expression that would take years is interrupted in SQL too, with an error that says so")
  func slowExpression() throws {
    try withStack(Self.model) { stack in
      let context = stack.context()
      try context.make("Item", ["name": String(repeating: "a", count: 60)])
      try context.save()
      let error = try #require(persistError {
        _ = try stack.context().count(for: FetchRequest("Item", where: "name MATCHES '(a+)+b'"))
      })
      #expect(error.code == .limitExceeded)
      let wrong = try #require(persistError { _ = try context.count(for: FetchRequest("Item", where: "name MATCHES '('")) })
      #expect(wrong.code == .invalidPredicate)
      #expect(try stack.context().count(for: FetchRequest("Item", where: "name MATCHES 'a+'")) == 1)
    }
  }

  @Test(
    "Conditions that SQL can't express exactly are evaluated on the objects, and only those",
    .aboutFiles("what SQLite can express"))
  func division() throws {
    try withStore { store, entity in
      func rest(_ format: String) throws -> String? { try store.divide(FetchPredicate(format), over: entity).rest?.format }
      try #expect(rest("name == 'a' AND name ==[l] 'b' AND price > 1") == "name ==[l] \"b\"")
      try #expect(rest("name == 'a' OR sqrt:(price) > 1") == "name == \"a\" OR sqrt:(price) > 1")
      try #expect(rest("name == 'a' AND (price > 1 OR NOT ANY tags.label BEGINSWITH[c] 'x')") == nil)
    }
  }

  @Test("Results of collection operators are compared with null in the same way in SQL and in memory")
  func aggregatesOfNothing() throws {
    try withStack(Tasks.model) { stack in
      let context = stack.context()
      let none = try context.make("Person", ["firstName": "none"])
      let one = try context.make("Person", ["firstName": "one"])
      _ = try context.make("Task", ["assignee": one])
      try context.save()
      for function in ["@count", "@sum.effort", "@sum.priority", "@avg.effort", "@max.effort", "@min.priority", "@max.due"] {
        for comparison in ["== nil", "!= nil", "IN {nil, 7}", "== 0", "> -1"] {
          let predicate = try FetchPredicate("tasks.\(function) \(comparison)")
          let expected = try Set([none, one].filter { try predicate.evaluate(with: $0) }.map(\.objectID))
          var request = FetchRequest<ManagedObject>("Person")
          request.predicate = predicate
          #expect(try Set(context.fetch(request).map(\.objectID)) == expected, "\(predicate)")
        }
      }
    }
  }
}

import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

/// The statements and SQLite's plans for them: the cost of a fetch before it reads a row.
@Suite("Query plans")
struct QueryPlanTests {
  private static let model = ModelDescription(entities: [
    EntityDescription(
      "Item",
      attributes: [
        AttributeDescription("name", .string), AttributeDescription("price", .double),
        AttributeDescription("quantity", .int64),
      ],
      relationships: [RelationshipDescription("category", to: "Category", inverse: "items")],
      indexes: [FetchIndexDescription("byName", on: "name"), FetchIndexDescription("byQuantity", on: "quantity")]),
    EntityDescription(
      "Category", attributes: [AttributeDescription("name", .string)],
      relationships: [
        RelationshipDescription("items", toMany: "Item", inverse: "category"),
        RelationshipDescription("group", to: "Group", inverse: "categories"),
        RelationshipDescription("tags", toMany: "Tag", inverse: "categories"),
      ], indexes: [FetchIndexDescription("byName", on: "name")]),
    EntityDescription(
      "Group", attributes: [AttributeDescription("name", .string)],
      relationships: [RelationshipDescription("categories", toMany: "Category", inverse: "group")],
      indexes: [FetchIndexDescription("byName", on: "name")]),
    EntityDescription(
      "Tag", attributes: [AttributeDescription("name", .string)],
      relationships: [RelationshipDescription("categories", toMany: "Category", inverse: "tags")],
      indexes: [FetchIndexDescription("byName", on: "name")]),
    EntityDescription(
      "Person", isAbstract: true, attributes: [AttributeDescription("name", .string)],
      indexes: [FetchIndexDescription("byName", on: "name")]),
    EntityDescription("Child", parent: "Person"),
    EntityDescription("Adult", parent: "Person"),
  ])

  private func withStore(_ body: (SQLiteStore) throws -> Void) throws {
    let model = try ManagedObjectModel(Self.model)
    try withTemporaryStore { url in
      let store = try SQLiteStore.create(url, model: model, options: StoreOptions())
      defer { try? store.close() }
      try body(store)
    }
  }

  private func query(
    _ entity: String, _ format: String? = nil, sortedBy key: String? = nil, limit: Int? = nil, keysOnly: Bool = false,
    includesSubentities: Bool = true, in store: SQLiteStore
  ) throws -> RowQuery {
    let entity = try store.model.entity(named: entity)
    var query = RowQuery(
      entity: entity, includesSubentities: includesSubentities, sort: key.map { [.init($0)] } ?? [], limit: limit,
      keysOnly: keysOnly)
    if let format {
      let division = try store.divide(FetchPredicate(format), over: entity)
      try #require(division.rest == nil)
      query.predicate = division.stored
    }
    return query
  }

  private func counting(_ rows: RowQuery, _ store: SQLiteStore) throws -> ValueQuery {
    let aggregate = GroupAggregate(.path(of: .current, ["@count"]), over: rows.entity, in: store.model)
    return ValueQuery(rows: rows, columns: [.aggregate(try #require(aggregate))])
  }

  private func explanation(_ query: RowQuery, _ store: SQLiteStore) throws -> StatementExplanation {
    try #require(try store.explain(query))
  }

  @Test("Statements name no entity numbers if they apply to every row of a table", .aboutFiles("SQLite's plans"))
  func entityNumbers() throws {
    try withStore { store in
      for entity in ["Item", "Category", "Person"] {
        let fetch = try explanation(query(entity, "name == 'x'", in: store), store)
        #expect(!fetch.sql.contains("Z_ENT IN"), "\(fetch.sql)")
      }
      let count = try counting(query("Item", in: store), store)
      #expect(try store.explain(count)?.sql == "SELECT COUNT(*) FROM ZITEM AS r0")
      let children = try explanation(query("Child", "name == 'x'", in: store), store)
      try #expect(children.sql.contains("Z_ENT IN (\(store.map[store.model.entity(named: "Child")].number))"))
      let persons = try explanation(query("Person", includesSubentities: false, in: store), store)
      try #expect(persons.sql.contains("Z_ENT IN (\(store.map[store.model.entity(named: "Person")].number))"))
    }
  }

  @Test(
    "Counts, keys in the order of an index, and keys for a condition are read from the index alone",
    .aboutFiles("SQLite's plans"))
  func coveringIndexes() throws {
    try withStore { store in
      for query in try [
        query("Item", sortedBy: "quantity", keysOnly: true, in: store),
        query("Item", "quantity < 5", keysOnly: true, in: store),
        query("Item", "quantity == 5", sortedBy: "quantity", limit: 5, keysOnly: true, in: store),
        query("Item", "category == nil", keysOnly: true, in: store),
      ] {
        let plan = try explanation(query, store).plan
        #expect(plan.allSatisfy { $0.contains("USING COVERING INDEX") || $0.contains("MULTI-INDEX") || $0 == "INDEX 1"
          || $0 == "INDEX 2" }, "\(plan)")
      }
      let count = try counting(query("Item", "quantity < 5", in: store), store)
      let plan = try #require(try store.explain(count)).plan
      #expect(plan == ["SEARCH r0 USING COVERING INDEX Z_Item_byQuantity (ZQUANTITY<?)"])
    }
  }

  @Test("A condition uses its index, and without a limit the reader sorts by key", .aboutFiles("SQLite's plans"))
  func keyOrder() throws {
    try withStore { store in
      let some = try explanation(query("Item", "quantity < 5", in: store), store)
      #expect(some.plan == ["SEARCH r0 USING INDEX Z_Item_byQuantity (ZQUANTITY<?)"])
      let values = try #require(
        try store.explain(ValueQuery(rows: query("Item", "quantity < 5", in: store), columns: [.value(.key("price"))])))
      #expect(values.plan == ["SEARCH r0 USING INDEX Z_Item_byQuantity (ZQUANTITY<?)"])
      let all = try explanation(query("Item", in: store), store)
      #expect(all.plan == ["SCAN r0"] && all.sql.hasSuffix("ORDER BY Z_PK"))
    }
  }

  @Test("A page sorted by another column is read in that order and ends with the page", .aboutFiles("SQLite's plans"))
  func page() throws {
    try withStore { store in
      let page = try explanation(query("Item", "quantity > 5", sortedBy: "name", limit: 20, in: store), store)
      #expect(page.plan == ["SCAN r0 USING INDEX Z_Item_byName"], "\(page.plan)")
      #expect(!page.sql.contains("likelihood"))
    }
  }

  @Test(
    "A condition on related rows begins with those, and finds its rows by index", .aboutFiles("SQLite's plans"),
    arguments: [
      "category.name == 'x'", "category.name IN {'x', 'y'}", "category.name > 'x'", "category.name BEGINSWITH 'x'",
      "category.name BETWEEN {'x', 'y'}", "category.name == 'x' AND price > 5", "NOT category.name != 'x' AND price > 5",
      "category.group.name == 'x'", "ANY category.items.name == 'x'", "category.name == 'x' OR name == 'y'",
    ])
  func paths(_ format: String) throws {
    try withStore { store in
      let plan = try explanation(query("Item", format, in: store), store).plan
      let isFound = plan.contains { $0.contains("SEARCH r0 USING INDEX") } && !plan.contains { $0.contains("SCAN") }
      #expect(isFound && !plan.contains { $0.contains("CORRELATED") }, "\(plan)")
    }
  }

  @Test(
    "Conditions on to-one paths are joins, which collect no keys first", .aboutFiles("SQLite's plans"),
    arguments: [
      "category.name == 'x'", "category.name > 'x' AND price > 5", "category.group.name == 'x'",
      "category.name == 'x' AND category.group.name == 'y'",
    ])
  func joins(_ format: String) throws {
    try withStore { store in
      for (limit, keysOnly) in [(nil, false), (nil, true), (20, false)] {
        let plan = try explanation(query("Item", format, limit: limit, keysOnly: keysOnly, in: store), store).plan
        #expect(!plan.contains { $0.contains("LIST") || $0.contains("MATERIALIZE") }, "\(plan)")
      }
      let count = try counting(query("Item", format, in: store), store)
      let plan = try #require(try store.explain(count)).plan
      #expect(!plan.contains { $0.contains("LIST") || $0.contains("MATERIALIZE") }, "\(plan)")
    }
  }

  @Test("Conditions on more to-one paths than are joined have the same results as in memory")
  func manyPaths() throws {
    try withStack(Self.model) { stack in
      let context = stack.context()
      let groups = try ["g", "h"].map { try context.make("Group", ["name": $0]) }
      let categories = try zip(["x", "y"], groups).map { try context.make("Category", ["name": $0, "group": $1]) }
      for number in 0..<6 { try context.make("Item", ["name": "\(number)", "category": categories[number % 2]]) }
      try context.save()
      let fresh = stack.context()
      let path = "category.name == 'x' AND category.group.name == 'g'"
      let paths = "\(path) AND category.name < 'y' AND category.group.name BEGINSWITH 'g' AND category.name > 'a'"
      for format in [path, paths] {
        for limit in [0, 2] {
          let request = try FetchRequest("Item", where: format, sortedBy: [.init("name")], limit: limit)
          let names = try fresh.fetch(request).map { $0["name"] as? String }
          #expect(names == Array(["0", "2", "4"].prefix(limit == 0 ? 3 : limit)), "\(format)")
          #expect(try fresh.count(for: request) == names.count)
        }
      }
      try context.execute(BatchDeleteRequest("Item", where: FetchPredicate(paths)))
      #expect(try Set(stack.context().fetch(FetchRequest("Item")).map { $0["name"] as? String }) == ["1", "3", "5"])
    }
  }

  @Test(
    "A condition on members begins with those, and finds their owners by key", .aboutFiles("SQLite's plans"),
    arguments: [
      "ANY items.name == 'x'", "ANY items.quantity > 5", "items.@max.quantity > 5", "0 >= items.@min.quantity",
      "SUBQUERY(items, $i, $i.name == 'x').@count > 0", "SUBQUERY(items, $i, $i.name == 'x' AND $i.price > 5).@count != 0",
      "ANY tags.name == 'x'", "ANY items.category.name == 'x'", "'x' IN items.name",
    ])
  func members(_ format: String) throws {
    try withStore { store in
      let plan = try explanation(query("Category", format, in: store), store).plan
      #expect(plan.first == "SEARCH r0 USING INTEGER PRIMARY KEY (rowid=?)", "\(plan)")
      #expect(!plan.contains { $0.contains("CORRELATED") || $0.contains("SCAN") }, "\(plan)")
    }
  }

  @Test("Named rows, pages and iterations by key look up their related rows", .aboutFiles("SQLite's plans"))
  func lookups() throws {
    try withStore { store in
      let id = ManagedObjectID(entityName: "Item", storeIdentifier: store.identifier, key: .permanent(1))
      var named = try query("Item", in: store)
      named.predicate = try FetchPredicate("SELF == %@ AND category.name == 'x'", id)
      var walk = try query("Item", "category.name == 'x' AND quantity > 5", limit: 100, in: store)
      walk.afterKey = 7
      let page = try query("Item", "category.name > 'x'", sortedBy: "quantity", limit: 20, in: store)
      for (query, first) in [
        (named, "SEARCH r0 USING INTEGER PRIMARY KEY (rowid=?)"),
        (walk, "SEARCH r0 USING INTEGER PRIMARY KEY (rowid>?)"), (page, "SCAN r0 USING INDEX Z_Item_byQuantity"),
      ] {
        let plan = try explanation(query, store).plan
        #expect(plan.first == first && !plan.contains { $0.contains("LIST") }, "\(plan)")
      }
      // Few rows are expected to equal a value: they are found first, then sorted.
      let few = try query("Item", "category.name == 'x'", sortedBy: "quantity", limit: 20, in: store)
      #expect(try explanation(few, store).plan.contains { $0.contains("SEARCH r0 USING INDEX") })
    }
  }

  @Test("A comparison with null, a negation and a dangling key have the same results as in memory")
  func nothing() throws {
    try withStack(Self.model) { stack in
      let context = stack.context()
      let categories = try ["x", "y", nil].map { try context.make("Category", ["name": $0]) }
      for (index, category) in (categories + [nil]).enumerated() {
        try context.make("Item", ["name": "\(index)", "category": category])
      }
      try context.make("Item", ["name": "4", "category": categories[0]])
      try context.save()
      let fresh = stack.context()
      for format in [
        "category.name == 'x'", "category.name != 'x'", "NOT category.name == 'x'", "category.name == nil",
        "category.name != nil", "NOT category.name > 'x'", "category.name == 'x' OR category == nil",
        "NOT category.name BEGINSWITH 'x'", "NOT category.name IN {'x'}", "NOT ANY category.items.name == '0'",
        "TERNARY(category.name == 'x', 1, 2) == 2",
      ] {
        let predicate = try FetchPredicate(format)
        var request = FetchRequest("Item")
        let all = try fresh.fetch(request)
        request.predicate = predicate
        let expected = try all.filter { try predicate.evaluate(with: $0) }.map(\.objectID)
        #expect(try fresh.fetchObjectIDs(request) == expected, "\(format)")
        #expect(try fresh.count(for: request) == expected.count, "\(format)")
      }
    }
  }

  @Test("Rows and values are returned in the order of keys, whichever index is used")
  func orderOfRows() throws {
    try withStack(Self.model) { stack in
      let context = stack.context()
      for number in 0..<300 { try context.make("Item", ["quantity": (number * 37) % 300, "price": Double(number)]) }
      try context.save()
      let fresh = stack.context()
      let found = try fresh.fetch(try FetchRequest("Item", where: "quantity < 200"))
      let prices = found.compactMap { $0["price"] as? Double }
      #expect(prices.count == 200 && prices == prices.sorted())
      let ids = try fresh.fetchObjectIDs(try FetchRequest("Item", where: "quantity < 200"))
      #expect(ids == found.map(\.objectID))
      var request = try FetchRequest<FetchedRow>("Item", where: "quantity < 200")
      request.propertiesToFetch = ["price"]
      #expect(try fresh.fetch(request).map { $0["price"] as? Double } == prices)
    }
  }
}

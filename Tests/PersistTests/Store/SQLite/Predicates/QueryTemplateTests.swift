import Foundation
import PersistTestSupport
import Synchronization
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Query templates", .aboutFiles("SQLite's prepared statements"))
struct QueryTemplateTests {
  private static let model = ModelDescription(entities: [
    EntityDescription(
      "Item",
      attributes: [
        AttributeDescription("name", .string), AttributeDescription("price", .double),
        AttributeDescription("quantity", .int64), AttributeDescription("born", .date), AttributeDescription("code", .uuid),
        AttributeDescription("cost", .decimal), AttributeDescription("on", .boolean),
      ],
      relationships: [
        RelationshipDescription("parent", to: "Item", inverse: "children"),
        RelationshipDescription("children", toMany: "Item", inverse: "parent"),
      ]),
    EntityDescription("Special", parent: "Item"),
  ])

  private func withStore(_ body: (SQLiteStore, ManagedObjectContext) throws -> Void) throws {
    let model = try ManagedObjectModel(Self.model)
    try withTemporaryStore { url in
      let store = try SQLiteStore.create(url, model: model)
      let coordinator = PersistentStoreCoordinator(model: model)
      try coordinator.add(store)
      try body(store, ManagedObjectContext(coordinator))
    }
  }

  /// Fetches, compares with evaluation in memory, and returns the number of translations.
  private func translations(
    _ predicate: FetchPredicate, _ store: SQLiteStore, _ context: ManagedObjectContext, limit: Int = 0
  ) throws -> Int {
    let all = try context.fetch(FetchRequest("Item", sortedBy: "quantity"))
    var request = FetchRequest("Item", sortedBy: "quantity")
    request.predicate = predicate
    request.fetchLimit = limit
    let before = store.translationCount.load(ordering: .relaxed)
    let found = try context.fetch(request)
    let after = store.translationCount.load(ordering: .relaxed)
    let expected = try all.filter { try predicate.evaluate(with: $0) }
    #expect(found == (limit > 0 ? Array(expected.prefix(limit)) : expected), "\(predicate)")
    return after - before
  }

  @Test("A predicate is translated once, whatever values its paths are compared with")
  func once() throws {
    try withStore { store, context in
      var items: [ManagedObject] = []
      for number in 0..<40 {
        items.append(
          try context.make(
            number % 4 == 0 ? "Special" : "Item",
            [
              "name": "n\(number % 7)", "quantity": number, "price": Double(number) / 4,
              "born": Date(timeIntervalSinceReferenceDate: Double(number)), "parent": items.last,
            ]))
      }
      try context.save()
      var first = 0
      for number in 0..<30 {
        let predicate = try FetchPredicate(
          "quantity > %@ AND name != %@ AND NOT (price == %@ OR born < %@) AND parent.name >= 'n'", number,
          "n\(number % 7)", Double(number) + 0.5, Date(timeIntervalSinceReferenceDate: Double(number)))
        let made = try translations(predicate, store, context, limit: number + 1)
        if number == 0 { first = made } else { #expect(made == 0, "\(predicate)") }
      }
      #expect(first <= 3)
      _ = try translations(FetchPredicate("parent == %@", items[4]), store, context)
      for item in items where item.entity.name == items[4].entity.name {
        #expect(try translations(FetchPredicate("parent == %@", item), store, context) == 0)
      }
    }
  }

  @Test("Counting translates a predicate once, with and without a limit")
  func counts() throws {
    try withStore { store, context in
      for number in 0..<40 { try context.make(number % 4 == 0 ? "Special" : "Item", ["quantity": number]) }
      try context.save()
      var request = FetchRequest("Item")
      func count(_ number: Int, limit: Int, offset: Int) throws -> (found: Int, translations: Int) {
        request.predicate = try FetchPredicate("quantity >= %@", number)
        (request.fetchLimit, request.fetchOffset) = (limit, offset)
        let before = store.translationCount.load(ordering: .relaxed)
        let found = try context.count(for: request)
        return (found, store.translationCount.load(ordering: .relaxed) - before)
      }
      #expect(try count(0, limit: 0, offset: 0) == (40, 1))
      for number in 1..<40 {
        #expect(try count(number, limit: 0, offset: 0) == (40 - number, 0))
        #expect(try count(number, limit: 7, offset: 2) == (min(7, max(0, 38 - number)), 0))
        // A fetch of the same shape uses the same translation, and a statement of its own.
        #expect(try context.fetch(request).count == min(7, max(0, 38 - number)))
      }
    }
  }

  @Test("Values that change the SQL, and not only its parameters, have separate templates")
  func values() throws {
    try withStore { store, context in
      let names: [String?] = ["é", "e\u{301}", "E", "5", "tea", "", nil, "\u{1}parameter 0"]
      for (index, name) in names.enumerated() {
        try context.make(
          "Item",
          [
            "name": name, "quantity": index, "on": index % 2 == 0, "cost": Decimal(index) / 4, "code": UUID(),
            "price": index == 3 ? nil : Double(index),
          ])
      }
      try context.save()
      let values: [(any FetchArgument)?] = [
        nil, 0, 1, 5, 5.0, 0.5, true, false, "5", "é", "e\u{301}", "E", "tea", "", Decimal(string: "0.25") ?? 0,
        Date(timeIntervalSinceReferenceDate: 1), UUID(), Double.infinity, -0.0, "\u{1}parameter 0", Data([1]),
      ]
      let paths = ["name", "quantity", "price", "on", "cost", "born", "code", "parent", "children.@count", "parent.name"]
      for _ in 0..<2 {
        for path in paths {
          for value in values {
            for operation in [FetchPredicate.Operator.equal, .notEqual, .less, .greaterOrEqual] {
              let predicate = FetchPredicate.compare(.key(path), operation, .value(value))
              _ = try translations(predicate, store, context)
            }
          }
        }
        for name in names.compactMap({ $0 }) {
          for operation in [FetchPredicate.Operator.beginsWith, .equal, .like, .in] {
            let right = operation == .in ? FetchExpression.value([name, "x"]) : .value(name)
            _ = try translations(.compare(.key("name"), operation, right), store, context)
            _ = try translations(
              .compare(.key("name"), operation, right, options: .caseInsensitive), store, context)
          }
        }
      }
    }
  }

  @Test("Predicates with the current time or objects that will have a row aren't cached")
  func changing() throws {
    try withStore { store, context in
      let parent = try context.make("Item", ["name": "p"])
      try context.make("Item", ["name": "c", "parent": parent])
      let predicate = try FetchPredicate("parent == %@", parent)
      #expect(try context.fetchObjectIDs(FetchRequest("Item", where: "parent == %@", parent)).count == 1)
      var request = FetchRequest("Item")
      request.predicate = predicate
      #expect(try context.count(for: request) == 1)
      try context.save()
      #expect(try ManagedObjectContext(context.persistentStoreCoordinator).count(for: request) == 1)
      try context.make("Item", ["name": "d", "born": Date(timeIntervalSinceNow: 0.15)])
      try context.save()
      request.predicate = try FetchPredicate("born > now()")
      #expect(try context.fetch(request).count == 1)
      Thread.sleep(forTimeInterval: 0.2)
      #expect(try context.fetch(request).isEmpty)
    }
  }
}

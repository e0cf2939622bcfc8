import Foundation
import Persist
import PersistMacrosless
import PersistTestSupport
import Testing

@Suite("Typed predicates")
struct TypedPredicateTests {
  /// The resulting predicate, and the names of the goods it finds: by SQL after saving, and in memory before.
  private func check(
    _ predicate: TypedPredicate<Good>, _ format: String, finds names: [String],
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    try withTemporaryStore { store in
      let context = try Shop.context(store)
      try Shop.fill(context)
      let named = try predicate.predicate.resolvingKeyPaths { try context.keyPaths.keys(of: $0.keyPath) }
      #expect(named.format == format, sourceLocation: sourceLocation)
      #expect(try FetchPredicate(format).format == format, sourceLocation: sourceLocation)
      var request = FetchRequest("Good", sortedBy: "name")
      request.predicate = predicate.predicate
      func found() throws -> [String] { try context.fetch(Good.self, request).map(\.name) }
      #expect(try found() == names, sourceLocation: sourceLocation)
      let all = try context.fetch(Good.self, FetchRequest("Good", sortedBy: "name"))
      #expect(try all.filter { try predicate.evaluate(with: $0) }.map(\.name) == names, sourceLocation: sourceLocation)
      try context.save()
      #expect(try found() == names, sourceLocation: sourceLocation)
    }
  }

  @Test("Key paths are compared with values and with each other")
  func comparisons() throws {
    try check(\.quantity < 5, "quantity < 5", finds: ["Bread", "Tea"])
    try check(\.price == 4.5, #"price == CAST("4.5", "NSDecimalNumber")"#, finds: ["Tea"])
    try check(\.price == nil, "price == nil", finds: ["Salt"])
    try check(\.grade == 2, "grade == 2", finds: ["Tea"])
    try check(\.quantity > \.reserved, "quantity > reserved", finds: ["Coffee", "Salt", "Tea"])
    try check(\.name != "Tea", #"name != "Tea""#, finds: ["Bread", "Coffee", "Salt"])
    try check(
      \.quantity >= 3 && \.quantity <= 12 || !(\.name > "B"),
      "(quantity >= 3 AND quantity <= 12) OR NOT name > \"B\"",
      finds: ["Coffee", "Tea"])
  }

  @Test("A key path goes through to-one relationships")
  func toOne() throws {
    try check(\.shelf?.name == "Drinks", #"shelf.name == "Drinks""#, finds: ["Coffee", "Tea"])
    try check(\.quantity < 5 && \.shelf?.name == "Drinks", #"quantity < 5 AND shelf.name == "Drinks""#, finds: ["Tea"])
    try check(\.shelf == nil, "shelf == nil", finds: ["Salt"])
    try check(\.shelf?.room?.number == 7, "shelf.room.number == 7", finds: ["Coffee", "Tea"])
  }

  @Test("Arithmetic is computed")
  func arithmetic() throws {
    try check(\.quantity * 2 > 20, "quantity * 2 > 20", finds: ["Coffee", "Salt"])
    try check(\.quantity - \.reserved == 2, "quantity - reserved == 2", finds: ["Tea"])
    try check(\.quantity % 5 + 1 == 4, "quantity %% 5 + 1 == 4", finds: ["Tea"])
  }

  @Test("Texts are searched")
  func texts() throws {
    try check((\Good.name).beginsWith("te", .caseInsensitive), #"name BEGINSWITH[c] "te""#, finds: ["Tea"])
    try check((\Good.name).contains("ea"), #"name CONTAINS "ea""#, finds: ["Bread", "Tea"])
    try check((\Good.note).like("*hot?"), #"note LIKE "*hot?""#, finds: ["Tea"])
    try check((\Good.name).in(["Tea", "Salt"]), #"name IN {"Tea", "Salt"}"#, finds: ["Salt", "Tea"])
    try check((\Good.quantity).between(3...12), "quantity BETWEEN {3, 12}", finds: ["Coffee", "Tea"])
    try check(
      TypedPredicate { $0.name.length == 3 && $0.shelf.name.equals("drinks", [.caseInsensitive]) },
      #"length:(name) == 3 AND shelf.name ==[c] "drinks""#, finds: ["Tea"])
  }

  @Test("Members of to-many relationships are tested")
  func members() throws {
    try check(
      (\Good.labels).contains(where: \.text == "hot"),
      #"SUBQUERY(labels, $member0, $member0.text == "hot").@count > 0"#,
      finds: ["Coffee", "Tea"])
    try check(
      TypedPredicate { good in good.labels.contains { $0.text.beginsWith("g") } },
      #"SUBQUERY(labels, $member0, $member0.text BEGINSWITH "g").@count > 0"#, finds: ["Tea"])
    try check(
      (\Good.labels).allSatisfy(\.text == "hot"),
      #"SUBQUERY(labels, $member0, NOT $member0.text == "hot").@count == 0"#, finds: ["Bread", "Coffee", "Salt"])
    try check((\Good.labels).isEmpty, "labels.@count == 0", finds: ["Bread", "Salt"])
    try check((\Good.labels).count == 2, "labels.@count == 2", finds: ["Tea"])
    try check(\.labels.count == 2, "labels.@count == 2", finds: ["Tea"])
    try check(TypedPredicate { $0.shelf.goods.sum(\.quantity) > 12 }, "shelf.goods.@sum.quantity > 12",
      finds: ["Coffee", "Tea"])
    try check(
      TypedPredicate { good in
        good.shelf.goods.contains { other in
          other.quantity > good.quantity && other.labels.contains { $0.text == "hot" }
        }
      },
      #"SUBQUERY(shelf.goods, $member0, $member0.quantity > quantity AND "#
        + #"SUBQUERY($member0.labels, $member1, $member1.text == "hot").@count > 0).@count > 0"#,
      finds: ["Tea"])
  }

  @Test("A complete predicate about members that itself tests members keeps its own members apart")
  func nestedMembers() throws {
    let hasLarger = TypedPredicate<Good> { good in good.shelf.goods.contains { $0.quantity > good.quantity } }
    try check(
      TypedPredicate { $0.shelf.goods.contains(where: hasLarger) },
      "SUBQUERY(shelf.goods, $member0, SUBQUERY($member0.shelf.goods, $member0_, "
        + "$member0_.quantity > $member0.quantity).@count > 0).@count > 0", finds: ["Coffee", "Tea"])
    let isLargest = TypedPredicate<Good> { good in good.shelf.goods.allSatisfy { $0.quantity <= good.quantity } }
    try check(
      TypedPredicate { $0.shelf.goods.allSatisfy(isLargest) },
      "SUBQUERY(shelf.goods, $member0, NOT SUBQUERY($member0.shelf.goods, $member0_, "
        + "NOT $member0_.quantity <= $member0.quantity).@count == 0).@count == 0", finds: ["Bread", "Salt"])
    try check(
      TypedPredicate { good in
        good.shelf.goods.contains { $0.quantity < good.quantity && $0.shelf.goods.contains(where: hasLarger) }
      },
      "SUBQUERY(shelf.goods, $member0, $member0.quantity < quantity AND SUBQUERY($member0.shelf.goods, $member1, "
        + "SUBQUERY($member1.shelf.goods, $member0, $member0.quantity > $member1.quantity).@count > 0).@count > 0)"
        + ".@count > 0", finds: ["Coffee"])
  }

  @Test("A computed property that reads one property represents it")
  func alias() throws {
    try check(\.title == "Tea", #"name == "Tea""#, finds: ["Tea"])
    try check(\.shelfName == "Drinks", #"shelf.name == "Drinks""#, finds: ["Coffee", "Tea"])
  }

  @Test(
    "A key path that computes its value is refused, with the reason",
    arguments: [
      (\Good.priceAndQuantity == "1", "reads several properties: price, quantity"),
      (\Good.constant == 1, "reads no property"), (\Good.isShort == true, "computes a value from name"),
      (\Good.quantity.magnitudeAsInt == 1, "computes a value from quantity"),
      (\Good.rank.magnitude == 1, "computes a value from rank"),
      (\Good.firstLabel == "x", "reads the members of labels"),
    ] as [(TypedPredicate<Good>, String)])
  func computed(predicate: TypedPredicate<Good>, reason: String) throws {
    try withTemporaryStore { store in
      var request = FetchRequest("Good")
      request.predicate = predicate.predicate
      let error = #expect(throws: PersistenceError.self) { try Shop.context(store).fetch(request) }
      #expect(error?.code == .invalidPredicate)
      #expect(error?.message.contains(reason) == true, "\(String(describing: error))")
    }
  }

  @Test("Names are resolved once for an entity and a key path, and none while objects are read")
  func recordsOnce() throws {
    try withTemporaryStore { store in
      let context = try Shop.context(store)
      Good.titleReads = 0
      for _ in 0..<3 { #expect(try context.keyPaths.keys(of: \Good.title) == ["name"]) }
      #expect(Good.titleReads == 1)
      #expect(context.registeredObjects.isEmpty)
    }
  }

  @Test("A predicate with key paths can be encoded once its names are resolved")
  func coding() throws {
    try withTemporaryStore { store in
      let typed: TypedPredicate<Good> = \.quantity < 5
      let predicate = typed.predicate
      #expect(throws: PersistenceError.self) { try JSONEncoder().encode(predicate) }
      let context = try Shop.context(store)
      let named = try predicate.resolvingKeyPaths { try context.keyPaths.keys(of: $0.keyPath) }
      #expect(try JSONDecoder().decode(FetchPredicate.self, from: JSONEncoder().encode(named)) == named)
    }
  }
}

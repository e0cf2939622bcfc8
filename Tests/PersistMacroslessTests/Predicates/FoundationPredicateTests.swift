import Foundation
import Persist
import PersistMacrosless
import PersistTestSupport
import Testing

@Suite("Foundation's predicates")
struct FoundationPredicateTests {
  /// The converted predicate, and the names of the goods it finds: by SQL, and in memory.
  private func check(
    _ predicate: Predicate<Good>, _ format: String, finds names: [String],
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let tree = try FetchPredicate(predicate)
    try withTemporaryStore { store in
      let context = try Shop.context(store)
      try Shop.fill(context)
      let named = try tree.resolvingKeyPaths { try context.keyPaths.keys(of: $0.keyPath) }
      #expect(named.format == format, sourceLocation: sourceLocation)
      var request = FetchRequest("Good", sortedBy: "name")
      request.predicate = tree
      let unsaved = try context.fetch(Good.self, request).map(\.name)
      #expect(unsaved == names, sourceLocation: sourceLocation)
      try context.save()
      let saved = try context.fetch(Good.self, request).map(\.name)
      #expect(saved == names, sourceLocation: sourceLocation)
    }
  }

  @Test("Comparisons and logic")
  func logic() throws {
    try check(#Predicate { $0.quantity < 5 }, "quantity < 5", finds: ["Bread", "Tea"])
    try check(
      #Predicate { $0.quantity >= 3 && !($0.name == "Tea") || $0.price == nil },
      #"(quantity >= 3 AND NOT name == "Tea") OR price == nil"#, finds: ["Coffee", "Salt"])
    try check(#Predicate { $0.name != "Tea" }, #"name != "Tea""#, finds: ["Bread", "Coffee", "Salt"])
    let limit: Decimal = 5
    try check(
      #Predicate { $0.price != nil && $0.price! < limit },
      #"price != nil AND price < CAST("5", "NSDecimalNumber")"#, finds: ["Bread", "Tea"])
  }

  @Test("Optionals")
  func optionals() throws {
    try check(
      #Predicate { ($0.price ?? 0) < 4 },
      #"TERNARY(price != nil, price, CAST("0", "NSDecimalNumber")) < CAST("4", "NSDecimalNumber")"#,
      finds: ["Bread", "Salt"])
    try check(#Predicate { $0.shelf?.name == "Drinks" }, #"shelf.name == "Drinks""#, finds: ["Coffee", "Tea"])
    try check(#Predicate { $0.shelf?.room?.number == 7 }, "shelf.room.number == 7", finds: ["Coffee", "Tea"])
    try check(#Predicate { $0.shelf == nil }, "shelf == nil", finds: ["Salt"])
    try check(
      #Predicate { $0.note?.contains("hot") == true }, #"note != nil AND note CONTAINS "hot""#, finds: ["Tea"])
    try check(
      #Predicate { $0.note?.contains("cold") == false }, #"note != nil AND NOT note CONTAINS "cold""#, finds: ["Tea"])
    try check(
      #Predicate { $0.note.flatMap { $0.contains("hot") } ?? true },
      #"(note != nil AND note CONTAINS "hot") OR NOT note != nil"#, finds: ["Bread", "Coffee", "Salt", "Tea"])
    try check(
      #Predicate { if let shelf = $0.shelf { shelf.name == "Food" } else { true } },
      #"(shelf != nil AND shelf.name == "Food") OR NOT shelf != nil"#,
      finds: ["Bread", "Salt"])
  }

  @Test("Numbers")
  func numbers() throws {
    try check(#Predicate { $0.quantity * 2 - 1 > 20 }, "quantity * 2 - 1 > 20", finds: ["Coffee", "Salt"])
    try check(#Predicate { $0.quantity / 5 == 2 }, "quantity / 5 == 2", finds: ["Coffee"])
    try check(#Predicate { $0.quantity % 5 == 3 }, "quantity %% 5 == 3", finds: ["Tea"])
    try check(#Predicate { -$0.quantity < -50 }, "-quantity < -50", finds: ["Salt"])
    try check(#Predicate { (3...12).contains($0.quantity) }, "quantity BETWEEN {3, 12}", finds: ["Coffee", "Tea"])
    try check(
      #Predicate { ($0.reserved..<100).contains($0.quantity) }, "quantity >= reserved AND quantity < 100",
      finds: ["Bread", "Coffee", "Tea"])
  }

  @Test("Texts")
  func texts() throws {
    try check(#Predicate { $0.name.starts(with: "Te") }, #"name BEGINSWITH "Te""#, finds: ["Tea"])
    try check(#Predicate { $0.name.contains("ea") }, #"name CONTAINS "ea""#, finds: ["Bread", "Tea"])
    try check(#Predicate { $0.name.isEmpty }, #"name == """#, finds: [])
    try check(
      #Predicate { $0.name.contains(/e.$/) }, #"name MATCHES "(?s:.*)(?:e.$)(?s:.*)""#, finds: ["Coffee", "Tea"])
  }

  @Test("Collections")
  func collections() throws {
    let names = ["Tea", "Salt"]
    try check(#Predicate { names.contains($0.name) }, #"name IN {"Tea", "Salt"}"#, finds: ["Salt", "Tea"])
    try check(
      #Predicate { $0.labels.contains { $0.text == "green" } },
      #"SUBQUERY(labels, $member0, $member0.text == "green").@count > 0"#, finds: ["Tea"])
    try check(
      #Predicate { $0.labels.allSatisfy { $0.text == "hot" } },
      #"SUBQUERY(labels, $member0, NOT $member0.text == "hot").@count == 0"#, finds: ["Bread", "Coffee", "Salt"])
    try check(#Predicate { $0.labels.isEmpty }, "labels.@count == 0", finds: ["Bread", "Salt"])
    try check(#Predicate { $0.labels.count > 1 }, "labels.@count > 1", finds: ["Tea"])
    try check(
      #Predicate { good in good.labels.filter { $0.text == good.name || $0.text == "hot" }.count == 1 },
      #"SUBQUERY(labels, $member0, $member0.text == name OR $member0.text == "hot").@count == 1"#,
      finds: ["Coffee", "Tea"])
  }

  #if canImport(Darwin)
  @Test("Texts, compared as only Foundation on Apple's platforms does")
  func darwinTexts() throws {
    try check(#Predicate { $0.name.localizedStandardContains("TÉA") }, #"name CONTAINS[cd] "TÉA""#, finds: ["Tea"])
    try check(
      #Predicate { $0.name.caseInsensitiveCompare("tea") == .orderedSame }, #"name ==[c] "tea""#, finds: ["Tea"])
  }

  @Test("A predicate inside another")
  func nested() throws {
    let cheap = #Predicate<Good> { $0.quantity < 5 }
    try check(
      #Predicate { cheap.evaluate($0) && $0.name != "Tea" }, #"quantity < 5 AND name != "Tea""#, finds: ["Bread"])
  }
  #endif

  @Test("An expression without a meaning for a store is named, before any request runs")
  func refusals() {
    func reason(_ predicate: Predicate<Good>) -> String {
      let error = #expect(throws: PersistenceError.self) { try FetchPredicate(predicate) }
      #expect(error?.code == .invalidPredicate)
      return error?.message ?? ""
    }
    #expect(reason(#Predicate { $0.name.count == 3 }).contains("'KeyPath'"))
    let numbers = ["Tea": 1]
    #expect(reason(#Predicate { numbers[$0.name] == 1 }).contains("'DictionaryKeySubscript'"))
    #expect(reason(#Predicate { $0.madeAt!.timeIntervalSince1970 > 3 }).contains("'KeyPath'"))
  }
}

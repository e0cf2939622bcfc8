import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel
@testable import PersistTools

@Suite("Checking the values of columns", .aboutFiles("values that other programs write to files"))
struct ColumnValueLawTests {
  private static let types: [AttributeType] = [
    .int16, .int32, .int64, .boolean, .double, .float, .decimal, .string, .uri, .date, .uuid, .binary, .transformable,
  ]

  /// Each type on its own, required or not, in a parent and in its child.
  private static func model() throws -> ManagedObjectModel {
    func attributes(_ prefix: String) -> [AttributeDescription] {
      types.map { AttributeDescription("\(prefix)\($0.rawValue)", $0, isOptional: prefix == "o") }
    }
    return try PersistTests.model(
      EntityDescription("Parent", attributes: attributes("o")),
      EntityDescription("Child", parent: "Parent", attributes: types.map { .init("c\($0.rawValue)", $0) }))
  }

  /// Values as another program may write them, as SQL.
  private static func literal(_ random: inout SeededRandom) -> String {
    let numbers = [
      "0", "1", "7", "-1", "32767", "32768", "-32769", "2147483648", "-9223372036854775808", "0.5", "1.5e300",
      "-3.5e38", "3.4028234663852886e38", "9e999", "-9e999", "1e-300", "1e126", "1e170", "123456789012345678",
    ]
    let texts = [
      "abc", "", "12abc", "1.5", " 1", "0x10", "nan", "1e999", "12345678901234567890123456789012345678901234567890",
      "6BA7B810-9DAD-11D1-80B4-00C04FD430C8", "6BA7B810", "2022-01-01", "NULL",
    ]
    let bytes = ["", "01", "0102", "000102030405060708090A0B0C0D0E0F", "31322E35", "616263", "FF"]
    switch Int.random(in: 0..<3, using: &random) {
    case 0: return numbers.randomElement(using: &random) ?? "0"
    case 1: return "'\(texts.randomElement(using: &random) ?? "")'"
    default: return "x'\(bytes.randomElement(using: &random) ?? "")'"
    }
  }

  /// Whether a stored value is one of a type: what Persist can read and write back as it is.
  private func isValid(_ value: SQLValue, _ type: AttributeType) -> Bool {
    switch (type, value) {
    case (_, .null): true
    case (.int16, .integer(let number)): Int16(exactly: number) != nil
    case (.int32, .integer(let number)): Int32(exactly: number) != nil
    case (.int64, .integer): true
    case (.boolean, .integer(let number)): number == 0 || number == 1
    case (.double, .integer), (.double, .double), (.float, .integer), (.date, .integer): true
    case (.float, .double(let number)): !number.isFinite || Float(number).isFinite
    case (.date, .double(let number)): number.isFinite
    case (.string, .text), (.uri, .text), (.binary, .blob), (.transformable, .blob), (.decimal, .integer): true
    case (.decimal, .double(let number)): number.isFinite && Decimal(string: "\(number)") != nil
    case (.decimal, .text(let text)): Self.isDecimal(text)
    case (.decimal, .blob(let data)): Self.isDecimal(String(decoding: data, as: UTF8.self))
    case (.uuid, .text(let text)): UUID(uuidString: text) != nil
    case (.uuid, .blob(let data)): data.count == 16
    default: false
    }
  }

  private static func isDecimal(_ text: String) -> Bool {
    text.wholeMatch(of: /[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,3})?/) != nil && Decimal(string: text) != nil
  }

  private func found(_ url: URL) throws -> Set<String> {
    var found: Set<String> = []
    try StoreCheck.check(storeAt: url) { problem in
      #expect(problem.kind == .wrongType, "\(problem)")
      found.insert("\(problem.entity ?? "") \(problem.pk ?? 0) \(problem.property ?? "")")
    }
    return found
  }

  @Test(
    "Every value that isn't of its attribute's type is found, and no other is",
    .law("values-of-columns", short: 60, long: 5000))
  func damage() throws {
    let model = try Self.model()
    forEachSeed { seed in
      var random = SeededRandom(seed: seed)
      try withTemporaryStore { url in
        let coordinator = PersistentStoreCoordinator(model: model)
        try coordinator.addStore(at: url)
        let context = ManagedObjectContext(coordinator)
        for number in 0..<4 {
          _ = try context.create(number % 2 == 0 ? "Parent" : "Child")
        }
        try context.save()
        for store in coordinator.persistentStores { try coordinator.remove(store) }
        var expected: Set<String> = []
        let connection = try SQLiteConnection(url, mode: .readWrite)
        for _ in 0..<Int.random(in: 1...30, using: &random) {
          let key = Int.random(in: 1...4, using: &random)
          let type = Self.types.randomElement(using: &random) ?? .int16
          let prefix = key % 2 == 0 && Bool.random(using: &random) ? "c" : "o"
          let column = "Z\(prefix)\(type.rawValue)".uppercased()
          let literal = Self.literal(&random)
          try connection.execute(SQLText(checked: "UPDATE ZPARENT SET \(column) = \(literal) WHERE Z_PK = \(key)"))
          let stored = try connection.first(SQLText(checked: "SELECT \(column) FROM ZPARENT WHERE Z_PK = \(key)")) {
            $0.value(0)
          }
          let place = "\(key % 2 == 0 ? "Child" : "Parent") \(key) \(prefix)\(type.rawValue)"
          if isValid(stored ?? .null, type) { expected.remove(place) } else { expected.insert(place) }
        }
        connection.close()
        let found = try found(url)
        #expect(found == expected, "only found: \(found.subtracting(expected)), missing: \(expected.subtracting(found))")
      }
    }
  }

  @Test("Every value that Persist writes is of its attribute's type", .law("written-values", short: 20, long: 1000))
  func written() throws {
    let model = try Self.model()
    forEachSeed { seed in
      var random = SeededRandom(seed: seed)
      try withTemporaryStore { url in
        let coordinator = PersistentStoreCoordinator(model: model)
        try coordinator.addStore(at: url)
        let context = ManagedObjectContext(coordinator)
        for _ in 0..<5 {
          let object = try context.create("Child")
          for type in Self.types { object["c\(type.rawValue)"] = value(type, &random) }
        }
        try context.save()
        for store in coordinator.persistentStores { try coordinator.remove(store) }
        try #expect(found(url) == [])
      }
    }
  }

  private func value(_ type: AttributeType, _ random: inout SeededRandom) -> StoredValue {
    switch type {
    case .int16: return .integer(Int64(Int16.random(in: .min ... .max, using: &random)))
    case .int32: return .integer(Int64(Int32.random(in: .min ... .max, using: &random)))
    case .int64: return .integer([.min, .max, 0].randomElement(using: &random) ?? 0)
    case .boolean: return .boolean(.random(using: &random))
    case .double: return .double([.infinity, -.infinity, 1e308, 1e-307, 0].randomElement(using: &random) ?? 0)
    case .float:
      let greatest = Double(Float.greatestFiniteMagnitude)
      return .double([greatest, -greatest, .infinity, 0.1].randomElement(using: &random) ?? 0)
    case .decimal:
      let digits = (0..<Int.random(in: 1...38, using: &random)).map { _ in "\(Int.random(in: 0...9, using: &random))" }
      let text = "\(digits.joined())e\(Int.random(in: -80...80, using: &random))"
      return Decimal(string: text).map(StoredValue.decimal) ?? .null
    case .date: return .date([.distantPast, .distantFuture].randomElement(using: &random) ?? .distantPast)
    case .uuid: return .uuid(UUID())
    case .string: return .string("é\n")
    case .uri: return .uri("a b")
    default: return .data(Data(repeating: 3, count: .random(in: 0..<200, using: &random)))
    }
  }

  @Test("What isn't a decimal reads as no value, however it begins", arguments: ["-9e999", "9e999", "'-abc'", "'5abc'"])
  func unreadableDecimals(_ literal: String) throws {
    let model = try Self.model()
    try withTemporaryStore { url in
      let coordinator = PersistentStoreCoordinator(model: model)
      let store = try coordinator.addStore(at: url)
      let context = ManagedObjectContext(coordinator)
      _ = try context.create("Parent")
      try context.save()
      try coordinator.remove(store)
      let connection = try SQLiteConnection(url, mode: .readWrite)
      try connection.execute(SQLText(checked: "UPDATE ZPARENT SET ZODECIMAL = \(literal)"))
      connection.close()
      try #expect(found(url) == ["Parent 1 odecimal"])
      try coordinator.addStore(at: url)
      let parent = try #require(ManagedObjectContext(coordinator).fetch(FetchRequest<ManagedObject>("Parent")).first)
      #expect(parent["odecimal"] == nil)
    }
  }

  @Test("No value of the real stores is reported", .needsSharedData)
  func realStores() throws {
    #expect(!SharedData.stores.isEmpty)
    for store in SharedData.stores {
      var problems: [StoreProblem] = []
      // Some of the files are no stores.
      guard (try? StoreCheck.check(storeAt: store, { problems.append($0) })) != nil else { continue }
      let values = problems.filter { [.wrongType, .keyCounter].contains($0.kind) }
      #expect(values.isEmpty, "\(store.lastPathComponent): \(values)")
    }
  }

  @Test("Versions and positions that are no integers are found")
  func columns() throws {
    let model = try PersistTests.model(
      EntityDescription("Owner", relationships: [.init("items", toMany: "Item", inverse: "owner", isOrdered: true)]),
      EntityDescription("Item", relationships: [.init("owner", to: "Owner", inverse: "items")]))
    try withTemporaryStore { url in
      let coordinator = PersistentStoreCoordinator(model: model)
      try coordinator.addStore(at: url)
      let context = ManagedObjectContext(coordinator)
      let owner = try context.create("Owner")
      for _ in 0..<2 { try context.create("Item").setValue(owner, forKey: "owner") }
      try context.save()
      for store in coordinator.persistentStores { try coordinator.remove(store) }
      let connection = try SQLiteConnection(url, mode: .readWrite)
      try connection.execute("UPDATE ZOWNER SET Z_OPT = 'x'")
      try connection.execute("UPDATE ZITEM SET Z_FOK_OWNER = x'05' WHERE Z_PK = 2")
      connection.close()
      try #expect(found(url) == ["Owner 1 ", "Item 2 owner"])
    }
  }

  @Test("A missing row of a key counter is found and repaired", arguments: ["Parent", "Child"])
  func counterRow(_ entity: String) throws {
    let model = try Self.model()
    try withTemporaryStore { url in
      let coordinator = PersistentStoreCoordinator(model: model)
      try coordinator.addStore(at: url)
      let context = ManagedObjectContext(coordinator)
      for _ in 0..<3 { _ = try context.create("Child") }
      try context.save()
      for store in coordinator.persistentStores { try coordinator.remove(store) }
      let connection = try SQLiteConnection(url, mode: .readWrite)
      let before = try counters(connection)
      try connection.execute(SQLText(checked: "DELETE FROM Z_PRIMARYKEY WHERE Z_NAME = '\(entity)'"))
      connection.close()
      var kinds: [StoreProblem.Kind] = []
      try StoreCheck.check(storeAt: url) { kinds.append($0.kind) }
      #expect(kinds == [.keyCounter])
      let repairs = try StoreRepair.repair(storeAt: url)
      #expect(repairs.map(\.kind) == [.keyCounter])
      try #expect(found(url) == [])
      let repaired = try SQLiteConnection(url, mode: .readOnly)
      defer { repaired.close() }
      try #expect(counters(repaired) == before)
    }
  }

  private func counters(_ connection: SQLiteConnection) throws -> [[SQLValue]] {
    try connection.all("SELECT Z_ENT, Z_NAME, Z_SUPER, Z_MAX FROM Z_PRIMARYKEY ORDER BY Z_ENT") { row in
      (0..<4).map { row.value(Int32($0)) }
    }
  }

  @Test("The row of a key counter isn't added if the entity may have another number")
  func ambiguousCounterRow() throws {
    let model = try PersistTests.model(
      EntityDescription("Item"), EntityDescription("Other"), EntityDescription("Third"))
    try withTemporaryStore { url in
      let coordinator = PersistentStoreCoordinator(model: model)
      try coordinator.addStore(at: url)
      let context = ManagedObjectContext(coordinator)
      _ = try context.create("Item")
      try context.save()
      for store in coordinator.persistentStores { try coordinator.remove(store) }
      let connection = try SQLiteConnection(url, mode: .readWrite)
      try connection.execute("UPDATE ZITEM SET Z_ENT = 40")
      try connection.execute("DELETE FROM Z_PRIMARYKEY WHERE Z_NAME = 'Item'")
      let before = try counters(connection)
      connection.close()
      #expect(try StoreRepair.repair(storeAt: url) == [])
      let repaired = try SQLiteConnection(url, mode: .readOnly)
      defer { repaired.close() }
      try #expect(counters(repaired) == before)
    }
  }
}

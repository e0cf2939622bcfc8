import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

private struct Colour: Codable, Sendable, Hashable {
  var name: String
  var parts: [Double]
  var date: Date
}

private struct Unhashable: Codable, Sendable {
  var number = 1
}

/// Reverses a text, and counts its calls.
private final class ReversingTransformer: AttributeTransformer {
  let asked = LockProtected((forward: 0, back: 0))

  func data(from value: Any) throws -> Data {
    asked.withLock { $0.forward += 1 }
    guard let text = value as? String else { throw PersistenceError(.typeMismatch, "Only texts are turned round.") }
    return Data(text.utf8.reversed())
  }

  func value(from data: Data) throws -> Any {
    asked.withLock { $0.back += 1 }
    return String(decoding: data.reversed(), as: UTF8.self)
  }
}

@Suite("Transformable attributes")
struct TransformableTests {
  private static func box(transformer: String? = nil, default value: StoredValue = .null) -> ModelDescription {
    ModelDescription(entities: [
      EntityDescription(
        "Item",
        attributes: [
          AttributeDescription("name", .string),
          AttributeDescription("payload", .transformable, default: value, valueTransformerName: transformer),
        ])
    ])
  }

  private func bytes(_ object: ManagedObject) throws -> Data {
    let slot = try #require(object.entity.property(named: "payload")).slot
    return try #require(object.data(at: slot))
  }

  @Test("Without a transformer, a list and a registered type are read back; the file has the class's name (TRF-01)")
  func archives() throws {
    AttributeTransformers.register(Colour.self)
    try withStack(Self.box()) { stack in
      let context = stack.context()
      let date = Date(timeIntervalSinceReferenceDate: 1.5)
      let colour = Colour(name: "teal", parts: [0, 0.5, 0.5], date: date)
      try context.make("Item", ["name": "list", "payload": ["text", 7, date] as [Any]])
      try context.make("Item", ["name": "colour", "payload": colour])
      try context.save()
      let again = try stack.reopened().context()
      let list = try #require(again.named("Item", "list")["payload"] as? [Any])
      #expect(list[0] as? String == "text" && list[1] as? Int == 7 && list[2] as? Date == date)
      let read = try again.named("Item", "colour")
      #expect(read["payload"] as? Colour == colour)
      let objects = try PropertyList(data: bytes(read))["$objects"]?.arrayValue
      let names = objects?.compactMap { $0["$classname"]?.stringValue }
      #expect(names?.contains("Colour") == true)
    }
  }

  @Test("Property-list values are read back equal, also with Core Data's secure transformer (TRF-02)", arguments: [
    nil, "NSSecureUnarchiveFromData", "NSSecureUnarchiveFromDataTransformer",
  ])
  func propertyLists(transformer: String?) throws {
    try withStack(Self.box(transformer: transformer)) { stack in
      let uuid = UUID()
      let values: [any Hashable & Sendable] = [
        "text", "", 0, -1, Int64.max, 1.5, true, false, Data([0, 1]), Data(), uuid, URL(string: "https://a.b/c?d")!,
        ["a", "b"], [1, 2], ["k": ["nested": [1.5]]], [String](), Set(["x", "y"]),
        Date(timeIntervalSinceReferenceDate: 3),
      ]
      let context = stack.context()
      for (index, value) in values.enumerated() { try context.make("Item", ["name": "\(index)", "payload": value]) }
      try context.save()
      let again = try stack.reopened().context()
      for (index, value) in values.enumerated() {
        let read = try #require(again.named("Item", "\(index)")["payload"])
        try #expect(KeyedArchiveWriter.archive(value) == KeyedArchiveWriter.archive(read), "\(value)")
        if !(value is any Collection) || value is String || value is Data {
          #expect(AnyHashable(value) == read as? AnyHashable, "\(value)")
        }
      }
    }
  }

  @Test("Archives written by Apple's archiver can be read, and written ones have the same form")
  func form() throws {
    let archive = try KeyedArchiveWriter.archive(["a", 1, Date(timeIntervalSinceReferenceDate: 2)] as [Any])
    let list = try PropertyList(data: archive)
    #expect(list["$archiver"] == .string("NSKeyedArchiver") && list["$version"] == .integer(100_000))
    #expect(list["$top"] == .dictionary(["root": .uid(1)]))
    let objects = try #require(list["$objects"]?.arrayValue)
    #expect(objects[0] == .string("$null"))
    #expect(objects[1]["NS.objects"]?.arrayValue?.count == 3)
    let classes = [NSArray.self, NSString.self, NSNumber.self, NSDate.self] as [AnyClass]
    let unarchived = try #require(
      try NSKeyedUnarchiver.unarchivedObject(ofClasses: classes, from: archive) as? [Any])
    #expect(unarchived.count == 3 && unarchived[0] as? String == "a")
    let dictionary = NSDictionary(dictionary: ["k": NSArray(array: ["x", NSNumber(value: 4)])])
    let written = try NSKeyedArchiver.archivedData(withRootObject: dictionary, requiringSecureCoding: true)
    let read = try #require(KeyedArchiveReader.value(in: written) as? [String: Any])
    let inner = try #require(read["k"] as? [Any])
    #expect(inner[0] as? String == "x" && inner[1] as? Int == 4)
  }

  @Test("A registered transformer is called once to encode, its bytes are stored, and it is called to decode (TRF-04)")
  func custom() throws {
    let transformer = ReversingTransformer()
    AttributeTransformers.register(transformer, named: "TRF-04")
    try withStack(Self.box(transformer: "TRF-04")) { stack in
      let context = stack.context()
      let item = try context.make("Item", ["payload": "abc"])
      try context.save()
      try #expect(bytes(item) == Data("cba".utf8))
      #expect(transformer.asked.withLock { $0 } == (1, 0))
      let again = try stack.reopened().context().fetch(FetchRequest("Item"))[0]
      #expect(again["payload"] as? String == "abc")
      #expect(transformer.asked.withLock { $0 } == (1, 1))
      let error = persistError { try item.setValue(7, forKey: "payload") }
      #expect(error?.code == .typeMismatch && error?.place.property == "payload")
    }
  }

  @Test("Only newly set values are stored: a value mutated in place changes nothing (TRF-05)")
  func changes() throws {
    try withStack(Self.box()) { stack in
      let context = stack.context()
      let list = NSMutableArray(array: ["one"])
      let item = try context.make("Item", ["payload": list as? [Any] ?? ["one"]])
      try context.save()
      list.add("two")
      #expect(!item.hasChanges && !context.hasChanges)
      try context.save()
      let fresh = try stack.reopened().context()
      let read = try fresh.fetch(FetchRequest("Item"))[0]
      #expect((read["payload"] as? [Any])?.count == 1)
      read["payload"] = ["one", "two"]
      #expect(read.hasChanges)
      try fresh.save()
      let last = try ManagedObjectContext(fresh.persistentStoreCoordinator).fetch(FetchRequest("Item"))[0]
      #expect((last["payload"] as? [Any])?.count == 2)
    }
  }

  @Test("A default is present after insertion, nil overrides it, and both survive reopening (TRF-07)")
  func defaults() throws {
    try withStack(Self.box(default: .archived(["new"]))) { stack in
      let context = stack.context()
      let item = try context.make("Item", ["name": "with"])
      #expect(item["payload"] as? [String] == ["new"])
      try context.make("Item", ["name": "without", "payload": nil])
      try context.save()
      let again = try stack.reopened().context()
      try #expect(again.named("Item", "with")["payload"] as? [String] == ["new"])
      try #expect(again.named("Item", "without")["payload"] == nil)
    }
  }

  @Test("Filtering by contents is done in memory, with a closure (TRF-08)")
  func filtering() throws {
    try withStack(Self.box()) { stack in
      let context = stack.context()
      for name in ["a", "b"] { try context.make("Item", ["name": name, "payload": [name, "x"]]) }
      try context.save()
      let found = try context.fetch(FetchRequest("Item")).filter {
        ($0["payload"] as? [String])?.contains("b") == true
      }
      #expect(found.map { $0["name"] as? String } == ["b"])
    }
  }

  @Test("Without a registered transformer, the bytes are returned, and only bytes are accepted")
  func unknown() throws {
    try withStack(Self.box(transformer: "Nobody's")) { stack in
      let context = stack.context()
      let item = try context.make("Item", ["payload": Data([1, 2])])
      try context.save()
      #expect(item["payload"] as? Data == Data([1, 2]))
      let error = persistError { try item.setValue(["a"], forKey: "payload") }
      #expect(error?.code == .typeMismatch && error?.fix?.contains("AttributeTransformers") == true)
    }
  }

  @Test("Decimal numbers in Apple's archives are read with every digit", arguments: [
    ([125], -1, true, "-12.5"), ([0xFFFF, 0xFFFF, 0xFFFF, 0xFFFF], 0, false, "18446744073709551615"), ([], 0, false, "0"),
  ] as [([Int], Int64, Bool, String)])
  func decimals(_ digits: [Int], _ exponent: Int64, _ isNegative: Bool, _ expected: String) throws {
    var mantissa = digits.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] }
    mantissa += [UInt8](repeating: 0, count: 16 - mantissa.count)
    let archive = try PropertyList.dictionary([
      "$top": .dictionary(["root": .uid(1)]),
      "$objects": .array([
        .string("$null"), .dictionary(["$class": .uid(2), "NS.objects": .array([.uid(3)])]),
        .dictionary(["$classname": .string("NSArray"), "$classes": .array([.string("NSArray")])]),
        .dictionary([
          "$class": .uid(4), "NS.mantissa": .data(Data(mantissa)), "NS.mantissa.bo": .integer(1),
          "NS.exponent": .integer(exponent), "NS.length": .integer(Int64(digits.count)),
          "NS.negative": .boolean(isNegative), "NS.compact": .boolean(true),
        ]),
        .dictionary([
          "$classname": .string("NSDecimalNumber"),
          "$classes": .array([.string("NSDecimalNumber"), .string("NSNumber"), .string("NSObject")]),
        ]),
      ]),
    ]).binaryData()
    let read = try KeyedArchiveReader.value(in: archive) as? [Any]
    #expect(read?.first as? Decimal == Decimal(string: expected))
  }

  @Test("Foundation's numbers and collections keep their values and types, at any depth")
  func foundationObjects() throws {
    let numbers: [(String, NSNumber, any Hashable)] = [
      ("one", NSNumber(value: 1), 1), ("zero", NSNumber(value: 0), 0), ("four", NSNumber(value: Int8(4)), 4),
      ("true", NSNumber(value: true), true), ("half", NSNumber(value: 0.5), 0.5), ("whole", NSNumber(value: 1.0), 1.0),
      ("large", NSNumber(value: UInt64.max), UInt64.max),
      ("decimal", NSDecimalNumber(string: "-12345678901234567890.123456789"),
        Decimal(string: "-12345678901234567890.123456789") ?? 0),
    ]
    let dictionary = NSMutableDictionary()
    for (name, number, _) in numbers { dictionary[NSString(string: name)] = number }
    dictionary[NSString("list")] = NSArray(array: [NSNumber(value: 1), NSString("x"), NSNull()])
    dictionary[NSString("set")] = NSSet(array: [NSNumber(value: 1)])
    dictionary[NSString("date")] = NSDate(timeIntervalSinceReferenceDate: 5)
    try withStack(Self.box()) { stack in
      let context = stack.context()
      try context.make("Item", ["name": "dictionary", "payload": dictionary])
      let json = Data(#"{"n": [1, 0, 2.5, true, 9007199254740993, 12345678901234567.89]}"#.utf8)
      try context.make("Item", ["name": "json", "payload": JSONSerialization.jsonObject(with: json)])
      try context.save()
      let again = try stack.reopened().context()
      let read = try #require(again.named("Item", "dictionary")["payload"] as? [String: Any])
      for (name, _, value) in numbers {
        let found = try #require(read[name])
        #expect(found as? AnyHashable == AnyHashable(value) && type(of: found) == type(of: value), "\(name)")
      }
      let list = try #require(read["list"] as? [Any])
      #expect(list[0] as? Int == 1 && !(list[0] is Bool) && list[1] as? String == "x" && list[2] is NSNull)
      #expect(read["set"] as? Set<AnyHashable> == [1])
      #expect(read["date"] as? Date == Date(timeIntervalSinceReferenceDate: 5))
      let parsed = try #require((again.named("Item", "json")["payload"] as? [String: Any])?["n"] as? [Any])
      #expect(!(parsed[0] is Bool) && parsed[0] as? Int == 1 && parsed[1] as? Int == 0)
      #expect(parsed[2] as? Double == 2.5 && parsed[3] as? Bool == true && parsed[4] as? Int == 9_007_199_254_740_993)
    }
  }

  @Test("A URL that is relative to a base is read with its base")
  func relativeURL() throws {
    let archive = try PropertyList.dictionary([
      "$top": .dictionary(["root": .uid(1)]),
      "$objects": .array([
        .string("$null"), .dictionary(["$class": .uid(3), "NS.base": .uid(2), "NS.relative": .string("b?c=d")]),
        .dictionary(["$class": .uid(3), "NS.base": .uid(0), "NS.relative": .string("https://example.org/a/")]),
        .dictionary(["$classname": .string("NSURL"), "$classes": .array([.string("NSURL"), .string("NSObject")])]),
      ]),
    ]).binaryData()
    let url = try #require(try KeyedArchiveReader.value(in: archive) as? URL)
    #expect(url.absoluteString == "https://example.org/a/b?c=d" && url.relativeString == "b?c=d")
    let again = try KeyedArchiveReader.value(in: KeyedArchiveWriter.archive(url)) as? URL
    #expect(again?.absoluteString == url.absoluteString)
  }

  @Test("Decimals are archived with every digit, and NaN is refused")
  func writtenDecimals() throws {
    for text in ["0", "1.25", "-0.001", "99999999999999999999999999999999999999", "1e127", "7e-128"] {
      let number = try #require(Decimal(string: text))
      let read = try KeyedArchiveReader.value(in: KeyedArchiveWriter.archive(["n": number])) as? [String: Any]
      #expect(read?["n"] as? Decimal == number, "\(text)")
    }
    #expect(persistError { _ = try KeyedArchiveWriter.archive(Decimal.nan) }?.code == .typeMismatch)
  }

  @Test("Strings in different normalization forms, and 0 and -0, remain different in an archive")
  func literalValues() throws {
    let texts = ["caf\u{e9}", "cafe\u{301}", "caf\u{e9}"]
    var values: [Any] = texts
    values += [0.0, -0.0]
    let read = try #require(try KeyedArchiveReader.value(in: KeyedArchiveWriter.archive(values)) as? [Any])
    #expect(read.compactMap { $0 as? String }.map { Array($0.utf8) } == texts.map { Array($0.utf8) })
    #expect(read.compactMap { ($0 as? Double)?.sign } == [.plus, .minus])
  }

  @Test("Sets keep members that are arrays, dictionaries or sets, also when they are archived again")
  func nestedSets() throws {
    let set: Set<AnyHashable> = [["a", "b"], ["k": [1, 2]], Set(["x"]), "text"]
    var read = set
    for _ in 0..<2 {
      read = try #require(try KeyedArchiveReader.value(in: KeyedArchiveWriter.archive(read)) as? Set<AnyHashable>)
      #expect(read == set)
    }
    AttributeTransformers.register(Colour.self)
    let colour = Colour(name: "teal", parts: [], date: Date(timeIntervalSinceReferenceDate: 0))
    let list = try KeyedArchiveReader.value(in: KeyedArchiveWriter.archive([AnyHashable(colour)]))
    #expect((list as? [Any])?.first as? Colour == colour)
  }

  @Test("A set with a member of a type that isn't hashable is an error, not a set without it")
  func unhashableMembers() throws {
    AttributeTransformers.register(Unhashable.self)
    let list = try PropertyList(data: KeyedArchiveWriter.archive([Unhashable()]))
    let names: [PropertyList] = [.string("NSSet"), .string("NSObject")]
    let objects = try #require(list["$objects"]?.arrayValue).map { object in
      guard object["$classname"] == .string("NSArray") else { return object }
      return PropertyList.dictionary(["$classname": .string("NSSet"), "$classes": .array(names)])
    }
    let archive = try PropertyList.dictionary([
      "$top": .dictionary(["root": .uid(1)]), "$objects": .array(objects),
    ]).binaryData()
    let error = persistError { _ = try KeyedArchiveReader.value(in: archive) }
    #expect(error?.code == .typeMismatch && error?.message.contains("Unhashable") == true)
  }

  @Test("Nothing in a store instantiates a type that wasn't registered: reading is an error, never a crash")
  func hostile() throws {
    func archive(_ className: String) throws -> Data {
      try PropertyList.dictionary([
        "$top": .dictionary(["root": .uid(1)]),
        "$objects": .array([
          .string("$null"), .dictionary(["$class": .uid(2), "content": .uid(1)]),
          .dictionary(["$classname": .string(className), "$classes": .array([.string(className)])]),
        ]),
      ]).binaryData()
    }
    AttributeTransformers.register(Colour.self)
    try withStack(Self.box()) { stack in
      let context = stack.context()
      let hostile = try [archive("NSTask"), archive("Colour"), archive("NSArray"), Data([1]), Data()]
      for (index, data) in hostile.enumerated() {
        let item = try context.make("Item", ["name": "\(index)", "payload": StoredValue.data(data)])
        if index != 2 { #expect(throws: (any Error).self) { _ = try item.value(forKey: "payload") } }
        _ = item["payload"]
        _ = try? context.fetch(FetchRequest("Item"))
      }
      try context.save()
      let item = try context.named("Item", "0")
      #expect(item["payload"] == nil)
      #expect(throws: PersistenceError.self) { try context.save() }
      try context.save()
    }
  }

  @Test("An archive that contains itself is rejected")
  func circle() throws {
    let archive = try PropertyList.dictionary([
      "$top": .dictionary(["root": .uid(1)]),
      "$objects": .array([
        .string("$null"), .dictionary(["$class": .uid(2), "NS.objects": .array([.uid(1), .uid(1)])]),
        .dictionary(["$classname": .string("NSArray"), "$classes": .array([.string("NSArray")])]),
      ]),
    ]).binaryData()
    #expect(persistError { _ = try KeyedArchiveReader.value(in: archive) }?.code == .limitExceeded)
  }

  @Test("Imported data pass through the transformer")
  func importing() throws {
    try withStack(Self.box()) { stack in
      let context = stack.context()
      let item = try context.importObject("Item", from: ["payload": ["a", ["k": 1]] as [Any]])
      let read = try #require(item["payload"] as? [Any])
      #expect(read[0] as? String == "a" && (read[1] as? [String: Int]) == ["k": 1])
    }
  }
}

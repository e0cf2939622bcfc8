import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Conversions")
struct ConversionTests {
  private static let model = ModelDescription(entities: [
    EntityDescription(
      "Item", userInfo: ["relatedByAttribute": "itemID"],
      attributes: [
        AttributeDescription("itemID", .int64), AttributeDescription("name", .string),
        AttributeDescription("price", .decimal), AttributeDescription("weight", .double),
        AttributeDescription("size", .float), AttributeDescription("isNew", .boolean),
        AttributeDescription("at", .date), AttributeDescription("small", .int16),
      ],
      relationships: [
        RelationshipDescription("shop", to: "Shop", inverse: "items"),
        RelationshipDescription("tags", toMany: "Tag", inverse: nil),
      ]),
    EntityDescription(
      "Shop", attributes: [AttributeDescription("name", .string)],
      relationships: [RelationshipDescription("items", toMany: "Item", inverse: "shop", isOrdered: true)]),
    EntityDescription("Tag", attributes: [AttributeDescription("name", .string)]),
  ])

  private final class Item: ManagedObject {}

  @Test("Identifying numbers beyond a double's digits distinguish objects, however the JSON was read")
  func identifyingNumbers() throws {
    let json = Data(#"[{"itemID": 1765432109876543211}, {"itemID": 1765432109876543212}]"#.utf8)
    for isText in [true, false] {
      try withStack(Self.model) { stack in
        let context = stack.context()
        if isText {
          try context.importObjects("Item", fromJSON: json)
        } else {
          try context.importObjects("Item", from: JSONSerialization.jsonObject(with: json) as? [[String: Any]] ?? [])
        }
        try context.save()
        let found = try stack.reopened().context().fetch(FetchRequest<ManagedObject>("Item", sortedBy: "itemID"))
        #expect(found.map { $0["itemID"] as? Int } == [1_765_432_109_876_543_211, 1_765_432_109_876_543_212])
      }
    }
  }

  @Test("Imports reject texts that would lose digits or aren't entirely a number, and say so")
  func refusals() throws {
    try withStack(Self.model) { stack in
      let context = stack.context()
      let wrong: [(String, Any)] = [
        ("itemID", 1.9), ("itemID", "1.9"), ("itemID", "nan"), ("itemID", "0x10"), ("itemID", "9223372036854775808"),
        ("itemID", NSNumber(value: UInt64.max)), ("price", "1.5abc"), ("price", "abc"), ("price", ""),
        ("price", "123456789012345678901234567890123456789.5"), ("isNew", 2), ("isNew", 0.5), ("weight", "inf"),
        ("weight", 9_007_199_254_740_993), ("weight", "12345678901234567.89"), ("size", 16_777_217), ("size", 1e300),
        ("small", 32_768),
      ]
      for (key, value) in wrong {
        let error = persistError { _ = try context.importObject("Item", from: [key: value]) }
        #expect(error?.code == .typeMismatch && error?.place.property == key && error?.fix != nil, "\(key): \(value)")
      }
      let json = Data("[{\"price\": 1234567890123456789012345678901234567890.5}]".utf8)
      #expect(persistError { try context.importObjects("Item", fromJSON: json) }?.code == .limitExceeded)
    }
  }

  @Test("Values accepted by Core Data are accepted if they are exact")
  func exactNumbers() throws {
    try withStack(Self.model) { stack in
      let item = try stack.context().make("Item")
      func decimal(_ text: String) throws -> StoredValue { .decimal(try #require(Decimal(string: text))) }
      let date = Date(timeIntervalSinceReferenceDate: 5)
      let taken: [(String, Any, StoredValue)] = [
        ("itemID", NSNumber(value: 1), 1), ("itemID", 1.0, 1), ("itemID", true, 1),
        ("itemID", Decimal(string: "9007199254740993") as Any, 9_007_199_254_740_993),
        ("price", 123.45, try decimal("123.45")), ("price", Float(0.1), try decimal("0.1")),
        ("price", NSDecimalNumber(string: "1.5"), try decimal("1.5")), ("price", 1, .decimal(1)),
        ("weight", NSNumber(value: 1.5), 1.5), ("weight", Float(0.1), .double(Double(Float(0.1)))),
        ("weight", Decimal(string: "0.1") as Any, 0.1), ("size", 0.1, .double(Double(Float(0.1)))),
        ("isNew", 1, true), ("isNew", NSNumber(value: 0), false), ("isNew", 1.0, true),
        ("name", NSString(string: "a"), "a"), ("at", date as NSDate, .date(date)),
        ("name", NSNull(), .null),
      ]
      for (key, value, expected) in taken {
        try item.setValue(value, forKey: key)
        let slot = try #require(item.entity.property(named: key)).slot
        #expect(item.attributeValue(at: slot) == expected, "\(key): \(value)")
      }
    }
  }

  @Test("Values are read as the types used in ported code")
  func typedReading() throws {
    try withStack(Self.model) { stack in
      let context = stack.context()
      let shop = try context.make("Shop", ["name": "A"])
      let tag = try context.make("Tag", ["name": "t"])
      let item = try context.make(
        "Item",
        [
          "itemID": 5, "name": "Tea", "price": Decimal(string: "1.5"), "weight": 2.0, "size": Float(0.1), "isNew": true,
          "at": Date(timeIntervalSinceReferenceDate: 1), "shop": shop, "tags": [tag],
        ])
      #expect(item["itemID"] as? Int == 5 && item["weight"] as? Double == 2)
      #expect(item["size"] as? Double == Double(Float(0.1)))
      #expect(try item.value(forKey: "itemID", as: Int64.self) == 5)
      #expect(try item.value(forKey: "itemID", as: Int16.self) == 5)
      #expect(try item.value(forKey: "itemID", as: UInt8.self) == 5)
      #expect(try item.value(forKey: "itemID", as: Double.self) == 5)
      #expect(try item.value(forKey: "itemID", as: NSNumber.self) == 5)
      #expect(try item.value(forKey: "weight", as: Int32.self) == 2)
      #expect(try item.value(forKey: "size", as: Float.self) == 0.1 && item.value(forKey: "isNew", as: Int.self) == 1)
      #expect(try item.value(forKey: "isNew", as: NSNumber.self)?.boolValue == true)
      #expect(try item.value(forKey: "price", as: NSDecimalNumber.self) == NSDecimalNumber(string: "1.5"))
      #expect(try item.value(forKey: "price", as: Decimal.self) == Decimal(string: "1.5"))
      #expect(try item.value(forKey: "name", as: NSString.self) == "Tea")
      #expect(try item.value(forKey: "name", as: String.self) == "Tea")
      #expect(try item.value(forKey: "at", as: NSDate.self)?.timeIntervalSinceReferenceDate == 1)
      #expect(try item.value(forKey: "small", as: Int16.self) == nil)
      #expect(try item.value(forKey: "shop", as: ManagedObject.self) === shop)
      #expect(try item.value(forKey: "tags", as: Set<ManagedObject>.self) == [tag])
      #expect(try item.value(forKey: "tags", as: NSSet.self)?.contains(tag) == true)
      #expect(try shop.value(forKey: "items", as: [ManagedObject].self) == [item])
      #expect(try shop.value(forKey: "items", as: NSOrderedSet.self)?.firstObject as? ManagedObject === item)
      #expect(try shop.value(forKey: "items", as: RelationshipSet<ManagedObject>.self)?.count == 1)
      item["itemID"] = 300
      let error = persistError { _ = try item.value(forKey: "itemID", as: Int8.self) }
      #expect(error?.code == .typeMismatch && (error?.message ?? "").contains("300"))
      #expect(persistError { _ = try item.value(forKey: "name", as: Int.self) }?.code == .typeMismatch)
      #expect(persistError { _ = try item.value(forKey: "colour", as: Int.self) }?.code == .unknownProperty)
      try shop.setValue(NSOrderedSet(array: [item]), forKey: "items")
      try item.setValue(NSSet(array: [tag]), forKey: "tags")
      #expect(try shop.names("items") == ["Tea"] && item.names("tags") == ["t"])
    }
  }

  @Test("Lists are imported as lists, including empty ones and those of small numbers")
  func lists() throws {
    try withStack(Self.model) { stack in
      let context = stack.context()
      let shop = try context.importObject("Shop", from: ["items": [NSNumber(value: 1), NSNumber(value: 2)] as [Any]])
      #expect(try shop.related("items").map { $0["itemID"] as? Int } == [1, 2])
      try shop.importValues(from: ["items": [Any]()])
      #expect(try shop.related("items").count == 2)
      try shop.importValues(from: ["items": nil])
      #expect(try shop.related("items").isEmpty)
    }
  }

  @Test("Finding by an attribute creates a missing object, once")
  func findOrCreate() throws {
    try withStack(Self.model) { stack in
      let context = stack.context()
      let first = try context.findFirstOrCreate("Item", byAttribute: "itemID", with: NSNumber(value: 7))
      #expect(first.isInserted && first["itemID"] as? Int == 7)
      #expect(try context.findFirstOrCreate("Item", byAttribute: "itemID", with: 7.0) === first)
      try context.save()
      let other = stack.context(classes: ["Item": Item.self])
      let found = try Item.findFirstOrCreate(byAttribute: "itemID", with: 7, in: other)
      #expect(found.objectID == first.objectID && !other.hasChanges)
      #expect(try other.findFirstOrCreate("Item", byAttribute: "name", with: nil).objectID == first.objectID)
      func code(_ name: String, _ value: Any?) -> PersistenceError.Code? {
        persistError { try other.findFirstOrCreate("Item", byAttribute: name, with: value) }?.code
      }
      #expect(code("itemID", "7") == .typeMismatch && code("shop", nil) == .unknownProperty)
    }
  }

  @Test("A default is converted like a value of its attribute's type")
  func defaults() throws {
    let model = ModelDescription(entities: [
      EntityDescription(
        "A",
        attributes: [
          AttributeDescription("d", .double, default: 1), AttributeDescription("b", .boolean, default: 0),
          AttributeDescription("m", .decimal, default: 0.1), AttributeDescription("u", .uri, default: "x:y"),
        ])
    ])
    try withStack(model) { stack in
      let object = try stack.context().make("A")
      #expect(object["d"] as? Double == 1 && object["b"] as? Bool == false)
      #expect(object["m"] as? Decimal == Decimal(string: "0.1") && object["u"] as? URL == URL(string: "x:y"))
    }
    let wrong = ModelDescription(entities: [
      EntityDescription("A", attributes: [AttributeDescription("n", .int32, default: 1.5)])
    ])
    #expect(persistError { _ = try ManagedObjectModel(wrong) }?.code == .invalidModel)
  }
}

import Foundation
import Testing

@testable import Persist
@testable import PersistModel

@Suite("Sorting")
struct SortTests {
  private static let model = ModelDescription(
    entities: [
      EntityDescription(
        "Item",
        attributes: [
          AttributeDescription("name", .string), AttributeDescription("priority", .int16),
          AttributeDescription("location", .composite, compositeName: "Point"),
          AttributeDescription("note", .string, isTransient: true),
        ],
        relationships: [
          RelationshipDescription("tag", to: "Tag", inverse: "items"),
          RelationshipDescription("parts", toMany: "Item", inverse: "whole"),
          RelationshipDescription("whole", to: "Item", inverse: "parts"),
        ]),
      EntityDescription(
        "Tag", attributes: [AttributeDescription("label", .string)],
        relationships: [RelationshipDescription("items", toMany: "Item", inverse: "tag")]),
    ],
    composites: [
      CompositeDescription("Point", elements: [AttributeDescription("x", .double), AttributeDescription("y", .double)])
    ])

  /// The results in SQL's order, compared with the objects' own order.
  private func check(
    _ descriptors: [FetchSortDescriptor], _ expected: [String], make: (ManagedObjectContext) throws -> Void,
    entity: String = "Item", key: String = "name"
  ) throws {
    try withStack(Self.model) { stack in
      let context = stack.context()
      try make(context)
      let request = FetchRequest(entity, sortedBy: descriptors)
      #expect(try context.fetch(request).map { $0[key] as? String } == expected, "unsaved")
      try context.save()
      #expect(try stack.context().fetch(request).map { $0[key] as? String } == expected, "saved")
      // Some changed, some not: both orders are used.
      let mixed = stack.context()
      for (index, object) in try mixed.fetch(FetchRequest(entity)).enumerated() where index.isMultiple(of: 2) {
        object[key] = object[key]
        object["priority"] = object.entity.property(named: "priority").flatMap { _ in object["priority"] }
      }
      #expect(try mixed.fetch(request).map { $0[key] as? String } == expected, "mixed")
    }
  }

  @Test("By several levels, by a path over a to-one relationship, by an element of a composite, by a count")
  func paths() throws {
    func make(_ context: ManagedObjectContext) throws {
      let (swift, objc) = (try context.make("Tag", ["label": "Swift"]), try context.make("Tag", ["label": "ObjC"]))
      let alpha = try context.make(
        "Item", ["name": "alpha", "priority": 2, "tag": swift, "location": ["x": 3.0, "y": 1.0]])
      try context.make("Item", ["name": "beta", "priority": 7, "tag": objc, "location": ["x": 1.0, "y": 1.0]])
      try context.make("Item", ["name": "gamma", "priority": 7, "tag": swift, "location": ["x": 2.0], "whole": alpha])
      try context.make("Item", ["name": "orphan", "priority": 7])
    }
    try withStack(Self.model) { stack in
      let context = stack.context()
      try make(context)
      func order(_ context: ManagedObjectContext, _ descriptors: [FetchSortDescriptor]) throws -> [String] {
        try names(context.fetch(FetchRequest("Item", sortedBy: descriptors)))
      }
      func checkAll(_ context: ManagedObjectContext) throws {
        #expect(
          try order(context, [.init("priority", isAscending: false), .init("name", isAscending: false)])
            == ["orphan", "gamma", "beta", "alpha"])
        #expect(try order(context, [.init("tag.label"), .init("name")]) == ["orphan", "beta", "alpha", "gamma"])
        #expect(
          try order(context, [.init("tag.label", isAscending: false), .init("name")])
            == ["alpha", "gamma", "beta", "orphan"])
        #expect(try order(context, [.init("location.x")]) == ["orphan", "beta", "gamma", "alpha"])
        #expect(
          try order(context, [.init("parts.@count", isAscending: false), .init("name")])
            == ["alpha", "beta", "gamma", "orphan"])
        #expect(try order(context, [.init("whole.parts.@count"), .init("name", isAscending: false)]).first != "gamma")
        #expect(
          try order(context, [.init("tag.items.@count", isAscending: false), .init("name")])
            == ["alpha", "gamma", "beta", "orphan"])
      }
      try checkAll(context)
      try context.save()
      try checkAll(context)
      let fresh = try stack.reopened().context()
      try checkAll(fresh)
      try fresh.named("Item", "alpha")["priority"] = 2
      try fresh.named("Tag", "Swift", by: "label")["label"] = "Swift"
      try checkAll(fresh)
    }
  }

  @Test("Texts by bytes, case-insensitively, by locale, and in natural order", arguments: [
    (FetchSortDescriptor.Comparison.values, ["B10", "a10", "a9", "b1"]),
    (.caseInsensitive, ["a10", "a9", "b1", "B10"]),
    (.localizedStandard, ["a9", "a10", "b1", "B10"]),
    (.localizedCaseInsensitive, ["a10", "a9", "b1", "B10"]),
  ])
  func comparisons(_ comparison: FetchSortDescriptor.Comparison, _ expected: [String]) throws {
    try check([FetchSortDescriptor("name", comparison: comparison)], expected) { context in
      for name in ["b1", "a10", "B10", "a9"] { try context.make("Item", ["name": name]) }
    }
    try check([FetchSortDescriptor("name", isAscending: false, comparison: comparison)], expected.reversed()) {
      for name in ["b1", "a10", "B10", "a9"] { try $0.make("Item", ["name": name]) }
    }
  }

  private static let values = ModelDescription(entities: [
    EntityDescription(
      "Sample",
      attributes: [
        AttributeDescription("number", .int32), AttributeDescription("value", .decimal),
        AttributeDescription("photo", .binary, allowsExternalStorage: true),
      ])
  ])

  /// Saves values in mixed order, and returns them as a fetch in another context sorts them.
  private func sorted<Value>(_ key: String, _ values: [Value?], isAscending: Bool) throws -> [Value?] {
    var result: [Value?] = []
    try withStack(Self.values) { stack in
      let context = stack.context()
      for value in values { try context.make("Sample", [key: value]) }
      try context.save()
      let request = FetchRequest("Sample", sortedBy: key, isAscending: isAscending)
      let other = stack.context()
      let objects = try other.fetch(request)
      result = objects.map { $0[key] as? Value }
      try #expect(stack.context().fetchObjectIDs(request) == objects.map(\.objectID))
    }
    return result
  }

  @Test("Decimals are sorted by all their digits", arguments: [
    ["12345678901234.58", "12345678901234.56", "12345678901234.57"],
    ["-12345678901234.58", "-12345678901234.56", "-12345678901234.57", "0.1", "-0.1", "0"],
    ["12345678901234567890.1234", "12345678901234567890.1235", "12345678901234567890", "12345678901234567000"],
    ["9007199254740993", "9007199254740992", "9007199254740992.5", "-9007199254740993", "-9007199254740992.5"],
    ["1e30", "1e127", "-1e127", "1e-127", "3e-101", "1.5e100", "99999999999999999999999999999999999999", "100", "20"],
    ["0.3", "0.29999999999999999", "0.30000000000000001", "0.3000000000000000000000000000000001"],
  ])
  func decimals(_ texts: [String]) throws {
    let numbers = texts.compactMap { Decimal(string: $0) }
    let expected: [Decimal?] = [nil] + numbers.sorted()
    #expect(try sorted("value", numbers + [nil], isAscending: true) == expected)
    #expect(try sorted("value", [nil] + numbers, isAscending: false) == expected.reversed())
  }

  @Test("Large values are sorted by their contents, wherever they are stored")
  func largeValues() throws {
    let values = [3, 1, 2, 9, 5].map { Data(repeating: UInt8($0), count: $0.isMultiple(of: 2) ? 10 : 200_000) }
    let expected = values.sorted { $0.lexicographicallyPrecedes($1) }
    #expect(try sorted("photo", values, isAscending: true) == expected)
    #expect(try sorted("photo", values, isAscending: false) == expected.reversed())
  }

  @Test("Large values of related objects are sorted by their contents too", arguments: [true, false])
  func relatedLargeValues(isAscending: Bool) throws {
    let model = ModelDescription(entities: [
      EntityDescription(
        "Person", attributes: [AttributeDescription("photo", .binary, allowsExternalStorage: true)],
        relationships: [RelationshipDescription("pets", toMany: "Pet", inverse: "owner")]),
      EntityDescription(
        "Pet", attributes: [AttributeDescription("name", .string)],
        relationships: [RelationshipDescription("owner", to: "Person", inverse: "pets")]),
    ])
    try withStack(model) { stack in
      let context = stack.context()
      for number in [3, 1, 2, 9, 5] {
        let photo = Data(repeating: UInt8(number), count: number.isMultiple(of: 2) ? 10 : 200_000)
        try context.make("Pet", ["name": "\(number)", "owner": context.make("Person", ["photo": photo])])
      }
      try context.save()
      let other = stack.context()
      let pets = try other.fetch(FetchRequest("Pet", sortedBy: "owner.photo", isAscending: isAscending))
      let expected = ["1", "2", "3", "5", "9"]
      #expect(pets.compactMap { $0["name"] as? String } == (isAscending ? expected : expected.reversed()))
    }
  }

  @Test("A key path whose value can't be sorted is an error", arguments: [
    "height", "note", "tag", "parts", "location", "location.z", "tag.name", "parts.name", "parts.@sum.priority", "",
  ])
  func wrongKeys(_ key: String) throws {
    try withStack(Self.model) { stack in
      let context = stack.context()
      let error = try #require(persistError { _ = try context.fetch(FetchRequest("Item", sortedBy: key)) })
      #expect(error.code == .unknownProperty && error.place.property == key)
    }
  }

  @Test("Sorting takes one statement, also by a path")
  func oneStatement() throws {
    try withStack(Self.model) { stack in
      let context = stack.context()
      for number in 0..<50 {
        let tag = try context.make("Tag", ["label": "t\(number % 7)"])
        try context.make("Item", ["name": "i\(number)", "tag": tag])
      }
      try context.save()
      let calls = stack.store.calls
      let request = FetchRequest("Item", sortedBy: [.init("tag.label"), .init("name")], limit: 10)
      #expect(try stack.context().fetch(request).count == 10)
      #expect(stack.store.calls == calls + 1)
    }
  }
}

import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

/// Takes a value of each type through every place that has its own form of it.
@Suite("Attribute types")
struct AttributeTypeTests {
  /// The types that a store can contain, by themselves.
  private static let stored = AttributeType.allCases.filter { value(of: $0) != nil }

  /// A value that no default could be mistaken for; nil for types that no column contains.
  private static func value(of type: AttributeType) -> StoredValue? {
    switch type {
    case .int16: .integer(-12_321)
    case .int32: .integer(-1_234_321)
    case .int64: .integer(-12_345_678_987_654_321)
    case .decimal: .decimal(Decimal(string: "-1234567890123456789.0123456789") ?? 0)
    case .double: .double(0.1)
    case .float: .double(Double(Float(0.1)))
    case .string: .string("it's \"Emma\" \\ 100 % é\u{301}")
    case .boolean: .boolean(true)
    case .date: .date(Date(timeIntervalSinceReferenceDate: 784_758_480.125))
    case .binary, .transformable: .data(Data([0, 1, 2, 255]))
    case .uuid: .uuid(UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 255)))
    case .uri: .uri("https://example.org/a%20b?c=d")
    case .composite, .objectID, .undefined: nil
    }
  }

  private func model(_ type: AttributeType, default value: StoredValue = .null) throws -> ManagedObjectModel {
    var attribute = AttributeDescription("value", type, isOptional: true)
    attribute.defaultValue = value
    return try ManagedObjectModel(ModelDescription(entities: [EntityDescription("Item", attributes: [attribute])]))
  }

  @Test("A value of each type comes back from a store in memory and in a file, by its slot and by its column",
    arguments: stored, [true, false])
  func stores(_ type: AttributeType, isInMemory: Bool) throws {
    let value = try #require(Self.value(of: type))
    #expect(type.holds(value) && type.traits.values == value.valueKind)
    try withTemporaryStore { url in
      let coordinator = PersistentStoreCoordinator(model: try model(type))
      try coordinator.addStore(isInMemory ? StoreLocation.memory : StoreLocation(url))
      let context = ManagedObjectContext(coordinator)
      let object = ManagedObject(entity: "Item", context: context)
      let slot = try #require(object.entity.slot(named: "value"))
      object.setAttributeValue(value, at: slot)
      try context.save()
      let reader = ManagedObjectContext(coordinator)
      let found = try #require(try reader.fetch(FetchRequest<ManagedObject>("Item")).first)
      #expect(found.attributeValue(at: slot) == value)
      // As a literal of the predicate language, and as a constant, which the store compares with the column.
      let predicate = FetchPredicate.compare(.path(of: .current, ["value"]), .equal, .constant(value))
      let printed = try FetchPredicate(predicate.format)
      for predicate in [predicate, printed] {
        var request = FetchRequest<ManagedObject>("Item")
        request.predicate = predicate
        try #expect(reader.count(for: request) == 1, "\(predicate)")
        try #expect(predicate.evaluate(with: .composite(["value": value])), "\(predicate)")
      }
    }
  }

  @Test("Columns exist for every type that stores contain, in files and on servers", arguments: AttributeType.allCases)
  func columns(_ type: AttributeType) {
    let attribute = AttributeDescription("value", type)
    for names in [LayoutNames.coreData, .snakeCase] {
      #expect((names.columnType(of: attribute) == nil) == (Self.value(of: type) == nil), "\(type)")
    }
    #expect((SlotForm(attribute) == .none) == (Self.value(of: type) == nil), "\(type)")
  }

  @Test("A model's JSON contains defaults of every type", arguments: stored)
  func json(_ type: AttributeType) throws {
    let value = try #require(Self.value(of: type))
    let description = try model(type, default: value).description
    let copy = try ModelDescription(json: Data(description.json.utf8))
    #expect(copy.entities[0].attributes[0].defaultValue == value)
  }

  @Test("Compiled models and Xcode's have a number and a name of their own for every type")
  func names() {
    let rows = AttributeType.allCases.map(\.traits)
    #expect(Set(rows.map(\.archiveNumber)).count == rows.count)
    for type in AttributeType.allCases {
      #expect(ModelArchiveReader.attributeType(type.traits.archiveNumber) == type)
      #expect(XMLModelReader.attributeType(type.traits.xcodeName) == type)
    }
  }

  @Test("Every value has words for people, which name no other value", arguments: stored)
  func words(_ type: AttributeType) throws {
    let value = try #require(Self.value(of: type))
    #expect(!value.description.isEmpty && value.description != StoredValue.null.description)
    #expect(AttributeDescription("value", type).problem(with: value) == nil)
    let others = Self.stored.filter { $0.traits.values != type.traits.values }
    for other in others {
      #expect(AttributeDescription("value", other).problem(with: value) != nil, "\(other)")
    }
  }
}

import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("The values of a batch insert's row")
struct BatchRowTests {
  private static let types: [(name: String, type: AttributeType)] = [
    ("binary", .binary), ("boolean", .boolean), ("date", .date), ("decimal", .decimal), ("double", .double),
    ("float", .float), ("int16", .int16), ("int32", .int32), ("int64", .int64), ("string", .string), ("uri", .uri),
    ("uuid", .uuid),
  ]

  /// Every type of attribute, once without a default and once with one.
  private static func model(_ random: inout SeededGenerator) -> ModelDescription {
    var attributes = types.map { AttributeDescription($0.name, $0.type) }
    for (name, type) in types where type != .decimal {
      var attribute = AttributeDescription(name + "Default", type)
      attribute.defaultValue = value(of: type, &random)
      attributes.append(attribute)
    }
    var file = AttributeDescription("file", .binary)
    file.allowsExternalStorage = true
    attributes.append(file)
    return ModelDescription(entities: [
      EntityDescription(
        "Thing", attributes: attributes, relationships: [.init("owner", to: "Owner", inverse: "things")]),
      EntityDescription("Owner", relationships: [.init("things", toMany: "Thing", inverse: "owner")]),
    ])
  }

  private static func value(of type: AttributeType, _ random: inout SeededGenerator) -> StoredValue {
    // Above and below the sizes at which values move out of a row, and its memory grows.
    let size = [0, 1, 7, 15, 16, 300, 5_000, 16_384, 16_385, 40_000].randomElement(using: &random) ?? 0
    switch type {
    case .binary: return .data(Data((0..<size).map { _ in UInt8.random(in: 0...255, using: &random) }))
    case .boolean: return .boolean(.random(using: &random))
    case .date: return .date(Date(timeIntervalSinceReferenceDate: .random(in: -1e9...1e9, using: &random)))
    case .decimal: return .decimal(Decimal(Int.random(in: -1_000_000...1_000_000, using: &random)) / 1000)
    case .double: return .double(.random(in: -1e300...1e300, using: &random))
    case .float: return .double(Double(Float.random(in: -1e30...1e30, using: &random)))
    case .int16: return .integer(.random(in: Int64(Int16.min)...Int64(Int16.max), using: &random))
    case .int32: return .integer(.random(in: Int64(Int32.min)...Int64(Int32.max), using: &random))
    case .int64: return .integer(.random(in: .min ... .max, using: &random))
    case .string, .uri:
      let text = String((0..<size).map { _ in ["a", "ß", "日", "\u{1F600}"].randomElement(using: &random) ?? "a" })
      return type == .string ? .string(text) : .uri("https://example.org/\(size)/\(text.utf8.count)")
    default:
      let digits = String(format: "%012llx", UInt64.random(in: 0..<1 << 48, using: &random))
      return UUID(uuidString: "6BA7B810-9DAD-11D1-80B4-\(digits)").map(StoredValue.uuid) ?? .null
    }
  }

  @Test("Whatever is set, again or not at all, is stored as by an object", arguments: 1...(TestLength.isLong ? 200 : 8))
  func values(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    try withStack(Self.model(&random)) { stack in
      let context = stack.context()
      let owners = try (0..<3).map { _ in try context.make("Owner") }
      try context.save()
      let entity = try context.entity(named: "Thing")
      // Each row sets some properties, some of them several times.
      var rows: [[(slot: Int, value: StoredValue)]] = []
      for _ in 0..<40 {
        var row: [(slot: Int, value: StoredValue)] = []
        for _ in 0..<Int.random(in: 0...20, using: &random) {
          guard let property = entity.properties.randomElement(using: &random) else { continue }
          let value: StoredValue =
            if Int.random(in: 0..<6, using: &random) == 0 {
              .null
            } else if let attribute = property.attribute {
              Self.value(of: attribute.type, &random)
            } else {
              owners.randomElement(using: &random).map { .objectID($0.objectID) } ?? .null
            }
          row.append((property.slot, value))
        }
        rows.append(row)
        let object = try context.make("Thing")
        for (slot, value) in row {
          if entity.properties[slot].attribute != nil {
            object.setAttributeValue(value, at: slot)
          } else if case .objectID(let id) = value {
            object.setToOne(context.object(with: id), at: slot)
          } else {
            object.setToOne(nil, at: slot)
          }
        }
      }
      try context.save()
      var next = rows.makeIterator()
      try context.execute(
        BatchInsertRequest("Thing") { row in
          guard let values = next.next() else { return false }
          for (slot, value) in values {
            row[slot: slot] = value
            #expect(row[slot: slot] == value)
          }
          return true
        })
      let fetched = try stack.reopened().context().fetch(FetchRequest("Thing"))
      let things = fetched.sorted { $0.objectID.primaryKey ?? 0 < $1.objectID.primaryKey ?? 0 }
      let (saved, inserted) = (things.prefix(rows.count), things.dropFirst(rows.count))
      #expect(inserted.count == rows.count)
      for (index, (saved, inserted)) in zip(saved, inserted).enumerated() {
        for property in entity.properties {
          #expect(
            saved.attributeValue(at: property.slot) == inserted.attributeValue(at: property.slot),
            "row \(index), \(property.name)")
        }
      }
    }
  }

  @Test("A copy of a row keeps its values while the row is changed, and the next row begins with the defaults")
  func copies() throws {
    let model = ModelDescription(entities: [
      EntityDescription(
        "Item", attributes: [.init("name", .string), .init("price", .decimal), .init("count", .int32, default: .integer(7))])
    ])
    try withStack(model) { stack in
      var row = try BatchInsertRow(stack.context().entity(named: "Item"))
      row["name"] = .string("Tea")
      row["price"] = .decimal(2)
      let copy = row
      row["name"] = .string(String(repeating: "Coffee", count: 1_000))
      row["price"] = .null
      row["count"] = .integer(8)
      #expect(copy["name"] == .string("Tea") && copy["price"] == .decimal(2) && copy["count"] == .integer(7))
      row.begin()
      #expect(row["name"] == .null && row["price"] == .null && row["count"] == .integer(7))
      #expect(copy["name"] == .string("Tea") && copy.given.sorted.count == 2)
    }
  }

  @Test("The slots that a row was given are those that were set, below and above 64")
  func givenSlots() {
    var given = GivenSlots()
    for slot in [63, 0, 200, 64, 5, 64, 0] { given.insert(slot) }
    #expect(given.sorted == [0, 5, 63, 64, 200])
    #expect((0..<300).filter(given.contains) == given.sorted && given != GivenSlots())
  }
}

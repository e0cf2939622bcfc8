import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Values that columns can't hold")
struct ColumnValueTests {
  private static func model(optional: Bool) -> ModelDescription {
    let types: [(String, AttributeType)] = [
      ("double", .double), ("float", .float), ("decimal", .decimal), ("date", .date), ("int16", .int16),
      ("int32", .int32), ("string", .string), ("uuid", .uuid), ("boolean", .boolean),
    ]
    return ModelDescription(
      entities: [
        EntityDescription(
          "Reading",
          attributes: types.map { AttributeDescription($0.0, $0.1, isOptional: optional, default: good[$0.0] ?? .null) }
            + [AttributeDescription("place", .composite, compositeName: "Place")])
      ],
      composites: [CompositeDescription("Place", elements: [AttributeDescription("x", .double)])])
  }

  private static let good: [String: StoredValue] = [
    "double": .double(1), "float": .double(1), "decimal": .decimal(1), "date": .date(Date()), "int16": .integer(1),
    "int32": .integer(1), "string": "a", "uuid": .uuid(UUID()), "boolean": true,
  ]

  private static let bad: [(key: String, value: StoredValue, code: PersistenceError.Code)] = [
    ("double", .double(.nan), .validationRule), ("double", .double(-.nan), .validationRule),
    ("double", .double(.signalingNaN), .validationRule), ("float", .double(.nan), .validationRule),
    ("decimal", .decimal(.nan), .validationRule),
    ("date", .date(Date(timeIntervalSinceReferenceDate: .nan)), .validationRule),
    ("int16", .integer(32768), .validationNumberTooLarge), ("int16", .integer(-32769), .validationNumberTooSmall),
    ("int32", .integer(1 << 31), .validationNumberTooLarge), ("int32", .integer(.min), .validationNumberTooSmall),
    ("string", .integer(1), .validationRule), ("uuid", .string("a"), .validationRule),
    ("boolean", .integer(2), .validationRule), ("int32", .string("1"), .validationRule),
    ("place", .composite(["x": .double(.nan)]), .validationRule),
  ]

  @Test(
    "Validation rejects them in required and optional attributes of new and saved objects",
    arguments: [true, false])
  func validation(optional: Bool) throws {
    try withStack(Self.model(optional: optional)) { stack in
      let context = stack.context()
      let reading = try context.make("Reading")
      for isSaved in [false, true] {
        for (key, value, code) in Self.bad {
          let slot = try #require(reading.entity.property(named: key)).slot
          let before = reading.attributeValue(at: slot)
          reading.setAttributeValue(value, at: slot)
          let error = try #require(persistError { try context.save() }, "\(key) \(value.description)")
          #expect(error.code == code && error.place.property == key, "\(key) \(value.description): \(error)")
          #expect(error.validationFailure?.key == key && error.validationFailure?.value == value)
          #expect(persistError { try reading.validateValue(value, forKey: key) } != nil)
          reading.setAttributeValue(before, at: slot)
        }
        if !isSaved { try context.save() }
      }
      let again = try #require(try stack.reopened().context().fetch(FetchRequest("Reading")).first)
      #expect(again["double"] as? Double == 1 && again["int16"] as? Int == 1)
    }
  }

  @Test("Without validation, and in batches, the store rejects NaN: it doesn't become null")
  func store() throws {
    try withStack(Self.model(optional: true)) { stack in
      let context = stack.context()
      context.validatesOnSave = false
      let reading = try context.make("Reading")
      for (key, value, _) in Self.bad where key != "int16" && key != "int32" {
        let slot = try #require(reading.entity.property(named: key)).slot
        let before = reading.attributeValue(at: slot)
        reading.setAttributeValue(value, at: slot)
        #expect(persistError { try context.save() }?.code == .typeMismatch, "\(key) \(value.description)")
        reading.setAttributeValue(before, at: slot)
      }
      try context.save()
      for value in [StoredValue.double(.nan)] {
        #expect(throws: PersistenceError.self) {
          try context.execute(BatchInsertRequest("Reading", [["double": value]]))
        }
        #expect(throws: PersistenceError.self) {
          try context.execute(BatchUpdateRequest("Reading", set: ["double": .constant(value)]))
        }
      }
      let again = try stack.reopened().context().fetch(FetchRequest<ManagedObject>("Reading"))
      #expect(again.map { $0["double"] as? Double } == [1])
    }
  }

  @Test("Infinities, subnormal numbers and the greatest numbers are read back bit for bit; a zero has no sign")
  func bits() throws {
    try withStack(Self.model(optional: true)) { stack in
      let context = stack.context()
      var doubles: [Double] = [
        .infinity, -.infinity, .greatestFiniteMagnitude, -.greatestFiniteMagnitude, .leastNonzeroMagnitude,
        .leastNormalMagnitude, 0x1p53, 0x1p53 + 2, -0x1p53, 0x1p63, -0x1p63, 0.1, 1 / 3, .pi,
      ]
      var generator = SystemRandomNumberGenerator()
      while doubles.count < 300 {
        let double = Double(bitPattern: generator.next())
        if !double.isNaN, double != 0 { doubles.append(double) }
      }
      for (index, double) in doubles.enumerated() { try context.make("Reading", ["double": double, "int32": index]) }
      let zero = try context.make("Reading", ["double": -0.0, "int32": -1])
      try context.save()
      #expect((zero["double"] as? Double)?.sign == .plus)
      let again = try stack.reopened().context().fetch(FetchRequest<ManagedObject>("Reading", sortedBy: "int32"))
      #expect((again[0]["double"] as? Double)?.sign == .plus)
      #expect(again.dropFirst().map { ($0["double"] as? Double)?.bitPattern } == doubles.map(\.bitPattern))
    }
  }
}

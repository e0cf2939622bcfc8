import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

/// One table of conversions serves every API.
@Suite("Laws of conversions")
struct ConversionLawTests {
  private static let types: [AttributeType] = [
    .int16, .int32, .int64, .double, .float, .decimal, .string, .boolean, .date, .binary, .uuid, .uri,
  ]

  private static let model = ModelDescription(
    entities: [
      EntityDescription(
        "Sample",
        attributes: types.map { AttributeDescription($0.rawValue, $0) }
          + [AttributeDescription("parts", .composite, compositeName: "Parts"), AttributeDescription("number", .int64)])
    ],
    composites: [CompositeDescription("Parts", elements: types.map { AttributeDescription($0.rawValue, $0) })])

  /// The result of an API for a value: the stored one, or the error's code.
  private enum Outcome: Equatable, CustomStringConvertible {
    case stored(StoredValue)
    case refused(PersistenceError.Code?)

    init(_ body: () throws -> StoredValue) {
      do { self = .stored(try body()) } catch { self = .refused((error as? PersistenceError)?.code) }
    }

    var description: String {
      switch self {
      case .stored(let value): value.description
      case .refused(let code): "refused: \(code.map { "\($0)" } ?? "?")"
      }
    }
  }

  private static func words(_ value: Any) -> String {
    (GivenValue(value)?.description ?? "something") + " (\(Swift.type(of: value)))"
  }

  @Test("Every value has the same result, or the same error, through every API")
  func doors() throws {
    try withStack(Self.model) { stack in
      let context = stack.context()
      let object = try context.make("Sample")
      let entity = object.entity
      for type in Self.types {
        let key = type.rawValue
        let slot = try #require(entity.property(named: key)).slot
        func read() -> StoredValue { object.attributeValue(at: slot) }
        for value in GivenSamples.all {
          let words = "\(Self.words(value)) for \(key)"
          object.setAttributeValue(.null, at: slot)
          let outcome = Outcome { try object.setValue(value, forKey: key); return read() }
          if case .refused(let code) = outcome {
            #expect(code == .typeMismatch, "\(words)")
            #expect(read() == .null, "\(words)")
          }
          object.setAttributeValue(.null, at: slot)
          if case .stored = outcome {
            object[key] = value
            #expect(.stored(read()) == outcome, "subscript: \(words)")
          }
          let primitive = Outcome { try object.setPrimitiveValue(value, forKey: key); return read() }
          #expect(primitive == outcome, "primitive: \(words): \(primitive), not \(outcome)")
          object.setAttributeValue(.null, at: slot)
          let byPath = Outcome { try object.setValue(value, forKeyPath: key); return read() }
          #expect(byPath == outcome, "by path: \(words): \(byPath), not \(outcome)")
          let inBatch = Outcome {
            var row = BatchInsertRow(entity)
            try row.set([key: value])
            return row[key]
          }
          #expect(inBatch == outcome, "batch insert: \(words): \(inBatch), not \(outcome)")
          let inParts = Outcome {
            try object.setValue([key: value], forKey: "parts")
            let place = try #require(entity.property(named: "parts")).slot
            guard case .composite(let parts) = object.attributeValue(at: place) else { return .null }
            return parts[key] ?? .null
          }
          #expect(inParts == outcome, "composite: \(words): \(inParts), not \(outcome)")
          let checked = persistError { try object.validateValue(value, forKey: key) }
          let (isRefusedByCheck, isRefused) = (checked?.code == .typeMismatch, outcome == .refused(.typeMismatch))
          #expect(isRefusedByCheck == isRefused, "validateValue: \(words)")
          // Imports also read texts; all of them accept any value that a program may pass.
          if case .stored(let stored) = outcome {
            object.setAttributeValue(.null, at: slot)
            let imported = Outcome { try object.importValues(from: [key: value]); return read() }
            #expect(imported == .stored(stored), "import: \(words): \(imported), not \(outcome)")
          }
          if case .value(let stored)? = GivenValue(value) {
            let asDefault = Outcome {
              let description = ModelDescription(entities: [
                EntityDescription("A", attributes: [AttributeDescription("a", type, default: stored)])
              ])
              let attribute = try ManagedObjectModel(description).entitiesByName["A"]?.property(named: "a")?.attribute
              return try #require(attribute).defaultValue
            }
            if case .stored = outcome {
              #expect(asDefault == outcome, "default: \(words): \(asDefault), not \(outcome)")
            } else if type != .float {
              #expect(asDefault == .refused(.invalidModel), "default: \(words)")
            }
          }
        }
      }
    }
  }

  @Test("Batch updates and rows filled by slot accept and reject the same values as objects")
  func batches() throws {
    try withStack(Self.model) { stack in
      let context = stack.context()
      let object = try context.make("Sample")
      try context.save()
      for type in Self.types {
        let key = type.rawValue
        let slot = try #require(object.entity.property(named: key)).slot
        // A sample for each type: every value is stored several times.
        for (index, value) in GivenSamples.all.enumerated() where index % 5 == slot % 5 {
          guard case .value(let given)? = GivenValue(value) else { continue }
          let words = "\(Self.words(value)) for \(key)"
          let outcome = Outcome { try object.setValue(given, forKey: key); return object.attributeValue(at: slot) }
          context.refresh(object, mergeChanges: false)
          var isHeld = true
          if case .stored(let stored) = outcome {
            isHeld = persistError { try object.validateValue(stored, forKey: key) } == nil
          }
          let updated = Outcome {
            try context.execute(BatchUpdateRequest("Sample", set: [key: .constant(given)]))
            context.refresh(object, mergeChanges: false)
            return object.attributeValue(at: slot)
          }
          if case .stored = outcome, isHeld {
            #expect(updated == outcome, "\(words): \(updated), not \(outcome)")
          } else if case .stored = updated {
            Issue.record("\(words): \(updated), not \(outcome)")
          }
          var isFirst = true
          let inserted = Outcome {
            let request = BatchInsertRequest("Sample") { row in
              guard isFirst else { return false }
              isFirst = false
              row[slot: slot] = given
              return true
            }
            try context.execute(request)
            let rows = try context.fetch(FetchRequest<ManagedObject>("Sample")).filter { $0 !== object }
            let found = try #require(rows.first).attributeValue(at: slot)
            try context.execute(BatchDeleteRequest("Sample", objectIDs: rows.map(\.objectID)))
            for row in rows { context.refresh(row, mergeChanges: false) }
            return found
          }
          if case .stored = outcome, isHeld {
            #expect(inserted == outcome, "\(words): \(inserted), not \(outcome)")
          } else if case .stored = inserted {
            Issue.record("batch insert: \(words): \(inserted), not \(outcome)")
          }
        }
      }
    }
  }

  @Test("Accepted values are read back bit for bit from the store, and no whole number has lost a digit")
  func roundTrip() throws {
    try withStack(Self.model) { stack in
      let context = stack.context()
      var expected: [StoredValue] = []
      var keys: [String] = []
      for type in Self.types {
        for value in GivenSamples.all {
          let object = try context.make("Sample", ["number": expected.count])
          let slot = try #require(object.entity.property(named: type.rawValue)).slot
          guard persistError({ try object.importValues(from: [type.rawValue: value]) }) == nil,
            persistError({ try object.validateForInsert() }) == nil
          else {
            context.delete(object)
            continue
          }
          let stored = object.attributeValue(at: slot)
          expectNoDigitLost(value, stored, type)
          expected.append(stored)
          keys.append(type.rawValue)
        }
      }
      try context.save()
      #expect(expected.count > 1000)
      let fresh = try stack.reopened().context()
      let objects = try fresh.fetch(FetchRequest<ManagedObject>("Sample", sortedBy: "number"))
      try #require(objects.count == expected.count)
      for (object, (stored, key)) in zip(objects, zip(expected, keys)) {
        let found = object.attributeValue(at: try #require(object.entity.property(named: key)).slot)
        #expect(found == stored, "\(key): \(found.description), not \(stored.description)")
        if case .double(let one) = found, case .double(let other) = stored, one != 0 {
          #expect(one.bitPattern == other.bitPattern)
        }
      }
      withExtendedLifetime(fresh) {}
    }
  }

  private func expectNoDigitLost(_ value: Any, _ stored: StoredValue, _ type: AttributeType) {
    guard [.int16, .int32, .int64, .double, .float, .decimal].contains(type), let given = GivenValue(value),
      let said = DecimalText(given.description.trimmingCharacters(in: ["'", " "])), said.isWhole
    else { return }
    var exact: DecimalText?
    switch stored {
    case .integer(let number):
      // A double is its own value; its shortest text is rounded.
      if case .value(.double(let double)) = given, Int64(exactly: double) == number { return }
      exact = DecimalText("\(number)")
    case .decimal(let number): exact = DecimalText(number.description)
    case .double(let number):
      // Its own digits, or those of its shortest text in the given type's precision.
      let texts = [String(format: "%.0f", number), number.description, Float(number).description]
      exact = texts.compactMap { DecimalText($0) }.first { $0 == said }
    default: break
    }
    #expect(exact == said, "\(Self.words(value)) became \(stored.description) as \(type.rawValue)")
  }

  @Test("JSON, dictionaries of JSONSerialization and quoted numbers are imported alike")
  func json() throws {
    try withStack(Self.model) { stack in
      let context = stack.context()
      for type in [AttributeType.int16, .int32, .int64, .double, .float, .decimal, .boolean] {
        let key = type.rawValue
        let slot = try #require(try context.entity(named: "Sample").property(named: key)).slot
        for number in GivenSamples.jsonNumbers {
          let plain = Data("[{\"\(key)\": \(number)}]".utf8)
          let quoted = Data("[{\"\(key)\": \"\(number)\"}]".utf8)
          func imported(_ data: Data) -> Outcome {
            Outcome { try #require(try context.importObjects("Sample", fromJSON: data).first).attributeValue(at: slot) }
          }
          let outcome = imported(plain)
          let dictionaries = Outcome {
            let list = try #require(try JSONSerialization.jsonObject(with: plain) as? [[String: Any]])
            return try #require(try context.importObjects("Sample", from: list).first).attributeValue(at: slot)
          }
          // Foundation itself rounds some numbers before they can be read.
          let list = try JSONSerialization.jsonObject(with: plain) as? [[String: NSNumber]]
          if DecimalText("\(list?.first?[key] ?? 0)") == DecimalText(number) {
            #expect(outcome == dictionaries, "\(number) for \(key): \(outcome), by JSONSerialization \(dictionaries)")
          }
          let read = imported(quoted)
          #expect(read == outcome, "'\(number)' for \(key): \(read), not \(outcome)")
        }
      }
    }
  }
}

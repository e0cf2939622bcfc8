import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Values")
struct ValueTests {
  @Test("Values of every type are read back unchanged, after closing and reopening")
  func everyType() throws {
    try withStack(SampleModels.types) { stack in
      let context = stack.context()
      let uuid = UUID()
      // A server refuses U+0000.
      let text = TestEngine.current == .sqlite ? "Grüße 🍵\u{0}x" : "Grüße 🍵x"
      let decimal = try #require(Decimal(string: "12345678901234567890.123456789"))
      let url = try #require(URL(string: "https://example.org/a?b=c#d"))
      let values: KeyValuePairs<String, Any?> = [
        "int16": Int16.min, "int32": Int32.max, "int64": Int64.min, "decimal": decimal, "double": 0.1,
        "float": Float(0.1), "string": text, "boolean": true,
        "date": Date(timeIntervalSinceReferenceDate: 445_103_622.25), "binary": Data([0, 1, 255]),
        "external": Data(repeating: 7, count: 300), "uuid": uuid, "uri": url, "transformable": [1, 2, 3] as [UInt8],
        "location": ["x": 34.51446212994721, "y": -1.0], "memory": "kept in memory",
      ]
      let made = try context.make("Sample", values)
      func check(_ sample: ManagedObject) {
        #expect(sample["int16"] as? Int == -32768 && sample["int32"] as? Int == 2_147_483_647)
        #expect(sample["int64"] as? Int == .min && sample["decimal"] as? Decimal == decimal)
        #expect(sample["double"] as? Double == 0.1 && sample["float"] as? Double == Double(Float(0.1)))
        #expect(sample["string"] as? String == text && sample["boolean"] as? Bool == true)
        #expect((sample["date"] as? Date)?.timeIntervalSinceReferenceDate == 445_103_622.25)
        #expect(sample["binary"] as? Data == Data([0, 1, 255]))
        #expect(sample["external"] as? Data == Data(repeating: 7, count: 300))
        #expect(sample["uuid"] as? UUID == uuid && sample["uri"] as? URL == url)
        #expect(sample["transformable"] as? Data == Data([1, 2, 3]))
        let location = sample["location"] as? [String: Any]
        #expect(location?["x"] as? Double == 34.51446212994721 && location?["y"] as? Double == -1)
      }
      check(made)
      try context.save()
      check(made)
      #expect(made["memory"] as? String == "kept in memory")
      let fresh = try stack.reopened().context()
      let again = try #require(try fresh.fetch(FetchRequest("Sample")).first)
      check(again)
      #expect(again["memory"] == nil)
    }
  }

  @Test("Nil is stored as null, for every type")
  func nothing() throws {
    try withStack(SampleModels.types) { stack in
      let context = stack.context()
      let made = try context.make("Sample")
      try context.save()
      let fresh = try stack.reopened().context()
      let again = try #require(try fresh.fetch(FetchRequest("Sample")).first)
      for property in made.entity.properties {
        #expect(made[property.name] == nil && again[property.name] == nil, "\(property.name)")
      }
    }
  }

  @Test("Changing some values keeps the others, in the object and in the store")
  func partialChange() throws {
    try withStack(SampleModels.types) { stack in
      let context = stack.context()
      let made = try context.make(
        "Sample", ["string": "a", "int16": 1, "uuid": UUID(), "location": ["x": 1.0], "decimal": Decimal(7)])
      let uuid = made["uuid"] as? UUID
      try context.save()
      made["string"] = "b"
      made["int16"] = nil
      try context.save()
      let fresh = try stack.reopened().context()
      for object in [made, try #require(try fresh.fetch(FetchRequest("Sample")).first)] {
        #expect(object["string"] as? String == "b" && object["int16"] == nil && object["uuid"] as? UUID == uuid)
        #expect((object["location"] as? [String: Any])?["x"] as? Double == 1 && object["decimal"] as? Decimal == 7)
      }
    }
  }

  @Test("A wrong name or type is an error that says what is allowed")
  func refusals() throws {
    try withStack(SampleModels.types) { stack in
      let sample = try stack.context().make("Sample")
      #expect(persistError { _ = try sample.value(forKey: "colour") }?.code == .unknownProperty)
      #expect(persistError { try sample.setValue(1, forKey: "colour") }?.fix?.contains("boolean") == true)
      let wrong: [(String, Any)] = [
        ("int16", 40_000), ("int16", "1"), ("int64", 1.5), ("boolean", 2), ("string", 1), ("decimal", "1.5"),
        ("date", 1.0), ("uuid", "x"), ("binary", "x"), ("location", 1), ("location", ["z": 1.0]),
        ("uri", 5), ("double", "1"), ("string", StoredValue.integer(1)),
      ]
      for (name, value) in wrong {
        let code = persistError { try sample.setValue(value, forKey: name) }?.code
        #expect(code == .typeMismatch || code == .unknownProperty, "\(name) took \(value)")
        #expect(sample[name] == nil)
      }
      try sample.setValue(Optional<Int>.none as Any, forKey: "int16")
      try sample.setValue(3 as UInt8, forKey: "double")
      #expect(sample["double"] as? Double == 3)
    }
  }

  @Test("A change of only a transient attribute changes the object, but there is nothing to write")
  func transient() throws {
    try withStack(SampleModels.pets) { stack in
      let context = stack.context()
      let ann = try context.make("Person", ["name": "Ann"])
      try context.save()
      ann["displayName"] = "Ann B."
      #expect(ann.hasChanges && ann.isUpdated && !ann.hasPersistentChangedValues)
      let commits = stack.store.commits.count
      try context.save()
      #expect(stack.store.commits.count == commits && ann["displayName"] as? String == "Ann B." && !ann.hasChanges)
    }
  }

  @Test("Setting a property to its current value writes nothing")
  func equalValue() throws {
    try withStack(SampleModels.people) { stack in
      let context = stack.context()
      let ann = try context.make("Person", ["name": "Ann", "salary": 1])
      try context.save()
      ann["name"] = "Bea"
      ann["name"] = "Ann"
      ann["salary"] = 2
      #expect(ann.changedPropertyNames == ["salary"])
      try context.save()
      #expect(stack.store.commits.last?.updates.first?.slots.count == 1)
    }
  }
}

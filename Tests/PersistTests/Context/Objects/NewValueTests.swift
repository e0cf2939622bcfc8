import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Values of new objects")
struct NewValueTests {
  @Test(
    "Whatever is set on new objects, in whatever order, is what they show and what the store has afterward",
    .law("new-values", short: 60, long: 20_000))
  func values() throws {
    let steps = LawSteps.count(short: 120, long: 400)
    forEachSeed { seed in
      try withStack(NewValueLaw.description) { stack in
        var law = try NewValueLaw(seed: seed, stack)
        try law.run(steps: steps)
      }
    }
  }

  @Test("Values that a column can't hold are refused by validation, and shown until others replace them")
  func misfits() throws {
    try withStack(NewValueLaw.description) { stack in
      let context = stack.context()
      let item = try context.create("Item")
      let misfits: [(String, StoredValue, StoredValue)] = [
        ("int16", .integer(70_000), .integer(7)), ("double", .double(.nan), .double(7)),
        ("string", .integer(7), .string("seven")), ("uuid", .string("no UUID"), .null),
        ("date", .date(Date(timeIntervalSinceReferenceDate: .nan)), .null), ("data", .boolean(true), .data(Data([7]))),
      ]
      for (name, misfit, fit) in misfits {
        let slot = try #require(item.entity.property(named: name)).slot
        item.setAttributeValue(misfit, at: slot)
        #expect(persistError { try context.save() }?.validationFailure?.key == name)
        item.setAttributeValue(fit, at: slot)
        #expect(item.attributeValue(at: slot) == fit)
      }
      try context.save()
      let again = try stack.reopened().context().existingObject(with: item.objectID)
      for (name, _, fit) in misfits {
        #expect(try again.attributeValue(at: #require(item.entity.property(named: name)).slot) == fit, "\(name)")
      }
    }
  }

  @Test("Setting a text again and again on a new object takes no more and more memory", .withoutSanitizer)
  func repeatedTexts() throws {
    try withStack(NewValueLaw.description) { stack in
      let context = stack.context()
      let item = try context.create("Item")
      let before = ResidentMemory.bytes ?? 0
      for number in 0..<200_000 { item["string"] = "a text of some length for number \(number)" }
      #expect((ResidentMemory.bytes ?? 0) - before < 8 << 20)
      #expect(item["string"] as? String == "a text of some length for number 199999")
    }
  }

  @Test("New objects share the memory of their values, before and after the save")
  func chunks() throws {
    try withStack(SampleModels.people) { stack in
      let context = stack.context()
      let people = try (0..<1000).map { number in try context.make("Person", ["name": "Person \(number)"]) }
      let drafts = people.compactMap(\.row)
      try #require(drafts.count == people.count)
      try context.save()
      let chunks = Set(people.compactMap(\.snapshot).map { ObjectIdentifier($0.chunk) })
      #expect(chunks == Set(drafts.map { ObjectIdentifier($0.chunk) }))
      #expect(chunks.count < 20)
    }
  }
}

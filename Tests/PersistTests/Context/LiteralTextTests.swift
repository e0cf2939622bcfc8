import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistModel

/// Swift's `==` considers texts equal that differ only in their normal form. In Persist they are always different
/// values.
@Suite("Texts are compared by their code units")
struct LiteralTextTests {
  private static let composed = "caf\u{e9}"
  private static let decomposed = "cafe\u{301}"

  private static let model = ModelDescription(
    entities: [
      EntityDescription(
        "File",
        attributes: [
          AttributeDescription("name", .string), AttributeDescription("link", .uri),
          AttributeDescription("author", .composite, compositeName: "Person"),
        ])
    ],
    composites: [CompositeDescription("Person", elements: [AttributeDescription("first", .string)])])

  private func units(_ object: ManagedObject, _ key: String = "name") -> Int? {
    (object[key] as? String)?.utf16.count
  }

  @Test("A text replaced by its other normal form is a change, and is saved")
  func save() throws {
    try withStack(Self.model) { stack in
      let context = stack.context()
      let file = try context.make(
        "File",
        ["name": Self.decomposed, "link": "x:\(Self.decomposed)", "author": ["first": Self.decomposed]])
      try context.save()
      file["name"] = Self.composed
      file["link"] = StoredValue.uri("x:\(Self.composed)")
      file["author"] = ["first": Self.composed]
      #expect(Set(file.changedPropertyNames) == ["name", "link", "author"] && file.hasPersistentChangedValues)
      try context.save()
      let again = try #require(try stack.reopened().context().fetch(FetchRequest("File")).first)
      #expect(units(again) == 4)
      #expect(again.attributeValue(at: try #require(again.entity.property(named: "link")).slot).hasUnits(6))
      #expect((again["author"] as? [String: Any])?["first"].map { ($0 as? String)?.utf16.count } == 4)
    }
  }

  @Test("Undo restores the other normal form, and redo the new one")
  func undo() throws {
    try withStack(Self.model) { stack in
      let context = stack.context()
      context.undoManager = ManagedObjectContext.UndoManager()
      let file = try context.make("File", ["name": Self.composed])
      try context.save()
      context.undoManager?.removeAllActions()
      file["name"] = Self.decomposed
      context.processPendingChanges()
      #expect(context.undoManager?.canUndo == true)
      context.undo()
      #expect(units(file) == 4)
      context.redo()
      #expect(units(file) == 5)
    }
  }

  @Test("Merges and object trump distinguish normal forms")
  func merging() throws {
    try withStack(Self.model) { stack in
      let (mine, others) = (stack.context(), stack.context())
      let file = try mine.make("File", ["name": Self.composed])
      try mine.save()
      let copy = try others.existingObject(with: file.objectID)
      #expect(units(copy) == 4)
      try mine.execute(BatchUpdateRequest("File", set: ["name": .value(Self.decomposed)]))
      others.refresh(copy, mergeChanges: true)
      #expect(units(copy) == 5)
      mine.refresh(file, mergeChanges: false)
      file["name"] = "other"
      try mine.save()
      others.mergePolicy = .mergeByPropertyObjectTrump
      copy["name"] = Self.composed
      try others.save()
      let again = try #require(try stack.reopened().context().fetch(FetchRequest("File")).first)
      #expect(units(again) == 4 && (again["name"] as? String) == Self.composed)
    }
  }

  @Test("Imports with identifying texts of both normal forms create two objects")
  func importing() throws {
    let model = ModelDescription(entities: [
      EntityDescription(
        "Tag", userInfo: ["relatedByAttribute": "name"], attributes: [AttributeDescription("name", .string)],
        uniquenessConstraints: [["name"]])
    ])
    try withStack(model) { stack in
      let context = stack.context()
      for name in [Self.composed, Self.decomposed, Self.composed] {
        try context.importObject("Tag", from: ["name": name])
      }
      try context.save()
      let tags = try stack.reopened().context().fetch(FetchRequest<ManagedObject>("Tag"))
      #expect(Set(tags.map { units($0) }) == [4, 5] && tags.count == 2)
    }
  }

  @Test("As values of dictionaries and sets, texts of both normal forms differ")
  func hashing() {
    let values: [StoredValue] = [.string(Self.composed), .string(Self.decomposed), .uri(Self.composed)]
    #expect(Set(values).count == 3)
    #expect(StoredValue.composite(["a": values[0]]) != .composite(["a": values[1]]))
    #expect(StoredValue.double(.nan) == .double(.nan) && StoredValue.double(0) == .double(-0.0))
    #expect(Set([StoredValue.double(0), .double(-0.0), .double(.nan), .double(-.nan)]).count == 2)
  }

  @Test("Lengths count UTF-16 units, as length in a predicate does")
  func lengths() throws {
    let validation = AttributeValidation(minimumLength: 2, maximumLength: 4)
    let model = ModelDescription(entities: [
      EntityDescription("Word", attributes: [AttributeDescription("text", .string, validation: validation)])
    ])
    try withStack(model) { stack in
      let context = stack.context()
      let word = try context.make("Word")
      let byPredicate = try FetchPredicate("SELF.length >= 2 AND SELF.length <= 4")
      let texts = [
        "", "a", "ab", "🍵", "🍵🍵", "🍵🍵a", "👨‍👩‍👧", "e\u{301}", "cafe\u{301}", "café", "𝄞𝄞", "\r\n", "abcde",
      ]
      for text in texts {
        let isValid = persistError { try word.validateValue(text, forKey: "text") } == nil
        try #expect(isValid == byPredicate.evaluate(with: .string(text)), "\(text)")
      }
    }
  }
}

extension StoredValue {
  fileprivate func hasUnits(_ count: Int) -> Bool {
    if case .uri(let text) = self { text.utf16.count == count } else { false }
  }
}

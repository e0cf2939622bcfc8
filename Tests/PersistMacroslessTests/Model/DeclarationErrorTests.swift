import Foundation
import Persist
import PersistMacrosless
import Testing

private enum Wrong {
  final class Lonely: ManagedObject {
    @Relationship var friend: Lonely?
  }

  final class Stranger: ManagedObject {
    @Relationship(inverse: \Unnamed.stranger) var unnamed: Unnamed?
  }

  final class Unnamed: ManagedObject {
    @Relationship var stranger: Stranger?
  }

  final class Twice: ManagedObject {
    @Attribute var name = ""
    @Attribute("name") var other = ""
  }

  class Parent: ManagedObject {
    @Attribute var name = ""
  }

  final class Child: Parent {
    @Attribute("name") var nickname = ""
  }

  final class WrongType: ManagedObject {
    @Attribute(type: .string) var count = 1
    @Attribute(range: 0...5) var text = ""
  }

  final class Endless: ManagedObject {
    @Attribute(range: 0...Double.infinity) var price: Decimal = 0
  }

  final class WrongDefault: ManagedObject {
    @Attribute(type: .int16) var count = 100_000
  }

  final class NotDeclared: ManagedObject, DescribedEntity {
    static var entityTraits: EntityTraits { EntityTraits(of: NotDeclared.self, unique: [[\.plain]]) }
    @Attribute var name = ""
    var plain = ""
  }

  final class Hidden: ManagedObject, CustomReflectable {
    @Attribute var name = ""
    var customMirror: Mirror { Mirror(self, children: []) }
  }

  final class OneOf: ManagedObject {
    @Relationship(oneWay: true, count: 0...1) var others: RelationshipSet<OneOf>
  }

  struct Odd: CompositeValue {
    var inner = Plain()
  }

  /// `Codable` alone, which doesn't say how to store it.
  struct Plain: Codable {
    var number = 0
  }

  final class OddParts: ManagedObject {
    @Composite var odd = Odd()
  }

  struct Outer: CompositeValue {
    var inner = Odd()
  }

  final class OddNest: ManagedObject {
    @Composite var outer = Outer()
  }

  final class Meaningless: ManagedObject {
    @Attribute(length: 1...5) var count = 1
    @Attribute(pattern: "[a-z]+") var price = 1.5
    @Attribute(externalStorage: true) var text = ""
    @Attribute(rule: "SELF >") var rank = 1
  }

  final class Underived: ManagedObject {
    @Attribute var name = ""
    @Derived("others.@count") var count: Int
    @Derived("length(name)") var length: Int
  }

  final class Shared: ManagedObject {
    @Relationship(inverse: \Sharing.owner) var first: RelationshipSet<Sharing>
    @Relationship(inverse: \Sharing.owner) var second: RelationshipSet<Sharing>
  }

  final class Sharing: ManagedObject {
    @Relationship var owner: Shared?
  }

  enum One { struct Part: CompositeValue { var x = 0 } }
  enum Two { struct Part: CompositeValue { var y = "" } }

  final class SameParts: ManagedObject {
    @Composite var one = One.Part()
    @Composite var two = Two.Part()
  }

  struct Point: CompositeValue {
    var x = 0.0
    var y = 0
  }

  struct Area: CompositeValue {
    var center = Point()
    var name: String?
  }

  final class Region: ManagedObject {
    @Composite var area = Area()
  }
}

@Suite("Wrong declarations")
struct DeclarationErrorTests {
  struct Case: CustomTestStringConvertible, Sendable {
    let classes: [ManagedObject.Type]
    let place: PersistenceError.Place
    let says: String
    let fix: String

    init(_ classes: ManagedObject.Type..., at place: PersistenceError.Place, says: String, fix: String) {
      (self.classes, self.place, self.says, self.fix) = (classes, place, says, fix)
    }

    var testDescription: String { says }
  }

  static let cases: [Case] = [
    Case(
      Wrong.Lonely.self, at: .property("Lonely", "friend"), says: "No relationship leads back",
      fix: "@Relationship(inverse: \\Lonely.…)"),
    Case(
      Wrong.Stranger.self, at: .property("Stranger", "unnamed"), says: "the class Unnamed, which isn't one of the model's",
      fix: "Add Unnamed to the model's classes"),
    Case(Wrong.Twice.self, at: .property("Twice", "name"), says: "named 'name'", fix: "Rename"),
    Case(
      Wrong.Parent.self, Wrong.Child.self, at: .property("Child", "name"), says: "name", fix: "Rename"),
    Case(
      Wrong.WrongType.self, at: .property("WrongType", "count"), says: "type Int can't be an attribute of type string",
      fix: "int16, int32, int64"),
    Case(
      Wrong.WrongType.self, at: .property("WrongType", "text"), says: "can't limit values of type string",
      fix: "a range of its own type"),
    Case(
      Wrong.Endless.self, at: .property("Endless", "price"), says: "can't limit values of type decimal",
      fix: "leave this limit out"),
    Case(
      Wrong.WrongDefault.self, at: .property("WrongDefault", "count"), says: "100000 is out of the range",
      fix: "default"),
    Case(
      Wrong.NotDeclared.self, at: .entity("NotDeclared"), says: "isn't a declared property of NotDeclared",
      fix: "@Attribute"),
    Case(Wrong.Hidden.self, at: .entity("Hidden"), says: "a custom mirror", fix: "CustomReflectable"),
    Case(
      Wrong.OneOf.self, at: .property("OneOf", "others"), says: "a set of at most one object", fix: "Make it a OneOf?"),
    Case(Wrong.OddParts.self, at: .entity("Odd"), says: "can't be found", fix: "StorableValue"),
    Case(Wrong.OddNest.self, at: .entity("Outer"), says: "can't be found", fix: "StorableValue"),
    Case(Wrong.Meaningless.self, at: .property("Meaningless", "count"), says: "has no length", fix: "range"),
    Case(Wrong.Meaningless.self, at: .property("Meaningless", "price"), says: "can't match a pattern", fix: "pattern"),
    Case(
      Wrong.Meaningless.self, at: .property("Meaningless", "text"), says: "can't be stored externally",
      fix: "externalStorage"),
    Case(Wrong.Meaningless.self, at: .property("Meaningless", "rank"), says: "'SELF >' can't be read", fix: "Correct"),
    Case(
      Wrong.Underived.self, at: .property("Underived", "count"), says: "'Underived' stores nothing named 'others'",
      fix: "items.@count"),
    Case(
      Wrong.Underived.self, at: .property("Underived", "length"), says: "can't maintain the derivation",
      fix: "items.@count"),
    Case(
      Wrong.Shared.self, Wrong.Sharing.self, at: .property("Shared", "second"),
      says: "which is the inverse of 'Shared.first' already", fix: "for each of the two"),
    Case(Wrong.SameParts.self, at: .entity("Part"), says: "are one composite type", fix: "Rename"),
  ]

  @Test("A wrong declaration is an error with place and fix when the model is created", arguments: cases)
  func wrong(_ example: Case) throws {
    let error = try #require(throws: PersistenceError.self) { try ManagedObjectModel(classes: example.classes) }
    #expect(error.code == .invalidModel)
    let all = error.errors.isEmpty ? [error] : error.errors
    let found = all.filter { $0.place == example.place && $0.message.contains(example.says) }
    #expect(!found.isEmpty, "\(error)")
    #expect(found.first?.fix?.contains(example.fix) == true, "\(error)")
  }

  @Test("Several wrong declarations are reported together")
  func several() throws {
    let error = try #require(throws: PersistenceError.self) {
      try ManagedObjectModel(Wrong.Lonely.self, Wrong.Twice.self, Wrong.WrongDefault.self)
    }
    #expect(error.errors.count == 3)
  }

  @Test("A configuration with a class that isn't one of the model's is an error")
  func configurations() throws {
    let error = try #require(throws: PersistenceError.self) {
      try ManagedObjectModel(
        Wrong.Parent.self, configurations: ["Local": [Wrong.Parent.self], "Cloud": [Wrong.Endless.self]])
    }
    #expect(error.code == .invalidModel && error.place == .entity("Endless"))
    #expect(error.message.contains("The configuration 'Cloud' contains Endless"))
    #expect(error.fix?.contains("List Endless") == true)
  }

  private func problem(_ area: [AttributeDescription], _ point: [AttributeDescription]) throws -> String? {
    let attribute = AttributeDescription("area", .composite, compositeName: "Area")
    let model = try ManagedObjectModel(
      ModelDescription(
        entities: [EntityDescription("Region", attributes: [attribute])],
        composites: [CompositeDescription("Area", elements: area), CompositeDescription("Point", elements: point)]))
    let member = try #require(ClassDeclaration(Wrong.Region.self).members.first)
    return member.declaration.problem(with: try #require(try model.entity(named: "Region").property(named: "area")))
  }

  @Test("A composite can't be used for a model's with other elements, and the problem names the first one")
  func otherElements() throws {
    let center = AttributeDescription("center", .composite, compositeName: "Point")
    let name = AttributeDescription("name", .string)
    let (x, y) = (AttributeDescription("x", .float), AttributeDescription("y", .int32))
    try #expect(problem([center, name], [x, y]) == nil)
    try #expect(problem([center], [x, y]) == "has no element 'name', which Area has.")
    try #expect(problem([center, name], [x]) == "has no element 'center.y', which Area has.")
    let code = AttributeDescription("code", .string)
    try #expect(problem([center, code, name], [x, y]) == "has an element 'code', which Area lacks.")
    let text = AttributeDescription("y", .string)
    try #expect(problem([center, name], [x, text]) == "has an element 'center.y' of type string, not int64.")
  }

  @Test("A property that the store's model doesn't have stops the program with a message")
  func missingProperty() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let model = try ManagedObjectModel { EntityDescription("Twice") { AttributeDescription("title", .string) } }
      let coordinator = PersistentStoreCoordinator(model: model)
      try coordinator.addInMemoryStore()
      let context = ManagedObjectContext(coordinator, classes: ["Twice": Wrong.Twice.self])
      _ = Wrong.Twice(context: context).name
    }
    #expect(result?.says("Twice declares 'name', and the entity 'Twice' has no property 'name'") == true)
  }
}

import Foundation
import Persist
import PersistMacrosless
import PersistTestSupport
import Testing

private final class Several: ManagedObject {
  @Attribute var first = 1; @Attribute var second = 2
  @Attribute var third = "3"; var plain = 7; @Attribute var fourth: Double?
}

private final class Counter: ManagedObject {
  @Attribute var value = 0
  @Attribute var label = "counter"
}

/// Creates another object while it is being created.
private final class Nested: ManagedObject {
  @Attribute var before = "before"
  let counter = Counter(context: TestSpace.current)
  @Attribute var after = Counter(context: TestSpace.current).label
}

/// The context of the running test, as a program's global context.
private enum TestSpace {
  // Set and used by one test, synchronously.
  nonisolated(unsafe) static var contexts: [ManagedObjectContext] = []
  static var current: ManagedObjectContext {
    if contexts.isEmpty, let context = try? makeContext(Counter.self) { contexts = [context] }
    return contexts[0]
  }
}

private final class Careful: ManagedObject {
  @Attribute var name = "none"
  @Attribute var quantity = 1

  convenience init?(_ name: String, in context: ManagedObjectContext) {
    if name.isEmpty { return nil }
    self.init(context: context)
    self.name = name
  }
}

private class Labelled: ManagedObject {
  @Attribute var name = "none"
  let label: String

  init(_ name: String, in context: ManagedObjectContext) {
    label = "made as \(name)"
    super.init(Origin(inserting: Labelled.self, into: context))
    self.name = name
  }

  /// Returns nil before its superclasses are initialized.
  init?(checking name: String, in context: ManagedObjectContext) {
    guard !name.isEmpty else { return nil }
    label = "checked \(name)"
    super.init(Origin(inserting: Labelled.self, into: context))
    self.name = name
  }

  required init(_ origin: Origin) {
    label = "read"
    super.init(origin)
  }
}

private final class Stamped: ManagedObject {
  @Attribute var number = UUID()
  @Attribute var kind = "constant"
  @Attribute var rank = Stamped.next()
  @Attribute var madeAt = Date()

  // Only one test creates objects of this class.
  nonisolated(unsafe) static var evaluations = 0
  static func next() -> Int {
    evaluations += 1
    return evaluations
  }
}

@Suite("Declared properties")
struct DeclarationTests {
  @Test("Several properties on one line are distinguished")
  func oneLine() throws {
    try withTemporaryStore { store in
      do {
        let context = try makeContext(Several.self, at: store)
        let object = Several(context: context)
        (object.first, object.second, object.third, object.fourth) = (10, 20, "30", 40)
        #expect((object.first, object.second, object.third, object.fourth, object.plain) == (10, 20, "30", 40, 7))
        try context.save()
      }
      let context = try makeContext(Several.self, at: store)
      let object = try #require(try context.fetch(Several.self, FetchRequest("Several")).first)
      #expect((object.first, object.second, object.third, object.fourth) == (10, 20, "30", 40))
    }
  }

  @Test("Properties at the same line and column of two files, in a class and its superclass, are distinguished")
  func sameLine() throws {
    let context = try makeContext(SameLineParent.self, SameLineChild.self)
    let object = SameLineChild(context: context)
    #expect((object.first, object.second, object.third, object.fourth) == (1, "two", "three", 4))
    (object.first, object.second, object.third, object.fourth) = (5, "six", "seven", 8)
    #expect((object.first, object.second, object.third, object.fourth) == (5, "six", "seven", 8))
    #expect(SameLineParent(context: context).second == "two")
  }

  @Test("Defaults and stored properties that create other objects change nothing")
  func nested() throws {
    let context = try makeContext(Nested.self, Counter.self)
    let object = Nested(context: context)
    object.counter.value = 9
    #expect((object.before, object.after) == ("before", "counter"))
    object.before = "b"
    object.after = "a"
    #expect((object.before, object.after, object.counter.value) == ("b", "a", 9))
  }

  @Test("Initializers that return nil early change nothing, before and after those of superclasses")
  func failable() throws {
    let context = try makeContext(Careful.self, Labelled.self)
    for _ in 0..<3 {
      #expect(Careful("", in: context) == nil)
      #expect(Labelled(checking: "", in: context) == nil)
    }
    let careful = try #require(Careful("Tea", in: context))
    careful.quantity = 5
    #expect((careful.name, careful.quantity) == ("Tea", 5))
    #expect(try #require(Labelled(checking: "x", in: context)).name == "x")
    #expect(context.insertedObjects.count == 2)
  }

  @Test("A class has its own designated initializers, and fetched objects use the required one")
  func designated() throws {
    try withTemporaryStore { store in
      do {
        let context = try makeContext(Labelled.self, at: store)
        let object = Labelled("Tea", in: context)
        #expect((object.name, object.label) == ("Tea", "made as Tea"))
        try context.save()
      }
      let context = try makeContext(Labelled.self, at: store)
      let object = try #require(try context.fetch(Labelled.self, FetchRequest("Labelled")).first)
      #expect((object.name, object.label) == ("Tea", "read"))
    }
  }

  @Test("A default is evaluated for each new object and for no fetched one")
  func defaults() throws {
    try withTemporaryStore { store in
      do {
        let context = try makeContext(Stamped.self, at: store)
        let before = Stamped.evaluations
        let objects = (0..<3).map { _ in Stamped(context: context) }
        #expect(Set(objects.map(\.number)).count == 3)
        #expect(objects.map(\.rank) == [before + 1, before + 2, before + 3])
        try context.save()
      }
      let context = try makeContext(Stamped.self, at: store)
      let before = Stamped.evaluations
      #expect(try context.fetch(Stamped.self, FetchRequest("Stamped")).map(\.kind) == ["constant", "constant", "constant"])
      #expect(Stamped.evaluations == before)
    }
  }

  @Test("Only a default that is the same each time is in the model")
  func modelDefaults() throws {
    let entity = try ManagedObjectModel(Stamped.self).entity(named: "Stamped")
    #expect(entity.attribute(named: "kind")?.defaultValue == "constant")
    #expect(entity.attribute(named: "number")?.defaultValue == .null)
    #expect(entity.attribute(named: "madeAt")?.defaultValue == .null)
  }

  @Test("A declared property costs an object no more than eight bytes")
  func size() {
    #expect(MemoryLayout<Attribute<String>>.size <= 8)
    #expect(MemoryLayout<Relationship<RelationshipSet<ManagedObject>>>.size <= 8)
  }

  @Test("Two contexts may have different classes for one entity")
  func twoClasses() throws {
    let coordinator = PersistentStoreCoordinator(model: try ManagedObjectModel(Counter.self))
    try coordinator.addInMemoryStore()
    let first = ManagedObjectContext(coordinator)
    let second = ManagedObjectContext(coordinator, classes: ["Counter": OtherCounter.self])
    Counter(context: first).value = 3
    try first.save()
    let other = try #require(try second.fetch(FetchRequest("Counter")).first as? OtherCounter)
    #expect((other.label, other.value) == ("counter", 3))
  }
}

private final class OtherCounter: ManagedObject {
  @Attribute var label = ""
  @Attribute var value = 0
}

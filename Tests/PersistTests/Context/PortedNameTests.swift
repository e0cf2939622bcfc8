import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

/// Core Data's names for things that Persist calls otherwise, or that take a key path.
@Suite("Core Data's names")
struct PortedNameTests {
  private static let library = ModelDescription(entities: [
    EntityDescription(
      "Shelf", attributes: [AttributeDescription("name", .string)],
      relationships: [
        RelationshipDescription("books", toMany: "Book", inverse: "shelf", isOrdered: true),
        RelationshipDescription("labels", toMany: "Label", inverse: "shelves"),
        RelationshipDescription("room", to: "Room", inverse: "shelves"),
      ]),
    EntityDescription(
      "Room", relationships: [RelationshipDescription("shelves", toMany: "Shelf", inverse: "room")]),
    EntityDescription(
      "Book", attributes: [AttributeDescription("title", .string)],
      relationships: [RelationshipDescription("shelf", to: "Shelf", inverse: "books")]),
    EntityDescription(
      "Label", attributes: [AttributeDescription("text", .string)],
      relationships: [RelationshipDescription("shelves", toMany: "Shelf", inverse: "labels")]),
  ])

  @Test(
    "A predicate's format is parsed to the same predicate",
    arguments: [
      "name == \"O'Neil\" AND (number > 3 OR NOT (tags.@count == 0))", "ANY pets.name BEGINSWITH[cd] 'r'",
      "date < CAST(0, 'NSDate')", "a IN {1, 2, 3}", "TRUEPREDICATE", "name == nil", "a + b * 2 >= -1.5",
    ])
  func predicateFormat(_ format: String) throws {
    let predicate = try FetchPredicate(format: format, argumentArray: nil)
    #expect(predicate.predicateFormat == predicate.description)
    try #expect(FetchPredicate(format: predicate.predicateFormat, argumentArray: nil) == predicate)
  }

  @Test("Members at the end of a key path are a view, and a wrong path is an error")
  func keyPathSets() throws {
    try withStack(Self.library) { stack in
      let context = stack.context()
      let (shelf, room) = (try context.make("Shelf", ["name": "s"]), try context.make("Room"))
      let book = try context.make("Book", ["title": "b", "shelf": shelf])
      let label = try context.make("Label", ["text": "l"])
      shelf["room"] = room
      try book.mutableSetValue(forKeyPath: "shelf.labels").insert(label)
      try book.mutableSetValue(forKeyPath: "shelf.room.shelves").insert(context.make("Shelf", ["name": "t"]))
      try book.mutableOrderedSetValue(forKeyPath: "shelf.books").insert(context.make("Book", ["title": "c"]), at: 0)
      try shelf.mutableOrderedSetValue(forKeyPath: "books").insert(context.make("Book", ["title": "d"]))
      try context.save()
      let other = stack.context()
      let found = try other.named("Shelf", "s")
      #expect(try found.related("books").map { $0["title"] as? String } == ["c", "b", "d"])
      #expect(try found.related("labels").map { $0["text"] as? String } == ["l"])
      #expect(try found.one("room")?.related("shelves").count == 2)
      for (path, code) in [
        ("shelf.books", PersistenceError.Code.typeMismatch), ("title", .unknownProperty),
        ("shelf.name.x", .typeMismatch), ("shelf.labels.text", .typeMismatch), ("nothing", .unknownProperty), ("shelf.nothing", .unknownProperty),
      ] {
        #expect(persistError { _ = try book.mutableSetValue(forKeyPath: path) }?.code == code, "\(path)")
      }
      #expect(persistError { _ = try book.mutableOrderedSetValue(forKeyPath: "shelf.labels") }?.code == .typeMismatch)
      let loose = try other.make("Book")
      #expect(persistError { _ = try loose.mutableSetValue(forKeyPath: "shelf.labels") }?.code == .unknownProperty)
    }
  }

  @Test("Moved members are consecutive at the index, in their order", .law("move-objects", short: 40, long: 2000))
  func moveObjects() throws {
    let model = Self.library
    forEachSeed { seed in
      var random = SeededRandom(seed: seed)
      try withStack(model) { stack in
        let context = stack.context()
        let shelf = try context.make("Shelf", ["name": "s"])
        let count = Int.random(in: 1...8, using: &random)
        for number in 0..<count { try shelf.related("books").insert(context.make("Book", ["title": "\(number)"])) }
        try context.save()
        let moved = IndexSet((0..<count).filter { _ in Bool.random(using: &random) })
        let place = Int.random(in: 0...(count - moved.count), using: &random)
        try shelf.mutableOrderedSetValue(forKey: "books").moveObjects(at: moved, to: place)
        var expected = (0..<count).filter { !moved.contains($0) }
        expected.insert(contentsOf: moved, at: place)
        try context.save()
        let other = stack.context()
        let found = try other.named("Shelf", "s").related("books").map { $0["title"] as? String }
        #expect(found == expected.map { "\($0)" })
      }
    }
  }

  @Test("A mapping model under Core Data's name is the inferred one, and models without a common entity have none")
  func inferredMappingModel() throws {
    let old = try ManagedObjectModel(Self.library)
    var changed = Self.library
    changed.entities[0].attributes[0].name = "title"
    changed.entities[0].attributes[0].renamingIdentifier = "name"
    let new = try ManagedObjectModel(changed)
    let mapping = try MappingModel.inferredMappingModel(forSourceModel: old, destinationModel: new)
    try #expect(mapping == MappingModel.inferred(from: old, to: new))
    #expect(Set(mapping.entityMappings.compactMap(\.destinationEntityName)) == ["Book", "Label", "Room", "Shelf"])
    changed.entities[0].attributes[0].type = .date
    let impossible = try ManagedObjectModel(changed)
    let error = persistError {
      _ = try MappingModel.inferredMappingModel(forSourceModel: old, destinationModel: impossible)
    }
    #expect(error?.code == .mappingNotInferable)
  }

  @Test("Models are equal by their content, coordinators by identity")
  func equality() throws {
    let (one, other) = (try ManagedObjectModel(Self.library), try ManagedObjectModel(Self.library))
    #expect(one == other && one !== other)
    for change in 0..<3 {
      var changed = Self.library
      switch change {
      case 0: changed.entities[0].attributes[0].renamingIdentifier = "was"
      case 1: changed.configurations["Some"] = ["Book"]
      default: changed.versionIdentifiers = ["2"]
      }
      try #expect(ManagedObjectModel(changed) != one, "\(change)")
    }
    let (first, second) = (PersistentStoreCoordinator(model: one), PersistentStoreCoordinator(model: one))
    let same = first
    #expect(first == same && first != second)
    #expect(ManagedObjectContext(first).persistentStoreCoordinator == first)
  }

  @Test("The launch argument sets the level of the SQL log unless the environment does, within its limits")
  func debugArgument() {
    func level(_ environment: String, _ arguments: String...) -> Int {
      SQLiteDebugLog.level(environment: environment, arguments: ["/bin/app"] + arguments)
    }
    #expect(level("") == 0 && level("2") == 2 && level("9") == 4 && level("-1") == 0 && level("on") == 0)
    #expect(level("", "-com.apple.CoreData.SQLDebug", "3") == 3)
    #expect(level("1", "-com.apple.CoreData.SQLDebug", "3") == 1)
    #expect(level("", "-com.apple.CoreData.SQLDebug") == 0 && level("", "-com.apple.CoreData.SQLDebug", "x") == 0)
    #expect(level("", "-com.apple.CoreData.SQLDebug", "7", "-other", "1") == 4)
  }
}

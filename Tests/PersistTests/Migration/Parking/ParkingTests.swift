import Foundation
import PersistTestSupport
import PersistTools
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Parking values that an older version has no place for", .aboutFiles("parked values"))
struct ParkingTests {
  private static func note(
    _ attributes: [AttributeDescription] = [], _ relationships: [RelationshipDescription] = []
  ) -> EntityDescription {
    EntityDescription("Note", attributes: [.init("name", .string)] + attributes, relationships: relationships)
  }

  private static let tag = EntityDescription(
    "Tag", attributes: [.init("title", .string)],
    relationships: [.init("notes", toMany: "Note", inverse: "tags", isOrdered: true)])

  private static let newAttributes: [AttributeDescription] = [
    .init("color", .string), .init("size", .int32, isOptional: false, default: .integer(3)),
    .init("photo", .binary, allowsExternalStorage: true),
  ]
  private static let newRelationships: [RelationshipDescription] = [
    .init("tags", toMany: "Tag", inverse: "notes", isOrdered: true), .init("next", to: "Note"),
  ]

  private static func registry(_ versions: [EntityDescription]...) throws -> ModelRegistry {
    ModelRegistry(
      versions: try versions.enumerated().map { number, entities in
        let model = try ManagedObjectModel(ModelDescription(entities: entities, versionIdentifiers: ["\(number + 1)"]))
        return ModelVersion(name: "\(number + 1)", model: model)
      })
  }

  private static func parking(_ parking: MigrationParking = .olderVersions) -> AutomaticMigrator {
    var migrator = AutomaticMigrator(allowsLoss: false)
    migrator.parking = parking
    return migrator
  }

  /// A store with four notes and three tags of the second version, and its dump.
  private func withStore(
    _ more: [EntityDescription]..., body: (_ url: URL, _ registry: ModelRegistry, _ before: StoreDump) throws -> Void
  ) throws {
    var versions = [[Self.note()], [Self.note(Self.newAttributes, Self.newRelationships), Self.tag]]
    versions += more
    let registry = ModelRegistry(versions: try versions.flatMap { try Self.registry($0).versions }.enumerated().map {
      ModelVersion(name: "\($0 + 1)", model: $1.model)
    })
    try withTemporaryStore { url in
      let new = registry.versions[1].model
      try MadeStore.make(new, at: url)
      let map = TableMap.forNewStore(new)
      let join = try #require(map.joinTables.first)
      let (first, second) = join.first.entity == "Note" ? (join.first, join.second) : (join.second, join.first)
      let folder = ExternalDataFolder(storeAt: url)
      try folder.make()
      let name = UUID().uuidString
      try Data(repeating: 7, count: 200_000).write(to: folder.url.appendingPathComponent(name))
      let file = "02" + name.utf8.map { String(format: "%02x", $0) }.joined() + "00"
      for number in 1...4 {
        let color = number == 2 ? "NULL" : "'c\(number)'"
        let next = number == 1 ? "2" : number == 3 ? "4" : "NULL"
        try MadeStore.run(
          """
          INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZNAME, ZCOLOR, ZSIZE, ZPHOTO, ZNEXT) \
          VALUES (\(number), 1, \(number), 'n\(number)', \(color), \(number), \
          x'\(number == 1 ? file : "010\(number)")', \(next))
          """, at: url)
      }
      for number in 1...3 {
        try MadeStore.run(
          "INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT, ZTITLE) VALUES (\(number), 2, 1, 't\(number)')",
          """
          INSERT INTO \(join.name) (\(first.column), \(second.column), \(first.orderColumn ?? ""), \
          \(second.orderColumn ?? "")) VALUES (1, \(number), \(4096 - number * 1024), 1024)
          """, at: url)
      }
      try MadeStore.run(
        "UPDATE Z_PRIMARYKEY SET Z_MAX = 4 WHERE Z_ENT = 1", "UPDATE Z_PRIMARYKEY SET Z_MAX = 3 WHERE Z_ENT = 2",
        at: url)
      try body(url, registry, StoreDump(of: new, at: url))
    }
  }

  private func migrate(
    _ url: URL, to number: Int, _ registry: ModelRegistry, _ migrator: AutomaticMigrator = parking()
  ) throws -> MigrationReport {
    try migrator.migrate(storeAt: url, to: registry.versions[number - 1], registry: registry)
  }

  private func tables(_ url: URL) throws -> [String] {
    try MadeStore.rows("SELECT name FROM sqlite_master WHERE name LIKE 'PERSIST_PARKED%'", at: url).flatMap { $0 }
  }

  @Test("Attributes, relationships with orders, large values and whole entities come back; the plan lists them")
  func everything() throws {
    try withStore { url, registry, before in
      let plan = try MigrationPlan(
        storeAt: url, to: registry.versions[0], registry: registry, migrator: Self.parking())
      #expect(plan.losses == [] && plan.blockers == [])
      let parked = plan.parked.map { "\($0)" }
      for line in [
        "Note.color: values, 3 rows", "Note.size: values, 4 rows", "Note.photo: values, 4 rows",
        "Note.next: pairs, 2 rows", "Note.tags: pairs, 3 rows", "Tag: objects, 3 rows", "Tag.title: values, 3 rows",
      ] { #expect(parked.contains(line), "\(line) in \(parked)") }
      let down = try migrate(url, to: 1, registry)
      #expect(down.parked == 22)
      #expect(ExternalDataFolder(storeAt: url).names() == [])
      let back = try MigrationPlan(
        storeAt: url, to: registry.versions[1], registry: registry, migrator: Self.parking())
      #expect(Set(back.restored) == Set(plan.parked))
      let up = try migrate(url, to: 2, registry)
      #expect(up.restored == 22)
      let photo = try MadeStore.rows("SELECT length(ZPHOTO), substr(ZPHOTO, 1, 1) FROM ZNOTE WHERE Z_PK = 1", at: url)
      #expect(photo == [["200001", "\u{1}"]])
      let after = try StoreDump(of: registry.versions[1].model, at: url)
      let differences = after.differences(from: before).filter { !$0.contains("photo") }
      #expect(differences == [])
      #expect(after.objects["Note"]?[1]?["tags"] == "3 2 1")
      try #expect(tables(url) == [])
    }
  }

  @Test("What happens in between counts: deleted objects stay deleted, new ones get defaults, pairs need both ends")
  func inBetween() throws {
    try withStore { url, registry, _ in
      _ = try migrate(url, to: 1, registry)
      try MadeStore.run(
        "DELETE FROM ZNOTE WHERE Z_PK = 2", "UPDATE ZNOTE SET ZNAME = 'changed' WHERE Z_PK = 3",
        "INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (5, 1, 1, 'n5')",
        "UPDATE Z_PRIMARYKEY SET Z_MAX = 5 WHERE Z_NAME = 'Note'", at: url)
      _ = try migrate(url, to: 2, registry)
      let after = try StoreDump(of: registry.versions[1].model, at: url)
      let notes = try #require(after.objects["Note"])
      #expect(notes.keys.sorted() == [1, 3, 4, 5])
      #expect(notes[3]?["name"] == "changed" && notes[3]?["color"] == "c3" && notes[3]?["size"] == "3")
      #expect(notes[5]?["color"] == nil && notes[5]?["size"] == "3")
      #expect(notes[1]?["next"] == nil && notes[3]?["next"] == "4" && notes[1]?["tags"] == "3 2 1")
      try #expect(tables(url) == [])
      var problems: [StoreProblem] = []
      try StoreCheck.check(storeAt: url, registry: registry) { problems.append($0) }
      #expect(problems == [])
    }
  }

  @Test("Values come back under the names that renaming identifiers give them in a later version")
  func renamed() throws {
    let memo = EntityDescription(
      "Memo", renamingIdentifier: "Note",
      attributes: [
        .init("name", .string), .init("tint", .string, renamingIdentifier: "color"),
        .init("size", .int64, isOptional: false, default: .integer(3)), .init("photo", .binary),
      ],
      relationships: [
        .init("labels", toMany: "Label", inverse: "memos", isOrdered: true, renamingIdentifier: "tags"),
        .init("following", to: "Memo", renamingIdentifier: "next"),
      ])
    let label = EntityDescription(
      "Label", renamingIdentifier: "Tag", attributes: [.init("title", .string)],
      relationships: [
        .init("memos", toMany: "Memo", inverse: "labels", isOrdered: true, renamingIdentifier: "notes")
      ])
    try withStore([memo, label]) { url, registry, _ in
      _ = try migrate(url, to: 1, registry)
      _ = try migrate(url, to: 3, registry)
      let after = try StoreDump(of: registry.versions[2].model, at: url)
      #expect(after.objects["Memo"]?[1]?["tint"] == "c1" && after.objects["Memo"]?[4]?["size"] == "4")
      #expect(after.objects["Memo"]?[1]?["labels"] == "3 2 1" && after.objects["Memo"]?[3]?["following"] == "4")
      #expect(after.objects["Label"]?[2]?["title"] == "t2")
      // Without external storage, bytes have no mark.
      #expect(after.objects["Memo"]?[2]?["photo"] == "2")
    }
  }

  @Test("A value that stood in for a parked one and was changed takes precedence; a missing value comes back")
  func standIns() throws {
    let required = EntityDescription(
      "Item", attributes: [.init("count", .int32, isOptional: false, default: .integer(0))])
    let optional = EntityDescription("Item", attributes: [.init("count", .int32)])
    let registry = try Self.registry([required], [optional])
    try withTemporaryStore { url in
      try MadeStore.make(registry.versions[1].model, at: url)
      for number in 1...3 {
        let count = number == 3 ? "5" : "NULL"
        try MadeStore.run(
          "INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZCOUNT) VALUES (\(number), 1, 1, \(count))", at: url)
      }
      _ = try migrate(url, to: 1, registry)
      try #expect(MadeStore.rows("SELECT ZCOUNT FROM ZITEM", at: url) == [["0"], ["0"], ["5"]])
      try MadeStore.run("UPDATE ZITEM SET ZCOUNT = 9 WHERE Z_PK = 2", at: url)
      _ = try migrate(url, to: 2, registry)
      try #expect(MadeStore.rows("SELECT ZCOUNT FROM ZITEM", at: url) == [["nil"], ["9"], ["5"]])
    }
  }

  @Test("Without parking, values are lost only if that is allowed; discarding deletes what is parked")
  func discarding() throws {
    try withStore { url, registry, _ in
      #expect(throws: PersistenceError.self) { try migrate(url, to: 1, registry, AutomaticMigrator(allowsLoss: false)) }
      _ = try migrate(url, to: 1, registry)
      // A copy can't restore them.
      var copying = Self.parking()
      copying.alwaysCopies = true
      let error = #expect(throws: PersistenceError.self) { try migrate(url, to: 2, registry, copying) }
      #expect(error?.message.contains("parked") == true)
      _ = try migrate(url, to: 2, registry, Self.parking(.discarding))
      try #expect(tables(url) == [])
      let after = try StoreDump(of: registry.versions[1].model, at: url)
      #expect(after.objects["Tag"]?.isEmpty == true && after.objects["Note"]?[1]?["color"] == nil)
    }
  }

  @Test("Nothing is parked that couldn't come back; the reason is in the error")
  func refused() throws {
    let demanding = EntityDescription(
      "Note", attributes: [.init("name", .string), .init("code", .string, isOptional: false)])
    let registry = try Self.registry([Self.note()], [demanding])
    try withTemporaryStore { url in
      try MadeStore.make(registry.versions[1].model, at: url)
      try MadeStore.run(
        "INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZNAME, ZCODE) VALUES (1, 1, 1, 'a', 'b')", at: url)
      let error = #expect(throws: PersistenceError.self) { try migrate(url, to: 1, registry) }
      #expect(error.map { "\($0)" }?.contains("'Note.code' is required and has no default") == true)
      let plan = try MigrationPlan(
        storeAt: url, to: registry.versions[0], registry: registry, migrator: Self.parking())
      #expect(plan.parked == [] && plan.notes.contains { $0.contains("can't be parked") })
    }
  }

  @Test("Several versions down, step by step, everything comes back at once or in steps", arguments: [[3], [2, 3]])
  func steps(_ way: [Int]) throws {
    let third = Self.note(Self.newAttributes + [.init("mood", .string)], Self.newRelationships)
    try withStore([third, Self.tag]) { url, registry, _ in
      _ = try migrate(url, to: 3, registry)
      try MadeStore.run("UPDATE ZNOTE SET ZMOOD = 'm' || Z_PK", at: url)
      let before = try StoreDump(of: registry.versions[2].model, at: url)
      _ = try migrate(url, to: 2, registry)
      _ = try migrate(url, to: 1, registry)
      for version in way { _ = try migrate(url, to: version, registry) }
      let after = try StoreDump(of: registry.versions[2].model, at: url)
      #expect(after.differences(from: before).filter { !$0.contains("photo") } == [])
    }
  }

  /// Models whose older version has the pairs of an ordered relationship, but not their order.
  private static func unorderedBefore(_ kind: Int) throws -> ModelRegistry {
    let tag = EntityDescription("Tag", attributes: [.init("title", .string)])
    let base = EntityDescription("Base", isAbstract: true, attributes: [.init("title", .string)])
    if kind == 0 {
      // The heirs declare it, because the entity that declares it later doesn't exist.
      let tags = RelationshipDescription("tags", toMany: "Tag")
      return try registry(
        [
          base, EntityDescription("Left", parent: "Base", relationships: [tags]),
          EntityDescription("Right", parent: "Base", relationships: [tags]), tag,
        ],
        [
          base,
          EntityDescription(
            "Middle", isAbstract: true, parent: "Base",
            relationships: [RelationshipDescription("tags", toMany: "Tag", isOrdered: true)]),
          EntityDescription("Left", parent: "Middle"), EntityDescription("Right", parent: "Middle"), tag,
        ])
    }
    // It has only the inverse of the relationship that stores the pairs later.
    return try registry(
      [EntityDescription("Left", relationships: [RelationshipDescription("tags", toMany: "Tag")]), tag],
      [
        EntityDescription(
          "Left",
          relationships: [RelationshipDescription("tags", toMany: "Tag", inverse: "left", isOrdered: true)]),
        EntityDescription(
          "Tag", attributes: [.init("title", .string)],
          relationships: [RelationshipDescription("left", to: "Left", inverse: "tags")]),
      ])
  }

  @Test("The order of members comes back wherever the older version has the pairs without it", arguments: 0...1)
  func orders(kind: Int) throws {
    let registry = try Self.unorderedBefore(kind)
    let (old, new) = (registry.versions[0], registry.versions[1])
    try withTemporaryStore { url in
      let coordinator = PersistentStoreCoordinator(model: new.model)
      let store = try coordinator.addStore(at: url)
      let context = ManagedObjectContext(coordinator)
      for entity in kind == 0 ? ["Left", "Right"] : ["Left"] {
        let owner = ManagedObject(entity: entity, context: context)
        let tags = (0..<4).map { _ in ManagedObject(entity: "Tag", context: context) }
        try context.save()
        owner["tags"] = [tags[2], tags[0], tags[3], tags[1]]
        try context.save()
      }
      try coordinator.remove(store)
      let before = try StoreDump(of: new.model, at: url)
      let down = try Self.parking().migrate(storeAt: url, to: old, registry: registry)
      #expect(down.parked > 0)
      _ = try Self.parking().migrate(storeAt: url, to: new, registry: registry)
      let after = try StoreDump(of: new.model, at: url)
      #expect(after.differences(from: before) == [])
    }
  }

  @Test("References come back to objects whose entity doesn't belong to the destination in the older version")
  func foreignDestination() throws {
    func entities(parent: String) -> [EntityDescription] {
      [
        EntityDescription("Thing", attributes: [.init("name", .string)]), EntityDescription("Part", parent: "Thing"),
        EntityDescription("Note", parent: parent, relationships: [RelationshipDescription("part", to: "Part")]),
      ]
    }
    let registry = try Self.registry(entities(parent: "Thing"), entities(parent: "Part"))
    let new = registry.versions[1].model
    try withTemporaryStore { url in
      let coordinator = PersistentStoreCoordinator(model: new)
      let store = try coordinator.addStore(at: url)
      let context = ManagedObjectContext(coordinator)
      let objects = ["Note", "Note", "Part"].map { ManagedObject(entity: $0, context: context) }
      for (note, part) in [(0, 1), (1, 2)] { objects[note]["part"] = objects[part] }
      try context.save()
      try coordinator.remove(store)
      let before = try StoreDump(of: new, at: url)
      #expect(try migrate(url, to: 1, registry).parked > 0)
      _ = try migrate(url, to: 2, registry)
      #expect(try StoreDump(of: new, at: url).differences(from: before) == [])
    }
  }
}

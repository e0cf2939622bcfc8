import Foundation
import Persist
import PersistOnlineMigrations
import PersistPostgreSQL
import PersistTestSupport
import PersistTools
import Testing

/// The law of parked values: what a store contains that only the new model has a place for comes back, whenever and how
/// often online migrations are abandoned.
@Suite("Parked values in online migrations", .needsServer)
struct OnlineParkingTests {
  /// The moment at which an online migration is abandoned.
  enum Moment: CaseIterable {
    case expanded, partlyFilled, serving
  }

  /// - Returns: The program with the new model, unless the store doesn't serve it.
  private func advance(
    _ migration: OnlineMigration, to version: ModelVersion, _ moment: Moment
  ) throws -> OnlineProgram? {
    try migration.expand(to: version)
    switch moment {
    case .expanded: return nil
    case .partlyFilled:
      var pace = BackfillPace()
      pace.batchSize = 1
      try migration.backfill(pace: pace) { _ in false }
      return nil
    case .serving:
      var pace = BackfillPace()
      pace.batchSize = 3
      try migration.backfill(pace: pace)
      return try OnlineProgram(version, migration.url)
    }
  }

  @Test(
    "What an abandoned migration has parked isn't lost if the next one is abandoned, too", arguments: Moment.allCases)
  func abandonedTwice(moment: Moment) throws {
    try OnlineShop.withStore { url in
      let (old, new) = (try OnlineShop.old(), try OnlineShop.new())
      let first = try OnlineProgram(old, url)
      for name in ["Tea", "Milk"] { try first.insert("Item", ["name": name]) }
      try first.save()
      let migration = OnlineMigration(storeAt: url)
      let opened = try advance(migration, to: new, .serving)
      let second = try #require(opened)
      let tea = try #require(second.all("Item").first { $0["title"] as? String == "Tea" })
      tea["state"] = "sold"
      tea["supplier"] = try second.insert("Supplier", ["name": "Smith"])
      try second.save()
      let before = try second.dump()
      try second.close()
      try migration.abort()
      try advance(migration, to: new, moment)?.close()
      try migration.abort()
      let reopened = try advance(migration, to: new, .serving)
      let again = try #require(reopened)
      try #expect(again.dump() == before)
      try again.close()
      try first.close()
      try migration.contract(force: true)
      let last = try OnlineProgram(new, url)
      try #expect(last.dump() == before)
      try last.close()
    }
  }

  @Test(
    "Migrations that are abandoned at any moment keep everything for the new model",
    .law("online-parking", short: 8, long: 400))
  func abandonedAnytime() {
    forEachSeed { seed in
      var numbers = SeededRandom(seed: seed)
      let pair = try ParkedPair(&numbers)
      let name = "seed \(seed)"
      try OnlineShop.withStore { url in
        try OnlineProgram(pair.old, url).close()
        let registry = ModelRegistry(versions: [pair.old, pair.new])
        let migration = OnlineMigration(storeAt: url, registry: registry)
        let opened = try advance(migration, to: pair.new, .serving)
        let author = try #require(opened)
        for _ in 0..<Int.random(in: 4...12, using: &numbers) { try pair.write(author, &numbers) }
        var expected = try author.state()
        try author.close()
        try migration.abort()
        for round in 0..<Int.random(in: 1...3, using: &numbers) {
          let moment = Moment.allCases.randomElement(using: &numbers) ?? .serving
          let place = "\(name), round \(round), \(moment)"
          if Bool.random(using: &numbers) { try pair.rename(url, &expected, round, &numbers) }
          if let second = try advance(migration, to: pair.new, moment) {
            try pair.expect(second, expected, place)
            if Bool.random(using: &numbers) {
              for _ in 0..<4 { try pair.write(second, &numbers) }
              expected = try second.state()
            }
            try second.close()
          }
          try migration.abort()
          try expectIntact(url, place)
        }
        if Bool.random(using: &numbers) {
          try AutomaticMigrator().migrate(storeAt: url, to: pair.new, registry: registry)
        } else {
          try advance(migration, to: pair.new, .serving)?.close()
          try migration.contract(force: true)
        }
        let last = try OnlineProgram(pair.new, url)
        try pair.expect(last, expected, "\(name), at the end")
        try last.close()
        let left = try PersistentStoreCoordinator.parkedContents(at: url)
        #expect(left.isEmpty, "\(name): \(left)")
        try expectIntact(url, name)
      }
    }
  }

  private func expectIntact(_ url: URL, _ place: String) throws {
    var problems: [StoreProblem] = []
    try StoreLocation.postgreSQL(url.absoluteString).check { problems.append($0) }
    #expect(problems.isEmpty, "\(place): \(problems)")
  }
}

extension OnlineProgram {
  typealias State = [String: [String: String]]

  /// Everything in the store: the properties of each object as texts.
  func state() throws -> State {
    context.refreshAllObjects()
    var state: State = [:]
    for entity in model.entities where !entity.isAbstract {
      var request = FetchRequest(entity.name)
      request.includesSubentities = false
      for object in try context.fetch(request) {
        let key = "\(entity.name) \(Self.key(object))"
        for property in entity.properties {
          state[key, default: [:]][property.name] = text(object[property.name], of: property)
        }
      }
    }
    return state
  }

  private func text(_ value: Any?, of property: Property) -> String {
    if let relationship = property.relationship {
      let keys = relationship.isToMany ? Self.keys(value) : [Self.key(value)]
      return "\(relationship.isOrdered ? keys : keys.sorted())"
    }
    if let parts = value as? [String: Any] { return parts.map { "\($0)=\($1)" }.sorted().joined(separator: " ") }
    return value.map { "\($0)" } ?? "nil"
  }
}

/// Two models, of which the second has a place for more: attributes, elements, missing values, an order, members,
/// entities with their objects, and references to these.
struct ParkedPair {
  let old: ModelVersion
  let new: ModelVersion
  /// Whether the new model has room for several boxes of an item, and the old one for one.
  private let isMany: Bool

  init(_ numbers: inout SeededRandom) throws {
    func chance() -> Bool { Bool.random(using: &numbers) }
    let (hasMood, hasOrder, hasNovel, hasPlace, isMany) = (chance(), chance(), chance(), chance(), chance())
    let (isWide, hasLabels) = (chance(), chance())
    func version(isNew: Bool) throws -> ModelVersion {
      var attributes = [
        AttributeDescription("name", .string),
        isNew
          ? AttributeDescription("size", isWide ? .int64 : .int16)
          : AttributeDescription("size", .int16, isOptional: false, default: .integer(0)),
      ]
      var relationships = [
        RelationshipDescription("notes", toMany: "Note", inverse: "item"),
        RelationshipDescription("tags", toMany: "Tag", inverse: "items", isOrdered: isNew && hasOrder),
        isNew && isMany
          ? RelationshipDescription("boxes", toMany: "Box", inverse: "items", renamingIdentifier: "box")
          : RelationshipDescription("box", to: "Box", inverse: "items"),
      ]
      if isNew {
        attributes += [
          AttributeDescription("state", .string, isOptional: false, default: .string("new")),
          AttributeDescription("mood", .string, default: hasMood ? .string("calm") : .null),
          AttributeDescription("weight", .double),
        ]
        relationships.append(RelationshipDescription("supplier", to: "Supplier", inverse: "items"))
        if hasLabels { relationships.append(RelationshipDescription("labels", toMany: "Label", inverse: "items")) }
      }
      if hasPlace { attributes.append(AttributeDescription("place", .composite, compositeName: "Place")) }
      var entities = [
        EntityDescription("Item", attributes: attributes, relationships: relationships),
        EntityDescription(
          "Note", attributes: [AttributeDescription("text", .string)],
          relationships: [RelationshipDescription("item", to: "Item", inverse: "notes")]),
        EntityDescription(
          "Tag", relationships: [RelationshipDescription("items", toMany: "Item", inverse: "tags")]),
        EntityDescription(
          "Box",
          relationships: [
            RelationshipDescription("items", toMany: "Item", inverse: isNew && isMany ? "boxes" : "box")
          ]),
      ]
      if isNew {
        entities.append(
          EntityDescription(
            "Supplier", attributes: [AttributeDescription("name", .string)],
            relationships: [RelationshipDescription("items", toMany: "Item", inverse: "supplier")]))
        if hasLabels {
          entities.append(
            EntityDescription(
              "Label", relationships: [RelationshipDescription("items", toMany: "Item", inverse: "labels")]))
        }
        if hasNovel {
          entities.append(
            EntityDescription("Novel", parent: "Item", attributes: [AttributeDescription("mark", .string)]))
        }
      }
      var elements = [AttributeDescription("street", .string)]
      if isNew {
        elements += [AttributeDescription("zip", .int32), AttributeDescription("code", .string, default: .string("c"))]
      }
      let name = isNew ? "2" : "1"
      return ModelVersion(
        name: name,
        model: try ManagedObjectModel(
          ModelDescription(
            entities: entities, composites: hasPlace ? [CompositeDescription("Place", elements: elements)] : [],
            versionIdentifiers: [name])))
    }
    (old, new) = try (version(isNew: false), version(isNew: true))
    self.isMany = isMany
  }

  /// Inserts, changes or deletes objects with the new model, and saves.
  func write(_ program: OnlineProgram, _ numbers: inout SeededRandom) throws {
    func some(_ entity: String, _ limit: Int) throws -> [ManagedObject] {
      var all = try program.all(entity).sorted { "\($0.objectID)" < "\($1.objectID)" }
      if all.count < 2 || Int.random(in: 0..<4, using: &numbers) == 0 { all.append(try program.insert(entity)) }
      all.shuffle(using: &numbers)
      return Array(all.prefix(Int.random(in: 0...limit, using: &numbers)))
    }
    let items = try program.all("Item").sorted { "\($0.objectID)" < "\($1.objectID)" }
    let choice = Int.random(in: 0..<10, using: &numbers)
    if choice == 0, let item = items.randomElement(using: &numbers) {
      program.context.delete(item)
      return try program.save()
    }
    let entity = program.model.entitiesByName["Novel"] != nil && Bool.random(using: &numbers) ? "Novel" : "Item"
    let item = try choice < 5 || items.isEmpty ? program.insert(entity) : items.randomElement(using: &numbers)
    guard let item else { return }
    let number = Int.random(in: 1...99, using: &numbers)
    func isChanged() -> Bool { Bool.random(using: &numbers) }
    if isChanged() { item["name"] = "Item \(number)" }
    if isChanged() { item["size"] = Bool.random(using: &numbers) ? number : nil }
    if isChanged() { item["state"] = "state \(number)" }
    if isChanged() { item["mood"] = Bool.random(using: &numbers) ? "mood \(number)" : nil }
    if isChanged() { item["weight"] = Bool.random(using: &numbers) ? Double(number) + 0.5 : nil }
    if isChanged() { item["tags"] = RelationshipSet(try some("Tag", 3)) }
    if isChanged() { item["supplier"] = try some("Supplier", 1).first }
    if isChanged(), item.entity.property(named: "labels") != nil {
      item["labels"] = RelationshipSet(try some("Label", 3))
    }
    if isChanged() {
      let boxes = try some("Box", 1)
      if isMany { item["boxes"] = RelationshipSet(boxes) } else { item["box"] = boxes.first }
    }
    if isChanged(), item.entity.property(named: "place") != nil {
      var place: [String: Any] = [:]
      if Bool.random(using: &numbers) { place["street"] = "Street \(number)" }
      if Bool.random(using: &numbers) { place["zip"] = number }
      if Bool.random(using: &numbers) { place["code"] = "code \(number)" }
      try item.setValue(place.isEmpty ? nil : place, forKey: "place")
    }
    if isChanged() {
      let note = try program.insert("Note", ["text": "Note \(number)"])
      note["item"] = item
    }
    try program.save()
  }

  /// Gives an item another name and size with the old model.
  func rename(
    _ url: URL, _ expected: inout OnlineProgram.State, _ round: Int, _ numbers: inout SeededRandom
  ) throws {
    let first = try OnlineProgram(old, url)
    let items = try first.all("Item").sorted { "\($0.objectID)" < "\($1.objectID)" }
    if let item = items.randomElement(using: &numbers) {
      item["name"] = "Renamed \(round)"
      item["size"] = 100 + round
      try first.save()
      let key = "Item \(item.objectID.uriRepresentation().lastPathComponent)"
      expected[key]?["name"] = "Renamed \(round)"
      expected[key]?["size"] = "\(100 + round)"
    }
    try first.close()
  }

  func expect(_ program: OnlineProgram, _ expected: OnlineProgram.State, _ place: String) throws {
    func lines(_ state: OnlineProgram.State) -> Set<String> {
      Set(state.flatMap { key, values in values.map { "\(key).\($0.key): \($0.value)" } })
    }
    let (found, wanted) = (try lines(program.state()), lines(expected))
    #expect(found.subtracting(wanted).sorted().prefix(4) == [], "\(place), found")
    #expect(wanted.subtracting(found).sorted().prefix(4) == [], "\(place), expected")
  }
}

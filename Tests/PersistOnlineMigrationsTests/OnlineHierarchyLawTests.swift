import Foundation
import Persist
import PersistOnlineMigrations
import PersistPostgreSQL
import PersistTestSupport
import Testing

/// The law of entities that only one of the models has in a table of both: its programs read and write their objects,
/// the other's see neither these nor references to them, and destroy neither.
@Suite("Laws of hierarchies with other entities in each model", .needsServer)
struct OnlineHierarchyLawTests {
  @Test(
    "Programs with both models write through expansion, backfill, contraction and abandoning",
    .law("online-hierarchies", short: 6, long: 200))
  func randomWriters() {
    forEachSeed { seed in
      var numbers = SeededRandom(seed: seed)
      let pair = try HierarchyPair(&numbers)
      try OnlineCourse.run(
        seed: seed, from: pair.old, to: pair.new, HierarchyLedger(pair), numbers, counts: (4...12, 10...30)
      ) { course in
        try course.expectIntact(", serving")
        if seed % 3 == 0 {
          let before = try course.second.dump()
          try course.abort(to: pair.old)
          // The objects of the new entities return, and so do the references to them.
          try course.migration.expand(to: pair.new)
          try course.migration.backfill()
          let again = try OnlineProgram(pair.new, course.url)
          try #expect(again.dump() == before, "\(course.name), expanded again")
          try again.close()
        } else {
          try course.contract { $0.forgetOthers() }
        }
        try course.expectIntact()
      }
    }
  }
}

/// Two models with different entities in one hierarchy, to which objects of others refer.
struct HierarchyPair {
  let old: ModelVersion
  let new: ModelVersion
  /// The entities of each model whose objects are items.
  let items: (old: [String], new: [String])

  init(_ numbers: inout SeededRandom) throws {
    func chance() -> Bool { Bool.random(using: &numbers) }
    let (hasBook, isBelowBook, hasRelic, hasBetween, isRenamed) = (chance(), chance(), chance(), chance(), chance())
    let hasShelves = chance()
    // A root above the others that only one of the models has.
    let root: (isNew: Bool, isAbstract: Bool)? = chance() ? nil : (chance(), chance())
    func model(_ isNew: Bool) throws -> (ManagedObjectModel, [String]) {
      var items = ["Item"]
      let note = isNew && isRenamed ? "subject" : "item"
      var entities = [
        EntityDescription(
          "Item", parent: root?.isNew == isNew ? "Thing" : nil,
          attributes: [
            AttributeDescription("label", .string, isOptional: false, default: .string("none")),
            AttributeDescription("size", isNew ? .int64 : .int32, default: .integer(1)),
          ],
          relationships: [RelationshipDescription("notes", toMany: "Note", inverse: note)]
            + (hasShelves ? [RelationshipDescription("shelves", toMany: "Shelf", inverse: "items")] : [])),
        EntityDescription(
          "Note", attributes: [AttributeDescription("label", .string)],
          relationships: [
            RelationshipDescription(
              note, to: "Item", inverse: "notes", renamingIdentifier: note == "item" ? nil : "item")
          ]),
      ]
      if let root, root.isNew == isNew { entities.append(EntityDescription("Thing", isAbstract: root.isAbstract)) }
      if hasShelves {
        entities.append(
          EntityDescription(
            "Shelf", relationships: [RelationshipDescription("items", toMany: "Item", inverse: "shelves")]))
      }
      func add(_ name: String, below parent: String) {
        items.append(name)
        entities.append(
          EntityDescription(
            name, parent: parent, attributes: [AttributeDescription("mark\(name)", .string, default: .string("m"))]))
      }
      if hasBook {
        if isNew, hasBetween { add("Medium", below: "Item") }
        add("Book", below: isNew && hasBetween ? "Medium" : "Item")
      }
      if isNew { add("Novel", below: hasBook && isBelowBook ? "Book" : "Item") }
      if !isNew, hasRelic { add("Relic", below: hasBook && isBelowBook ? "Book" : "Item") }
      let description = ModelDescription(entities: entities, versionIdentifiers: [isNew ? "second" : "first"])
      return (try ManagedObjectModel(description), items)
    }
    let (first, second) = (try model(false), try model(true))
    old = ModelVersion(name: "1", model: first.0)
    new = ModelVersion(name: "2", model: second.0)
    items = (first.1, second.1)
  }

  func items(_ side: OnlineSide) -> [String] { side == .old ? items.old : items.new }
}

/// The writes that have been acknowledged, in the terms of both models together.
struct HierarchyLedger: AcknowledgedWrites {
  private struct Item {
    let entity: String
    var label: String
    var size: Int
  }

  private let pair: HierarchyPair
  private var items: [Int: Item] = [:]
  /// The key of the item of each note; nil for none.
  private var notes: [Int: Int?] = [:]
  private var shelves: [Int: Set<Int>] = [:]
  private var next = 0
  var isExpanded = false

  init(_ pair: HierarchyPair) { self.pair = pair }

  private func isVisible(_ key: Int, _ side: OnlineSide) -> Bool {
    items[key].map { pair.items(side).contains($0.entity) } ?? false
  }

  private static func key(_ object: ManagedObject) -> Int {
    Int(object.objectID.uriRepresentation().lastPathComponent.drop { !$0.isNumber }) ?? 0
  }

  private func subject(_ program: OnlineProgram) -> String {
    program.model.entitiesByName["Note"]?.property(named: "item") == nil ? "subject" : "item"
  }

  /// Inserts, changes or deletes an object, and saves.
  mutating func write(
    _ program: OnlineProgram, _ side: OnlineSide, _ numbers: inout SeededRandom
  ) throws {
    next += 1
    let present = try program.all("Item").sorted { Self.key($0) < Self.key($1) }
    switch Int.random(in: 0..<10, using: &numbers) {
    case 0...2:
      let entity = pair.items(side).randomElement(using: &numbers) ?? "Item"
      let item = try program.insert(entity, ["label": "Item \(next)", "size": next])
      try program.save()
      items[Self.key(item)] = Item(entity: entity, label: "Item \(next)", size: next)
    case 3, 4:
      guard let item = present.randomElement(using: &numbers) else { return }
      item["label"] = "Item \(next)"
      item["size"] = next
      try program.save()
      items[Self.key(item)]?.label = "Item \(next)"
      items[Self.key(item)]?.size = next
    case 5:
      guard let item = present.randomElement(using: &numbers) else { return }
      let key = Self.key(item)
      program.context.delete(item)
      try program.save()
      items[key] = nil
      for note in notes.keys where notes[note] == .some(.some(key)) { notes[note] = .some(nil) }
      for shelf in shelves.keys { shelves[shelf]?.remove(key) }
    case 6, 7:
      let note = try program.all("Note").sorted { Self.key($0) < Self.key($1) }.randomElement(using: &numbers)
      let isNew = note == nil || Bool.random(using: &numbers)
      let object = try isNew ? program.insert("Note", ["label": "Note \(next)"]) : note!
      let item = Int.random(in: 0..<4, using: &numbers) == 0 ? nil : present.randomElement(using: &numbers)
      let name = subject(program)
      let before = (object[name] as? ManagedObject).map(Self.key)
      object[name] = item
      try program.save()
      // A program that sees no object there changes nothing by assigning none.
      let isChanged = isNew || before != item.map(Self.key)
      if isChanged { notes[Self.key(object)] = .some(item.map(Self.key)) }
    default:
      guard program.model.entitiesByName["Shelf"] != nil else { return }
      let shelf = try program.all("Shelf").sorted { Self.key($0) < Self.key($1) }.randomElement(using: &numbers)
      let object = try shelf ?? program.insert("Shelf")
      let chosen = present.filter { _ in Bool.random(using: &numbers) }
      object["items"] = RelationshipSet(chosen)
      try program.save()
      let hidden = shelves[Self.key(object)]?.filter { !isVisible($0, side) } ?? []
      shelves[Self.key(object)] = Set(chosen.map(Self.key)).union(hidden)
    }
  }

  /// Forgets the objects that the new model doesn't have.
  mutating func forgetOthers() {
    for key in Array(items.keys) where !isVisible(key, .new) {
      items[key] = nil
      for note in notes.keys where notes[note] == .some(.some(key)) { notes[note] = .some(nil) }
      for shelf in shelves.keys { shelves[shelf]?.remove(key) }
    }
  }

  /// Compares the items and their values with what a program sees.
  private func compareLabels(_ program: OnlineProgram, _ side: OnlineSide, _ place: String) throws {
    let expected = items.filter { isVisible($0.key, side) }
      .map { "\($0.value.entity) \($0.key) \($0.value.label) \($0.value.size)" }.sorted()
    let found = try program.all("Item").map { item in
      "\(item.entity.name) \(Self.key(item)) \(item["label"] ?? "nil") \(item["size"] ?? "nil")"
    }.sorted()
    #expect(found == expected, "\(place)")
  }

  /// Compares everything that was acknowledged with what a program sees.
  func compare(_ program: OnlineProgram, _ side: OnlineSide, _ place: String) throws {
    try compareLabels(program, side, place)
    let count = items.keys.count { isVisible($0, side) }
    try #expect(program.context.count(for: FetchRequest("Item")) == count, "\(place)")
    let name = subject(program)
    var found: [Int: Int?] = [:]
    for note in try program.all("Note") {
      let item = note[name] as? ManagedObject
      found[Self.key(note)] = .some(item.map(Self.key))
      #expect(item?.isDeleted != true, "\(place)")
    }
    #expect(found == notes.mapValues { $0.flatMap { isVisible($0, side) ? $0 : nil } }, "\(place)")
    for item in try program.all("Item") {
      let key = Self.key(item)
      let own = OnlineProgram.keys(item["notes"]).compactMap { Int($0.drop { !$0.isNumber }) }.sorted()
      #expect(own == notes.filter { $0.value == key }.map(\.key).sorted(), "\(place): \(key)")
    }
    guard program.model.entitiesByName["Shelf"] != nil else { return }
    for shelf in try program.all("Shelf") {
      let members = OnlineProgram.keys(shelf["items"]).compactMap { Int($0.drop { !$0.isNumber }) }
      let expected: Set<Int> = shelves[Self.key(shelf)]?.filter { isVisible($0, side) } ?? []
      #expect(Set(members) == expected, "\(place): shelf \(Self.key(shelf))")
    }
  }
}

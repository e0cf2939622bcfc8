import Foundation
import Persist
import PersistOnlineMigrations
import PersistPostgreSQL
import PersistTestSupport
import PersistTools
import Testing

/// The laws of online migrations: whatever changes between two models, and whoever writes, nothing is lost or doubled,
/// programs with both models see the same, and the end is a store of one model.
@Suite("Laws of online migrations", .needsServer)
struct OnlineLawTests {
  @Test(
    "Random writers with both models, through expansion, backfill, contraction and abandoning",
    .law("online-migration", short: 8, long: 200))
  func randomWriters() {
    forEachSeed { seed in
      var numbers = SeededRandom(seed: seed)
      let pair = try RandomPair(&numbers)
      try OnlineShop.withStore { url in
        let name = "seed \(seed)"
        var ledger = OnlineLedger()
        let first = try OnlineProgram(pair.old, url)
        for _ in 0..<Int.random(in: 2...9, using: &numbers) { try ledger.write(with: first, pair, .old, &numbers) }
        let migration = OnlineMigration(storeAt: url)
        let plan = try migration.plan(to: pair.new)
        guard plan.isPossible else {
          Issue.record("\(name): \(plan)")
          return
        }
        try migration.expand(to: pair.new)
        for _ in 0..<3 { try ledger.write(with: first, pair, .old, &numbers) }
        try migration.backfill(interruptedBy: &numbers) { try ledger.write(with: first, pair, .old, &$0) }
        let second = try OnlineProgram(pair.new, url)
        for _ in 0..<Int.random(in: 4...16, using: &numbers) {
          if Bool.random(using: &numbers) {
            try ledger.write(with: first, pair, .old, &numbers)
          } else {
            try ledger.write(with: second, pair, .new, &numbers)
          }
        }
        try ledger.compare(first, pair, .old, "\(name), old program")
        try ledger.compare(second, pair, .new, "\(name), new program")
        try first.close()
        if seed % 3 == 0 {
          try second.close()
          try migration.abort()
          let last = try OnlineProgram(pair.old, url)
          try ledger.compare(last, pair, .old, "\(name), abandoned")
          try last.close()
        } else {
          let before = try second.dump()
          try migration.contract()
          try #expect(second.dump() == before, "\(name)")
          try ledger.write(with: second, pair, .new, &numbers)
          try ledger.compare(second, pair, .new, "\(name), contracted")
          try second.close()
        }
        var problems: [StoreProblem] = []
        try StoreLocation.postgreSQL(url.absoluteString).check { problems.append($0) }
        #expect(problems.isEmpty, "\(name): \(problems)")
      }
    }
  }
}

/// Two models with random differences of the kinds that are served, and the names of what both have.
struct RandomPair {
  enum Side { case old, new }

  let old: ModelVersion
  let new: ModelVersion
  /// The names of the mark, the count, the owner and the tags of an item.
  private let names: [String: String]
  static let properties = ["mark", "count", "owner", "tags"]

  func name(_ name: String, _ side: Side) -> String { side == .old ? name : names[name] ?? name }

  init(_ numbers: inout SeededRandom) throws {
    func chance() -> Bool { Bool.random(using: &numbers) }
    var names: [String: String] = [:]
    for name in ["mark", "count", "owner", "tags"] where chance() { names[name] = "other" + name.capitalized }
    func renamed(_ name: String) -> String { names[name] ?? name }
    func identifier(_ name: String) -> String? { names[name] == nil ? nil : name }
    let isInherited = chance()
    let (ordered, isCounted) = (chance(), chance())
    func item(_ isNew: Bool, _ extra: [AttributeDescription], _ relations: [RelationshipDescription])
      -> EntityDescription
    {
      EntityDescription(
        "Item",
        attributes: [
          AttributeDescription(
            isNew ? renamed("mark") : "mark", .string, isOptional: false, default: .string("none"),
            renamingIdentifier: isNew ? identifier("mark") : nil, preservesValueOnDeletion: chance()),
          AttributeDescription(
            isNew ? renamed("count") : "count", .int64, renamingIdentifier: isNew ? identifier("count") : nil,
            preservesValueOnDeletion: chance()),
        ] + extra,
        relationships: [
          RelationshipDescription(
            isNew ? renamed("owner") : "owner", to: "Owner", inverse: "items",
            renamingIdentifier: isNew ? identifier("owner") : nil),
          RelationshipDescription(
            isNew ? renamed("tags") : "tags", toMany: "Tag", inverse: "items", isOrdered: ordered,
            renamingIdentifier: isNew ? identifier("tags") : nil),
        ] + relations,
        uniquenessConstraints: isNew && chance() ? [[renamed("mark")]] : [])
    }
    func others(_ isNew: Bool) -> [EntityDescription] {
      [
        EntityDescription(
          "Owner",
          attributes: [AttributeDescription("label", .string)]
            + (isNew && isCounted ? [AttributeDescription("itemCount", .int64, derivation: "items.@count")] : []),
          relationships: [
            RelationshipDescription("items", toMany: "Item", inverse: isNew ? renamed("owner") : "owner")
          ]),
        EntityDescription(
          "Tag",
          relationships: [
            RelationshipDescription("items", toMany: "Item", inverse: isNew ? renamed("tags") : "tags")
          ]),
      ]
    }
    var oldEntities = [
      item(
        false,
        chance()
          ? [
            AttributeDescription(
              "gone", .double, isOptional: chance(), default: .double(1.5), preservesValueOnDeletion: chance()),
            AttributeDescription("quiet", .string, derivation: "lowercase:(mark)"),
          ] : [], [])
    ] + others(false)
    let hasSupplier = chance()
    var newEntities = [
      item(
        true,
        chance()
          ? [
            AttributeDescription(
              "added", .boolean, isOptional: chance(), default: .boolean(true), preservesValueOnDeletion: chance(),
              isIndexed: chance()),
            AttributeDescription("loud", .string, derivation: "uppercase:(\(renamed("mark")))"),
          ]
          : [],
        hasSupplier ? [RelationshipDescription("supplier", to: "Supplier", inverse: "delivers")] : [])
    ] + others(true)
    if hasSupplier {
      newEntities.append(
        EntityDescription(
          "Supplier", relationships: [RelationshipDescription("delivers", toMany: "Item", inverse: "supplier")]))
    }
    if isInherited {
      let extra = chance()
      oldEntities.append(
        EntityDescription(
          "Book", parent: "Item",
          attributes: [AttributeDescription("pages", .int32, isOptional: false, default: .integer(1))]))
      newEntities.append(
        EntityDescription(
          extra ? "Novel" : "Book", parent: "Item", renamingIdentifier: extra ? "Book" : nil,
          attributes: [
            AttributeDescription(
              "sheets", .int32, isOptional: false, default: .integer(1), renamingIdentifier: "pages"),
            AttributeDescription("format", .string, isOptional: false, default: .string("octavo")),
          ]))
    }
    if chance() { oldEntities.append(EntityDescription("Relic", attributes: [AttributeDescription("label", .string)])) }
    self.names = names
    old = ModelVersion(name: "1", model: try ManagedObjectModel(ModelDescription(entities: oldEntities)))
    new = ModelVersion(name: "2", model: try ManagedObjectModel(ModelDescription(entities: newEntities)))
  }
}

/// The writes that have been acknowledged.
struct OnlineLedger {
  private struct Entry: Equatable {
    var mark: String
    var count: Int?
    var owner: String?
    var tags: Int
  }

  private var entries: [String: Entry] = [:]
  private var next = 0

  /// Inserts, changes or deletes an item, and saves.
  mutating func write(
    with program: OnlineProgram, _ pair: RandomPair, _ side: RandomPair.Side, _ numbers: inout SeededRandom
  ) throws {
    func name(_ name: String) -> String { pair.name(name, side) }
    next += 1
    let items = try program.all("Item").sorted { Self.key($0) < Self.key($1) }
    let entities = program.model.entities.filter { $0.root.name == "Item" }.map(\.name)
    let choice = Int.random(in: 0..<6, using: &numbers)
    guard let item = items.randomElement(using: &numbers), choice > 1 else {
      let item = ManagedObject(entity: entities.randomElement(using: &numbers) ?? "Item", context: program.context)
      let mark = "mark \(next)"
      item[name("mark")] = mark
      let owner = ManagedObject(entity: "Owner", context: program.context)
      owner["label"] = "owner \(next)"
      item[name("owner")] = owner
      item[name("tags")] = RelationshipSet([ManagedObject(entity: "Tag", context: program.context)])
      try program.save()
      entries[Self.key(item)] = Entry(mark: mark, count: nil, owner: "owner \(next)", tags: 1)
      return
    }
    let key = Self.key(item)
    switch choice {
    case 2:
      item[name("mark")] = "mark \(next)"
      entries[key]?.mark = "mark \(next)"
    case 3:
      item[name("count")] = next
      entries[key]?.count = next
    case 4:
      let isGone = item[name("owner")] != nil
      item[name("owner")] = isGone ? nil : try program.all("Owner").first
      entries[key]?.owner = (item[name("owner")] as? ManagedObject)?["label"] as? String
      let tags = try program.all("Tag")
      item[name("tags")] = RelationshipSet(tags.prefix(2))
      entries[key]?.tags = min(2, tags.count)
    default:
      program.context.delete(item)
      entries[key] = nil
    }
    try program.save()
  }

  /// Compares everything that was acknowledged with what a program sees.
  func compare(_ program: OnlineProgram, _ pair: RandomPair, _ side: RandomPair.Side, _ name: String) throws {
    func property(_ name: String) -> String { pair.name(name, side) }
    var found: [String: Entry] = [:]
    let items = try program.all("Item")
    for item in items {
      found[Self.key(item)] = Entry(
        mark: item[property("mark")] as? String ?? "", count: item[property("count")] as? Int,
        owner: (item[property("owner")] as? ManagedObject)?["label"] as? String,
        tags: OnlineProgram.keys(item[property("tags")]).count)
      let mark = item[property("mark")] as? String
      for (derived, value) in [("loud", mark?.uppercased()), ("quiet", mark?.lowercased())]
      where item.entity.property(named: derived) != nil {
        #expect(item[derived] as? String == value, "\(name): \(derived) of \(mark ?? "")")
      }
      for required in item.entity.properties where required.attribute?.isOptional == false {
        #expect(item[required.name] != nil, "\(name): \(required.name)")
      }
    }
    #expect(items.count == entries.count, "\(name)")
    for owner in try program.all("Owner") where owner.entity.property(named: "itemCount") != nil {
      #expect(owner["itemCount"] as? Int == OnlineProgram.keys(owner["items"]).count, "\(name)")
    }
    for (key, entry) in entries where found[key] != entry {
      Issue.record("\(name): \(key) is \(found[key].map { "\($0)" } ?? "missing"), not \(entry)")
    }
  }

  static func key(_ object: ManagedObject) -> String { object.objectID.uriRepresentation().lastPathComponent }
}

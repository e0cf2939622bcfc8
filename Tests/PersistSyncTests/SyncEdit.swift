import Foundation
import Persist
import PersistTestSupport

/// Random changes of a context whose store has some version of ``SyncModel``. Changes of parts that the version doesn't
/// have do nothing.
struct SyncEdit {
  let context: ManagedObjectContext
  let names: SyncModelChain.Names
  /// The kinds of changes; nil for all.
  let kinds: [Int]?
  var random: SeededRandom

  private static let kindCount = 28

  /// A few kinds of changes, and those that create and delete objects.
  static func someKinds(_ random: inout SeededRandom) -> [Int] {
    let count = Int.random(in: 2...8, using: &random)
    return [0, 1, 3, 24] + (0..<count).map { _ in Int.random(in: 0..<kindCount, using: &random) }
  }

  mutating func number(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }

  private mutating func unique() -> String { "\(number(1_000_000_000))" }

  // MARK: Names

  private func create(_ entity: String) throws -> ManagedObject? {
    try names.entities[entity].map { try context.create($0) }
  }

  private mutating func any(_ entity: String) throws -> ManagedObject? {
    guard let name = names.entities[entity] else { return nil }
    let objects = try context.fetch(FetchRequest<ManagedObject>(name)).sorted {
      ($0.objectID.primaryKey ?? 0) < ($1.objectID.primaryKey ?? 0)
    }
    return objects.isEmpty ? nil : objects[number(objects.count)]
  }

  private func first(_ object: ManagedObject) -> String { names.entity(named: object.entity.name) ?? "" }

  /// The name of an object's property; nil if the version doesn't have it.
  private func name(_ name: String, of object: ManagedObject) -> String? {
    guard let own = names.property(name, of: first(object)), object.entity.property(named: own) != nil else {
      return nil
    }
    return own
  }

  private func set(_ property: String, _ value: Any?, of object: ManagedObject?) throws {
    guard let object, let name = name(property, of: object) else { return }
    try object.setValue(value, forKey: name)
  }

  private func many(_ property: String, of object: ManagedObject?) throws -> RelationshipSet<ManagedObject>? {
    guard let object, let name = name(property, of: object) else { return nil }
    return try object.many(name)
  }

  // MARK: Changes

  private mutating func toggle(_ property: String, _ entity: String, _ member: String) throws {
    guard let owner = try any(entity), let other = try any(member), let all = try many(property, of: owner) else {
      return
    }
    if all.contains(other) { all.remove(other) } else { all.insert(other) }
  }

  /// Moves a member of an ordered relationship.
  private mutating func move(_ property: String, of entity: String) throws {
    guard let all = try many(property, of: any(entity)), all.count > 1 else { return }
    all.insert(all[number(all.count)], at: number(all.count - 1))
  }

  mutating func change() throws {
    switch kinds.map({ $0[number($0.count)] }) ?? number(Self.kindCount) {
    case 0: try set("label", unique(), of: create("Box"))
    case 1, 2: try createItem()
    case 3:
      let tag = try create("Tag")
      try set("label", "t\(number(4))", of: tag)
      try set("color", "c\(number(100))", of: tag)
    case 4: try set("name", number(8) == 0 ? nil : "n\(number(100))", of: any("Item"))
    case 5:
      try set("price", Decimal(number(40)) / 8, of: any("Item"))
      try set("photo", number(2) == 0 ? nil : Data(count: number(3) * (66 << 10)), of: any("Item"))
    case 6: try set("box", number(4) == 0 ? nil : any("Box"), of: any("Item"))
    case 7, 8: try toggle("tags", "Item", "Tag")
    case 9: try move("items", of: "Box")
    case 10: try move("tags", of: "Item")
    case 11: try toggle("friends", "Item", "Item")
    case 12: try set("partner", number(4) == 0 ? nil : any("Item"), of: any("Item"))
    case 13:
      let lid = try any("Lid") ?? create("Lid")
      try set("color", unique(), of: lid)
      try set("box", any("Box"), of: lid)
    case 14: try set("label", "t\(number(4))", of: any("Tag"))
    case 15: try set("rank", number(100), of: any("Tag"))
    case 16...18: try changeOneWay()
    case 19: try changeSize()
    case 20: try changeWhole()
    case 21: try set("first", number(4) == 0 ? nil : any("Item"), of: any("Box"))
    case 22: try changeNumber()
    case 26, 27: try changeSettings()
    case 23:
      let entity = ["Box", "Item", "Tag", "Lid", "Sticker"][number(5)]
      try set("extra\(1 + number(4))", "e\(unique())", of: any(entity))
      try set("weight", Double(number(100)), of: any("Part"))
      try set("when", Date(timeIntervalSinceReferenceDate: Double(number(100))), of: any("Item"))
    default:
      let entity = ["Box", "Item", "Item", "Tag", "Lid", "Sticker"][number(6)]
      guard number(2) == 0, let object = try any(entity) else { return }
      context.delete(object)
    }
  }

  /// Creates objects of all entities.
  mutating func createSome() throws {
    for _ in 0..<2 {
      try set("label", unique(), of: create("Box"))
      try createItem()
    }
    try createItem()
    for label in ["t0", "t1"] { try set("label", label, of: create("Tag")) }
    let lid = try create("Lid")
    try set("box", any("Box"), of: lid)
    for entity in ["Sticker", "Star"] {
      let sticker = try create(entity)
      try set("shape", "round", of: sticker)
      if let sticker { try many("stickers", of: any("Box"))?.insert(sticker) }
    }
  }

  private mutating func createItem() throws {
    let item = try create(number(3) == 0 ? "Part" : "Item")
    // Sometimes two devices create the same object, or one creates it again.
    let id = number(3) == 0 ? number(5) : 10 + number(1_000_000_000)
    try set("id", UUID(uuidString: "00000000-0000-0000-0000-\(100_000_000_000 + id)"), of: item)
    try set("name", "n\(number(100))", of: item)
    try set("box", any("Box"), of: item)
  }

  /// Changes a part of a composite value.
  private mutating func changeSize() throws {
    guard let box = try any("Box"), let name = name("size", of: box) else { return }
    var size = box[name] as? [String: Any] ?? [:]
    switch number(4) {
    case 0: size["width"] = number(100)
    case 1: size["unit"] = "u\(number(100))"
    case 2: size["margin"] = ["left": Double(number(9)), "right": Double(number(9))]
    default: size = [:]
    }
    try box.setValue(size.isEmpty ? nil : size, forKey: name)
  }

  /// Changes members of a JSON value, or the whole.
  private mutating func changeSettings() throws {
    guard let box = try any("Box"), let name = name("settings", of: box) else { return }
    guard let text = box[name] as? String, number(10) > 0 else {
      return try box.setValue([nil, "{}", "{\"a\":1}", "none"][number(4)], forKey: name)
    }
    guard var settings = try? JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any] else {
      return try box.setValue("{}", forKey: name)
    }
    for _ in 0...number(3) { change(&settings, depth: 0) }
    try box.setValue(Self.text(settings), forKey: name)
  }

  private mutating func change(_ members: inout [String: Any], depth: Int) {
    let name = ["a", "b", "c"][number(3)]
    switch number(6) {
    case 0: members[name] = nil
    case 1: members[name] = ["x", "y"].prefix(number(3)).map { "\($0)\(number(9))" }
    case 2, 3:
      guard depth < 2 else { return members[name] = number(100) }
      var inner = members[name] as? [String: Any] ?? [:]
      change(&inner, depth: depth + 1)
      members[name] = inner
    default: members[name] = number(100)
    }
  }

  static func text(_ members: [String: Any]) throws -> String {
    let options: JSONSerialization.WritingOptions = [.sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try JSONSerialization.data(withJSONObject: members, options: options), as: UTF8.self)
  }

  private mutating func changeWhole() throws {
    guard let box = try any("Box"), let whole = try any("Box"), let name = name("whole", of: box) else { return }
    var above: ManagedObject? = whole
    while let next = above, next !== box { above = next[name] as? ManagedObject }
    if above == nil { try box.setValue(whole, forKey: name) }
  }

  /// Changes a number whose type is that of the version: older versions have no equal of large ones.
  private mutating func changeNumber() throws {
    for (entity, property) in [("Item", "flag"), ("Star", "points"), ("Tag", "rank")] {
      guard let object = try any(entity), let name = name(property, of: object) else { continue }
      let type = object.entity.property(named: name)?.attribute?.type
      let limit = [AttributeType.boolean: 2, .int16: 30_000, .int32: 2_000_000_000][type ?? .int64] ?? 1 << 60
      let value = number(limit)
      if type == .boolean { object[name] = value == 1 } else { object[name] = value }
    }
  }

  /// Changes members of to-many relationships without an inverse.
  private mutating func changeOneWay() throws {
    if number(4) == 0 { return try toggle("badges", "Box", "Tag") }
    let entity = ["Box", "Item"][number(2)]
    guard let stickers = try many("stickers", of: any(entity)) else { return }
    switch number(5) {
    case 0, 1:
      guard let sticker = try create(number(3) == 0 ? "Star" : "Sticker") else { return }
      try set("text", unique(), of: sticker)
      try set("shape", "round", of: sticker)
      stickers.insert(sticker)
    case 2:
      guard entity == "Box", stickers.count > 1 else { return }
      stickers.insert(stickers[number(stickers.count)], at: number(stickers.count - 1))
    default:
      guard let sticker = try any("Sticker") else { return }
      if stickers.contains(sticker) { stickers.remove(sticker) } else { stickers.insert(sticker) }
    }
  }
}

import Foundation
import Persist
import PersistOnlineMigrations
import PersistPostgreSQL
import PersistTestSupport
import PersistTools
import Testing

/// The law of places with other content: what a program writes has an equal, or the default for a missing value, in the
/// other model, and nothing is lost or doubled.
@Suite("Laws of columns with other values in each model", .needsServer)
struct OnlineValuesLawTests {
  @Test(
    "Three programs write through expansion, backfill, contraction and abandoning, and both see equal values",
    .law("online-values", short: 8, long: 300))
  func randomWriters() {
    forEachSeed { seed in
      var numbers = SeededRandom(seed: seed)
      let pair = try RandomValuesPair(&numbers)
      try OnlineCourse.run(
        seed: seed, from: pair.old, to: pair.new, ValuesLedger(pair), numbers, counts: (2...9, 6...20)
      ) { course in
        if seed % 3 == 0 {
          try course.abort(to: pair.old)
        } else {
          let isRefused = pair.losesOrder || course.writes.hasUnfitParts
          if isRefused {
            #expect(throws: PersistenceError.self, "\(course.name)") { try course.migration.contract() }
          }
          try course.contract(force: isRefused) { $0.forgetOtherBoxes() }
          try migrateOnward(pair, &course, isOnline: seed % 2 == 0)
        }
        // Parts without a box remain if the store is contracted by force.
        let hasUnfit = course.writes.hasUnfitParts
        try course.expectIntact { hasUnfit && $0.kind == .missingValue }
      }
    }
  }

  /// The places with other names are those of an ordinary store for the next migration.
  private func migrateOnward(
    _ pair: RandomValuesPair, _ course: inout OnlineCourse<ValuesLedger>, isOnline: Bool
  ) throws {
    let (url, name) = (course.url, course.name)
    let next = try pair.next()
    let second = try OnlineProgram(pair.new, url)
    if isOnline {
      let migration = OnlineMigration(storeAt: url)
      let plan = try migration.expand(to: next)
      #expect(plan.isPossible, "\(name): \(plan)")
      try migration.backfill()
      let third = try OnlineProgram(next, url)
      for _ in 0..<4 {
        let writer = Bool.random(using: &course.numbers) ? second : third
        try course.writes.write(writer, .new, &course.numbers)
      }
      try course.writes.compare(third, .new, "\(name), third version beside the second")
      try course.writes.compare(second, .new, "\(name), second version beside the third")
      try third.close()
      try second.close()
      try migration.contract()
    } else {
      try second.close()
      try AutomaticMigrator().migrate(storeAt: url, to: next, registry: nil)
      let columns = try ForeignSQL.run(
        ["SELECT column_name FROM information_schema.columns WHERE table_schema = current_schema()"], at: url)
      let others = columns.map { $0[0] }.filter { $0.last?.isNumber == true }
      #expect(others.isEmpty, "\(name)")
    }
    let third = try OnlineProgram(next, url)
    try course.writes.compare(third, .new, "\(name), third version")
    try third.close()
  }
}

/// The writes that have been acknowledged, in the terms of both models.
struct ValuesLedger: AcknowledgedWrites {
  /// A value of each model as a number; nil for none.
  private struct Value: Equatable {
    var old: Int?
    var new: Int?
  }

  private struct Entry: Equatable {
    var entity: String
    var values: [String: Value]
    var note: String?
    /// The boxes of a part, and the one that a model with room for one shows.
    var boxes: Set<String> = []
    var box: String?

    /// Shows the first of the boxes if the shown one has gone.
    mutating func chooseBox() {
      if box.map(boxes.contains) != true { box = boxes.min { ValuesLedger.position($0) < ValuesLedger.position($1) } }
    }
  }

  private let pair: RandomValuesPair
  private var entries: [String: Entry] = [:]
  private var next = 0
  /// Whether the store serves both models.
  var isExpanded = false

  init(_ pair: RandomValuesPair) { self.pair = pair }

  private func name(_ entity: String, _ side: OnlineSide) -> String {
    side == .old ? entity : pair.entities[entity] ?? entity
  }

  /// Inserts, changes or deletes an object, and saves.
  mutating func write(_ program: OnlineProgram, _ side: OnlineSide, _ numbers: inout SeededRandom) throws {
    next += 1
    let entity = ["Part", "Screw", "Screw", "Box", "Crate"].randomElement(using: &numbers) ?? "Part"
    var request = FetchRequest(name(entity, side))
    request.includesSubentities = false
    program.context.refreshAllObjects()
    let present = try program.context.fetch(request).sorted { Self.key($0) < Self.key($1) }
    let choice = Int.random(in: 0..<6, using: &numbers)
    if choice == 0, let object = present.randomElement(using: &numbers) {
      let key = Self.key(object)
      let isNeeded = entries.values.contains { $0.box == key }
      // Its own model needs the box.
      if isNeeded, side == .old ? pair.needsBox.old : pair.needsBox.new { return }
      program.context.delete(object)
      if isNeeded, isExpanded, side == .new, pair.needsBox.old {
        return try expectRefusal(program)
      }
      try program.save()
      entries[key] = nil
      for other in entries.keys where entries[other]?.boxes.remove(key) != nil { entries[other]?.chooseBox() }
      return
    }
    let isNew = choice < 3 || present.isEmpty
    let object = isNew
      ? ManagedObject(entity: name(entity, side), context: program.context) : present.randomElement(using: &numbers)
    guard let object else { return }
    var changes: [(String, Int?)] = []
    let entities = entity == "Screw" ? ["Part", "Screw"] : [entity]
    for attribute in pair.attributes where entities.contains(attribute.entity) {
      guard isNew || Int.random(in: 0..<3, using: &numbers) == 0 else { continue }
      let description = side == .old ? attribute.old : attribute.new
      let value: Int? = description.isOptional && Int.random(in: 0..<4, using: &numbers) == 0
        ? nil : attribute.isFlag ? Int.random(in: 0...1, using: &numbers) : Int.random(in: 0...50, using: &numbers)
      object[description.name] = value.map { Self.value($0, description.type) }
      changes.append((attribute.oldName, value))
    }
    let isPart = entity == "Part" || entity == "Screw"
    if isPart { object["note"] = "Note \(next)" }
    if entity == "Crate" { object["mark"] = "Note \(next)" }
    var boxes: Set<String>?
    if isPart {
      let isMany = side == .old ? pair.isMany.old : pair.isMany.new
      var all = try program.all(name("Box", side)).sorted { Self.key($0) < Self.key($1) }
      all.shuffle(using: &numbers)
      let isRequired = side == .old ? pair.needsBox.old : pair.needsBox.new
      if isRequired, all.isEmpty { all = [ManagedObject(entity: name("Box", side), context: program.context)] }
      // A program with the new model can't store several as long as the old one has room for one.
      let limit = isMany && (side == .old || !isExpanded) ? 3 : 1
      let chosen = Array(all.prefix(Int.random(in: (isRequired ? 1 : 0)...limit, using: &numbers)))
      if isMany {
        object["boxes"] = RelationshipSet(chosen)
      } else {
        object["box"] = chosen.first
      }
      if chosen.isEmpty, isExpanded, side == .new, pair.needsBox.old {
        return try expectRefusal(program)
      }
      try program.save()
      for box in chosen where entries[Self.key(box)] == nil {
        entries[Self.key(box)] = Entry(entity: "Box", values: [:])
      }
      boxes = Set(chosen.map(Self.key))
    } else {
      try program.save()
    }
    let key = Self.key(object)
    if isNew { entries[key] = Entry(entity: entity, values: [:]) }
    entries[key]?.note = entity == "Box" ? nil : "Note \(next)"
    if let boxes { record(boxes, of: key, side) }
    for (name, value) in changes { record(value, name, of: key, side) }
  }

  private func expectRefusal(_ program: OnlineProgram) throws {
    let error = #expect(throws: PersistenceError.self) { try program.save() }
    #expect(error?.code == .validationRule, "\(error as Any)")
    program.context.rollback()
  }

  private mutating func record(_ boxes: Set<String>, of key: String, _ side: OnlineSide) {
    if pair.isMany.old, !pair.isMany.new, side == .new {
      // A program with room for one replaces the one that it knows.
      if let shown = entries[key]?.box { entries[key]?.boxes.remove(shown) }
      entries[key]?.boxes.formUnion(boxes)
      entries[key]?.box = boxes.first
    } else {
      entries[key]?.boxes = boxes
    }
    entries[key]?.chooseBox()
  }

  /// Whether a part has several boxes and may have one, or none and has to have one.
  var hasUnfitParts: Bool {
    entries.values.contains { entry in
      let isPart = entry.entity == "Part" || entry.entity == "Screw"
      return isPart && (!pair.isMany.new && entry.boxes.count > 1 || pair.needsBox.new && entry.boxes.isEmpty)
    }
  }

  /// Keeps only the boxes for which the new model has room.
  mutating func forgetOtherBoxes() {
    guard !pair.isMany.new else { return }
    for (key, entry) in entries { entries[key]?.boxes = Set([entry.box].compactMap { $0 }) }
  }

  /// Derives what the other model has from a written value.
  private mutating func record(_ value: Int?, _ name: String, of key: String, _ side: OnlineSide) {
    guard let attribute = pair.attributes.first(where: { $0.oldName == name }) else { return }
    func completed(_ value: Int?, _ description: AttributeDescription) -> Int? {
      value ?? (description.isOptional ? nil : Self.number(description.defaultValue))
    }
    let present = entries[key]?.values[name]
    switch side {
    case .old where present == nil || present?.old != value:
      entries[key]?.values[name] = Value(old: value, new: completed(value, attribute.new))
    case .new where present == nil || present?.new != value:
      entries[key]?.values[name] = Value(old: completed(value, attribute.old), new: value)
    default: break
    }
  }

  /// Compares everything that was acknowledged with what a program sees.
  func compare(_ program: OnlineProgram, _ side: OnlineSide, _ place: String) throws {
    var seen: Set<String> = []
    for entity in ["Part", "Screw", "Box", "Crate"] {
      var request = FetchRequest(name(entity, side))
      request.includesSubentities = false
      program.context.refreshAllObjects()
      for object in try program.context.fetch(request) {
        let key = Self.key(object)
        seen.insert(key)
        guard let entry = entries[key], entry.entity == entity else {
          Issue.record("\(place): \(key) shouldn't be there")
          continue
        }
        for (name, value) in entry.values {
          guard let attribute = pair.attributes.first(where: { $0.oldName == name }) else { continue }
          let found = Self.number(object[side == .old ? attribute.oldName : attribute.newName])
          let expected = side == .old ? value.old : value.new
          let forms = [attribute.old, attribute.new].map { "\($0.type) \($0.isOptional) \($0.defaultValue)" }
          #expect(found == expected, "\(place): \(key).\(name), \(forms)")
        }
        switch entity {
        case "Box":
          let isMany = side == .old ? pair.isMany.old : pair.isMany.new
          let count = entries.values.count { isMany ? $0.boxes.contains(key) : $0.box == key }
          #expect(object["partCount"] as? Int == count, "\(place): \(key)")
        case "Crate": #expect(object["mark"] as? String == entry.note, "\(place): \(key)")
        default:
          #expect(object["note"] as? String == entry.note, "\(place): \(key)")
          let isMany = side == .old ? pair.isMany.old : pair.isMany.new
          let boxes = isMany
            ? (object["boxes"] as? RelationshipSet<ManagedObject>).map { Set($0.map(Self.key)) } ?? []
            : Set([(object["box"] as? ManagedObject).map(Self.key)].compactMap { $0 })
          #expect(boxes == (isMany ? entry.boxes : Set([entry.box].compactMap { $0 })), "\(place): \(key)")
          let derivation = program.model.entitiesByName[name("Part", side)]?.attribute(named: "label")?.derivation
          let label = derivation?.hasPrefix("upper") == true ? entry.note?.uppercased() : entry.note?.lowercased()
          #expect(object["label"] as? String == label, "\(place): \(key)")
        }
      }
    }
    #expect(seen == Set(entries.keys), "\(place)")
  }

  /// The last two parts of the identifier with the entity of the old model, since keys are those of a hierarchy.
  private static func key(_ object: ManagedObject) -> String {
    let id = object.objectID.uriRepresentation().lastPathComponent
    return object.entity.properties.contains { $0.name == "mark" } ? "crate \(id)"
      : object.entity.properties.contains { $0.name == "parts" } ? "box \(id)" : id
  }

  /// The number in a key.
  fileprivate static func position(_ key: String) -> Int { Int(key.drop { !$0.isNumber }) ?? 0 }

  private static func value(_ number: Int, _ type: AttributeType) -> any Sendable {
    switch type {
    case .boolean: number != 0
    case .string: "v\(number)"
    case .double: Double(number)
    case .float: Float(number)
    case .decimal: Decimal(number)
    default: number
    }
  }

  private static func number(_ value: Any?) -> Int? {
    switch value {
    case let stored as StoredValue:
      switch stored {
      case .boolean(let flag): flag ? 1 : 0
      case .integer(let number): Int(number)
      case .double(let number): Int(number)
      case .decimal(let number): NSDecimalNumber(decimal: number).intValue
      case .string(let text): Int(text.dropFirst())
      default: nil
      }
    case let flag as Bool: flag ? 1 : 0
    case let number as Int: number
    case let number as Double: Int(number)
    case let number as Float: Int(number)
    case let number as Decimal: NSDecimalNumber(decimal: number).intValue
    case let text as String: Int(text.dropFirst())
    case let number as any BinaryInteger: Int(number)
    default: nil
    }
  }
}

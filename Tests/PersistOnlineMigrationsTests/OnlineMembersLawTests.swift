import Foundation
import Persist
import PersistOnlineMigrations
import PersistPostgreSQL
import PersistTestSupport
import Testing

/// The law of relationships that become to-many or to-one, with members that only one of the models knows: programs see
/// and replace those that their model has, and the others remain, unless one takes the place of the other.
@Suite("Laws of members that only one model knows", .needsServer)
struct OnlineMembersLawTests {
  @Test(
    "Programs with both models write through expansion, backfill, contraction and abandoning",
    .law("online-members", short: 6, long: 300))
  func randomWriters() {
    forEachSeed { seed in
      var numbers = SeededRandom(seed: seed)
      let pair = try MembersPair(&numbers)
      try OnlineCourse.run(
        seed: seed, from: pair.old, to: pair.new, MembersLedger(pair), numbers, counts: (4...12, 12...36)
      ) { course in
        try course.expectIntact(", serving")
        if seed % 3 == 0 {
          try course.abort(to: pair.old)
        } else {
          try course.contract(force: true) { $0.forgetOthers() }
        }
        try course.expectIntact()
      }
    }
  }
}

/// Two models of notes about items, of which there are kinds that only one of the models has.
struct MembersPair {
  let old: ModelVersion
  let new: ModelVersion
  /// Whether a note has several items in the old model and one in the new, instead of the reverse.
  let isManyBefore: Bool
  /// The kinds of items of each model.
  let kinds: (old: [String], new: [String])

  init(_ numbers: inout SeededRandom) throws {
    func chance() -> Bool { Bool.random(using: &numbers) }
    let (isManyBefore, hasRelic, hasNovel, hasLetter) = (chance(), chance(), chance(), chance())
    func version(isNew: Bool) throws -> ModelVersion {
      let isMany = isNew != isManyBefore
      let (own, former) = isMany ? ("items", "item") : ("item", "items")
      let items = isMany
        ? RelationshipDescription(own, toMany: "Item", inverse: "notes", renamingIdentifier: isNew ? former : nil)
        : RelationshipDescription(own, to: "Item", inverse: "notes", renamingIdentifier: isNew ? former : nil)
      var entities = [
        EntityDescription("Item", relationships: [RelationshipDescription("notes", toMany: "Note", inverse: own)]),
        EntityDescription("Note", attributes: [AttributeDescription("text", .string)], relationships: [items]),
      ]
      if !isNew, hasRelic { entities.append(EntityDescription("Relic", parent: "Item")) }
      if isNew, hasNovel { entities.append(EntityDescription("Novel", parent: "Item")) }
      if isNew, hasLetter { entities.append(EntityDescription("Letter", parent: "Note")) }
      let name = isNew ? "2" : "1"
      return ModelVersion(
        name: name, model: try ManagedObjectModel(ModelDescription(entities: entities, versionIdentifiers: [name])))
    }
    (old, new) = try (version(isNew: false), version(isNew: true))
    self.isManyBefore = isManyBefore
    kinds = (["Item"] + (hasRelic ? ["Relic"] : []), ["Item"] + (hasNovel ? ["Novel"] : []))
  }

  func isMany(_ side: OnlineSide) -> Bool { (side == .new) != isManyBefore }
  func kinds(_ side: OnlineSide) -> [String] { side == .old ? kinds.old : kinds.new }
}

struct MembersLedger: AcknowledgedWrites {
  private struct Note {
    var items: Set<Int> = []
    /// The item that a model with room for one shows.
    var shown: Int?
  }

  private let pair: MembersPair
  private var items: [Int: String] = [:]
  private var notes: [Int: Note] = [:]
  var isExpanded = false

  init(_ pair: MembersPair) { self.pair = pair }

  private static func key(_ object: ManagedObject) -> Int {
    Int(object.objectID.uriRepresentation().lastPathComponent.drop { !$0.isNumber }) ?? 0
  }

  private func isKnown(_ item: Int, _ side: OnlineSide) -> Bool {
    items[item].map { pair.kinds(side).contains($0) } ?? false
  }

  /// Shows the first item that the model knows if the shown one has gone.
  private mutating func chooseItem(of note: Int) {
    let side: OnlineSide = pair.isManyBefore ? .new : .old
    guard let present = notes[note], present.shown.map(present.items.contains) != true else { return }
    let first = present.items.filter { isKnown($0, side) }.min()
    notes[note]?.shown = first
  }

  mutating func write(_ program: OnlineProgram, _ side: OnlineSide, _ numbers: inout SeededRandom) throws {
    let present = try program.all("Item").sorted { Self.key($0) < Self.key($1) }
    switch Int.random(in: 0..<8, using: &numbers) {
    case 0, 1:
      let kind = pair.kinds(side).randomElement(using: &numbers) ?? "Item"
      let item = try program.insert(kind)
      try program.save()
      items[Self.key(item)] = kind
    case 2:
      guard present.count > 2, let item = present.randomElement(using: &numbers) else { return }
      let key = Self.key(item)
      program.context.delete(item)
      try program.save()
      items[key] = nil
      for note in notes.keys where notes[note]?.items.remove(key) != nil { chooseItem(of: note) }
    default:
      let known = try program.all("Note").filter { $0.entity.name == "Note" }.sorted { Self.key($0) < Self.key($1) }
      let note = known.count > 4 || Bool.random(using: &numbers) ? known.randomElement(using: &numbers) : nil
      let object = try note ?? program.insert("Note")
      object["text"] = "text \(Int.random(in: 0...99, using: &numbers))"
      let chosen = Array(present.shuffled(using: &numbers).prefix(Int.random(in: 0...3, using: &numbers)))
      try assign(pair.isMany(side) ? chosen : Array(chosen.prefix(1)), to: object, isNew: note == nil, program, side)
    }
  }

  private mutating func assign(
    _ chosen: [ManagedObject], to object: ManagedObject, isNew: Bool, _ program: OnlineProgram, _ side: OnlineSide
  ) throws {
    let keys = Set(chosen.map(Self.key))
    if pair.isMany(side) { object["items"] = RelationshipSet(chosen) } else { object["item"] = chosen.first }
    // Programs with the old model have room for one.
    let isRefused = isExpanded && side == .new && !pair.isManyBefore && keys.count { isKnown($0, .old) } > 1
    if isRefused {
      let error = #expect(throws: PersistenceError.self) { try program.save() }
      #expect(error?.code == .validationRule, "\(error as Any)")
      return program.context.rollback()
    }
    try program.save()
    let key = Self.key(object)
    let note = notes[key] ?? Note()
    if pair.isMany(side) {
      let visible = note.items.filter { isKnown($0, side) }
      guard isNew || visible != keys else { return }
      var items = note.items.subtracting(visible).union(keys)
      // A member that only the other model has gives way.
      if !pair.isManyBefore, items.contains(where: { isKnown($0, .old) && isKnown($0, .new) }) {
        items = items.filter { isKnown($0, side) }
      }
      notes[key] = Note(items: items, shown: note.shown)
    } else {
      guard isNew || note.shown != keys.first else { return }
      let remaining = pair.isManyBefore
        ? note.items.subtracting([note.shown].compactMap { $0 }) : note.items.filter { !isKnown($0, side) }
      notes[key] = Note(items: remaining.union(keys), shown: keys.first)
    }
    chooseItem(of: key)
  }

  /// Forgets the items that the new model doesn't have, and those that it has no room for.
  mutating func forgetOthers() {
    for item in Array(items.keys) where !isKnown(item, .new) {
      items[item] = nil
      for note in notes.keys { notes[note]?.items.remove(item) }
    }
    guard pair.isManyBefore else { return }
    for (note, value) in notes { notes[note]?.items = Set([value.shown].compactMap { $0 }) }
  }

  func compare(_ program: OnlineProgram, _ side: OnlineSide, _ place: String) throws {
    let found = try program.all("Note").map { note -> (Int, Set<Int>) in
      let items = pair.isMany(side)
        ? (note["items"] as? RelationshipSet<ManagedObject>).map { Set($0.map(Self.key)) } ?? []
        : Set([(note["item"] as? ManagedObject).map(Self.key)].compactMap { $0 })
      return (Self.key(note), items)
    }
    let expected = notes.mapValues { note in
      pair.isMany(side) ? note.items.filter { isKnown($0, side) } : Set([note.shown].compactMap { $0 })
    }
    #expect(Dictionary(found, uniquingKeysWith: { first, _ in first }) == expected, "\(place): \(pair.kinds)")
    for item in try program.all("Item") {
      let key = Self.key(item)
      let own = Set(OnlineProgram.keys(item["notes"]).compactMap { Int($0.drop { !$0.isNumber }) })
      #expect(own == Set(expected.filter { $0.value.contains(key) }.keys), "\(place): item \(key)")
    }
  }
}

import Foundation
import Persist
import PersistTestSupport
import Testing

@testable import PersistSync

@Suite("Synchronization: facts that no replica makes")
struct SyntheticSetTests {
  /// Well-formed change sets whose facts contradict each other and the model.
  struct Generator {
    var random: SeededRandom
    let model: ManagedObjectModel
    let tag: ModelTag
    let identities: [Identity]
    let replicas: [UUID]

    init(_ seed: UInt64, _ model: ManagedObjectModel, _ sources: SeededSources) {
      random = SeededRandom(seed: seed)
      self.model = model
      tag = ModelTag(digest: model.description.digest)
      replicas = (0..<3).map { _ in sources.uuid() }
      identities =
        (0..<6).map { Identity(.uuid(Self.id($0)), of: "Item") }
        + (0..<6).map { Identity(store: "store", entity: "Box", key: Int64($0), created: 1) }
        + [Identity(bytes: Data([255, 0, 7])), Identity(.string("Tea"), of: "Nothing")]
      names = Set(model.entities.flatMap(\.properties).flatMap { property in
        property.attribute?.type == .composite
          ? property.elements.map { $0.path.joined(separator: ".") } : [property.name]
      }).sorted()
    }

    /// The names of all properties and elements.
    private let names: [String]

    static func id(_ number: Int) -> UUID {
      UUID(uuidString: "00000000-0000-0000-0000-10000000000\(number)") ?? UUID()
    }

    mutating func number(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }
    mutating func any<Value>(_ values: [Value]) -> Value { values[number(values.count)] }

    private let jsonTexts = ["{}", "{\"a\":1}", "{\"a\":{\"b\":{\"c\":2}},\"é\":null}", "{\"b\":[{\"z\":1,\"a\":2}]}"]

    /// A value that other objects may have as well.
    mutating func value(for name: String) -> StoredValue {
      let path = name.split(separator: ".").map(String.init)
      let property = model.entities.lazy.compactMap { $0.property(named: path.first ?? "") }.first
      let element = property?.elements.first { $0.path == path }?.attribute
      if name.hasPrefix("settings"), number(4) > 0 { return .string(any(jsonTexts)) }
      guard number(3) > 0, let type = (element ?? property?.attribute)?.type else { return anyValue() }
      switch type {
      case .boolean: return .boolean(number(2) == 0)
      case .int16, .int32, .int64: return .integer(Int64(number(3)))
      case .double, .float: return .double(any([0, -0.0, 1.5]))
      case .decimal: return .decimal(any([0, 1, Decimal(string: "0.1") ?? 0]))
      case .date: return number(2) == 0 ? .null : .date(Date(timeIntervalSinceReferenceDate: any([0, -0.0, 5])))
      case .string: return .string(any(["a", "b", "\u{e9}", "e\u{301}"]))
      default: return anyValue()
      }
    }

    mutating func anyValue() -> StoredValue {
      switch number(11) {
      case 0: .null
      case 1: .integer(any([0, -1, .max, .min, 70_000]))
      case 2: .double(any([.nan, .infinity, -0.0, 1e300]))
      case 3: .string(any(["", "t1", "\u{0}", String(repeating: "é", count: 300)]))
      case 4: .date(Date(timeIntervalSinceReferenceDate: any([.nan, 1e18, 0])))
      case 5: .data(Data(count: number(3) * 60_000))
      case 6: .uuid(Self.id(1))
      case 7: .uri(any(["", "a:b", " "]))
      case 8: .decimal(any([.greatestFiniteMagnitude, 0, -1]))
      case 9: .composite(["width": .integer(1), "x": .composite(["y": .null])])
      default: .boolean(number(2) == 0)
      }
    }

    mutating func property() -> PropertyName {
      let entity = any(model.entities)
      let favourites = ["label", "items", "stickers", "box", "partner", "nothing", ""]
      let name = number(4) == 0 ? any(favourites) : any(names)
      return PropertyName(
        model: number(10) == 0 ? ModelTag(number: 7) : tag, entity: number(10) == 0 ? "Nothing" : entity.name,
        name: name)
    }

    mutating func register(_ content: Data) -> Data {
      let time = any([0, 1 << 40, 1 << 60, SyncFormat.maximumTime]) &- UInt64(number(2))
      return Register(
        life: any([0, 1, 1, 1, 2, 3, SyncFormat.maximumLife]), otherLife: any([0, 1, 1, 1, 2, 3]),
        stamp: Stamp(time: min(time, SyncFormat.maximumTime), replica: any(replicas + [Stamp.origin])), content: content
      ).bytes
    }

    /// Whether facts only concern lives, values and references.
    var isPlain = false

    mutating func fact() -> ChangeSet.Fact {
      let (identity, other) = (any(identities), any(identities))
      switch number(isPlain ? 6 : 12) {
      case 0, 1, 2:
        let name = number(12) == 0 ? "Nothing" : any(model.entities).name
        let life = Life(count: any([1, 1, 1, 1, 2, 3, SyncFormat.maximumLife]), model: tag, entity: name)
        return ChangeSet.Fact(key: .life(identity), value: life.bytes)
      case 3, 4:
        let property = property()
        let content = PortableValue.bytes(value(for: property.name))
        return ChangeSet.Fact(key: .value(identity, property), value: register(content))
      case 5:
        let content = PortableValue.bytes(referringTo: other, life: any([1, 1, 3, 0]))
        return ChangeSet.Fact(key: .value(identity, property()), value: register(content))
      case 6:
        return ChangeSet.Fact(
          key: .member(identity, property(), other), value: register(any([Register.present, Register.absent])))
      case 7:
        let place = Data((0..<number(4)).map { _ in UInt8(any([0, 1, 128, 255])) } + [UInt8(any([1, 128, 255]))])
        return ChangeSet.Fact(key: .place(identity, property(), other), value: register(place))
      case 10, 11:
        let path = (0...number(3)).map { _ in Data(any(["a", "b", "c", "é"]).utf8) }
        let name = number(4) == 0 ? property() : PropertyName(model: tag, entity: "Box", name: "settings")
        let text = Data(any(jsonTexts + ["", "", "1", "[]", "\"\\u0000\""]).utf8)
        return ChangeSet.Fact(key: .part(identity, name, JSONPath(path)), value: register(text))
      case 8 where number(3) == 0: return ChangeSet.Fact(key: .union(identity, other), value: Register.present)
      default:
        let content = number(4) == 0 ? PortableValue.bytes(.null) : PortableValue.bytes(referringTo: other, life: 1)
        return ChangeSet.Fact(key: .owner(identity, property()), value: register(content))
      }
    }

    mutating func sets() -> [ChangeSet] {
      replicas.flatMap { replica in
        (1...(isPlain ? 12 : 4)).map { number in
          var facts: [FactKey: ChangeSet.Fact] = [:]
          for _ in 0..<(isPlain ? 1 + self.number(5) : 20) {
            let fact = fact()
            facts[fact.key] = fact
          }
          return ChangeSet(SyncEntry(replica: replica, number: Int64(number)), Array(facts.values))
        }
      }
    }
  }

  /// The store of a replica that has applied change sets in one order.
  private static func outcome(
    _ batches: [[ChangeSet]], _ model: ManagedObjectModel, _ seed: UInt64
  ) throws -> (contents: [String], facts: [String], faults: [String]) {
    try withTemporaryFolder { folder in
      let device = try Device(
        folder.appendingPathComponent("a.sqlite"), model, identifiedBy: [:],
        sources: SeededSources(seed).sources(years: 0))
      for batch in batches { _ = try device.replica.work.apply(batch) }
      let contents = try device.contents()
      let outdated = try device.outdatedRows()
      let tables = try device.replica.work.open().step.tables
      let facts = try tables.facts(in: tables.entries(withPrefix: Data([FactKey.objectMark]))).map {
        "\($0.key) \($0.value.map { String($0) }.joined(separator: " "))"
      }
      // The store is still one that a program can change.
      let context = ManagedObjectContext(device.coordinator)
      try context.create("Box")["label"] = "new"
      try context.save()
      _ = try device.replica.work.capture()
      try device.close()
      return (contents, facts.sorted(), outdated)
    }
  }

  /// The differences between stores that have applied the same change sets one by one, in another order and repeatedly,
  /// and all at once, as they are read and as they are made.
  private static func differences(
    _ sets: [ChangeSet], _ model: ManagedObjectModel, _ seed: UInt64
  ) throws -> [String] {
    var random = SeededRandom(seed: seed &+ 1)
    let shuffled = (sets + sets.prefix(4)).shuffled(using: &random)
    let groups = stride(from: 0, to: shuffled.count, by: 5).map {
      Array(shuffled[$0..<min($0 + 5, shuffled.count)])
    }
    var differences: [String] = []
    var first: [String]?
    var firstFacts: [String] = []
    let made = sets.map { ChangeSet($0.entry, $0.facts) }
    let snapshot = try sets.map { set in
      let entry = SyncEntry(replica: SyncEntry.snapshot(set.entry.replica), number: set.entry.number)
      return try ChangeSet(ChangeSet(entry, set.facts).data)
    }
    for batches in [sets.map { [$0] }, groups, [sets.reversed()], [made], snapshot.map { [$0] }, [snapshot]] {
      let (contents, facts, faults) = try outcome(batches, model, seed)
      differences += faults.prefix(3)
      guard let known = first else {
        (first, firstFacts) = (contents, facts)
        continue
      }
      if facts != firstFacts {
        differences.append("other facts: \(Set(facts).symmetricDifference(firstFacts).sorted().prefix(4))")
      }
      guard contents != known else { continue }
      let (one, other) = (Set(known), Set(contents))
      differences.append("only in order: \(one.subtracting(other).sorted().prefix(3))")
      differences.append("only in another order: \(other.subtracting(one).sorted().prefix(3))")
    }
    return differences
  }

  /// Removes facts as long as the orders still differ.
  private static func reduced(
    _ sets: [ChangeSet], _ model: ManagedObjectModel, _ seed: UInt64
  ) throws -> [ChangeSet] {
    var sets = sets
    var size = sets.map(\.count).reduce(0, +) / 2
    while size > 0 {
      var start = 0
      while start < sets.map(\.count).reduce(0, +) {
        var place = 0
        let fewer = sets.map { set in
          let kept = set.facts.filter { _ in
            defer { place += 1 }
            return !(start..<start + size).contains(place)
          }
          return ChangeSet(set.entry, kept)
        }
        if try differences(fewer, model, seed).isEmpty { start += size } else { sets = fewer }
      }
      size /= 2
    }
    return sets.filter { $0.count > 0 }
  }

  private static func expectEqualStores(_ description: ModelDescription, isPlain: Bool = false) throws {
    let model = try ManagedObjectModel(description)
    forEachSeed { seed in
      var generator = Generator(seed, model, SeededSources(seed))
      generator.isPlain = isPlain
      let sets = try generator.sets().map { try ChangeSet($0.data) }
      let found = try differences(sets, model, seed)
      guard !found.isEmpty else { return }
      let reduced = try reduced(sets, model, seed)
      Issue.record(
        """
        \(found.joined(separator: "\n")) Reduced: \(try reduced.map { try $0.jsonLines }.joined())
        \(try differences(reduced, model, seed).joined(separator: "\n"))
        """)
    }
  }

  @Test(
    "Contradictory facts leave a store whole, and the same in every order",
    .law("sync-synthetic-sets", short: 10, long: 10_000))
  func synthetic() throws { try Self.expectEqualStores(SyncModel.description) }

  private static func with(
    _ conditions: [[String]: [UniquenessCondition]], _ entity: EntityDescription
  ) -> EntityDescription {
    var entity = entity
    entity.uniquenessConditions = conditions
    return entity
  }

  /// Uniqueness constraints over relationships, composites and all types, also with conditions.
  private static let uniqueModel = ModelDescription(
    entities: [
      with([["parent", "name"]: [.isNil("gone")]], EntityDescription(
        "Item",
        attributes: [
          .init("name", .string), .init("gone", .date), .init("count", .int32), .init("price", .decimal),
          .init("flag", .boolean), .init("amount", .double), .init("size", .composite, compositeName: "Size"),
        ],
        relationships: [
          .init("parent", to: "Item", inverse: "children"),
          .init("children", toMany: "Item", inverse: "parent", isOrdered: true),
          .init("box", to: "Box", inverse: "items"), .init("partner", to: "Item", inverse: "partner"),
          .init("first", to: "Box"),
        ], uniquenessConstraints: [["parent", "name"], ["partner"]])),
      with([["price"]: [.equal("flag", true), .equal("count", 1), .isNotNil("when")]], EntityDescription(
        "Part", parent: "Item", attributes: [.init("when", .date)],
        uniquenessConstraints: [["box", "when"], ["size", "amount"], ["price"]])),
      EntityDescription(
        "Box", attributes: [.init("label", .string), .init("when", .date)],
        relationships: [.init("items", toMany: "Item", inverse: "box")], uniquenessConstraints: [["label"], ["when"]]),
    ],
    composites: [
      CompositeDescription("Size", elements: [.init("width", .int32), .init("height", .double)])
    ])

  @Test(
    "Facts that are applied as bytes have the result of those that are applied one by one",
    .law("sync-plain-sets", short: 10, long: 10_000))
  func plain() throws { try Self.expectEqualStores(SyncModel.description, isPlain: true) }

  @Test(
    "Constraints of all kinds leave a store whole, and the same in every order",
    .law("sync-unique-sets", short: 10, long: 10_000))
  func unique() throws { try Self.expectEqualStores(Self.uniqueModel) }
}

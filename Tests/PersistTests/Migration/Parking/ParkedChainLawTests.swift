import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Laws of automatic migrations along chains of models", .aboutFiles("parked values"))
struct ParkedChainLawTests {
  @Test(
    "Whatever a chain of models removes and brings back, every object has its values again",
    .law("parked chains", short: 60, long: 3000))
  func chains() throws {
    var restored = 0
    forEachSeed { seed in
      try withTemporaryStore { url in
        var chain = ParkedChain(seed: seed)
        restored += try chain.run(at: url)
      }
    }
    #expect(restored > 0)
  }
}

#if canImport(PersistPostgreSQL)
  @Suite("Laws of automatic migrations along chains of models, on a server", .needsServer)
  struct ServerParkedChainLawTests {
    @Test(
      "Whatever a chain of models removes and brings back, every object has its values again",
      .law("parked chains on a server", short: 8, long: 300))
    func chains() throws {
      forEachSeed { seed in
        try TestServer.withSchema { text in
          var chain = ParkedChain(seed: seed)
          _ = try chain.run(at: #require(URL(string: text)))
        }
      }
    }
  }
#endif

/// A random chain of models, each of which has some of the entities and properties of the others, and a record of the
/// values that the objects of a store must have.
struct ParkedChain {
  private struct Version: Equatable {
    /// The attributes of `Item`, those of `Special`, and the relationships that the version has.
    var present: Set<String>
    var hasSpecial = true
    var hasTags = true
    /// 0: `size`; 1: `extent`, without a declaration; 2: `extent`, formerly `size`.
    var rename = 0
  }

  /// The values that an object must have, by property: text of a value, or names of related tags.
  private struct Row {
    var isSpecial: Bool
    var values: [String: String]
    var tag: String?
    var tags: [String] = []
  }

  private var random: SeededRandom
  /// The number of copies to another engine while something was parked.
  private(set) var parkedMoves = 0
  private var version: Version
  private var rows: [String: Row] = [:]
  /// The tags that exist; nil while the model has none.
  private var tags: Set<String> = []
  private var counter = 0
  private let seed: UInt64

  private static let attributes: [String: AttributeDescription] = [
    "flag": .init("flag", .boolean), "day": .init("day", .date), "link": .init("link", .uri),
    "photo": .init("photo", .binary, allowsExternalStorage: true), "note": .init("note", .string),
    "ratio": .init("ratio", .double, default: .double(1.5)),
    "count": .init("count", .int32, isOptional: false, default: .integer(7)),
    "token": .init("token", .uuid), "price": .init("price", .decimal), "bytes": .init("bytes", .binary),
    "code": .init("code", .string, isOptional: false, default: .string("none")),
  ]
  private static let special: [String: AttributeDescription] = [
    "grade": .init("grade", .int64), "label": .init("label", .string, default: .string("L")),
  ]
  private static let optional = Array(attributes.keys).sorted() + Array(special.keys).sorted() + ["size", "tag", "tags"]

  init(seed: UInt64) {
    self.seed = seed
    random = SeededRandom(seed: seed)
    version = Version(present: Set(Self.optional))
  }

  private mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

  // MARK: Models

  private var sizeName: String { version.rename == 0 ? "size" : "extent" }

  private func model() throws -> ManagedObjectModel {
    var attributes = [AttributeDescription("name", .string)]
    attributes += Self.attributes.sorted { $0.key < $1.key }.filter { version.present.contains($0.key) }.map(\.value)
    if version.present.contains("size") {
      attributes.append(
        AttributeDescription(sizeName, .int32, renamingIdentifier: version.rename == 2 ? "size" : nil))
    }
    var relationships: [RelationshipDescription] = []
    var inverses: [RelationshipDescription] = []
    if version.hasTags, version.present.contains("tag") {
      relationships.append(.init("tag", to: "Tag", inverse: "items"))
      inverses.append(.init("items", toMany: "Item", inverse: "tag"))
    }
    if version.hasTags, version.present.contains("tags") {
      relationships.append(.init("tags", toMany: "Tag", inverse: "owners", isOrdered: true))
      inverses.append(.init("owners", toMany: "Item", inverse: "tags"))
    }
    var entities = [EntityDescription("Item", attributes: attributes, relationships: relationships)]
    if version.hasSpecial {
      entities.append(
        EntityDescription(
          "Special", parent: "Item",
          attributes: Self.special.sorted { $0.key < $1.key }.filter { version.present.contains($0.key) }.map(\.value)))
    }
    if version.hasTags {
      entities.append(EntityDescription("Tag", attributes: [.init("title", .string)], relationships: inverses))
    }
    return try ManagedObjectModel(ModelDescription(entities: entities))
  }

  private mutating func change() {
    for name in Self.optional where chance(30) { version.present.formSymmetricDifference([name]) }
    if chance(25) { version.hasSpecial.toggle() }
    if chance(20) { version.hasTags.toggle() }
    if version.rename < 2, chance(30) {
      if version.rename == 1 {
        // The declaration: values that were set under the new name are newer.
        rows = rows.mapValues { row in
          var row = row
          let size = row.values.removeValue(forKey: "size")
          if row.values["extent"] == nil { row.values["extent"] = size }
          return row
        }
      }
      version.rename += 1
    }
  }

  // MARK: Running

  /// - Parameter other: The place of a copy in another engine that takes the store's place now and then.
  /// - Returns: The number of migrations that restored something.
  mutating func run(at start: URL, or other: URL? = nil) throws -> Int {
    var restored = 0
    var (url, other) = (start, other)
    try open(url) { try $0.edit($1) }
    for number in 1...Int.random(in: 2...6, using: &random) {
      let before = version
      let formerModel = try model()
      change()
      guard version != before else { continue }
      if let copy = other, chance(60) {
        let parked = try PersistentStoreCoordinator.parkedContents(at: url)
        try PersistentStoreCoordinator(model: formerModel).replacePersistentStore(
          at: StoreLocation(copy), withPersistentStoreFrom: StoreLocation(url))
        try #expect(PersistentStoreCoordinator.parkedContents(at: copy) == parked, "seed \(seed), version \(number)")
        if !parked.isEmpty { parkedMoves += 1 }
        (url, other) = (copy, url)
      }
      var migrator = AutomaticMigrator(alwaysCopies: url.isFileURL && chance(30))
      migrator.countsRows = false
      let target = ModelVersion(name: "\(number)", model: try model())
      let report = try migrator.migrate(
        storeAt: url, to: target, registry: ModelRegistry(versions: [target]))
      if report.restored > 0 { restored += 1 }
      try open(url) { chain, context in
        try chain.verify(context, number)
        try chain.edit(context)
      }
    }
    return restored
  }

  private mutating func open(_ url: URL, _ body: (inout ParkedChain, ManagedObjectContext) throws -> Void) throws {
    let coordinator = PersistentStoreCoordinator(model: try model())
    let store = try coordinator.addStore(at: url)
    let context = ManagedObjectContext(coordinator)
    try body(&self, context)
    try context.save()
    context.reset()
    try coordinator.remove(store)
  }

  /// Inserts, changes and deletes objects.
  private mutating func edit(_ context: ManagedObjectContext) throws {
    var tagObjects: [String: ManagedObject] = [:]
    if version.hasTags {
      for tag in try context.fetch(FetchRequest<ManagedObject>("Tag")) {
        guard let title = tag["title"] as? String else { continue }
        if chance(10) {
          context.delete(tag)
          tags.remove(title)
          for name in rows.keys {
            if rows[name]?.tag == title { rows[name]?.tag = nil }
            rows[name]?.tags.removeAll { $0 == title }
          }
        } else {
          tagObjects[title] = tag
        }
      }
      for _ in 0..<Int.random(in: 0...3, using: &random) {
        counter += 1
        let title = "t\(counter)"
        tagObjects[title] = try context.make("Tag", ["title": title])
        tags.insert(title)
      }
    }
    let titles = tagObjects.keys.sorted()
    for object in try context.fetch(FetchRequest<ManagedObject>("Item", sortedBy: "name")) {
      guard let name = object["name"] as? String else { continue }
      if chance(10) {
        context.delete(object)
        rows[name] = nil
      } else if chance(30) {
        set(object, name, tagObjects, titles)
      }
    }
    for _ in 0..<Int.random(in: 1...4, using: &random) {
      counter += 1
      let name = "i\(counter)"
      let isSpecial = version.hasSpecial && chance(40)
      let object = try context.make(isSpecial ? "Special" : "Item", ["name": name])
      rows[name] = Row(isSpecial: isSpecial, values: Self.defaults)
      set(object, name, tagObjects, titles)
    }
  }

  private static let defaults = ["ratio": "1.5", "count": "7", "code": "none", "label": "L"]

  private mutating func set(
    _ object: ManagedObject, _ name: String, _ tagObjects: [String: ManagedObject], _ titles: [String]
  ) {
    guard var row = rows[name] else { return }
    var names = Self.attributes.keys.sorted() + ["size"]
    if row.isSpecial { names += Self.special.keys.sorted() }
    for attribute in names where version.present.contains(attribute) && chance(80) {
      let property = attribute == "size" ? sizeName : attribute
      let isRequired = ["count", "code"].contains(attribute)
      let value: Any? = !isRequired && chance(15) ? nil : value(of: attribute)
      object[property] = value
      row.values[property] = value.map { "\($0)" }
    }
    if version.hasTags, version.present.contains("tag"), chance(60) {
      row.tag = titles.randomElement(using: &random)
      object["tag"] = row.tag.flatMap { tagObjects[$0] }
    }
    if version.hasTags, version.present.contains("tags"), chance(60) {
      row.tags = titles.shuffled(using: &random).prefix(3).map { $0 }
      object["tags"] = row.tags.compactMap { tagObjects[$0] }
    }
    rows[name] = row
  }

  private mutating func value(of attribute: String) -> Any {
    let number = Int.random(in: 1...1000, using: &random)
    return switch attribute {
    case "flag": number % 2 == 0
    case "ratio": Double(number) / 8
    case "count", "size", "grade": number
    case "token": UUID(uuidString: "00000000-0000-0000-0000-00000000\(String(format: "%04d", number))") ?? UUID()
    case "price": Decimal(number) / 4
    case "bytes": Data("\(number)".utf8)
    case "photo": Data(count: 100 * number)
    case "day": Date(timeIntervalSinceReferenceDate: Double(number) * 1_000_003)
    case "link": URL(string: "https://example.com/\(number)") ?? URL(fileURLWithPath: "/")
    default: "text \(number)"
    }
  }

  private func verify(_ context: ManagedObjectContext, _ number: Int) throws {
    let place = "seed \(seed), version \(number)"
    let objects = try context.fetch(FetchRequest<ManagedObject>("Item"))
    let expected = rows.filter { version.hasSpecial || !$0.value.isSpecial }
    try #require(Set(objects.compactMap { $0["name"] as? String }) == Set(expected.keys), "\(place)")
    for object in objects {
      guard let name = object["name"] as? String, let row = expected[name] else { continue }
      #expect((object.entity.name == "Special") == row.isSpecial, "\(place), \(name)")
      for attribute in object.entity.attributes where attribute.name != "name" {
        let value = object[attribute.name].map { "\($0)" }
        #expect(value == row.values[attribute.name], "\(place), \(name).\(attribute.name)")
      }
      if version.hasTags, version.present.contains("tag") {
        #expect((object["tag"] as? ManagedObject)?["title"] as? String == row.tag, "\(place), \(name).tag")
      }
      if version.hasTags, version.present.contains("tags") {
        let found = try object.related("tags").compactMap { $0["title"] as? String }
        #expect(found == row.tags, "\(place), \(name).tags")
      }
    }
  }
}

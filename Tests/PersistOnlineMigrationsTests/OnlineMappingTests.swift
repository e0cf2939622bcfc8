import Foundation
import Persist
import PersistOnlineMigrations
import PersistPostgreSQL
import PersistTestSupport
import PersistTools
import Testing

/// Mapping models whose values the server computes for each write, in both directions.
@Suite("Online migrations with mapping models", .needsServer)
struct OnlineMappingTests {
  private static func models() throws -> (old: ModelVersion, new: ModelVersion) {
    (
      try OnlineShop.version(
        "Talks 1",
        EntityDescription(
          "Talk",
          attributes: [
            .init("first", .string), .init("last", .string), .init("hours", .int32, default: .integer(0)),
            .init("minutes", .int32, default: .integer(0)), .init("price", .double), .init("heading", .string),
          ]),
        EntityDescription("Speech", parent: "Talk", attributes: [.init("mood", .string)])),
      try OnlineShop.version(
        "Talks 2",
        EntityDescription(
          "Talk",
          attributes: [
            .init("first", .string), .init("last", .string), .init("speaker", .string),
            .init("duration", .int64, isOptional: false), .init("price", .double), .init("title", .string),
          ]),
        EntityDescription("Speech", parent: "Talk", attributes: [.init("mood", .string)]))
    )
  }

  /// Merged and divided numbers, a merged text, other values under the same name, and a name that only the mapping
  /// model knows.
  private static func mappings(_ old: ModelVersion, _ new: ModelVersion) throws -> [MappingModel] {
    var there = try MappingModel.inferred(from: old.model, to: new.model)
    var back = try MappingModel.inferred(from: new.model, to: old.model)
    for entity in ["Talk", "Speech"] {
      try there.edit(entity) { talk in
        try talk.map("speaker", to: #"FUNCTION($source.first, "stringByAppendingString:", $source.last)"#)
        try talk.map("duration", to: "$source.hours * 60 + $source.minutes")
        try talk.map("price", to: "trunc:($source.price * 100)")
        try talk.map("title", to: "$source.heading")
      }
      try back.edit(entity) { talk in
        try talk.map("hours", to: "$source.duration / 60")
        try talk.map("minutes", to: "modulus:by:($source.duration, 60)")
        try talk.map("price", to: "$source.price / 100.0")
      }
    }
    return [there, back]
  }

  /// A talk in the terms of both models.
  private struct Talk: Equatable {
    var names: [String?] = [nil, nil]
    var speaker: String?
    var times = [0, 0]
    var duration = 0
    var oldPrice: Double?
    var newPrice: Double?
    var title: String?
  }

  @Test(
    "Programs with both models write values that expressions convert, and each sees the other's",
    .law("online-mappings", short: 6, long: 200))
  func randomWriters() throws {
    let (old, new) = try Self.models()
    let mappings = try Self.mappings(old, new)
    forEachSeed { seed in
      var numbers = SeededRandom(seed: seed)
      try OnlineShop.withStore { url in
        var talks: [String: Talk] = [:]
        let first = try OnlineProgram(old, url)
        for _ in 0..<6 { try Self.write(first, isNew: false, &talks, &numbers) }
        var migration = OnlineMigration(storeAt: url)
        migration.mappingModels = mappings
        try migration.expand(to: new)
        for _ in 0..<3 { try Self.write(first, isNew: false, &talks, &numbers) }
        try migration.backfill(interruptedBy: &numbers) { try Self.write(first, isNew: false, &talks, &$0) }
        let second = try OnlineProgram(new, url)
        for _ in 0..<20 {
          let isNew = Bool.random(using: &numbers)
          try Self.write(isNew ? second : first, isNew: isNew, &talks, &numbers)
        }
        try Self.compare(first, isNew: false, talks, "seed \(seed), old")
        try Self.compare(second, isNew: true, talks, "seed \(seed), new")
        try first.close()
        if seed % 3 == 0 {
          try second.close()
          try migration.abort()
          let last = try OnlineProgram(old, url)
          try Self.compare(last, isNew: false, talks, "seed \(seed), abandoned")
          try last.close()
        } else {
          try migration.contract()
          try Self.write(second, isNew: true, &talks, &numbers)
          try Self.compare(second, isNew: true, talks, "seed \(seed), contracted")
          try second.close()
        }
        var problems: [StoreProblem] = []
        try StoreLocation.postgreSQL(url.absoluteString).check { problems.append($0) }
        #expect(problems.isEmpty, "seed \(seed): \(problems)")
      }
    }
  }

  private static func key(_ object: ManagedObject) -> String { object.objectID.uriRepresentation().lastPathComponent }

  /// Inserts or changes a talk, and saves.
  private static func write(
    _ program: OnlineProgram, isNew: Bool, _ talks: inout [String: Talk], _ numbers: inout SeededRandom
  ) throws {
    let present = try program.all("Talk").sorted { key($0) < key($1) }
    let isInserted = present.isEmpty || Int.random(in: 0..<3, using: &numbers) == 0
    let entity = Bool.random(using: &numbers) ? "Talk" : "Speech"
    let object = try isInserted ? program.insert(entity) : present.randomElement(using: &numbers)!
    var talk = isInserted ? Talk() : talks[key(object)] ?? Talk()
    func chance() -> Bool { isInserted || Int.random(in: 0..<3, using: &numbers) == 0 }
    func text(_ word: String) -> String? {
      Int.random(in: 0..<5, using: &numbers) == 0 ? nil : "\(word) \(Int.random(in: 0..<100, using: &numbers))"
    }
    func speaker() -> String? { talk.names[0].flatMap { first in talk.names[1].map { first + $0 } } }
    if isInserted, isNew { object["duration"] = 0 }
    if chance() {
      let names = [text("Ann"), text("Lee")]
      (object["first"], object["last"]) = (names[0], names[1])
      let isChanged = names != talk.names
      talk.names = names
      // A program with the new model assigns the speaker itself.
      if isNew {
        let own = text("Speaker")
        object["speaker"] = own
        talk.speaker = own
      } else if isChanged || isInserted {
        talk.speaker = speaker()
      }
    }
    if chance() {
      if isNew {
        let duration = Int.random(in: 0...500, using: &numbers)
        object["duration"] = duration
        if duration != talk.duration || isInserted { talk.times = [duration / 60, duration % 60] }
        talk.duration = duration
      } else {
        let times = [Int.random(in: 0...5, using: &numbers), Int.random(in: 0...90, using: &numbers)]
        (object["hours"], object["minutes"]) = (times[0], times[1])
        if times != talk.times || isInserted { talk.duration = times[0] * 60 + times[1] }
        talk.times = times
      }
    }
    if chance() {
      if isNew {
        let price: Double? = Bool.random(using: &numbers) ? nil : Double(Int.random(in: 0...5000, using: &numbers))
        object["price"] = price
        if price != talk.newPrice { talk.oldPrice = price.map { $0 / 100 } }
        talk.newPrice = price
      } else {
        let price: Double? = Bool.random(using: &numbers) ? nil : Double(Int.random(in: 0...999, using: &numbers)) / 8
        object["price"] = price
        if price != talk.oldPrice { talk.newPrice = price.map { ($0 * 100).rounded(.towardZero) } }
        talk.oldPrice = price
      }
    }
    if chance() {
      talk.title = text("Title")
      object[isNew ? "title" : "heading"] = talk.title
    }
    try program.save()
    talks[key(object)] = talk
  }

  private static func compare(
    _ program: OnlineProgram, isNew: Bool, _ talks: [String: Talk], _ place: String
  ) throws {
    let found = try program.all("Talk")
    #expect(found.count == talks.count, "\(place)")
    for object in found {
      let talk = talks[key(object)]
      #expect(object["first"] as? String == talk?.names[0] && object["last"] as? String == talk?.names[1], "\(place)")
      if isNew {
        #expect(object["speaker"] as? String == talk?.speaker, "\(place): \(key(object))")
        #expect(object["duration"] as? Int == talk?.duration, "\(place): \(key(object))")
        #expect(object["price"] as? Double == talk?.newPrice, "\(place): \(key(object))")
        #expect(object["title"] as? String == talk?.title, "\(place): \(key(object))")
      } else {
        let times = [object["hours"] as? Int ?? -1, object["minutes"] as? Int ?? -1]
        #expect(times == talk?.times, "\(place): \(key(object))")
        #expect(object["price"] as? Double == talk?.oldPrice, "\(place): \(key(object))")
        #expect(object["heading"] as? String == talk?.title, "\(place): \(key(object))")
      }
    }
  }

  @Test("A number that leaves its range fails the save, or the backfill of an older row, with the attribute's name")
  func numbersOutOfRange() throws {
    let old = try OnlineShop.version(
      "Prices 1", EntityDescription("Item", attributes: [.init("price", .double), .init("count", .int64)]))
    let new = try OnlineShop.version(
      "Prices 2",
      EntityDescription(
        "Item",
        attributes: [.init("price", .double), .init("whole", .int64), .init("count", .int64), .init("half", .double)]))
    var mapping = try MappingModel.inferred(from: old.model, to: new.model)
    try mapping.edit("Item") { item in
      try item.map("whole", to: "trunc:($source.price)")
      try item.map("half", to: "floor:($source.price) / 2")
    }
    try OnlineShop.withStore { url in
      let first = try OnlineProgram(old, url)
      let item = try first.insert("Item", ["price": 1e19])
      try first.insert("Item", ["price": -7.9])
      try first.save()
      var migration = OnlineMigration(storeAt: url)
      migration.mappingModels = [mapping]
      try migration.expand(to: new)
      let older = #expect(throws: PersistenceError.self) { try migration.backfill() }
      #expect(older?.code == .migrationFailed && older?.message.contains("Item.whole") == true, "\(older as Any)")
      item["price"] = 7.9
      try first.save()
      try #expect(migration.backfill())
      item["price"] = -1e19
      let error = #expect(throws: PersistenceError.self) { try first.save() }
      #expect(error?.code == .validationRule && error?.engineMessage?.contains("Item.whole") == true, "\(error as Any)")
      item["price"] = 9.2e18
      try first.save()
      let second = try OnlineProgram(new, url)
      try #expect(second.values("Item", "whole") == ["-7", "9200000000000000000"])
      // In memory, the quotient of a rounded number has a fraction.
      try #expect(second.values("Item", "half") == ["-4.0", "4.6e+18"])
      try first.close()
      try second.close()
    }
  }

  @Test("The end of an online migration is that of the migration with the mapping model in one step")
  func equalEnds() throws {
    let (old, new) = try Self.models()
    try OnlineShop.withStore { url in
      let other = otherStore("once", beside: url)
      for store in [url, other] {
        let first = try OnlineProgram(old, store)
        for number in 0..<5 {
          try first.insert(
            number % 2 == 0 ? "Talk" : "Speech",
            [
              "first": "Ann \(number)", "last": "Lee", "hours": number, "minutes": 10 * number,
              "price": Double(number) / 4, "heading": "Title \(number)",
            ])
        }
        try first.save()
        try first.close()
      }
      var migration = OnlineMigration(storeAt: url)
      migration.mappingModels = try Self.mappings(old, new)
      let migrator = AutomaticMigrator(mappingModels: migration.mappingModels)
      try migrator.migrate(storeAt: other, to: new, registry: nil)
      try migration.expand(to: new)
      try migration.backfill()
      try migration.contract()
      let (online, once) = (try OnlineProgram(new, url), try OnlineProgram(new, other))
      func values(_ program: OnlineProgram) throws -> [String] {
        try program.dump().map { $0.replacing(#/ p\d+ /#, with: " ") }.sorted()
      }
      try #expect(values(online) == values(once))
      try online.close()
      try once.close()
    }
  }

  @Test("Mapping models with values that aren't found for each write are refused with the place and the reason")
  func refusals() throws {
    let (old, new) = try Self.models()
    let complete = try Self.mappings(old, new)
    func refused(_ edit: (inout [MappingModel]) throws -> Void) throws -> [String] {
      var mappings = complete
      try edit(&mappings)
      return try OnlineShop.withResult { url in
        try OnlineProgram(old, url).close()
        var migration = OnlineMigration(storeAt: url)
        migration.mappingModels = mappings
        let plan = try migration.plan(to: new)
        let count = "SELECT count(*) FROM pg_class WHERE relnamespace = current_schema()::regnamespace"
        let before = try ForeignSQL.run([count], at: url)
        #expect(throws: PersistenceError.self) { try migration.expand(to: new) }
        try #expect(ForeignSQL.run([count], at: url) == before)
        for refusal in plan.refusals { #expect(refusal.reason.hasSuffix("."), "\(refusal)") }
        return plan.refusals.map { [$0.entity, $0.property].compactMap { $0 }.joined(separator: ".") }.sorted()
      }
    }
    try #expect(refused { $0.removeLast() } == ["Speech.duration", "Speech.price", "Talk.duration", "Talk.price"])
    let random = try refused { try $0[0].edit("Talk") { try $0.map("duration", to: "random:(60)") } }
    #expect(random == ["Talk.duration"])
    let policy = try refused { try $0[0].edit("Talk") { $0.policyName = "Policy" } }
    #expect(policy.contains("Talk"))
    let selected = try refused {
      try $0[0].edit("Talk") { $0.sourceExpression = .sourceObjects(of: "Talk", where: "hours > 1") }
    }
    #expect(selected.contains("Talk"))
  }
}

extension OnlineShop {
  static func withResult<T>(_ body: (URL) throws -> T) throws -> T {
    var result: T?
    try withStore { result = try body($0) }
    return try #require(result)
  }
}

import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel
@testable import PersistTools

@Suite("What is parked, in a new store with some objects of another one", .aboutFiles("parked values"))
struct ParkedExtractTests {
  private static var parking: AutomaticMigrator {
    var migrator = AutomaticMigrator(allowsLoss: false)
    migrator.parking = .olderVersions
    return migrator
  }

  /// Two versions of a model that changes at random.
  private func versions(_ seed: UInt64) throws -> ModelRegistry {
    var models = RandomModels(seed: seed)
    let old = try models.model()
    for _ in 0..<3 { models.change() }
    return ModelRegistry(
      versions: [ModelVersion(name: "1", model: old), ModelVersion(name: "2", model: try models.model())])
  }

  private func isPossible(_ url: URL, _ version: ModelVersion, _ registry: ModelRegistry) -> Bool {
    (try? Self.parking.canMigrateWithoutLoss(storeAt: url, to: version, registry: registry)) == true
  }

  /// Extracts the objects whose keys meet a condition.
  private func extract(
    _ url: URL, to file: URL, _ registry: ModelRegistry, where isExtracted: (Int64) -> Bool
  ) throws -> StoreExtract.Outcome {
    let contents = try StoreContents(readingStoreAt: url, registry: registry)
    var extract = StoreExtract(of: contents, registry: registry)
    for entity in contents.model.entities where !entity.isAbstract {
      var keys = RowKeys()
      try contents.forEachObject(of: entity) { object in
        if isExtracted(object.key) { keys.append(object.key, entityIndex: UInt32(entity.index)) }
      }
      extract.add(keys)
    }
    return try extract.write(to: file)
  }

  private func problems(_ url: URL) throws -> [StoreProblem] {
    var problems: [StoreProblem] = []
    try checkStore(at: url, registry: nil) { problems.append($0) }
    return problems
  }

  @Test(
    "Whatever is parked of the objects comes back to them in the new store, and parked objects only with a connection",
    .law("parked extracts", short: 24, long: 2000))
  func law() throws {
    var (parked, whole) = (0, 0)
    let count = forEachSeed { seed in
      let registry = try versions(seed)
      let (old, new) = (registry.versions[0], registry.versions[1])
      try withTemporaryStore { url in
        try MadeStore.make(new.model, at: url)
        try MadeStore.fill(new.model, at: url, rows: 6, seed: seed)
        guard isPossible(url, old, registry) else { return }
        let down = try Self.parking.migrate(storeAt: url, to: old, registry: registry)
        let isAll = seed.isMultiple(of: 2)
        let file = otherStore("part", beside: url)
        _ = try extract(url, to: file, registry) { isAll || $0.isMultiple(of: 2) }
        try #expect(problems(file) == [], "seed \(seed)")
        guard isPossible(url, new, registry) else { return }
        try #require(isPossible(file, new, registry), "seed \(seed): the way back is refused")
        for store in [url, file] { try Self.parking.migrate(storeAt: store, to: new, registry: registry) }
        try #expect(problems(file) == [], "seed \(seed), up")
        if down.parked > 0 { parked += 1 }
        if isAll {
          let contents = try [url, file].map {
            Set(try storedContents(at: StoreLocation($0), includingDerived: false))
          }
          #expect(contents[1].subtracting(contents[0]).sorted().prefix(2) == [], "seed \(seed)")
          // Parked objects without a connection to an object of the older version.
          let missing = Set(contents[0].subtracting(contents[1]).map { $0.prefix { $0 != " " } })
          let removed = Set(new.model.entities.map(\.name)).subtracting(old.model.entities.map(\.name))
          if missing.isEmpty { whole += 1 }
          #expect(
            missing.isSubset(of: removed.map { $0[...] }) || hasRenames(registry), "seed \(seed): \(missing)")
        } else {
          let dumps = try [url, file].map { try StoreDump(of: new.model, at: $0) }
          for entity in new.model.entities {
            let names = entity.properties.filter {
              $0.attribute.map { !$0.isDerived && !$0.isTransient && !$0.storesMarkedBytes && $0.type != .composite }
                == true
            }.map(\.name)
            for (key, values) in dumps[1].objects[entity.name] ?? [:] {
              let before = dumps[0].objects[entity.name]?[key]
              for name in names {
                #expect(values[name] == before?[name], "seed \(seed): \(entity.name) \(key).\(name)")
              }
            }
          }
        }
      }
    }
    #expect(parked > count / 8 && whole > count / 10 || count < 20)
  }

  /// Whether the names of entities don't tell which were removed.
  private func hasRenames(_ registry: ModelRegistry) -> Bool {
    registry.versions.contains { $0.model.entities.contains { $0.description.renamingIdentifier != nil } }
  }

  // MARK: Cases

  private static func registry() throws -> ModelRegistry {
    let color = AttributeDescription("color", .string)
    let note = { (attributes: [AttributeDescription], relationships: [RelationshipDescription]) in
      EntityDescription("Note", attributes: [.init("name", .string)] + attributes, relationships: relationships)
    }
    let comment = EntityDescription(
      "Comment", attributes: [.init("text", .string)],
      relationships: [
        .init("note", to: "Note", inverse: "comments"), .init("author", to: "Person", isOptional: false),
        .init("answer", to: "Comment"),
      ])
    let person = EntityDescription("Person", attributes: [.init("name", .string)])
    let setting = EntityDescription("Setting", attributes: [.init("value", .string)])
    let versions = [
      [note([], []), person],
      [note([color], [.init("comments", toMany: "Comment", inverse: "note")]), comment, person, setting],
    ]
    return ModelRegistry(
      versions: try versions.enumerated().map {
        ModelVersion(name: "\($0 + 1)", model: try ManagedObjectModel(ModelDescription(entities: $1)))
      })
  }

  @Test("Parked objects come along with the objects that they belong to, and what they require with them")
  func objects() throws {
    let registry = try Self.registry()
    try withTemporaryStore { url in
      let coordinator = PersistentStoreCoordinator(model: registry.versions[1].model)
      let store = try coordinator.addStore(at: url)
      let context = ManagedObjectContext(coordinator)
      for name in ["a", "b"] {
        let note = try context.make("Note", ["name": name, "color": "\(name)-color"])
        let author = try context.make("Person", ["name": "\(name)-author"])
        let answer = try context.make("Comment", ["text": "\(name)-answer", "author": author])
        let comment = try context.make("Comment", ["text": "\(name)-comment", "author": author])
        (comment["note"], comment["answer"]) = (note, answer)
      }
      _ = try context.make("Setting", ["value": "s"])
      try context.save()
      try coordinator.remove(store)
      try Self.parking.migrate(storeAt: url, to: registry.versions[0], registry: registry)

      let contents = try StoreContents(readingStoreAt: url, registry: registry)
      var extract = StoreExtract(of: contents, registry: registry)
      let request = try FetchRequest<ManagedObject>("Note", where: "name == 'b'")
      extract.add(try contents.context().fetchRowKeys(request, monitor: ReadMonitor()))
      let file = otherStore("part", beside: url)
      let outcome = try extract.write(to: file)
      #expect(outcome.objects == 2 && outcome.required == 1)
      let parked = try PersistentStoreCoordinator.parkedContents(at: file)
      #expect(!parked.contains { $0.entity == "Setting" })
      #expect(parked.contains { $0.property == "color" && $0.count == 1 })
      try #expect(problems(file) == [])
      try Self.parking.migrate(storeAt: file, to: registry.versions[1], registry: registry)
      try #expect(problems(file) == [])
      let dump = try StoreDump(of: registry.versions[1].model, at: file)
      func texts(_ entity: String, _ name: String) -> [String] {
        (dump.objects[entity] ?? [:]).values.compactMap { $0[name] }.sorted()
      }
      #expect(texts("Note", "name") == ["b"] && texts("Note", "color") == ["b-color"])
      #expect(texts("Comment", "text") == ["b-answer", "b-comment"] && texts("Person", "name") == ["b-author"])
      #expect(texts("Note", "comments").count == 1 && texts("Comment", "author").count == 2)
      #expect(texts("Comment", "answer").count == 1 && texts("Setting", "value") == [])
      try #expect(PersistentStoreCoordinator.parkedContents(at: file) == [])
    }
  }

  @Test("An extract without anything parked has no tables for it")
  func nothing() throws {
    let registry = try Self.registry()
    try withTemporaryStore { url in
      let coordinator = PersistentStoreCoordinator(model: registry.versions[1].model)
      let store = try coordinator.addStore(at: url)
      let context = ManagedObjectContext(coordinator)
      _ = try context.make("Note", ["name": "a", "color": "red"])
      _ = try context.make("Person", ["name": "b"])
      try context.save()
      try coordinator.remove(store)
      try Self.parking.migrate(storeAt: url, to: registry.versions[0], registry: registry)
      let contents = try StoreContents(readingStoreAt: url, registry: registry)
      var extract = StoreExtract(of: contents, registry: registry)
      extract.add(
        try contents.context().fetchRowKeys(FetchRequest<ManagedObject>("Person"), monitor: ReadMonitor()))
      let file = otherStore("part", beside: url)
      _ = try extract.write(to: file)
      let tables = try MadeStore.rows("SELECT name FROM sqlite_master WHERE name LIKE 'PERSIST_PARKED%'", at: file)
      #expect(tables == [])
    }
  }
}

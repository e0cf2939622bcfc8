import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

/// The law: SQL and evaluation in memory return the same rows for every predicate.
@Suite("SQL and memory agree on predicates")
struct PredicateAgreementTests {
  static let model = ModelDescription(
    entities: [
      EntityDescription(
        "Item",
        attributes: AttributeType.allCases.filter { ![.composite, .objectID, .undefined, .transformable].contains($0) }
          .map { AttributeDescription($0.rawValue, $0) } + [
            AttributeDescription("order", .int16), AttributeDescription("point", .composite, compositeName: "Point"),
            AttributeDescription("external", .binary, allowsExternalStorage: true),
          ],
        relationships: [
          RelationshipDescription("owner", to: "Person", inverse: "items"),
          RelationshipDescription("parent", to: "Item", inverse: "children"),
          RelationshipDescription("children", toMany: "Item", inverse: "parent"),
          RelationshipDescription("tags", toMany: "Tag", inverse: "items"),
        ]),
      EntityDescription("Special", parent: "Item", attributes: [AttributeDescription("extra", .string)]),
      EntityDescription(
        "Person",
        attributes: [
          AttributeDescription("name", .string), AttributeDescription("age", .int32), AttributeDescription("rate", .decimal),
          AttributeDescription("born", .date), AttributeDescription("weight", .double),
        ],
        relationships: [
          RelationshipDescription("items", toMany: "Item", inverse: "owner", isOrdered: true),
          RelationshipDescription("friends", toMany: "Person", inverse: "friends"),
          RelationshipDescription("best", to: "Tag", inverse: nil),
        ]),
      EntityDescription(
        "Tag", attributes: [AttributeDescription("label", .string), AttributeDescription("rank", .int16)],
        relationships: [RelationshipDescription("items", toMany: "Item", inverse: "tags")]),
    ],
    composites: [
      CompositeDescription(
        "Point", elements: [AttributeDescription("x", .double), AttributeDescription("name", .string)])
    ])

  @Test("Random predicates over random objects", .law("predicates", short: 1500, long: 100_000))
  func agreement() throws {
    try withStack(Self.model) { stack in
      var generator = RandomPredicate(random: SeededGenerator(seed: 11), model: stack.model, ids: [])
      let context = stack.context()
      try generator.fill(context)
      try context.save()
      let fresh = stack.context()
      let objects = try stack.model.entities.flatMap { entity -> [ManagedObject] in
        var request = FetchRequest(entity.name)
        request.includesSubentities = false
        return try fresh.fetch(request)
      }
      let foreign = ManagedObjectID(entityName: "Item", storeIdentifier: "elsewhere", key: .permanent(1))
      let wrongEntity = ManagedObjectID(
        entityName: "Special", storeIdentifier: stack.store.identifier, key: .permanent(1))
      generator.ids = objects.map(\.objectID) + [foreign, wrongEntity, ManagedObjectID(temporaryFor: "Item")]
      var (translated, telling) = (0, 0)
      let rounds = forEachSeed { seed in
        generator.random = SeededGenerator(seed: seed)
        let entity = generator.pick(stack.model.entities)
        let predicate = generator.predicate(over: entity)
        let candidates = objects.filter { $0.entity.isKind(of: entity) }
        guard let found = try Self.ask(predicate, over: entity, stack.store, candidates) else { return }
        translated += 1
        if (1..<candidates.count).contains(found) { telling += 1 }
      }
      guard rounds > 100 else { return }
      #expect(translated > rounds / 2, "\(translated) of \(rounds) predicates became SQL as a whole")
      #expect(telling > rounds / 10, "\(telling) of \(rounds) predicates told objects apart")
    }
  }

  /// Evaluates with SQL, as far as it can, and in memory, and compares.
  ///
  /// - Returns: The number of objects; nil if SQL can't evaluate all of it.
  static func ask(
    _ predicate: FetchPredicate, over entity: Entity, _ store: any PersistentStore, _ candidates: [ManagedObject]
  ) throws -> Int? {
    let division = try store.divide(predicate, over: entity)
    guard let stored = division.stored else { return nil }
    let evaluator = ExpressionEvaluator()
    var expected: Set<Int64> = []
    do {
      for object in candidates where try evaluator.matches(stored, .object(object)) {
        if let key = object.objectID.primaryKey { expected.insert(key) }
      }
    } catch {
      Issue.record("In memory '\(stored)' fails where SQL doesn't: \(error)")
      return nil
    }
    var query = RowQuery(entity: entity)
    query.predicate = stored
    query.now = evaluator.now
    let found = try Set(store.rows(query).map(\.key))
    #expect(found == expected, "\(entity.name): \(stored)")
    #expect(try store.count(query) == expected.count)
    return division.rest == nil ? expected.count : nil
  }

  @Test(
    "Random predicates over stores written by Core Data", .needsSharedData,
    .law("predicates-over-real-stores", short: 60, long: 4000), arguments: SharedData.stores)
  func realStores(_ url: URL) throws {
    let root = try SharedData.url("").standardizedFileURL.pathComponents
    let folder = url.standardizedFileURL.pathComponents[root.count]
    let registry = try? ModelRegistry(contentsOf: SharedData.url(folder))
    let model = try StoreIdentification.identify(storeAt: url, registry: registry).model
    let store = try SQLiteStore.open(url, model: model, options: StoreOptions(isReadOnly: true))
    defer { try? store.close() }
    let coordinator = PersistentStoreCoordinator(model: model)
    try coordinator.add(store)
    let context = ManagedObjectContext(coordinator)
    let objects = try model.entities.filter { $0.superentity == nil }
      .flatMap { try context.fetch(FetchRequest($0.name, limit: 300)) }
    guard !objects.isEmpty else { return }
    var generator = RandomPredicate(
      random: SeededGenerator(seed: 3), model: model, ids: objects.map(\.objectID))
    let populated = model.entities.filter { entity in
      objects.contains { $0.entity.isKind(of: entity) }
    }
    forEachSeed { seed in
      generator.random = SeededGenerator(seed: seed)
      let entity = generator.pick(populated)
      let predicate = generator.predicate(over: entity)
      try PredicateCheck.check(predicate, over: entity, in: model)
      guard try store.count(RowQuery(entity: entity)) <= 300 else { return }
      _ = try Self.ask(predicate, over: entity, store, objects.filter { $0.entity.isKind(of: entity) })
    }
  }
}

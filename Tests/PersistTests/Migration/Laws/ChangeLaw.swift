import Foundation
import PersistTestSupport
import Testing

@testable import Persist

/// The law of every change of a model, tested with a filled store.
///
/// A possible change keeps every value and every pair, or its plan states the losses and their numbers of rows; the
/// models' plan names each of these losses too. In place, by SQL and object by object have the same result, an intact
/// store of the new model. An impossible change leaves the store unchanged.
struct ChangeLaw {
  let name: String
  /// The first is the store's, the last the destination; the registry also contains those between.
  let versions: [ModelVersion]
  var rows = 4
  var seed: UInt64 = 1
  /// Whether to test the slowest method too.
  var triesObjects = true

  private var source: ModelVersion { versions[0] }
  private var destination: ModelVersion { versions[versions.count - 1] }
  private var old: ManagedObjectModel { source.model }
  private var new: ManagedObjectModel { destination.model }

  init(name: String, versions: [ModelVersion], rows: Int = 4, seed: UInt64 = 1) {
    (self.name, self.versions, self.rows, self.seed) = (name, versions, rows, seed)
  }

  init(name: String, old: ManagedObjectModel, new: ManagedObjectModel, rows: Int = 4, seed: UInt64 = 1) {
    let versions = [ModelVersion(name: "1", model: old), ModelVersion(name: "2", model: new)]
    self.init(name: name, versions: versions, rows: rows, seed: seed)
  }

  /// - Returns: Whether the change was possible.
  @discardableResult
  func run() throws -> Bool {
    try withTemporaryFolder { folder in
      let url = folder.appendingPathComponent("Store.sqlite")
      try MadeStore.make(old, at: url)
      try MadeStore.fill(old, at: url, rows: rows, seed: seed)
      let before = try StoreContent(of: old, at: url)
      let registry = ModelRegistry(versions: versions)
      let plan = try MigrationPlan(storeAt: url, to: destination, registry: registry)
      guard plan.blockers.isEmpty else {
        try expectRefusal(url, before, registry)
        return false
      }
      let copy = folder.appendingPathComponent("Copy.sqlite")
      let later = folder.appendingPathComponent("Later.sqlite")
      for other in [copy, later] { try FileManager.default.copyItem(at: url, to: other) }
      if triesObjects { try expectSameByObject(folder, url, registry, plan) }
      let inPlace = try migrate(url, registry, AutomaticMigrator(downgrade: .withLoss), plan, before)
      var migrator = AutomaticMigrator(downgrade: .withLoss)
      migrator.alwaysCopies = true
      let copied = try migrate(copy, registry, migrator, plan, before)
      #expect(copied.differences(from: inPlace) == [], "\(name): by copy against in place")
      try expectSameLater(later, registry, inPlace)
      return true
    }
  }

  /// Values that are converted after the migration are shown as they will be, and are so afterward.
  private func expectSameLater(_ url: URL, _ registry: ModelRegistry, _ inPlace: StoreContent) throws {
    var migrator = AutomaticMigrator(downgrade: .withLoss)
    migrator.defersWork = true
    migrator.deferralBudget = .zero
    try migrator.migrate(storeAt: url, to: destination, registry: registry)
    let shown = try StoreContent(of: new, at: url).comparable(new)
    #expect(shown.differences(from: inPlace) == [], "\(name): before the conversion against in place")
    let coordinator = PersistentStoreCoordinator(model: new)
    try coordinator.addStore(at: url)
    while try !coordinator.finishDeferredMigration(within: .zero) {}
    for store in coordinator.persistentStores { try coordinator.remove(store) }
    let converted = try StoreContent(of: new, at: url).comparable(new)
    #expect(converted.differences(from: inPlace) == [], "\(name): after the conversion against in place")
    try expectSound(url, "\(name), converted later", registry)
  }

  private func migrate(
    _ url: URL, _ registry: ModelRegistry, _ migrator: AutomaticMigrator, _ plan: MigrationPlan, _ before: StoreContent
  ) throws -> StoreContent {
    let way = "\(name), \(migrator.alwaysCopies ? "by copy" : "in place")"
    do {
      try migrator.migrate(storeAt: url, to: destination, registry: registry)
    } catch {
      Issue.record("\(way): \(error)")
      throw error
    }
    let after = try StoreContent(of: new, at: url)
    let kept = KeptValues(old, new, before: before, after: after)
    let (attributes, relationships) = (kept.attributes(), kept.relationships())
    #expect(attributes.wrong == [], "\(way)")
    #expect(relationships.wrong == [], "\(way)")
    let orders = kept.orders()
    let told = told(plan)
    let words = plan.losses.map(\.description)
    #expect(
      (attributes.lost - attributes.either...attributes.lost).contains(told.attributes),
      "\(way), attributes, told: \(words)")
    // A pair listed by both ends is reported once or twice.
    let (oneWay, bothWays) = (relationships.oneWay, relationships.bothWays)
    #expect(
      (oneWay + bothWays / 2...oneWay + bothWays + relationships.either).contains(told.relationships),
      "\(way), \(oneWay) and \(bothWays) members, told: \(words)")
    let isOrderTold = plan.losses.contains { $0.what == "order forgotten" }
    #expect(orders.unordered == 0 && orders.changed == [] || isOrderTold, "\(way), \(orders), told: \(words)")
    try expectSound(url, way, registry)
    return after.comparable(new)
  }

  /// The number of values and members that the plan reports as lost.
  private func told(_ plan: MigrationPlan) -> (attributes: Int, relationships: Int) {
    var told = (attributes: 0, relationships: 0)
    for loss in plan.losses {
      guard let property = loss.property, loss.what != "order forgotten", !loss.what.hasPrefix("element ") else {
        continue
      }
      if isRelationship(property, loss) {
        told.relationships += loss.rows ?? 0
      } else {
        told.attributes += loss.rows ?? 0
      }
    }
    return told
  }

  /// Whether members are lost. A name can be an attribute's in one model and a relationship's in the other.
  private func isRelationship(_ property: String, _ loss: MigrationLoss) -> Bool {
    if loss.what.hasPrefix("attribute") { return false }
    if loss.what.hasPrefix("relationship") { return true }
    // A removed property is reported by its old name.
    let destination = new.entitiesByName[loss.entity]?.description
    let source = old.entities.first { entity in
      let identity = entity.description.userInfo[RandomModels.identity]
      return identity != nil && identity == destination?.userInfo[RandomModels.identity]
    } ?? old.entitiesByName[destination?.renamingIdentifier ?? loss.entity]
    if loss.what == LossPlan.notOfEntity, let found = source?.property(named: property) {
      return found.attribute == nil
    }
    let entities = [new, old].flatMap { model in
      model.entitiesByName[loss.entity].map { [$0] } ?? []
    }
    if let found = entities.lazy.compactMap({ $0.property(named: property) }).first { return found.attribute == nil }
    return old.entities.contains { $0.relationship(named: property) != nil }
  }

  private func expectSound(_ url: URL, _ way: String, _ registry: ModelRegistry) throws {
    try MadeStore.expectNewStore(of: new, at: url)
    var problems: [StoreProblem] = []
    try checkStore(at: url, registry: registry) { problems.append($0) }
    #expect(problems == [], "\(way)")
  }

  /// Losses in the store's plan are in the models' plan too; and inference from the models alone agrees.
  private func expectSameByObject(
    _ folder: URL, _ url: URL, _ registry: ModelRegistry, _ plan: MigrationPlan
  ) throws {
    let models = try MigrationPlan(from: source, to: destination, registry: registry)
    for loss in plan.losses {
      #expect(models.losses.contains { $0.isSame(as: loss) }, "\(name): the models' plan doesn't say '\(loss)'")
    }
    let hop = try MigrationHop(from: source, to: destination, registry: registry)
    let mapping = MappingModel(inferredBy: hop.comparison)
    var results: [StoreContent] = []
    for goesByObject in [false, true] {
      let target = folder.appendingPathComponent(goesByObject ? "Objects.sqlite" : "SQL.sqlite")
      try MigrationManager(sourceModel: old, destinationModel: new).migrateStore(
        from: url, to: target, mappingModel: mapping, policies: [], coreDataHashes: nil, goesByObject: goesByObject)
      results.append(try StoreContent(of: new, at: target).comparable(new))
    }
    #expect(results[1].differences(from: results[0]) == [], "\(name): by object against by SQL")
  }

  private func expectRefusal(_ url: URL, _ before: StoreContent, _ registry: ModelRegistry) throws {
    for copies in [false, true] {
      var migrator = AutomaticMigrator()
      migrator.alwaysCopies = copies
      #expect(throws: PersistenceError.self, "\(name)") {
        try migrator.migrate(storeAt: url, to: destination, registry: registry)
      }
      try #expect(StoreContent(of: old, at: url) == before, "\(name)")
    }
  }
}

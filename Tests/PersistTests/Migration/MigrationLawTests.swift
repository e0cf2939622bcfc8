import Foundation
import PersistTestSupport
import Testing

@testable import Persist

@Suite("Laws of migration")
struct MigrationLawTests {
  @Test(
    "Whatever changes, the store becomes a new store of the model with all kept values, hop by hop or directly",
    .law("migration-chains", short: 24, long: 2000))
  func randomChains() throws {
    var (done, compared) = (0, 0)
    let count = forEachSeed { seed in
      guard let registry = try RandomModels(seed: seed).chain(of: 4), let last = registry.versions.last else { return }
      let whole = try run(registry, through: [last], seed: seed)
      let stepwise = try run(registry, through: Array(registry.versions.dropFirst()), seed: seed)
      guard let whole, let stepwise else { return }
      done += 1
      guard try areSameWay(registry) else { return }
      compared += 1
      // An order that was dropped in between is still known directly, and harmless.
      let differences = whole.unordered(last.model).differences(from: stepwise.unordered(last.model))
      #expect(differences == [], "seed \(seed), in one go against hop by hop")
    }
    #expect(done > count / 2 || count < 20)
    #expect(compared > count / 8 || count < 20)
  }

  @Test(
    "Laws of generated models also apply to real ones that change at random", .needsSharedData,
    .law("migration-chains-of-real-models", short: 1, long: 60))
  func realModels() throws {
    let families = try ModelRegistry(contentsOf: SharedData.url("")).families
    forEachSeed { seed in
      for family in families {
        guard let registry = try RandomModels(seed: seed, from: family.current.model).chain(of: 4),
          let last = registry.versions.last
        else { continue }
        let name = "\(family.name), seed \(seed)"
        let whole = try run(registry, through: [last], seed: seed, of: name)
        let stepwise = try run(registry, through: Array(registry.versions.dropFirst()), seed: seed, of: name)
        guard let whole, let stepwise, try areSameWay(registry) else { continue }
        let differences = whole.unordered(last.model).differences(from: stepwise.unordered(last.model))
        #expect(differences == [], "\(name), in one go against hop by hop")
      }
    }
  }

  /// Whether the direct route has the same origins as the route through all versions. It may differ: values dropped in
  /// between are kept directly, and a default is that of the last version.
  private func areSameWay(_ registry: ModelRegistry) throws -> Bool {
    let models = registry.versions.map(\.model)
    let hop = try MigrationHop(from: registry.versions[0], to: registry.currentVersion, registry: registry)
    let history = try RenamingHistory(from: models[0], to: models[models.count - 1])
    return history.through(Array(models.dropFirst().dropLast())) == hop.comparison.correspondence
  }

  /// - Returns: The final contents of the store; nil if a step is impossible.
  private func run(
    _ registry: ModelRegistry, through versions: [ModelVersion], seed: UInt64, of name: String = "made models"
  ) throws -> StoreDump? {
    try withTemporaryStore { url in
      var last = registry.versions[0]
      try MadeStore.make(last.model, at: url)
      try MadeStore.fill(last.model, at: url, rows: 6, seed: seed)
      for version in versions {
        let before = try StoreDump(of: last.model, at: url)
        let hop = try MigrationHop(from: last, to: version, registry: registry)
        let operations = hop.comparison.operations.map(\.description).joined(separator: "; ")
        let step = "\(name), seed \(seed), \(last.name) → \(version.name): \(operations)"
        let plan: MigrationPlan
        do {
          plan = try MigrationPlan(storeAt: url, to: version, registry: registry)
        } catch {
          Issue.record("\(step): \(error)")
          return nil
        }
        do {
          try AutomaticMigrator().migrate(storeAt: url, to: version, registry: registry)
        } catch {
          #expect(!plan.blockers.isEmpty, "\(step): \(error)")
          try #expect(StoreDump(of: last.model, at: url) == before, "\(step)")
          return nil
        }
        #expect(plan.blockers.isEmpty, "\(step)")
        let after = try StoreDump(of: version.model, at: url)
        let differences = after.withoutDerived(version.model).differences(from: before.migrated(by: hop.comparison))
        #expect(differences == [], "\(step)")
        try MadeStore.expectNewStore(of: version.model, at: url)
        var problems: [StoreProblem] = []
        try checkStore(at: url, registry: registry) { problems.append($0) }
        #expect(problems == [], "\(step)")
        last = version
      }
      return try StoreDump(of: last.model, at: url)
    }
  }

  @Test(
    "Whatever is renamed, moved and exchanged at once, everything has its proper origin",
    .law("migration-identities", short: 40, long: 2000))
  func identities() {
    forEachSeed { seed in
      guard let registry = try RandomModels(seed: seed).chain(of: 4) else { return }
      for (old, new) in zip(registry.versions, registry.versions.dropFirst()) {
        let found = try ModelCorrespondence(from: old.model, to: new.model)
        let step = "seed \(seed), \(old.name) → \(new.name)"
        for entity in new.model.entities {
          let source = old.model.entities.first { $0.identity == entity.identity }
          #expect(found.entities[entity.name] == source?.name, "\(step), \(entity.name)")
          guard let source else { continue }
          for attribute in entity.attributes where !attribute.isTransient {
            let origin = origin(of: attribute, among: source.attributes, besides: entity.attributes)
            let name = "\(step), \(entity.name).\(attribute.name)"
            #expect(found.origin(of: attribute.name, in: entity.name)?.source == origin, "\(name)")
          }
          for relationship in entity.relationships {
            let before = source.relationships.first { $0.identity == relationship.identity }
            // One that was renamed without an identifier is found by its inverse, if that remains in place.
            guard let origin = before, origin.name == relationship.name || relationship.renamingIdentifier != nil
            else { continue }
            let name = "\(step), \(entity.name).\(relationship.name)"
            #expect(found.origin(of: relationship.name, in: entity.name)?.source == origin.name, "\(name)")
          }
        }
      }
    }
  }

  /// The attribute with the same identity; without one, an attribute of the same name that isn't another's successor.
  private func origin(
    of attribute: AttributeDescription, among old: [AttributeDescription], besides new: [AttributeDescription]
  ) -> String? {
    let candidates = old.filter { !$0.isTransient }
    if let same = candidates.first(where: { $0.identity == attribute.identity }) { return same.name }
    let continued = Set(new.map(\.identity))
    return candidates.first { $0.name == attribute.name && !continued.contains($0.identity) }?.name
  }
}

extension Entity {
  fileprivate var identity: String? { description.userInfo[RandomModels.identity] }
}

extension AttributeDescription {
  fileprivate var identity: String? { userInfo[RandomModels.identity] }
}

extension RelationshipDescription {
  fileprivate var identity: String? { userInfo[RandomModels.identity] }
}

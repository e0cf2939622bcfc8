import Foundation
import PersistTestSupport
import PersistTools
import Testing

@testable import Persist
@testable import PersistCore

@Suite("Laws of parked values", .aboutFiles("parked values"))
struct ParkingLawTests {
  private static var parking: AutomaticMigrator {
    var migrator = AutomaticMigrator(allowsLoss: false)
    migrator.parking = .olderVersions
    return migrator
  }

  /// Two versions of a model that changes at random; nil if the names of several properties contradict each other.
  private func versions(_ seed: UInt64) throws -> ModelRegistry? {
    var models = RandomModels(seed: seed)
    let old = try models.model()
    for _ in 0..<3 { models.change() }
    let registry = ModelRegistry(
      versions: [ModelVersion(name: "1", model: old), ModelVersion(name: "2", model: try models.model())])
    do {
      for (from, to) in [(0, 1), (1, 0)] {
        _ = try MigrationHop(from: registry.versions[from], to: registry.versions[to], registry: registry)
      }
      return registry
    } catch let error as PersistenceError where error.code == .mappingAmbiguous {
      return nil
    }
  }

  private func isPossible(_ url: URL, _ version: ModelVersion, _ registry: ModelRegistry) throws -> Bool {
    let plan = try MigrationPlan(storeAt: url, to: version, registry: registry, migrator: Self.parking)
    return plan.blockers.isEmpty && plan.losses.isEmpty
  }

  @Test(
    "Whatever differs, a store that goes to an older version and back has all its values",
    .law("parking", short: 40, long: 3000))
  func downAndUp() throws {
    var (done, parked) = (0, 0)
    let count = forEachSeed { seed in
      guard let registry = try versions(seed) else { return }
      let (old, new) = (registry.versions[0], registry.versions[1])
      try withTemporaryStore { url in
        try MadeStore.make(new.model, at: url)
        try MadeStore.fill(new.model, at: url, rows: 6, seed: seed)
        let before = try StoreDump(of: new.model, at: url)
        guard try isPossible(url, old, registry) else { return }
        let down = try Self.parking.migrate(storeAt: url, to: old, registry: registry)
        try MadeStore.expectIntact(old, registry, at: url, "seed \(seed), down")
        let back = try MigrationPlan(storeAt: url, to: new, registry: registry, migrator: Self.parking)
        try #require(back.blockers == [], "seed \(seed), the way back: \(back)")
        // If nothing was parked, the way back is an ordinary migration, which can lose what the older version added.
        try #require(back.losses == [] || down.parked == 0, "seed \(seed), the way back: \(back)")
        guard back.losses == [] else { return }
        try Self.parking.migrate(storeAt: url, to: new, registry: registry)
        try MadeStore.expectIntact(new, registry, at: url, "seed \(seed), up")
        let after = try StoreDump(of: new.model, at: url)
        let differences = after.withoutDerived(new.model).differences(from: before.withoutDerived(new.model))
        #expect(differences == [], "seed \(seed)")
        done += 1
        if down.parked > 0 { parked += 1 }
      }
    }
    #expect(done > count / 5 || count < 20)
    #expect(parked > count / 8 || count < 20)
  }
}

extension MadeStore {
  /// Expects that a store has a version's model and no damage.
  fileprivate static func expectIntact(
    _ version: ModelVersion, _ registry: ModelRegistry, at url: URL, _ comment: Comment
  ) throws {
    var problems: [StoreProblem] = []
    try StoreCheck.check(storeAt: url, registry: registry) { problems.append($0) }
    #expect(problems == [], comment)
    // Changes can cancel each other out, so that both versions have the same model.
    let found = try StoreIdentification.identify(storeAt: url, registry: registry)
    #expect(found.model.fingerprints == version.model.fingerprints, comment)
  }
}

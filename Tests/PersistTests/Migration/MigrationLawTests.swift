import Foundation
import PersistTestSupport
import Testing

@testable import Persist

/// How many random chains of models are tried; many more where the environment asks for long tests.
private let seeds: ClosedRange<UInt64> =
  ProcessInfo.processInfo.environment["PERSIST_LONG_TESTS"] == nil ? 1...20 : 1...2000

@Suite("Laws of migration")
struct MigrationLawTests {
  @Test("Whatever changes, the store becomes a new store of the model with every kept value, hop by hop or in one go")
  func randomChains() throws {
    for seed in seeds {
      var models = RandomModels(seed: seed)
      var versions: [ModelVersion] = []
      for number in 1...4 {
        versions.append(ModelVersion(name: "\(number)", model: try models.model()))
        models.change()
      }
      let registry = ModelRegistry(versions: versions)
      let whole = try run(versions[0], through: [versions[3]], registry, seed: seed)
      let stepwise = try run(versions[0], through: Array(versions.dropFirst()), registry, seed: seed)
      // An order that was given up in between is still known in one go, and harmless.
      let differences = whole.unordered(versions[3].model).differences(from: stepwise.unordered(versions[3].model))
      #expect(differences == [], "seed \(seed), in one go against hop by hop")
    }
  }

  private func run(
    _ first: ModelVersion, through versions: [ModelVersion], _ registry: ModelRegistry, seed: UInt64
  ) throws -> StoreDump {
    try withTemporaryStore { url in
      try MadeStore.make(first.model, at: url)
      try MadeStore.fill(first.model, at: url, rows: 6, seed: seed)
      var last = first
      for version in versions {
        let before = try StoreDump(of: last.model, at: url)
        let chain = try MigrationChain(from: last, to: version, registry: registry)
        do {
          try AutomaticMigrator().migrate(storeAt: url, to: version, registry: registry)
        } catch {
          Issue.record("seed \(seed), \(last.name) → \(version.name): \(error)")
          throw error
        }
        let after = try StoreDump(of: version.model, at: url)
        let expected = before.migrated(by: chain.comparison)
        #expect(after.differences(from: expected) == [], "seed \(seed), \(last.name) → \(version.name)")
        try MadeStore.expectNewStore(of: version.model, at: url)
        var problems: [StoreProblem] = []
        try StoreCheck.check(storeAt: url, registry: registry) { problems.append($0) }
        #expect(problems == [], "seed \(seed), \(last.name) → \(version.name)")
        last = version
      }
      return try StoreDump(of: last.model, at: url)
    }
  }
}

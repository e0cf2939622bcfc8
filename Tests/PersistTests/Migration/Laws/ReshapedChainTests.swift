import Foundation
import PersistTestSupport
import Testing

@testable import Persist

@Suite("Chains of reshaped versions")
struct ReshapedChainTests {
  @Test(
    "From the first to the last version everything in both is kept, whatever the versions between and the route",
    .law("migration-reshaped-chains", short: 20, long: 1500))
  func direct() {
    var possible = 0
    let count = forEachSeed { seed in
      let chain = try ReshapedChain(seed: seed)
      guard chain.versions.count > 2, !chain.areNamesMisleading,
        try isUnambiguous(chain.versions)
      else { return }
      if try ChangeLaw(name: "seed \(seed)", versions: chain.versions, rows: 4, seed: seed).run() { possible += 1 }
    }
    #expect(possible > count / 10 || count < 20)
  }

  @Test(
    "A mapping model on the way makes a separate hop, with the same result as migrating hop by hop",
    .law("migration-mapped-chains", short: 15, long: 1000))
  func mapped() {
    var possible = 0
    let count = forEachSeed { seed in
      let chain = try ReshapedChain(seed: seed)
      let versions = chain.inOrder
      guard versions.count > 2, try isUnambiguous(versions) else { return }
      let (first, second) = (versions[chain.someHop], versions[chain.someHop + 1])
      guard let mapping = try? MappingModel.inferred(from: first.model, to: second.model) else { return }
      let last = versions[versions.count - 1]
      try withTemporaryFolder { folder in
        let url = folder.appendingPathComponent("Store.sqlite")
        let stepwise = folder.appendingPathComponent("Stepwise.sqlite")
        try MadeStore.make(versions[0].model, at: url)
        try MadeStore.fill(versions[0].model, at: url, rows: 4, seed: seed)
        try FileManager.default.copyItem(at: url, to: stepwise)
        let before = try StoreContent(of: versions[0].model, at: url)
        let registry = ModelRegistry(versions: versions)
        var stops = [versions[0]]
        for version in [first, second, last] where version.name != stops[stops.count - 1].name {
          stops.append(version)
        }
        var refusal: (stop: ModelVersion, error: PersistenceError)?
        for stop in stops.dropFirst() where refusal == nil {
          do {
            try AutomaticMigrator(downgrade: .withLoss).migrate(storeAt: stepwise, to: stop, registry: registry)
          } catch let error as PersistenceError {
            refusal = (stop, error)
          }
        }
        let migrator = AutomaticMigrator(downgrade: .withLoss, mappingModels: [mapping])
        do {
          let report = try migrator.migrate(storeAt: url, to: last, registry: registry)
          // A mapping model decides about members that don't fit in a to-one relationship.
          if let refusal { #expect(refusal.stop.model === second.model, "seed \(seed): \(refusal.error)") }
          // A mapping model for one hop is also valid for another if the versions differ only in abstract entities: it
          // is used there as well.
          let others = zip(versions, versions.dropFirst()).filter { mapping.isFor(from: $0, to: $1) }.count - 1
          #expect(report.hops < stops.count + others, "seed \(seed)")
        } catch {
          #expect(refusal != nil, "seed \(seed): \(error)")
          try #expect(StoreContent(of: versions[0].model, at: url) == before, "seed \(seed)")
          return
        }
        guard refusal == nil else { return }
        possible += 1
        let found = try StoreContent(of: last.model, at: url).comparable(last.model)
        let wanted = try StoreContent(of: last.model, at: stepwise).comparable(last.model)
        #expect(found.differences(from: wanted) == [], "seed \(seed), by way of '\(first.name)' → '\(second.name)'")
        try MadeStore.expectNewStore(of: last.model, at: url)
        var problems: [StoreProblem] = []
        try checkStore(at: url, registry: registry) { problems.append($0) }
        #expect(problems == [], "seed \(seed)")
      }
    }
    #expect(possible > count / 10 || count < 20)
  }

  /// Whether no two properties of a version claim the same origin, over any number of hops.
  private func isUnambiguous(_ versions: [ModelVersion]) throws -> Bool {
    do {
      for (index, old) in versions.enumerated() {
        for new in versions[(index + 1)...] { _ = try ModelCorrespondence(from: old.model, to: new.model) }
      }
      return true
    } catch let error as PersistenceError where error.code == .mappingAmbiguous {
      return false
    }
  }
}

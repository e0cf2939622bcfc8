#if canImport(PersistPostgreSQL)
  import Foundation
  import PersistOnlineMigrations
  @testable import PersistPostgreSQL
  import PersistTestSupport
  import Synchronization
  import Testing

  @testable import Persist
  @testable import PersistCore
  @testable import PersistModel

  /// The law: an online migration is refused with reasons, or its end is that of the migration in one step, and
  /// abandoning it changes nothing.
  @Suite("Changes of models, online", .needsServer, .serialized)
  struct OnlineChangeTests {
    /// The changes that were refused, by the reason.
    private static let refusals = Mutex<[String: [String]]>([:])

    private static func printRefusals(of what: String, _ served: Int) {
      refusals.withLock { refusals in
        let total = refusals.values.reduce(0) { $0 + $1.count }
        print("Online: \(served) of \(served + total) \(what) served.")
        for (reason, names) in refusals.sorted(by: { $0.value.count > $1.value.count }) {
          print("  \(names.count) × \(reason) (\(names.prefix(3).joined(separator: "; ")))")
        }
        refusals = [:]
      }
    }

    /// - Returns: Whether the change was served.
    private func migrate(
      _ old: ModelVersion, to new: ModelVersion, _ registry: ModelRegistry?, _ name: String, seed: UInt64 = 1
    ) throws -> Bool {
      try TestServer.withSchema { text in
        let url = try #require(URL(string: text))
        try withTemporaryFile { file in
          try MadeStore.make(old.model, at: file)
          try MadeStore.fill(old.model, at: file, rows: 5, seed: seed)
          try StoreCopies.replaceStore(at: StoreLocation(url), with: StoreLocation(file))
        }
        let before = try storedContents(at: StoreLocation(url))
        let migration = OnlineMigration(storeAt: url, registry: registry)
        let plan: OnlinePlan
        do {
          plan = try migration.plan(to: new)
          try migration.expand(to: new)
        } catch let error as PersistenceError {
          let refusals = (try? migration.plan(to: new).refusals) ?? []
          let reason = refusals.first.map { "\($0.reason)" } ?? error.message
          Self.refusals.withLock { $0[reason, default: []].append(name) }
          #expect(![.storeDamaged, .serverFailed, .constraintConflict].contains(error.code), "\(name): \(error)")
          try #expect(storedContents(at: StoreLocation(url)) == before, "\(name)")
          return false
        }
        #expect(plan.isPossible, "\(name)")
        try migration.abort()
        try #expect(storedContents(at: StoreLocation(url)) == before, "\(name), abandoned")
        let other = otherStore("once", beside: url)
        try StoreCopies.replaceStore(at: StoreLocation(other), with: StoreLocation(url))
        let once = Result { try AutomaticMigrator().migrate(storeAt: other, to: new, registry: registry) }
        try migration.expand(to: new)
        try migration.backfill()
        try #expect(storedContents(at: StoreLocation(url)) == before, "\(name), with the old model")
        if case .failure(let error) = once {
          // Online, programs can correct the rows until the contraction.
          #expect((error as? PersistenceError)?.code == .mappingNotInferable, "\(name): \(error)")
          #expect(throws: PersistenceError.self, "\(name)") { try migration.contract() }
          try migration.abort()
          try #expect(storedContents(at: StoreLocation(url)) == before, "\(name), abandoned at last")
          return true
        }
        try migration.contract()
        let (online, atOnce) = try (
          storedContents(at: StoreLocation(url), includingDerived: false),
          storedContents(at: StoreLocation(other), includingDerived: false)
        )
        #expect(Set(online).subtracting(atOnce).sorted().prefix(2) == [], "\(name), online")
        #expect(Set(atOnce).subtracting(online).sorted().prefix(2) == [], "\(name), in one step")
        var problems: [StoreProblem] = []
        try checkStore(at: url) { problems.append($0) }
        #expect(problems.isEmpty, "\(name): \(problems)")
        return true
      }
    }

    @Test("Each single change is served, or refused with a reason", .law("online-single-changes", short: 12, long: 300))
    func singleChanges() {
      let all = SingleChange.all
      var served = 0
      forEachSeed { seed in
        // Neighbors in the list are similar; consecutive seeds test different kinds.
        let change = all[Int((seed &* 7919) % UInt64(all.count))]
        guard let old = try? change.old.model(), let new = try? change.new.model(),
          old.fingerprints != new.fingerprints
        else { return }
        let versions = (ModelVersion(name: "1", model: old), ModelVersion(name: "2", model: new))
        if try migrate(versions.0, to: versions.1, nil, change.name, seed: seed) { served += 1 }
      }
      Self.printRefusals(of: "single changes", served)
    }

    @Test(
      "Each refusal names the difference, the reason and what to do instead, as a plan, in JSON and as an error",
      .law("online-refusals", short: 30, long: 277))
    func refusalTexts() {
      let all = SingleChange.all
      forEachSeed { seed in
        let change = all[Int((seed &* 7919) % UInt64(all.count))]
        guard let old = try? change.old.model(), let new = try? change.new.model(),
          old.fingerprints != new.fingerprints
        else { return }
        let versions = (ModelVersion(name: "1", model: old), ModelVersion(name: "2", model: new))
        try TestServer.withSchema { text in
          let url = try #require(URL(string: text))
          let coordinator = PersistentStoreCoordinator(model: old)
          try coordinator.remove(coordinator.addStore(at: url))
          let plan: OnlinePlan
          do {
            plan = try OnlineMigration(storeAt: url).plan(to: versions.1)
          } catch let error as PersistenceError {
            #expect(error.fix?.isEmpty == false, "\(change.name): \(error)")
            return
          }
          let error = plan.error?.description ?? ""
          for refusal in plan.refusals {
            let place = "\(change.name): \(refusal)"
            let operation = try #require(refusal.operation, "\(place)")
            for sentence in [refusal.reason, refusal.fix] {
              #expect(sentence.hasSuffix(".") && sentence.first?.isLowercase == false, "\(place)")
              #expect(plan.description.contains(sentence) && error.contains(sentence), "\(place)")
            }
            #expect(plan.description.contains(operation.kind.rawValue), "\(place)")
            #expect(error.contains(operation.kind.rawValue), "\(place)")
          }
        }
      }
    }

    @Test("Random changes are served, or refused with a reason", .law("online-changes", short: 8, long: 400))
    func randomChanges() {
      forEachSeed { seed in
        guard let registry = try RandomModels(seed: seed).chain(of: 2) else { return }
        _ = try migrate(registry.versions[0], to: registry.versions[1], registry, "seed \(seed)", seed: seed)
      }
    }

    /// Each version of a real model with the next.
    private static let realPairs: [(old: ModelVersion, new: ModelVersion, registry: ModelRegistry)] = {
      guard let root = try? SharedData.url("") else { return [] }
      let folders = (try? FileManager.default.contentsOfDirectory(at: root, includingPropertiesForKeys: nil)) ?? []
      return folders.sorted { $0.path < $1.path }.compactMap { try? ModelRegistry(contentsOf: $0) }.flatMap { known in
        known.families.flatMap { family in
          zip(family.versions, family.versions.dropFirst()).map { ($0, $1, known) }
        }.filter { $0.0.model.fingerprints != $0.1.model.fingerprints }
      }
    }()

    @Test(
      "Each version of a real model and the next", .needsSharedData, .law("online-real-versions", short: 4, long: 100))
    func realVersions() {
      let all = Self.realPairs
      var served = 0
      forEachSeed { seed in
        guard !all.isEmpty else { return }
        let (old, new, registry) = all[Int((seed &* 7919) % UInt64(all.count))]
        if try migrate(old, to: new, registry, "'\(old.name)' to '\(new.name)'", seed: seed) { served += 1 }
      }
      Self.printRefusals(of: "real versions", served)
    }
  }
#endif

#if canImport(PersistPostgreSQL)
  import Foundation
  import PersistOnlineMigrations
  @testable import PersistPostgreSQL
  import PersistTestSupport
  import Testing

  @testable import Persist
  @testable import PersistCore
  @testable import PersistModel

  /// The law: a store that goes through the versions of a real model one after another has equal contents in each,
  /// whether it migrates online or in one step.
  @Suite("Chains of real models, online", .needsServer, .needsSharedData, .serialized)
  struct OnlineChainTests {
    /// A store and the versions that it goes through.
    private struct Chain {
      let registry: ModelRegistry
      /// The store's version, and the later ones.
      let versions: [ModelVersion]
      /// A real store; nil to fill one.
      let store: URL?

      var name: String { "\(store?.lastPathComponent ?? "a filled store") from '\(versions[0].name)'" }
    }

    /// Each real store whose model has later versions, and a filled store of the first version of each real model.
    private static let chains: [Chain] = {
      guard let root = try? SharedData.url("") else { return [] }
      let folders = (try? FileManager.default.contentsOfDirectory(at: root, includingPropertiesForKeys: nil)) ?? []
      return folders.sorted { $0.path < $1.path }.flatMap { folder -> [Chain] in
        guard let registry = try? ModelRegistry(contentsOf: folder) else { return [] }
        let stores = SharedData.stores.filter { $0.path.hasPrefix(folder.path + "/") }
        let real = stores.compactMap { store -> Chain? in
          guard let found = try? StoreIdentification.identify(storeAt: store, registry: registry),
            let version = found.version, let family = found.family,
            let place = family.versions.firstIndex(where: { $0.name == version.name })
          else { return nil }
          return Chain(registry: registry, versions: Array(family.versions[place...]), store: store)
        }
        let filled = registry.families.map { Chain(registry: registry, versions: $0.versions, store: nil) }
        return (real + filled).filter { $0.versions.count > 1 }
      }
    }()

    private enum Hop { case online, refused, impossible }

    /// Migrates two equal stores, one of them online if that is possible.
    private func migrate(
      _ url: URL, beside other: URL, to version: ModelVersion, _ registry: ModelRegistry, _ name: String
    ) throws -> Hop {
      let migration = OnlineMigration(storeAt: url, registry: registry)
      var isExpanded = true
      do { try migration.expand(to: version) } catch let error as PersistenceError {
        #expect(error.fix?.isEmpty == false || !error.errors.isEmpty, "\(name): \(error)")
        isExpanded = false
      }
      if isExpanded { try migration.backfill() }
      do {
        try AutomaticMigrator().migrate(storeAt: other, to: version, registry: registry)
      } catch let error as PersistenceError where [.mappingNotInferable, .incompatibleModel].contains(error.code) {
        // The models have nothing in common, or rows don't fit; these can be corrected online until the contraction.
        if isExpanded {
          #expect(throws: PersistenceError.self, "\(name)") { try migration.contract() }
          try migration.abort()
        }
        return .impossible
      }
      if isExpanded {
        try migration.contract(force: true)
      } else {
        try AutomaticMigrator().migrate(storeAt: url, to: version, registry: registry)
      }
      return isExpanded ? .online : .refused
    }

    private func expectEqual(_ url: URL, _ other: URL, _ name: String) throws {
      let (online, atOnce) = try (
        storedContents(at: StoreLocation(url), includingDerived: false),
        storedContents(at: StoreLocation(other), includingDerived: false)
      )
      #expect(Set(online).subtracting(atOnce).sorted().prefix(2) == [], "\(name), online")
      #expect(Set(atOnce).subtracting(online).sorted().prefix(2) == [], "\(name), in one step")
      #expect(online.count == atOnce.count, "\(name)")
      var problems: [StoreProblem.Kind] = []
      var former: [StoreProblem.Kind] = []
      try checkStore(at: url) { problems.append($0.kind) }
      try checkStore(at: other) { former.append($0.kind) }
      #expect(problems == former, "\(name)")
    }

    @Test("Each hop has equal ends online and in one step", .law("online-real-chains", short: 2, long: 40))
    func hops() {
      let chains = Self.chains
      var (online, refused) = (0, 0)
      forEachSeed { seed in
        guard seed <= chains.count else { return }
        let chain = chains[Int(seed) - 1]
        try TestServer.withSchema { text in
          let url = try #require(URL(string: text))
          let other = otherStore("once", beside: url)
          try withTemporaryFile { file in
            if let store = chain.store {
              try withCopy(ofStore: store) { copy in
                try StoreCopies.replaceStore(
                  at: StoreLocation(url), with: StoreLocation(copy), registry: chain.registry, parked: .omitted)
              }
            } else {
              try MadeStore.make(chain.versions[0].model, at: file)
              try MadeStore.fill(chain.versions[0].model, at: file, rows: 5, seed: seed)
              try StoreCopies.replaceStore(at: StoreLocation(url), with: StoreLocation(file))
            }
          }
          try StoreCopies.replaceStore(at: StoreLocation(other), with: StoreLocation(url))
          for version in chain.versions.dropFirst() {
            // Without mapping models, whose policies are the application's.
            let registry = ModelRegistry(versions: chain.registry.versions)
            let name = "\(chain.name), to '\(version.name)'"
            let hop = try migrate(url, beside: other, to: version, registry, name)
            try expectEqual(url, other, name)
            switch hop {
            case .online: online += 1
            case .refused: refused += 1
            case .impossible: return
            }
          }
        }
      }
      print("\(chains.count) real chains: \(online) hops online, \(refused) refused and made in one step.")
    }
  }
#endif

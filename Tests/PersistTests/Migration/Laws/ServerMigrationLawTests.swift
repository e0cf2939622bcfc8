#if canImport(PersistPostgreSQL)
  import Foundation
  @testable import PersistPostgreSQL
  import PersistTestSupport
  import Testing

  @testable import Persist
  @testable import PersistCore
  @testable import PersistModel

  /// The law: a migration on a server gives what the same migration gives in a file with the same contents.
  @Suite("Migrations on servers beside those of files", .needsServer)
  struct ServerMigrationLawTests {
    /// A store in a file, and its copy on a server.
    private struct Pair {
      let file: URL
      let server: URL

      func copy() throws { try StoreCopies.replaceStore(at: StoreLocation(server), with: StoreLocation(file)) }
    }

    private func withServer(of file: URL, _ body: (Pair) throws -> Void) throws {
      try TestServer.withSchema { text in
        let pair = Pair(file: file, server: try #require(URL(string: text)))
        try pair.copy()
        try body(pair)
      }
    }

    /// Migrates both stores.
    ///
    /// - Returns: Whether it was possible.
    private func migrate(
      _ pair: Pair, to version: ModelVersion, _ registry: ModelRegistry, _ migrator: AutomaticMigrator, _ name: String
    ) throws -> Bool {
      let known = ModelRegistry(versions: registry.versions)
      func attempt(_ url: URL) -> Result<MigrationReport, any Error> {
        Result { try migrator.migrate(storeAt: url, to: version, registry: known) }
      }
      let before = try storedContents(at: StoreLocation(pair.server))
      switch (attempt(pair.file), attempt(pair.server)) {
      case (.success(let file), .success(let server)):
        #expect(server.way == file.way && server.from == file.from && server.to == file.to, "\(name)")
      case (.failure(let file), .failure(let server)):
        #expect(
          (server as? PersistenceError)?.code == (file as? PersistenceError)?.code, "\(name): \(server), in a file: \(file)")
        try #expect(storedContents(at: StoreLocation(pair.server)) == before, "\(name): \(server)")
        return false
      case (.success, .failure(let error)):
        Issue.record("\(name), on the server: \(error)")
        return false
      case (.failure(let error), .success):
        Issue.record("\(name), in the file: \(error)")
        return false
      }
      let (file, server) = try (
        storedContents(at: StoreLocation(pair.file), includingDerived: false),
        storedContents(at: StoreLocation(pair.server), includingDerived: false)
      )
      let (missing, added) = (Set(file).subtracting(server).sorted(), Set(server).subtracting(file).sorted())
      #expect(missing.prefix(3) == [] && added.prefix(3) == [], "\(name)")
      #expect(server.count == file.count, "\(name)")
      return true
    }

    /// The findings of a check that can be equal in both.
    private func problems(at url: URL) throws -> Set<StoreProblem.Kind> {
      let others: Set<StoreProblem.Kind> = [
        .wrongType, .damagedDatabase, .textIndex, .danglingHistory, .missingFile, .orphanFile, .unfinishedWork,
        .keyCounter,
      ]
      var kinds: Set<StoreProblem.Kind> = []
      try checkStore(at: url) { kinds.insert($0.kind) }
      return kinds.subtracting(others)
    }

    @Test(
      "Whatever changes, in one go and hop by hop, in place and by copy",
      .law("migration-on-servers", short: 10, long: 250))
    func randomChains() throws {
      forEachSeed { seed in
        guard let registry = try RandomModels(seed: seed).chain(of: 3) else { return }
        let versions = registry.versions
        var migrator = AutomaticMigrator(alwaysCopies: seed % 3 == 0)
        migrator.retries = 0
        for hops in seed % 2 == 0 ? [[versions[2]]] : [[versions[1], versions[2]]] {
          try withTemporaryFile { url in
            try MadeStore.make(versions[0].model, at: url)
            try MadeStore.fill(versions[0].model, at: url, rows: 6, seed: seed)
            try withServer(of: url) { pair in
              for version in hops {
                let name = "seed \(seed), to \(version.name)\(migrator.alwaysCopies ? " by copy" : "")"
                guard try migrate(pair, to: version, registry, migrator, name) else { return }
                // As a new store of the server.
                try MadeStore.expectNewStore(of: version.model, at: pair.server)
                try #expect(problems(at: pair.server) == [], "\(name)")
              }
            }
          }
        }
      }
    }

    private static let registries: [ModelRegistry] = {
      guard let root = try? SharedData.url("") else { return [] }
      let folders = (try? FileManager.default.contentsOfDirectory(at: root, includingPropertiesForKeys: nil)) ?? []
      return folders.compactMap { try? ModelRegistry(contentsOf: $0) }
    }()

    @Test("Every real store, to the newest version of its models", .needsSharedData, arguments: SharedData.stores)
    func realStores(path: URL) throws {
      var migrations = 0
      for registry in Self.registries {
        for copies in [false, true] {
          try withCopy(ofStore: path) { url in
            guard let found = try? StoreIdentification.identify(storeAt: url, registry: registry),
              let version = found.version, (try? found.model.checkDerivations()) != nil,
              let family = registry.families.first(where: { $0.versions.contains { $0.name == version.name } }),
              family.current.name != version.name,
              (try? storedContents(at: StoreLocation(url))) != nil
            else { return }
            let name = "\(path.lastPathComponent), \(version.name) to \(family.current.name)"
            try withServer(of: url) { pair in
              let own = ModelRegistry(families: [family])
              if try migrate(pair, to: family.current, own, AutomaticMigrator(alwaysCopies: copies), name) {
                migrations += 1
                try #expect(problems(at: pair.server).isSubset(of: problems(at: pair.file)), "\(name)")
              }
            }
          }
        }
      }
      if migrations > 0 { print("Migrated on a server: \(path.lastPathComponent), \(migrations) times") }
    }

    /// The next version of any model: new attributes, a new name, and an entity that comes first.
    private func changed(_ model: ManagedObjectModel) throws -> ManagedObjectModel {
      var description = model.description
      for index in description.entities.indices where description.entities[index].parent == nil {
        description.entities[index].attributes.append(
          AttributeDescription("addedByTest", .string, default: .string("new")))
      }
      description.entities.append(EntityDescription("AAAA", attributes: [AttributeDescription("name", .string)]))
      return try ManagedObjectModel(description)
    }

    @Test("Every real store, to a changed version of its own model", .needsSharedData, arguments: SharedData.stores)
    func changedStores(path: URL) throws {
      try withCopy(ofStore: path) { url in
        guard let source = try? StoreIdentification.identify(storeAt: url).model,
          (try? source.checkDerivations()) != nil, (try? storedContents(at: StoreLocation(url))) != nil
        else { return }
        let versions = [
          ModelVersion(name: "own", model: source), ModelVersion(name: "changed", model: try changed(source)),
        ]
        try withServer(of: url) { pair in
          _ = try migrate(
            pair, to: versions[1], ModelRegistry(versions: versions), AutomaticMigrator(), path.lastPathComponent)
        }
      }
    }
  }
#endif

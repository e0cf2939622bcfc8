#if canImport(PersistPostgreSQL)
  import Foundation
  import PersistTestSupport
  import PersistTools
  import Testing

  @testable import Persist
  @testable import PersistCore
  @testable import PersistModel

  /// The law of stages and mapping models on servers: they park what they would park in a file, and it comes back.
  @Suite(
    "Parked values of migrations in stages, on a server as in a file", .needsServer,
    .aboutFiles("copies between engines"))
  struct StagedParkingTests {
    private func contents(_ url: URL) throws -> [String] {
      try PersistentStoreCoordinator.parkedContents(at: url).map {
        "\($0.place): \($0.count) \($0.kind) of \($0.version)"
      }
    }

    /// Migrates a store in a file and its copy on a server, which have the same contents before and afterward.
    private func migrate(
      _ urls: [URL], to version: ModelVersion, _ registry: ModelRegistry, _ migrator: AutomaticMigrator, _ place: String
    ) throws -> [MigrationReport]? {
      let results = urls.map { url in
        Result { try migrator.migrate(storeAt: url, to: version, registry: registry) }
      }
      let codes = results.map { result -> PersistenceError.Code? in
        if case .failure(let error) = result { (error as? PersistenceError)?.code } else { nil }
      }
      #expect(codes[0] == codes[1], "\(place): \(results)")
      guard codes == [nil, nil] else { return nil }
      let dumps = try urls.map { try storedContents(at: StoreLocation($0), includingDerived: false) }
      #expect(Set(dumps[1]).subtracting(dumps[0]).sorted().prefix(2) == [], "\(place), on the server")
      #expect(Set(dumps[0]).subtracting(dumps[1]).sorted().prefix(2) == [], "\(place), in the file")
      let parked = try urls.map { try contents($0) }
      #expect(parked[0] == parked[1], "\(place)")
      return try results.map { try $0.get() }
    }

    /// Changes texts, and removes some values.
    private static let work: StagedMigration.Block = { context in
      let model = context.persistentStoreCoordinator.managedObjectModel
      for entity in model.entities where !entity.isAbstract {
        var request = FetchRequest<ManagedObject>(entity.name)
        request.includesSubentities = false
        for object in try context.fetch(request) {
          let key = Int(object.objectID.uriRepresentation().lastPathComponent.drop { !$0.isNumber }) ?? 0
          for attribute in entity.attributes where !attribute.isDerived && !attribute.isTransient {
            if key % 3 == 0, attribute.isOptional {
              object[attribute.name] = nil
            } else if attribute.type == .int32, object[attribute.name] != nil {
              object[attribute.name] = key
            }
          }
        }
      }
    }

    @Test(
      "Stages park on a server what they park in a file, and the way back restores it",
      .law("staged parking across engines", short: 12, long: 600))
    func stages() throws {
      var parked = 0
      let count = forEachSeed { seed in
        guard let registry = try RandomModels(seed: seed).chain(of: 3) else { return }
        let versions = registry.versions
        guard Set(versions.map(\.model.fingerprint)).count == versions.count else { return }
        try withTemporaryFile { file in
          try MadeStore.make(versions[0].model, at: file)
          try MadeStore.fill(versions[0].model, at: file, rows: 6, seed: seed)
          try TestServer.withSchema { text in
            let server = try #require(URL(string: text))
            // Values that the other engine would round or refuse are gone before.
            let coordinator = PersistentStoreCoordinator(model: versions[0].model)
            for (copy, source) in [(server, file), (file, server)] {
              try coordinator.replacePersistentStore(
                at: StoreLocation(copy), withPersistentStoreFrom: StoreLocation(source))
            }
            let staged = try StagedMigration([
              .custom(
                from: versions[0], to: versions[1], willMigrate: seed % 3 == 0 ? Self.work : nil,
                didMigrate: seed % 3 == 0 ? nil : Self.work),
              .lightweight([versions[1], versions[2]]),
            ])
            var migrator = AutomaticMigrator(downgrade: .withLoss, staged: staged)
            guard
              let up = try migrate([file, server], to: versions[2], registry, migrator, "seed \(seed), there")
            else { return }
            #expect(Set(up[0].parkedContents) == Set(up[1].parkedContents), "seed \(seed)")
            if up[1].parked > 0 { parked += 1 }
            migrator.staged = nil
            let back = try migrate([file, server], to: versions[0], registry, migrator, "seed \(seed), back")
            if let back { #expect(back[0].restored == back[1].restored, "seed \(seed)") }
          }
        }
      }
      #expect(parked > count / 4 || count < 20)
      #expect(parked > 0 || count < 12)
    }

    // MARK: Cases

    private static func version(_ name: String, _ attributes: String...) throws -> ModelVersion {
      let note = EntityDescription("Note", attributes: (["name"] + attributes).map { .init($0, .string) })
      return ModelVersion(name: name, model: try ManagedObjectModel(ModelDescription(entities: [note])))
    }

    private func withNotes(
      _ version: ModelVersion, _ names: [String], _ values: KeyValuePairs<String, Any?>, _ body: ([URL]) throws -> Void
    ) throws {
      try withTemporaryFile { file in
        try TestServer.withSchema { text in
          let urls = [file, try #require(URL(string: text))]
          for url in urls {
            let coordinator = PersistentStoreCoordinator(model: version.model)
            let store = try coordinator.addStore(at: url)
            let context = ManagedObjectContext(coordinator)
            for name in names {
              let note = try context.make("Note", values)
              note["name"] = name
            }
            try context.save()
            try coordinator.remove(store)
          }
          try body(urls)
        }
      }
    }

    @Test("What a stage computes and the last version lacks is parked under the name of the model between")
    func between() throws {
      let versions = [
        try Self.version("Notes 1", "text"), try Self.version("Notes 2", "title", "body"),
        try Self.version("Notes 3", "title"),
      ]
      let registry = ModelRegistry(versions: versions)
      let split = try StagedMigration(from: versions[0], to: versions[1]) { context in
        for note in try context.fetch(FetchRequest("Note")) {
          let parts = (note["text"] as? String ?? "").split(separator: ":").map(String.init)
          (note["title"], note["body"]) = (parts.first, parts.last)
        }
      }
      let staged = try split.appending(StagedMigration([.lightweight([versions[1], versions[2]])]))
      try withNotes(versions[0], ["a", "b"], ["text": "Tea: green"]) { urls in
        let reports = try migrate(urls, to: versions[2], registry, AutomaticMigrator(staged: staged), "there")
        #expect(reports?.map(\.parked) == [4, 4])
        try #expect(
          contents(urls[1]).sorted() == [
            "Note.body: 2 values of the model between 'Notes 1' and 'Notes 2'",
            "Note.text: 2 values of the model between 'Notes 1' and 'Notes 2'",
          ])
        let back = try migrate(
          urls, to: versions[1], registry, AutomaticMigrator(downgrade: .withLoss), "back to the second")
        #expect(back?.map(\.restored) == [2, 2])
        try #expect(storedContents(at: StoreLocation(urls[1])).allSatisfy { $0.contains(" green") })
      }
    }

    @Test("What was parked before stages comes back after them, beside what they park")
    func parkedBefore() throws {
      let versions = [
        try Self.version("1", "color", "text"), try Self.version("2", "text"), try Self.version("3", "size"),
        try Self.version("4", "size", "color", "text"),
      ]
      let registry = ModelRegistry(versions: versions)
      let staged = try StagedMigration([
        .custom(
          from: versions[1], to: versions[2],
          willMigrate: { context in
            for note in try context.fetch(FetchRequest("Note")) { note["text"] = "\(note["text"] ?? ""), staged" }
          })
      ])
      try withNotes(versions[0], ["a", "b", "c"], ["color": "red", "text": "tea"]) { urls in
        _ = try migrate(urls, to: versions[1], registry, AutomaticMigrator(), "before")
        _ = try migrate(urls, to: versions[2], registry, AutomaticMigrator(staged: staged), "stage")
        try #expect(contents(urls[1]) == ["Note.color: 3 values of 1", "Note.text: 3 values of 2"])
        let last = try migrate(urls, to: versions[3], registry, AutomaticMigrator(), "after")
        #expect(last?.map(\.restored) == [6, 6])
        let all = try storedContents(at: StoreLocation(urls[1]))
        #expect(all.allSatisfy { $0.contains("red") && $0.contains("tea, staged") } && all.count == 3)
        try #expect(PersistentStoreCoordinator.parkedContents(at: urls[1]) == [])
      }
    }

    @Test("An object that is deleted after stages takes what they have parked along")
    func deleted() throws {
      let versions = [try Self.version("1", "text"), try Self.version("2")]
      let registry = ModelRegistry(versions: versions)
      let staged = try StagedMigration([.custom(from: versions[0], to: versions[1], didMigrate: { _ in })])
      try withNotes(versions[0], ["a", "b", "c"], ["text": "tea"]) { urls in
        _ = try migrate(urls, to: versions[1], registry, AutomaticMigrator(staged: staged), "there")
        for url in urls {
          let coordinator = PersistentStoreCoordinator(model: versions[1].model)
          let store = try coordinator.addStore(at: url)
          let context = ManagedObjectContext(coordinator)
          context.delete(try context.named("Note", "b"))
          try context.save()
          try coordinator.remove(store)
        }
        try #expect(contents(urls[1]) == ["Note.text: 2 values of 1"])
        _ = try migrate(urls, to: versions[0], registry, AutomaticMigrator(downgrade: .withLoss), "back")
      }
    }

    @Test("Beside a mapping model, inferred hops park on a server what they park in a file")
    func mappingModel() throws {
      let versions = [
        try Self.version("1", "text", "color"), try Self.version("2", "title", "color"), try Self.version("3", "title"),
      ]
      let registry = ModelRegistry(versions: versions)
      var mapping = try MappingModel.inferred(from: versions[0].model, to: versions[1].model)
      mapping.sourceVersion = "1"
      mapping.destinationVersion = "2"
      let migrator = AutomaticMigrator(mappingModels: [mapping])
      try withNotes(versions[0], ["a", "b"], ["text": "tea", "color": "red"]) { urls in
        for url in urls {
          let plan = try MigrationPlan(storeAt: url, to: versions[2], registry: registry, migrator: migrator)
          #expect(plan.parked.map(\.description) == ["Note.color: attribute removed, 2 rows"])
          #expect(plan.lost.compactMap(\.property) == ["text"], "\(plan)")
          #expect(plan.description.contains("lost:\n  Note.text"), "\(plan.losses)")
        }
        let reports = try migrate(urls, to: versions[2], registry, migrator, "there")
        #expect(reports?.map(\.parked) == [2, 2])
        try #expect(contents(urls[1]) == ["Note.color: 2 values of 2"])
      }
    }
  }
#endif

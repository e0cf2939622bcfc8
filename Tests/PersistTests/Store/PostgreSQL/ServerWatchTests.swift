#if canImport(PersistPostgreSQL)
  import Foundation
  @testable import PersistPostgreSQL
  import PersistTestSupport
  import Testing

  @testable import Persist
  @testable import PersistCore
  @testable import PersistModel

  /// The counterpart of ``StoreWatchTests``.
  @Suite("Open stores on servers changed by others", .needsServer)
  struct ServerWatchTests {
    /// A stack that continues with what it opened.
    private struct OpenStore {
      let coordinator: PersistentStoreCoordinator
      let context: ManagedObjectContext

      init(_ model: ManagedObjectModel, at url: String) throws {
        coordinator = PersistentStoreCoordinator(model: model)
        try coordinator.addStore(.postgreSQL(url))
        context = ManagedObjectContext(coordinator)
      }
    }

    private func note(
      _ version: Int, _ attributes: [AttributeDescription] = [], others: [EntityDescription] = []
    ) throws -> ModelVersion {
      let note = EntityDescription("Note", attributes: [AttributeDescription("text", .string)] + attributes)
      return ModelVersion(
        name: "\(version)", model: try ManagedObjectModel(ModelDescription(entities: [note] + others)))
    }

    private func run(_ sql: String, at url: String) throws {
      let connection = try ServerDrivers.current.connect(to: address(url))
      defer { connection.close() }
      _ = try connection.run([ServerStatement(sql.replacing("SCHEMA", with: try address(url).schema))])
    }

    private func address(_ url: String) throws -> ServerAddress {
      try #require(URL(string: url).flatMap(ServerAddress.init))
    }

    private func migrate(_ url: String, to version: ModelVersion, among versions: [ModelVersion]) throws {
      let coordinator = PersistentStoreCoordinator(
        model: version.model, registry: ModelRegistry(versions: versions))
      let options = StoreOptions(migrator: AutomaticMigrator(downgrade: .withLoss))
      let store = try coordinator.addStore(.postgreSQL(url), options: options)
      try coordinator.remove(store)
    }

    // MARK: Migrated

    /// The kinds of work with an open store.
    enum Work: CaseIterable {
      case fetch, count, fault, members, values, metadata, save, insert, batchUpdate, batchDelete, batchInsert

      func run(_ context: ManagedObjectContext, _ note: ManagedObject) throws {
        switch self {
        case .fetch: _ = try context.fetch(FetchRequest("Note", where: "text != 'x'"))
        case .count: _ = try context.count(for: FetchRequest("Note"))
        case .fault:
          context.refresh(note, mergeChanges: false)
          _ = note["text"]
          _ = try context.count(for: FetchRequest("Note"))
        case .members: _ = try context.fetch(FetchRequest("Note", where: "ANY tags.word == 'a'"))
        case .values:
          _ = try context.persistentStoreCoordinator.openStores[0].greatestKey(
            inHierarchyOf: context.persistentStoreCoordinator.openStores[0].model.entities[0])
        case .metadata: _ = try context.persistentStoreCoordinator.openStores[0].metadata()
        case .save:
          note["text"] = "later"
          try context.save()
        case .insert:
          try context.make("Note", ["text": "new"])
          try context.save()
        case .batchUpdate: _ = try context.execute(BatchUpdateRequest("Note", set: ["text": .constant(.string("all"))]))
        case .batchDelete: _ = try context.execute(BatchDeleteRequest(FetchRequest("Note")))
        case .batchInsert: _ = try context.execute(BatchInsertRequest("Note", [["text": "one"]]))
        }
      }
    }

    @Test("A migration by another program is noticed by every kind of work", arguments: Work.allCases, [true, false])
    func migrated(work: Work, changesTable: Bool) throws {
      let tag = EntityDescription("Tag", attributes: [AttributeDescription("word", .string)])
      func version(
        _ number: Int, _ attributes: [AttributeDescription], others: [EntityDescription]
      ) throws -> ModelVersion {
        let note = EntityDescription(
          "Note", attributes: [AttributeDescription("text", .string)] + attributes,
          relationships: [RelationshipDescription("tags", toMany: "Tag")])
        return ModelVersion(
          name: "\(number)", model: try ManagedObjectModel(ModelDescription(entities: [note, tag] + others)))
      }
      let old = try version(1, [], others: [])
      let new =
        changesTable
        ? try version(2, [AttributeDescription("color", .string)], others: [])
        : try version(2, [], others: [EntityDescription("Another", attributes: [AttributeDescription("x", .int64)])])
      try TestServer.withSchema { url in
        let open = try OpenStore(old.model, at: url)
        let note = try open.context.make("Note", ["text": "before"])
        try open.context.save()
        try migrate(url, to: new, among: [old, new])
        for _ in 0..<2 {
          let error = persistError { try work.run(open.context, note) }
          #expect(error?.code == .incompatibleModel)
          #expect(error?.message.contains("Another program migrated the store while it was open here.") == true)
        }
        let fresh = try OpenStore(new.model, at: url)
        #expect(try fresh.context.names("Note", by: "text") == ["before"])
      }
    }

    @Test("Unsaved changes stay in the context, and are saved with the current model elsewhere")
    func changesStay() throws {
      let versions = [try note(1), try note(2, [AttributeDescription("color", .string)])]
      try TestServer.withSchema { url in
        let open = try OpenStore(versions[0].model, at: url)
        let first = try open.context.make("Note", ["text": "before"])
        try open.context.save()
        try migrate(url, to: versions[1], among: versions)
        first["text"] = "after"
        let new = try open.context.make("Note", ["text": "new"])
        #expect(persistError { try open.context.save() }?.code == .incompatibleModel)
        #expect(first["text"] as? String == "after" && open.context.insertedObjects == [new])
      }
    }

    @Test("A migration there and back is noticed if rows have other entity numbers afterward")
    func thereAndBack() throws {
      func version(_ name: String, _ entities: String...) throws -> ModelVersion {
        let note = EntityDescription("Note", attributes: [AttributeDescription("text", .string)])
        return ModelVersion(
          name: name,
          model: try ManagedObjectModel(
            ModelDescription(entities: [note] + entities.map { EntityDescription($0, parent: "Note") })))
      }
      let versions = [
        try version("1", "Memo", "Zettel"), try version("2", "Zettel"), try version("3", "Letter", "Memo", "Zettel"),
      ]
      try TestServer.withSchema { url in
        let open = try OpenStore(versions[0].model, at: url)
        try open.context.make("Zettel", ["text": "before"])
        try open.context.save()
        for number in [1, 2, 1, 0] { try migrate(url, to: versions[number], among: versions) }
        let same = try OpenStore(versions[0].model, at: url).coordinator.openStores[0] as? PostgreSQLStore
        let mine = try #require((open.coordinator.openStores[0] as? PostgreSQLStore)?.map.numbers.byIndex)
        let error = persistError { _ = try open.context.fetch(FetchRequest("Memo")) }
        #expect((error?.code == .incompatibleModel) == (same?.map.numbers.byIndex != mine))
        let expected: Set<PersistenceError.Code?> = [nil, .incompatibleModel]
        #expect(expected.contains(error?.code))
      }
    }

    @Test("Changes that keep the model disturb no program: rows, indexes, metadata. A copy in its place is another life")
    func harmless() throws {
      let people = try ManagedObjectModel(SampleModels.people)
      try TestServer.withSchema { url in
        let location = try StoreLocation.postgreSQL(url)
        let open = try OpenStore(people, at: url)
        try open.context.make("Person", ["name": "Ann"])
        try open.context.save()
        var metadata = try location.engine.metadata(ofStoreAt: location)
        metadata.values["note"] = .string("by another")
        try location.engine.setMetadata(metadata, ofStoreAt: location)
        for sql in [
          "CREATE INDEX others ON SCHEMA.person (name)", "UPDATE SCHEMA.person SET version = version + 1",
          "ANALYZE SCHEMA.person", "CREATE TABLE SCHEMA.theirs (x int)",
        ] {
          try run(sql, at: url)
          try open.context.make("Person", ["name": sql])
          try open.context.save()
          _ = try open.context.fetch(FetchRequest("Person"))
        }
        #expect(try open.context.count(for: FetchRequest("Person")) == 5)
        try TestServer.withSchema { other in
          let copy = try StoreLocation.postgreSQL(other)
          try StoreCopies.replaceStore(at: copy, with: location)
          try run("DROP TABLE SCHEMA.theirs", at: url)
          try location.engine.replaceStore(at: location, withCopyAt: copy)
        }
        open.context.reset()
        #expect(persistError { _ = try open.context.count(for: FetchRequest("Person")) }?.code == .storeExchanged)
        let again = try OpenStore(people, at: url)
        try again.context.make("Person", ["name": "Ben"])
        try again.context.save()
        #expect(try again.context.count(for: FetchRequest("Person")) == 6)
      }
    }

    @Test("A pinned context reads no table that was rewritten since, instead of finding it empty")
    func pinned() throws {
      let tag = EntityDescription("Tag", attributes: [AttributeDescription("word", .string)])
      let old = try note(1, [AttributeDescription("size", .int64)], others: [tag])
      let new = try note(2, [AttributeDescription("size", .double)], others: [tag])
      try TestServer.withSchema { url in
        let open = try OpenStore(old.model, at: url)
        for number in 0..<3 { try open.context.make("Note", ["text": "\(number)"]) }
        try open.context.make("Tag", ["word": "a"])
        try open.context.save()
        try open.context.setQueryGeneration(from: .current)
        open.context.reset()
        // The state is held with this read, which locks only the tags.
        #expect(try open.context.count(for: FetchRequest("Tag")) == 1)
        try migrate(url, to: new, among: [old, new])
        for _ in 0..<2 {
          #expect(persistError { _ = try open.context.fetch(FetchRequest("Note")) }?.code == .incompatibleModel)
        }
      }
    }

    @Test("A save waits for a migration in progress, and then doesn't write with the old model")
    func duringMigration() throws {
      let versions = [try note(1), try note(2, [AttributeDescription("color", .string, isOptional: false)])]
      try TestServer.withSchema { url in
        let open = try OpenStore(versions[0].model, at: url)
        try open.context.make("Note", ["text": "before"])
        try open.context.save()
        let location = try StoreLocation.postgreSQL(url)
        let connection = try PostgreSQLEngine().connect(to: location, options: StoreOptions())
        let saving = DispatchGroup()
        let outcome = LockProtected<PersistenceError.Code?>(nil)
        try connection.transaction {
          let coordinator = open.coordinator
          DispatchQueue.global().async(group: saving) {
            let context = ManagedObjectContext(coordinator)
            let error = persistError {
              try context.make("Note", ["text": "meanwhile"])
              try context.save()
            }
            outcome.withLock { $0 = error?.code }
          }
          #expect(saving.wait(timeout: .now() + 0.3) == .timedOut)
          let metadata = try location.engine.metadata(ofStoreAt: location)
          try connection.record(metadata, model: versions[1].model, coreDataHashes: nil)
        }
        saving.wait()
        connection.close()
        #expect(outcome.withLock { $0 } == .incompatibleModel)
        try run("UPDATE SCHEMA.note SET version = 7 / (SELECT count(*) FROM SCHEMA.note)", at: url)
      }
    }

    /// The ways to change metadata without opening the store.
    enum MetadataChange: CaseIterable {
      case set, change

      func run(_ metadata: StoreMetadata, of location: StoreLocation) throws {
        switch self {
        case .set: try location.engine.setMetadata(metadata, ofStoreAt: location)
        case .change:
          try PostgreSQLEngine().changeMetadata(of: location, completingFile: false) { $0.values["note"] = .string("x") }
        }
      }
    }

    @Test("A change of metadata during a migration keeps the new model", arguments: MetadataChange.allCases)
    func metadataDuringMigration(change: MetadataChange) throws {
      let versions = [try note(1), try note(2, [AttributeDescription("color", .string)])]
      try TestServer.withSchema { url in
        _ = try OpenStore(versions[0].model, at: url)
        let location = try StoreLocation.postgreSQL(url)
        let connection = try PostgreSQLEngine().connect(to: location, options: StoreOptions())
        defer { connection.close() }
        var metadata = try location.engine.metadata(ofStoreAt: location)
        let waiting = DispatchGroup()
        try connection.transaction {
          try connection.record(metadata, model: versions[1].model, coreDataHashes: nil)
          metadata.values["note"] = .string("x")
          DispatchQueue.global().async(group: waiting) { [metadata] in try? change.run(metadata, of: location) }
          #expect(waiting.wait(timeout: .now() + 0.3) == .timedOut)
        }
        waiting.wait()
        let registry = ModelRegistry(versions: versions)
        try #expect(location.engine.identifyStore(at: location, registry: registry).version?.name == "2")
        try #expect(location.engine.metadata(ofStoreAt: location).values["note"] == .string("x"))
      }
    }

    // MARK: Deleted and replaced

    @Test(
      "A store that is deleted or replaced while open accepts no more work", arguments: Work.allCases, [true, false])
    func lost(work: Work, isReplaced: Bool) throws {
      let tag = EntityDescription("Tag", attributes: [AttributeDescription("word", .string)])
      let note = EntityDescription(
        "Note", attributes: [AttributeDescription("text", .string)],
        relationships: [RelationshipDescription("tags", toMany: "Tag")])
      let model = try ManagedObjectModel(ModelDescription(entities: [note, tag]))
      try TestServer.withSchema { url in
        let location = try StoreLocation.postgreSQL(url)
        let open = try OpenStore(model, at: url)
        let note = try open.context.make("Note", ["text": "before"])
        try open.context.save()
        try location.engine.destroyStore(at: location)
        let fresh = isReplaced ? try OpenStore(model, at: url) : nil
        for _ in 0..<2 {
          let error = persistError { try work.run(open.context, note) }
          #expect(error?.code == .storeExchanged)
          #expect(error?.message.hasPrefix("The store was deleted or replaced while it was open here.") == true)
        }
        if let fresh {
          #expect(try fresh.context.count(for: FetchRequest("Note")) == 0)
          try fresh.context.make("Note", ["text": "new"])
          try fresh.context.save()
        }
      }
    }
  }
#endif

import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel
@testable import PersistTools

@Suite("History: migration, check and backups")
struct HistoryMigrationTests {
  private static func model(_ second: Bool) throws -> ManagedObjectModel {
    var description = HistoryModel.description
    guard second else { return try ManagedObjectModel(description) }
    // An entity before all others, an attribute fewer and another that is kept: numbers, bits and columns change.
    description.entities.append(EntityDescription("Album", attributes: [.init("title", .string)]))
    for index in description.entities.indices where description.entities[index].name == "Person" {
      description.entities[index].attributes.removeAll { $0.name == "photo" }
      description.entities[index].attributes.append(.init("alias", .string, preservesValueOnDeletion: true))
    }
    description.versionIdentifiers = ["2"]
    return try ManagedObjectModel(description)
  }

  @Test("A migration in place and by copy keeps the history, follows it in numbers and columns, and is recorded",
    arguments: [false, true])
  func migration(copies: Bool) throws {
    try withTemporaryStore { url in
      let old = PersistentStoreCoordinator(model: try Self.model(false))
      try old.addStore(at: url, options: StoreOptions(tracksHistory: true))
      let context = ManagedObjectContext(old)
      let code = UUID()
      let employee = try context.make("Employee", ["name": "E", "code": code])
      let team = try context.make("Team", ["name": "T"])
      try context.save()
      try employee.setValue(3, forKey: "age")
      try team.setValue("U", forKey: "name")
      try context.save()
      context.delete(employee)
      try context.save()
      let before = try old.transactions()
      for store in old.persistentStores { try old.remove(store) }

      let new = PersistentStoreCoordinator(
        model: try Self.model(true),
        registry: ModelRegistry(versions: [
          ModelVersion(name: "1", model: try Self.model(false)), ModelVersion(name: "2", model: try Self.model(true)),
        ]))
      var options = StoreOptions.automaticMigration
      var migrator = AutomaticMigrator()
      migrator.allowsLoss = true
      migrator.alwaysCopies = copies
      options.migrator = migrator
      try migrator.migrateStore(at: url, to: new.managedObjectModel, registry: new.registry, options: options)
      // The migration itself has recorded it, before anybody opened the store.
      let recorded = try StoreContents(readingStoreAt: url, registry: nil)
      var numbers: [Int64] = []
      try recorded.forEachTransaction(HistoryQuery()) { numbers.append($0.transactionNumber) }
      #expect(numbers == [1, 2, 3, 4])
      var problems: [StoreProblem] = []
      try checkStore(at: url, registry: nil) { problems.append($0) }
      #expect(problems.isEmpty, "\(problems)")
      try new.addStore(at: url, options: options)
      let after = try new.transactions()
      #expect(after.map(\.transactionNumber) == [1, 2, 3, 4])
      #expect(after[3].author?.hasPrefix("com.apple.coredata.schemamigrator: lightweight migration") == true)
      #expect(after[3].changes == [])
      #expect(after[0].changes?.map(words).sorted() == before[0].changes?.map(words).sorted())
      let updates = (after[1].changes ?? []).sorted { $0.changedObjectID.entityName < $1.changedObjectID.entityName }
      #expect(updates.map(\.changedObjectID.entityName) == ["Employee", "Team"])
      #expect(updates.map(\.updatedProperties) == [["age"], ["name"]])
      #expect(after[2].changes?.first?.tombstone == ["name": .string("E"), "code": .uuid(code)])
      let later = ManagedObjectContext(new)
      try later.make("Album", ["title": "A"])
      try later.save()
      try #expect(new.transactions().last?.transactionNumber == 5)
      for store in new.persistentStores { try new.remove(store) }
      // Opening it again records nothing.
      try new.addStore(at: url)
      try #expect(new.transactions().count == 5)
      for store in new.persistentStores { try new.remove(store) }
    }
  }

  @Test("The check finds entries of the history that lead nowhere, and counters that are too low; repair raises these")
  func check() throws {
    try withTemporaryStore { url in
      let coordinator = PersistentStoreCoordinator(model: try HistoryModel.make())
      let store = try coordinator.addStore(at: url, options: StoreOptions(tracksHistory: true))
      let context = ManagedObjectContext(coordinator)
      context.transactionAuthor = "author"
      for name in ["a", "b", "c"] {
        try context.make("Team", ["name": name])
        try context.save()
      }
      try coordinator.remove(store)
      func problems() throws -> [String] {
        var found: [String] = []
        try checkStore(at: url, registry: nil) { problem in
          found.append("\(problem.kind.name) \(problem.entity ?? "") \(problem.detail)")
        }
        return found
      }
      try #expect(problems().isEmpty)
      for sql in [
        "DELETE FROM ATRANSACTION WHERE Z_PK = 2", "UPDATE ACHANGE SET ZENTITY = 999 WHERE Z_PK = 3",
        "UPDATE ATRANSACTION SET ZAUTHORTS = 77 WHERE Z_PK = 3",
        "UPDATE Z_PRIMARYKEY SET Z_MAX = 1 WHERE Z_ENT IN (16001, 16002)",
      ] { try ForeignSQL.run(named: sql, at: url) }
      try #expect(
        problems() == [
          "danglingHistory CHANGE The change belongs to transaction 2, which doesn't exist.",
          "danglingHistory CHANGE The change is one of row 3 of an entity with the number 999, which doesn't exist.",
          "danglingHistory TRANSACTION The transaction's 'author' is text 77, which doesn't exist.",
          "keyCounter CHANGE The key counter is 1, but key 3 is in use.",
          "keyCounter TRANSACTION The key counter is 1, but key 3 is in use.",
        ])
      // Servers have no repair.
      guard TestEngine.current == .sqlite else { return }
      _ = try StoreRepair.repair(storeAt: url)
      try #expect(problems().allSatisfy { $0.hasPrefix("danglingHistory") })
    }
  }

  @Test("A store with a history passes the check; a backup, a copy and a replacement have the history")
  func copies() throws {
    try withTemporaryFolder { folder in
      let url = folder.appendingPathComponent("a.sqlite")
      let coordinator = PersistentStoreCoordinator(model: try HistoryModel.make())
      let store = try coordinator.addStore(at: url, options: StoreOptions(tracksHistory: true))
      let context = ManagedObjectContext(coordinator)
      try context.make("Team", ["name": "T"])
      try context.save()
      let backup = folder.appendingPathComponent("b.sqlite")
      try coordinator.openStores[0].backUp(to: backup)
      try coordinator.remove(store)
      var problems = 0
      for file in [url, backup] {
        try checkStore(at: file, registry: nil) { _ in problems += 1 }
        let contents = try StoreContents(readingStoreAt: file, registry: nil)
        var count = 0
        try contents.forEachTransaction(HistoryQuery()) { _ in count += 1 }
        #expect(count == 1)
      }
      #expect(problems == 0)
      let other = folder.appendingPathComponent("c.sqlite")
      try StoreLocation(other).engine.replaceStore(at: StoreLocation(other), withCopyAt: StoreLocation(backup))
      let again = try coordinator.addStore(at: other)
      try #expect(coordinator.transactions().count == 1)
      try #expect(coordinator.tracksHistory(of: again))
      try coordinator.remove(again)
    }
  }

  @Test(
    "Old values and values of deleted objects stay the same when external storage is switched on or off",
    arguments: [false, true], [false, true])
  func externalStorage(isOn: Bool, copies: Bool) throws {
    func version(_ name: String, _ external: Bool) throws -> ModelVersion {
      let cover = AttributeDescription("cover", .binary, allowsExternalStorage: external)
      let photo = AttributeDescription(
        "photo", .binary, allowsExternalStorage: external, preservesValueOnDeletion: true)
      let parts = AttributeDescription("parts", .composite, compositeName: "Parts")
      return ModelVersion(
        name: name,
        model: try ManagedObjectModel(
          ModelDescription(
            entities: [EntityDescription("Item", attributes: [.init("name", .string), photo, parts])],
            composites: [CompositeDescription("Parts", elements: [cover])], versionIdentifiers: [name])))
    }
    let registry = ModelRegistry(versions: [try version("1", !isOn), try version("2", isOn)])
    let (first, second) = (Data([1, 0xAA, 0xBB]), Data([0xCC]))
    try withTemporaryStore { url in
      let old = PersistentStoreCoordinator(model: registry.versions[0].model)
      try old.addStore(at: url, options: StoreOptions(historyKeeps: .oldValues))
      let context = ManagedObjectContext(old)
      let items = try ["a", "b"].map { try context.make("Item", ["name": $0, "photo": first]) }
      for item in items { try item.setValue(["cover": first], forKey: "parts") }
      try context.save()
      items[0]["photo"] = second
      try items[0].setValue(["cover": second], forKey: "parts")
      context.delete(items[1])
      try context.save()
      for store in old.persistentStores { try old.remove(store) }
      let migrator = AutomaticMigrator(alwaysCopies: copies)
      try migrator.migrate(storeAt: url, to: registry.versions[1], registry: registry)
      let new = PersistentStoreCoordinator(model: registry.versions[1].model)
      try new.addStore(at: url)
      let transaction = try new.transactions()[1]
      let changes = transaction.changes ?? []
      let update = try #require(changes.first { $0.changeType == .update })
      #expect(update.oldValues?["photo"] == .data(first))
      #expect(update.oldValues?["parts"] == .composite(["cover": .data(first)]))
      let deletion = try #require(changes.first { $0.changeType == .delete })
      #expect(deletion.tombstone == ["photo": .data(first)])
      let later = ManagedObjectContext(new)
      try later.revert(transaction)
      try later.save()
      later.refreshAllObjects()
      for name in ["a", "b"] {
        let item = try #require(later.fetch(FetchRequest<ManagedObject>("Item", where: "name == %@", name)).first)
        #expect(item["photo"] as? Data == first, "\(name)")
        #expect((item["parts"] as? [String: Any])?["cover"] as? Data == first, "\(name)")
      }
      for store in new.persistentStores { try new.remove(store) }
    }
  }

  @Test(
    "Old values and values of deleted objects stay with their attributes if a stage opens the store between versions",
    arguments: [false, true])
  func stages(copies: Bool) throws {
    func version(_ name: String, _ label: AttributeDescription, _ more: EntityDescription...) throws -> ModelVersion {
      let item = EntityDescription("Item", attributes: [.init("size", .int32), label])
      let description = ModelDescription(entities: [item] + more, versionIdentifiers: [name])
      return ModelVersion(name: name, model: try ManagedObjectModel(description))
    }
    func label(_ name: String, renamedFrom former: String? = nil) -> AttributeDescription {
      AttributeDescription(name, .string, renamingIdentifier: former, preservesValueOnDeletion: true)
    }
    // Item's number changes with each version, and so do the names of its attribute and column.
    let album = EntityDescription("Album", attributes: [.init("title", .string)])
    let versions = [
      try version("1", label("name")), try version("2", label("title", renamedFrom: "name"), album),
      try version("3", label("caption", renamedFrom: "title"), album, EntityDescription("Book")),
    ]
    try withTemporaryStore { url in
      let old = PersistentStoreCoordinator(model: versions[0].model)
      try old.addStore(at: url, options: StoreOptions(historyKeeps: .oldValues))
      let context = ManagedObjectContext(old)
      let items = try ["a", "b"].map { try context.make("Item", ["name": $0]) }
      try context.save()
      try items[0].setValue("c", forKey: "name")
      context.delete(items[1])
      try context.save()
      for store in old.persistentStores { try old.remove(store) }
      let staged = try StagedMigration([
        .custom(
          from: versions[0], to: versions[1],
          didMigrate: { context in
            for item in try context.fetch(FetchRequest("Item")) { item["title"] = "staged" }
          }),
        .lightweight([versions[1], versions[2]]),
      ])
      try AutomaticMigrator(staged: staged, alwaysCopies: copies)
        .migrate(storeAt: url, to: versions[2], registry: ModelRegistry(versions: versions))
      let new = PersistentStoreCoordinator(model: versions[2].model)
      try new.addStore(at: url)
      let transactions = try new.transactions()
      let changes = transactions[1].changes ?? []
      #expect(changes.map(\.changedObjectID.entityName) == ["Item", "Item"])
      let update = try #require(changes.first { $0.changeType == .update })
      #expect(update.oldValues == ["caption": .string("a")])
      let deletion = try #require(changes.first { $0.changeType == .delete })
      #expect(deletion.tombstone == ["caption": .string("b")])
      // Each part of the path up to a stage, and the stage's changes.
      let later = transactions.dropFirst(2)
      let isMigration = later.map { $0.author?.hasPrefix("com.apple.coredata.schemamigrator") == true }
      #expect(isMigration == [true, false, true])
      let stage = try #require(later.first { $0.changes?.isEmpty == false }?.changes?.first)
      #expect(stage.changedObjectID.entityName == "Item")
      #expect(stage.oldValues == ["caption": .string("c")])
      for store in new.persistentStores { try new.remove(store) }
    }
  }

  @Test(
    "Values of deleted objects stay with attributes that are renamed or exchange names, even if the history is off",
    arguments: [false, true], [false, true])
  func renames(copies: Bool, isOff: Bool) throws {
    func preserved(_ name: String, renamedFrom former: String? = nil) -> AttributeDescription {
      AttributeDescription(name, .string, renamingIdentifier: former, preservesValueOnDeletion: true)
    }
    func version(_ name: String, _ entities: [EntityDescription]) throws -> ModelVersion {
      let description = ModelDescription(entities: entities, versionIdentifiers: [name])
      return ModelVersion(name: name, model: try ManagedObjectModel(description))
    }
    let first = try version(
      "1",
      [
        EntityDescription("Person", attributes: [preserved("a"), preserved("b"), preserved("name")]),
        EntityDescription("Team", attributes: [.init("label", .string)]),
      ])
    let second = try version(
      "2",
      [
        EntityDescription("Album", attributes: [.init("title", .string)]),
        EntityDescription(
          "Human", renamingIdentifier: "Person",
          attributes: [
            preserved("a", renamedFrom: "b"), preserved("b", renamedFrom: "a"), preserved("title", renamedFrom: "name"),
          ]),
        EntityDescription("Team", attributes: [.init("motto", .string, renamingIdentifier: "label")]),
      ])
    let registry = ModelRegistry(versions: [first, second])
    try withTemporaryStore { url in
      let old = PersistentStoreCoordinator(model: first.model)
      let store = try old.addStore(at: url, options: StoreOptions(tracksHistory: true))
      let context = ManagedObjectContext(old)
      let person = try context.make("Person", ["a": "was a", "b": "was b", "name": "Anna"])
      let team = try context.make("Team", ["label": "T"])
      try context.save()
      try person.setValue("Emma", forKey: "name")
      try team.setValue("U", forKey: "label")
      try context.save()
      context.delete(person)
      try context.save()
      if isOff { try old.disableHistory(of: store) }
      try old.remove(store)
      try AutomaticMigrator(alwaysCopies: copies).migrate(storeAt: url, to: second, registry: registry)
      let new = PersistentStoreCoordinator(model: second.model)
      for options in [StoreOptions(), StoreOptions(tracksHistory: true)] {
        let store = try new.addStore(at: url, options: options)
        let transactions = try new.transactions()
        #expect(transactions.count == (isOff ? 3 : 4))
        let updates = (transactions[1].changes ?? []).sorted {
          $0.changedObjectID.entityName < $1.changedObjectID.entityName
        }
        #expect(updates.map(\.changedObjectID.entityName) == ["Human", "Team"])
        // Each bit has another place: the exchanged names change the order.
        #expect(updates.map(\.updatedProperties) == [["title"], ["motto"]])
        let deletion = try #require(transactions[2].changes?.first)
        #expect(deletion.tombstone == ["a": .string("was b"), "b": .string("was a"), "title": .string("Emma")])
        try new.remove(store)
      }
    }
  }
}

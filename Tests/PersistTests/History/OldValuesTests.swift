import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("History: old values")
struct OldValuesTests {
  private static let options = StoreOptions(historyKeeps: .oldValues)

  private func open(_ url: URL, _ options: StoreOptions = options) throws -> PersistentStoreCoordinator {
    let coordinator = PersistentStoreCoordinator(model: try OldValuesModel.make())
    try coordinator.addStore(at: url, options: options)
    return coordinator
  }

  private func close(_ coordinator: PersistentStoreCoordinator) throws {
    for store in coordinator.persistentStores { try coordinator.remove(store) }
  }

  @Test("An update keeps the values that it replaced, a deletion all that weren't nil, and both their members")
  func keeping() throws {
    try withTemporaryStore { url in
      let coordinator = try open(url)
      let context = ManagedObjectContext(coordinator)
      let team = try context.make("Team", ["name": "A"])
      let home: [String: Any] = ["city": "Bonn", "height": 60.0]
      let photo = Data(repeating: 7, count: 200_000)
      let anna = try context.make("Employee", ["name": "Anna", "team": team, "photo": photo])
      try anna.setValue(home, forKey: "home")
      try anna.setValue(anna, forKey: "boss")
      let tag = try context.make("Tag", ["label": "x"])
      try anna.many("tags").insert(tag)
      try context.save()
      try anna.setValue(5, forKey: "age")
      try anna.setValue("Bea", forKey: "name")
      try anna.setValue(["city": "Köln", "height": 60.0] as [String: Any], forKey: "home")
      try anna.setValue(nil, forKey: "team")
      try anna.setValue(nil, forKey: "photo")
      try anna.many("tags").remove(tag)
      try context.save()
      try anna.many("tags").insert(tag)
      try context.save()
      context.delete(anna)
      try context.save()
      let transactions = try coordinator.transactions()
      #expect(transactions[0].changes?.allSatisfy { $0.oldValues == nil && $0.memberChanges == nil } == true)
      func change(_ number: Int, _ entity: String) throws -> HistoryChange {
        try #require(transactions[number].changes?.first { $0.changedObjectID.entityName == entity })
      }
      let updated = try change(1, "Employee")
      let before: StoredValue = .composite(["city": .string("Bonn"), "height": .double(60)])
      #expect(
        updated.oldValues == [
          "age": .null, "name": .string("Anna"), "home": before, "team": .objectID(team.objectID), "photo": .data(photo),
        ])
      let id = try #require(transactions[0].changes?.first { $0.changedObjectID.entityName == "Employee" })
        .changedObjectID
      #expect(updated.memberChanges == ["tags": HistoryMemberChange(removed: [tag.objectID])])
      try #expect(change(1, "Tag").memberChanges == ["people": HistoryMemberChange(removed: [id])])
      try #expect(change(1, "Tag").oldValues == [:])
      let deleted = try change(3, "Employee")
      let after: StoredValue = .composite(["city": .string("Köln"), "height": .double(60)])
      #expect(
        deleted.oldValues == ["age": .integer(5), "name": .string("Bea"), "home": after, "boss": .objectID(id)])
      #expect(deleted.memberChanges == ["tags": HistoryMemberChange(removed: [tag.objectID])])
      try close(coordinator)
    }
  }

  @Test("The store decides for every program; .changes ends it and deletes the values, and so does disabling")
  func switching() throws {
    try withTemporaryStore { url in
      func values(_ coordinator: PersistentStoreCoordinator) throws -> [Bool] {
        try coordinator.transactions().flatMap { $0.changes ?? [] }.filter { $0.changeType == .update }
          .map { $0.oldValues != nil }
      }
      func rename(_ coordinator: PersistentStoreCoordinator, _ name: String) throws {
        let context = ManagedObjectContext(coordinator)
        let team = try context.fetch(FetchRequest("Team")).first ?? context.make("Team", ["name": "A"])
        try team.setValue(name, forKey: "name")
        try context.save()
      }
      let plain = try open(url, StoreOptions(tracksHistory: true))
      try rename(plain, "A")
      try rename(plain, "B")
      // Another coordinator begins to keep old values while the first one is open.
      let keeping = try open(url)
      try rename(keeping, "C")
      try rename(plain, "D")
      try #expect(values(keeping) == [false, true, true])
      try #expect(values(plain) == [false, true, true])
      try #expect(open(url, StoreOptions()).transactions().last?.changes?.first?.oldValues == ["name": .string("C")])
      let ending = try open(url, StoreOptions(historyKeeps: .changes))
      try rename(keeping, "E")
      try rename(ending, "F")
      try #expect(values(ending) == Array(repeating: false, count: 5))
      try #expect(MadeStore.rows("SELECT COUNT(*) FROM PERSIST_HISTORY_VALUES", at: url) == [["0"]])
      let again = try open(url)
      try rename(again, "G")
      try again.disableHistory(of: again.persistentStores[0], keepingPast: false)
      try rename(again, "H")
      try rename(keeping, "I")
      try #expect(MadeStore.rows("SELECT COUNT(*) FROM PERSIST_HISTORY_VALUES", at: url) == [["0"]])
      try #expect(again.transactions().isEmpty)
    }
  }

  @Test("A program that only reads has the old values that another one began to keep")
  func readerLearns() throws {
    try withTemporaryStore { url in
      let reader = try open(url, StoreOptions(tracksHistory: true))
      let keeping = try open(url)
      let context = ManagedObjectContext(keeping)
      let team = try context.make("Team", ["name": "A"])
      try context.save()
      try team.setValue("B", forKey: "name")
      try context.save()
      try #expect(reader.transactions().last?.changes?.first?.oldValues == ["name": .string("A")])
      try close(reader)
      try close(keeping)
    }
  }

  @Test("A purge deletes old values with their transactions; check finds those without one")
  func purging() throws {
    try withTemporaryStore { url in
      let coordinator = try open(url)
      let context = ManagedObjectContext(coordinator)
      let person = try context.make("Person", ["name": "A"])
      let tag = try context.make("Tag")
      try context.save()
      for name in ["B", "C", "D"] {
        try person.setValue(name, forKey: "name")
        if name == "B" { try person.many("tags").insert(tag) }
        try context.save()
      }
      try coordinator.purgeHistory(HistoryPurge(keepingAtMost: 1))
      try #expect(coordinator.transactions().map { $0.changes?.first?.oldValues } == [["name": .string("C")]])
      try #expect(MadeStore.rows("SELECT TRANSACTIONID FROM PERSIST_HISTORY_VALUES", at: url) == [["4"]])
      try #expect(MadeStore.rows("SELECT COUNT(*) FROM PERSIST_HISTORY_MEMBERS", at: url) == [["0"]])
      try close(coordinator)
      try MadeStore.run("UPDATE PERSIST_HISTORY_VALUES SET TRANSACTIONID = 99, ENTITY = 77", at: url)
      var problems: [StoreProblem] = []
      try checkStore(at: url, registry: nil) { problems.append($0) }
      #expect(problems.map(\.kind) == [.danglingHistory, .danglingHistory])
    }
  }

  @Test(
    "Old values cost a save four statements, however many objects it changes",
    .aboutFiles("statements, of which a save on a server needs no more"))
  func statements() throws {
    try withTemporaryStore { url in
      var counts: [Int] = []
      for options in [StoreOptions(tracksHistory: true), Self.options] {
        let coordinator = try open(url, options)
        let store = try #require(coordinator.openStores[0] as? SQLiteStore)
        let context = ManagedObjectContext(coordinator)
        let tags = try (0..<10).map { _ in try context.make("Tag") }
        try context.save()
        let before = store.pool.counts.executed
        for (number, tag) in tags.enumerated() { try tag.setValue("\(counts.count) \(number)", forKey: "label") }
        try context.save()
        counts.append(store.pool.counts.executed - before)
        try close(coordinator)
      }
      // The question for the triggers, the number of the transaction, its end, and the names of large values.
      #expect(counts[1] - counts[0] == 4)
    }
  }

  @Test("Old values follow renamed entities, attributes and relationships in a migration in place and by copy",
    arguments: [false, true])
  func migration(copies: Bool) throws {
    try withTemporaryStore { url in
      let old = try open(url)
      let context = ManagedObjectContext(old)
      let team = try context.make("Team", ["name": "A"])
      let boss = try context.make("Employee", ["name": "Boss"])
      let anna = try context.make("Employee", ["name": "Anna", "salary": 1.5, "team": team, "boss": boss])
      let tag = try context.make("Tag", ["label": "x"])
      try anna.many("tags").insert(tag)
      try context.save()
      let ids = [team, boss, tag].map { $0.objectID.primaryKey ?? 0 }
      context.delete(anna)
      try context.save()
      try close(old)

      var description = OldValuesModel.description()
      description.versionIdentifiers = ["2"]
      description.entities.insert(EntityDescription("Album", attributes: [.init("title", .string)]), at: 0)
      func rename(_ entity: String, _ change: (inout EntityDescription) -> Void) {
        for index in description.entities.indices where description.entities[index].name == entity {
          change(&description.entities[index])
        }
      }
      rename("Person") { person in
        for index in person.attributes.indices where person.attributes[index].name == "name" {
          person.attributes[index].renamingIdentifier = "name"
          person.attributes[index].name = "title"
        }
        for index in person.relationships.indices where person.relationships[index].name == "tags" {
          person.relationships[index].name = "labels"
          person.relationships[index].renamingIdentifier = "tags"
        }
      }
      rename("Tag") { tag in
        for index in tag.relationships.indices where tag.relationships[index].name == "people" {
          tag.relationships[index].inverse = "labels"
        }
      }
      rename("Employee") { employee in
        employee.name = "Worker"
        employee.renamingIdentifier = "Employee"
      }
      rename("Person") { person in
        for index in person.relationships.indices where person.relationships[index].destination == "Employee" {
          person.relationships[index].destination = "Worker"
        }
      }
      let model = try ManagedObjectModel(description)
      let registry = ModelRegistry(versions: [
        ModelVersion(name: "1", model: try OldValuesModel.make()), ModelVersion(name: "2", model: model),
      ])
      var migrator = AutomaticMigrator()
      migrator.allowsLoss = true
      migrator.alwaysCopies = copies
      var options = StoreOptions()
      options.migrator = migrator
      let new = PersistentStoreCoordinator(model: model, registry: registry)
      try new.addStore(at: url, options: options)
      let change = try #require(new.transactions()[1].changes?.first { $0.changeType == .delete })
      let store = new.persistentStores[0].identifier
      func id(_ entity: String, _ key: Int64) -> ManagedObjectID {
        ManagedObjectID(entityName: entity, storeIdentifier: store, key: .permanent(key))
      }
      #expect(
        change.oldValues == [
          "title": .string("Anna"), "salary": .double(1.5), "team": .objectID(id("Team", ids[0])),
          "boss": .objectID(id("Worker", ids[1])),
        ])
      #expect(change.memberChanges == ["labels": HistoryMemberChange(removed: [id("Tag", ids[2])])])
      let later = ManagedObjectContext(new)
      try later.revert(new.transactions()[1])
      try later.save()
      let back = try later.existingObject(with: change.changedObjectID)
      #expect(back["title"] as? String == "Anna")
      try #expect(back.many("labels").map(\.objectID) == [id("Tag", ids[2])])
      try close(new)
      var problems: [StoreProblem] = []
      try checkStore(at: url, registry: nil) { problems.append($0) }
      #expect(problems.isEmpty, "\(problems)")
    }
  }
}

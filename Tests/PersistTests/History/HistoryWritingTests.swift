import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("History: writing")
struct HistoryWritingTests {
  /// The changes of every transaction in words, those of one transaction sorted.
  private func changes(_ coordinator: PersistentStoreCoordinator) throws -> [[String]] {
    try coordinator.transactions().map { ($0.changes ?? []).map(words).sorted() }
  }

  @Test("Each save is a transaction with its author, and each object a change with the changed properties")
  func saves() throws {
    try withHistory { coordinator, url in
      let context = ManagedObjectContext(coordinator)
      context.transactionAuthor = "me"
      context.name = "view"
      let before = Date()
      let team = try context.make("Team", ["name": "A"])
      let anna = try context.make("Person", ["name": "Anna", "team": team])
      try context.save()
      context.transactionAuthor = nil
      context.name = nil
      try context.save()
      let tag = try context.make("Tag", ["label": "x"])
      try anna.setValue(5, forKey: "age")
      try anna.many("tags").insert(tag)
      try context.save()
      try team.setValue("B", forKey: "name")
      let boris = try context.make("Employee", ["name": "Boris", "boss": anna, "team": team])
      try context.save()
      context.delete(tag)
      context.delete(boris)
      try context.save()
      try #expect(
        changes(coordinator) == [
          ["insert Person 1", "insert Team 1"],
          ["insert Tag 1", "update Person 1: age, tags"],
          ["insert Employee 2", "update Person 1: reports", "update Team 1: members, name"],
          ["delete Employee 2", "delete Tag 1", "update Person 1: reports, tags", "update Team 1: members"],
        ])
      let all = try coordinator.transactions()
      #expect(all.map(\.transactionNumber) == [1, 2, 3, 4])
      #expect(all.map(\.author) == ["me", nil, nil, nil])
      #expect(all.map(\.contextName) == ["view", nil, nil, nil])
      #expect(all.allSatisfy { $0.processID == ProcessInfo.processInfo.processName })
      #expect(all.allSatisfy { $0.timestamp >= before && $0.timestamp <= Date() })
      #expect(all.flatMap { $0.changes ?? [] }.map(\.changeID) == Array(1...11))
      try #expect(
        MadeStore.rows("SELECT Z_ENT, Z_NAME, Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT > 16000 ORDER BY 1", at: url)
          == [["16001", "CHANGE", "11"], ["16002", "TRANSACTION", "4"], ["16003", "TRANSACTIONSTRING", "3"]])
    }
  }

  @Test(
    "Used-up counters are an error that is mended by deleting the history", .aboutFiles("SQL on a file"),
    arguments: [16001, 16002])
  func usedUpCounters(entity: Int) throws {
    try withHistory { coordinator, url in
      let context = ManagedObjectContext(coordinator)
      try context.make("Team", ["name": "A"])
      try context.save()
      try MadeStore.run("UPDATE Z_PRIMARYKEY SET Z_MAX = 9223372036854775807 WHERE Z_ENT = \(entity)", at: url)
      try context.make("Team", ["name": "B"])
      #expect(persistError { try context.save() }?.code == .storeDamaged)
      #expect(persistError { try context.execute(BatchInsertRequest("Tag", [["label": "a"]])) }?.code == .storeDamaged)
      _ = try coordinator.currentPersistentHistoryToken()
      _ = try coordinator.purgeHistory(HistoryPurge(olderThan: .zero, keepingAtMost: 0))
      let store = coordinator.persistentStores[0]
      try coordinator.disableHistory(of: store, keepingPast: false)
      try context.save()
      try coordinator.remove(store)
      try coordinator.addStore(at: url, options: StoreOptions(tracksHistory: true))
      let fresh = ManagedObjectContext(coordinator)
      try fresh.make("Team", ["name": "C"])
      try fresh.save()
      try #expect(coordinator.transactions().count == 1)
    }
  }

  @Test("A deletion keeps the attributes that the model says, large values and inherited ones included")
  func tombstones() throws {
    try withHistory { coordinator, url in
      let context = ManagedObjectContext(coordinator)
      let code = UUID()
      let large = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
      let anna = try context.make("Employee", ["name": "Anna", "code": code, "photo": large])
      let boris = try context.make("Person", ["name": "Boris", "photo": Data([1, 2, 3])])
      let team = try context.make("Team", ["name": "T"])
      let nobody = try context.make("Person", [:])
      try context.save()
      for object in [anna, boris, team, nobody] { context.delete(object) }
      try context.save()
      let deletions = try #require(coordinator.transactions().last?.changes).filter { $0.changeType == .delete }
      let byKey = Dictionary(uniqueKeysWithValues: deletions.map { (words($0), $0.tombstone) })
      #expect(
        byKey == [
          "delete Employee 1": ["name": .string("Anna"), "code": .uuid(code), "photo": .data(large)],
          "delete Person 2": ["name": .string("Boris"), "photo": .data(Data([1, 2, 3]))],
          "delete Person 3": [:], "delete Team 1": nil,
        ])
      // The file of the large value is gone with its row; the history has the value itself.
      try #expect(MadeStore.rows("SELECT count(*) FROM ACHANGE WHERE length(ZTOMBSTONE1) > 200000", at: url) == [["1"]])
    }
  }

  @Test(
    "Objects whose large values have lost their files can be changed and deleted, one by one and in a batch",
    .aboutFilesOfLargeValues,
    arguments: [HistoryContent.changes, .oldValues])
  func missingFiles(content: HistoryContent) throws {
    try withHistory(options: StoreOptions(historyKeeps: content)) { coordinator, url in
      let context = ManagedObjectContext(coordinator)
      for name in ["Anna", "Boris", "Clara"] {
        try context.make("Person", ["name": name, "photo": Data(repeating: 7, count: 200_000)])
      }
      try context.save()
      let files = ExternalDataFolder(storeAt: url)
      #expect(files.names().count == 3)
      for name in files.names() { try FileManager.default.removeItem(at: files.url.appendingPathComponent(name)) }
      let other = ManagedObjectContext(coordinator)
      let people = try other.fetch(FetchRequest("Person", sortedBy: "name"))
      try other.execute(
        BatchUpdateRequest("Person", where: FetchPredicate("name == 'Anna'"), set: ["photo": .value(Data([1]))]))
      other.delete(people[1])
      try other.save()
      try other.execute(BatchDeleteRequest("Person", where: FetchPredicate("name == 'Clara'")))
      let changes = try coordinator.transactions().dropFirst().flatMap { $0.changes ?? [] }
      #expect(changes.map(words) == ["update Person 1: photo", "delete Person 2", "delete Person 3"])
      #expect(changes.map(\.tombstone) == [nil, ["name": .string("Boris")], ["name": .string("Clara")]])
      let left = try ManagedObjectContext(coordinator).fetch(FetchRequest("Person"))
      #expect(left.map { $0["photo"] as? Data } == [Data([1])])
    }
  }

  @Test("Batches are recorded: inserts, upserts, updates, deletions with their cascades and what they nullify")
  func batches() throws {
    try withHistory { coordinator, _ in
      let context = ManagedObjectContext(coordinator)
      context.transactionAuthor = "batch"
      context.mergePolicy = .mergeByPropertyObjectTrump
      try context.execute(BatchInsertRequest("Tag", [["label": "a"], ["label": "b"]]))
      try context.execute(BatchInsertRequest("Tag", [["label": "b"], ["label": "c"]]))
      let team = try context.make("Team", ["name": "T"])
      let person = try context.make("Person", ["name": "P", "team": team])
      let other = try context.make("Employee", ["name": "O", "boss": person])
      try person.many("tags").insert(try context.named("Tag", "a", by: "label"))
      try context.save()
      try context.execute(BatchUpdateRequest("Person", set: ["age": .value(7)]))
      try context.execute(BatchDeleteRequest("Team"))
      let all = try changes(coordinator)
      #expect(all[0] == ["insert Tag 1", "insert Tag 2"])
      #expect(all[1].first == "insert Tag 3" || all[1].first == "insert Tag 4")
      #expect(all[1].last == "update Tag 2: label")
      #expect(all[3] == ["update Employee \(other.objectID.primaryKey ?? 0): age", "update Person 1: age"])
      #expect(
        all[4] == [
          "delete Person 1", "delete Team 1", "update Employee \(other.objectID.primaryKey ?? 0): boss",
          "update Tag 1: people",
        ])
      #expect(all.count == 5)
      try #expect(coordinator.transactions().allSatisfy { $0.author == "batch" })
      // Without rows there is nothing to record.
      try context.execute(BatchUpdateRequest("Team", set: ["name": .value("x")]))
      try #expect(coordinator.transactions().count == 5)
    }
  }

  @Test(
    "A deletion that wins over others' changes records the members that they added",
    arguments: ["friends", "tags", "reports"],
    [[], ["read"], ["added"], ["changed"], ["read", "added"], ["read", "changed"]])
  func deletionOverOthers(name: String, steps: [String]) throws {
    try withHistory { coordinator, _ in
      let (first, second) = (ManagedObjectContext(coordinator), ManagedObjectContext(coordinator))
      second.mergePolicy = .overwrite
      let anna = try first.make("Person")
      let relationship = try #require(anna.entity.relationship(named: name))
      let inverse = try #require(relationship.inverse)
      let member = try first.make(relationship.destination)
      try first.save()
      let deleted = try second.existingObject(with: anna.objectID)
      let copy = try second.existingObject(with: member.objectID)
      if steps.contains("read") { for object in [deleted, copy] { #expect(!Follower.values(object).isEmpty) } }
      if steps.contains("added") { try deleted.many(name).insert(copy) }
      let attribute = name == "tags" ? "label" : "name"
      if steps.contains("changed") { copy[attribute] = "new" }
      second.delete(deleted)
      try anna.many(name).insert(member)
      try first.save()
      try second.save()
      let changed = steps.contains("changed") ? [inverse, attribute].sorted() : [inverse]
      let keys = [anna, member].compactMap(\.objectID.primaryKey)
      let last = try changes(coordinator).last
      let update = "update \(member.entity.name) \(keys[1]): \(changed.joined(separator: ", "))"
      #expect(last == ["delete Person \(keys[0])", update])
    }
  }

  @Test("A save that fails, by a conflict or a constraint, is not recorded")
  func failures() throws {
    try withHistory { coordinator, _ in
      let context = ManagedObjectContext(coordinator)
      let tag = try context.make("Tag", ["label": "a"])
      try context.save()
      let other = ManagedObjectContext(coordinator)
      try other.named("Tag", "a", by: "label").setValue("b", forKey: "label")
      try other.save()
      try tag.setValue("c", forKey: "label")
      #expect(persistError { try context.save() }?.code == .mergeConflict)
      context.rollback()
      try context.make("Tag", ["label": "b"])
      #expect(persistError { try context.save() }?.code == .constraintConflict)
      try #expect(changes(coordinator) == [["insert Tag 1"], ["update Tag 1: label"]])
      // Values that change places need a second attempt, which is recorded once.
      context.reset()
      let two = try context.make("Tag", ["label": "z"])
      try context.save()
      let one = try context.named("Tag", "b", by: "label")
      try one.setValue("z", forKey: "label")
      try two.setValue("b", forKey: "label")
      try context.save()
      let last = try #require(try changes(coordinator).last)
      #expect(last.count == 2 && last.allSatisfy { $0.hasSuffix(": label") })
    }
  }

  @Test(
    "The tables have the names, columns and types of Core Data's, and its indexes but those of bundles and processes",
    .aboutFiles("the layout of Core Data's tables"), .needsSharedData)
  func tables() throws {
    try withHistory { _, url in
      let real = try SharedData.url("notes/NoteStore-macOS-15-Seqoia.sqlite")
      for table in ["ATRANSACTION", "ACHANGE", "ATRANSACTIONSTRING"] {
        let columns = "SELECT name, type, pk FROM pragma_table_info('\(table)') WHERE name NOT LIKE 'ZTOMBSTONE%'"
        try #expect(MadeStore.rows(columns, at: url) == MadeStore.rows(columns, at: real))
        let indexes = """
          SELECT i.name, i."unique", x.name, x.desc, x.coll FROM pragma_index_list('\(table)') i \
          JOIN pragma_index_xinfo(i.name) x WHERE x.key ORDER BY 1, 3
          """
        let expected = try MadeStore.rows(indexes, at: real).filter { index in
          !["ATRANSACTION_ZBUNDLEIDTS_INDEX", "ATRANSACTION_ZPROCESSIDTS_INDEX"].contains(index[0])
        }
        try #expect(MadeStore.rows(indexes, at: url) == expected)
      }
    }
  }

  @Test("A history that Core Data began goes on, with its texts and its numbers", .needsSharedData)
  func realStore() throws {
    try withTemporaryFolder { folder in
      let url = folder.appendingPathComponent("notes.sqlite")
      try FileManager.default.copyItem(at: SharedData.url("notes/NoteStore-macOS-15-Seqoia.sqlite"), to: url)
      try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: url.path)
      let model = try StoreIdentification.identify(storeAt: url, registry: nil).model
      let coordinator = PersistentStoreCoordinator(model: model)
      try coordinator.addStore(at: url)
      let before = try coordinator.transactions()
      let context = ManagedObjectContext(coordinator)
      context.transactionAuthor = "398"
      context.name = "mine"
      let note = try #require(try context.fetch(FetchRequest("ICNote")).first)
      try note.setValue("x", forKey: "snippet")
      try context.save()
      let after = try coordinator.transactions()
      #expect(after.dropLast() == before[...])
      let last = try #require(after.last)
      #expect(last.transactionNumber == 71)
      #expect(last.author == "398")
      #expect(last.contextName == "mine")
      #expect(last.changes?.map(\.updatedProperties) == [["snippet"]])
      #expect(last.changes?.first?.changeID == 249)
      // The author's text was there.
      try #expect(MadeStore.rows("SELECT count(*) FROM ATRANSACTIONSTRING WHERE ZNAME = '398'", at: url) == [["1"]])
      for store in coordinator.persistentStores { try coordinator.remove(store) }
    }
  }

  @Test(
    "A table of texts is used where there is one; without one, texts go into the transactions",
    .aboutFiles("histories that Core Data wrote"))
  func olderTables() throws {
    let model = try HistoryModel.make()
    try withTemporaryStore { url in
      try SQLiteStore.create(url, model: model).close()
      try MadeStore.run(
        "CREATE TABLE ATRANSACTION (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZTIMESTAMP FLOAT, ZAUTHOR VARCHAR)",
        """
        CREATE TABLE ACHANGE (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZCHANGETYPE INTEGER, \
        ZENTITY INTEGER, ZENTITYPK INTEGER, ZTRANSACTIONID INTEGER)
        """, at: url)
      let coordinator = PersistentStoreCoordinator(model: model)
      try coordinator.addStore(at: url)
      let context = ManagedObjectContext(coordinator)
      context.transactionAuthor = "me"
      context.name = "view"
      let person = try context.make("Person", ["name": "P"])
      try context.save()
      context.delete(person)
      try context.save()
      let all = try coordinator.transactions()
      #expect(all.map(\.author) == ["me", "me"])
      #expect(all.map(\.contextName) == [nil, nil])
      #expect(all.last?.changes?.first?.tombstone == ["name": .string("P")])
      for store in coordinator.persistentStores { try coordinator.remove(store) }
    }
  }
}

import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel
@testable import PersistTools

/// Histories that Core Data wrote, and tables made here in the forms that it has had.
@Suite("History: reading")
struct HistoryReadingTests {
  private static func transactions(of url: URL, _ query: HistoryQuery = HistoryQuery()) throws -> [HistoryTransaction] {
    let contents = try StoreContents(readingStoreAt: url, registry: nil)
    var all: [HistoryTransaction] = []
    try contents.forEachTransaction(query) { all.append($0) }
    return all
  }

  private static let realHistories: [URL] = SharedData.stores.filter {
    (try? MadeStore.rows("SELECT Z_PK FROM ATRANSACTION LIMIT 1", at: $0).count) == 1
  }

  @Test("Every transaction and change of a real store is read as plain SQL shows it", .needsSharedData)
  func realStores() throws {
    #expect(Self.realHistories.count >= 3)
    for url in Self.realHistories {
      let columns = try MadeStore.rows("SELECT name FROM pragma_table_info('ATRANSACTION')", at: url).map { $0[0] }
      func text(_ name: String) -> String {
        columns.contains("\(name)TS")
          ? "COALESCE(\(name), (SELECT ZNAME FROM ATRANSACTIONSTRING s WHERE s.Z_PK = \(name)TS))" : name
      }
      let expected = try MadeStore.rows(
        """
        SELECT Z_PK, ZTIMESTAMP, \(text("ZAUTHOR")), \(text("ZCONTEXTNAME")), \(text("ZBUNDLEID")), \
        \(text("ZPROCESSID")) FROM ATRANSACTION ORDER BY Z_PK
        """, at: url)
      let read = try Self.transactions(of: url)
      #expect(
        read.map { transaction in
          [
            "\(transaction.transactionNumber)", nil, transaction.author, transaction.contextName, transaction.bundleID,
            transaction.processID,
          ].map { $0 ?? "nil" }
        } == expected.map { row in [row[0], "nil"] + row[2...] })
      #expect(read.map(\.timestamp.timeIntervalSinceReferenceDate) == expected.compactMap { Double($0[1]) })
      let changes = try MadeStore.rows(
        """
        SELECT c.Z_PK, c.ZCHANGETYPE, p.Z_NAME, c.ZENTITYPK, c.ZTRANSACTIONID \
        FROM ACHANGE c JOIN Z_PRIMARYKEY p ON p.Z_ENT = c.ZENTITY ORDER BY c.ZTRANSACTIONID, c.Z_PK
        """, at: url)
      let all = read.flatMap { $0.changes ?? [] }
      #expect(
        all.map { change in
          [
            "\(change.changeID)", "\(change.changeType.rawValue)", change.changedObjectID.entityName,
            "\(change.changedObjectID.primaryKey ?? 0)", "\(change.transactionNumber)",
          ]
        } == changes)
      #expect(all.allSatisfy { $0.changeType == .update || $0.updatedProperties == nil })
      print("\(url.lastPathComponent): \(read.count) transactions, \(all.count) changes")
    }
  }

  @Test(
    "The changed columns of a real store name properties that changed together, unless several to-many ones did",
    .needsSharedData,
    arguments: [
      ("notes/NoteStore-macOS-12-Monterey.sqlite", 251, 196), ("notes/NoteStore-macOS-15-Seqoia.sqlite", 168, 110),
    ])
  func changedColumns(store: String, updates: Int, told: Int) throws {
    let read = try Self.transactions(of: SharedData.url(store)).flatMap { $0.changes ?? [] }
    let changed = read.filter { $0.changeType == .update }
    #expect(changed.count == updates)
    let named = changed.filter { $0.updatedProperties != nil }
    #expect(named.count >= told, "\(named.count)")
    var sets: [String: Set<Set<String>>] = [:]
    for change in named { sets[change.changedObjectID.entityName, default: []].insert(change.updatedProperties ?? []) }
    #expect(sets["ICCloudState"]?.contains(["currentLocalVersion", "localVersionDate"]) == true)
    #expect(sets["ICNoteData"] == [["data"]])
    #expect(sets["ICNote"]?.contains(["folder", "folderModificationDate"]) == true)
    #expect(sets["ICNote"]?.contains(["lastOpenedDate"]) == true)
    #expect(sets["ICNote"]?.contains(["modificationDate"]) == true)
    #expect(sets["ICFolder"]?.contains(["parent", "parentModificationDate"]) == true)
    #expect(
      sets["ICAccount"]?.contains(["cryptoIterationCount", "cryptoSalt", "passwordHint", "cryptoVerifier"]) == true)
    // One that was moved was moved at that time; a note's text has no date of its own that would change alone.
    for set in sets["ICNote"] ?? [] where set.contains("folder") { #expect(set.contains("folderModificationDate")) }
    for set in sets["ICNote"] ?? [] where set.contains("snippet") && !set.contains("markedForDeletion") {
      #expect(set.contains("modificationDate"))
    }
  }

  @Test("Transactions are selected by number, time and author", .needsSharedData)
  func selection() throws {
    let url = try SharedData.url("notes/NoteStore-macOS-12-Monterey.sqlite")
    let all = try Self.transactions(of: url)
    try #expect(Self.transactions(of: url, HistoryQuery(afterNumber: 90)) == all.filter { $0.transactionNumber > 90 })
    let date = all[40].timestamp
    try #expect(Self.transactions(of: url, HistoryQuery(afterDate: date)) == all.filter { $0.timestamp > date })
    try #expect(Self.transactions(of: url, HistoryQuery(author: "848")) == all.filter { $0.author == "848" })
    try #expect(Self.transactions(of: url, HistoryQuery(author: "nobody")).isEmpty)
    #expect(Set(all.map(\.author)).count > 1)
  }

  /// A store with tables of an older history, which have the texts in their rows.
  private func withOldHistory(_ body: (URL) throws -> Void) throws {
    let model = try ManagedObjectModel(
      ModelDescription(entities: [
        EntityDescription(
          "Item",
          attributes: [
            .init("count", .int32, preservesValueOnDeletion: true), .init("name", .string),
            .init("uuid", .uuid, preservesValueOnDeletion: true), .init("code", .string, preservesValueOnDeletion: true),
          ]),
        EntityDescription("Tag", attributes: [.init("label", .string)]),
      ]))
    try withTemporaryStore { url in
      try SQLiteStore.create(url, model: model).close()
      try MadeStore.run(
        """
        CREATE TABLE ATRANSACTION (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZTIMESTAMP FLOAT, \
        ZAUTHOR VARCHAR, ZBUNDLEID VARCHAR, ZCONTEXTNAME VARCHAR, ZPROCESSID VARCHAR, ZQUERYGEN BLOB)
        """,
        """
        CREATE TABLE ACHANGE (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZCHANGETYPE INTEGER, \
        ZENTITY INTEGER, ZENTITYPK INTEGER, ZTRANSACTIONID INTEGER, ZCOLUMNS BLOB, ZTOMBSTONE0 BLOB, \
        ZTOMBSTONE1 BLOB, ZTOMBSTONE2 BLOB)
        """,
        "INSERT INTO ATRANSACTION VALUES (3, 16002, NULL, 10.5, 'me', 'org.x', NULL, 'x', NULL)",
        "INSERT INTO ATRANSACTION VALUES (7, 16002, NULL, 11.25, NULL, 'org.x', 'view', 'x', NULL)",
        "INSERT INTO ACHANGE VALUES (1, 16001, NULL, 0, 1, 5, 3, NULL, NULL, NULL, NULL)",
        "INSERT INTO ACHANGE VALUES (2, 16001, NULL, 1, 1, 5, 3, x'20', NULL, NULL, NULL)",
        """
        INSERT INTO ACHANGE VALUES (3, 16001, NULL, 2, 1, 5, 7, NULL, 'abc', 12, \
        x'00112233445566778899AABBCCDDEEFF')
        """,
        "INSERT INTO ACHANGE VALUES (4, 16001, NULL, 2, 2, 1, 7, NULL, NULL, NULL, NULL)", at: url)
      try body(url)
    }
  }

  @Test(
    "Older tables, with the texts in their rows, are read; deletions show what was preserved",
    .aboutFiles("histories that Core Data wrote"))
  func oldTables() throws {
    try withOldHistory { url in
      let read = try Self.transactions(of: url)
      #expect(read.map(\.transactionNumber) == [3, 7])
      #expect(read.map(\.author) == ["me", nil])
      #expect(read.map(\.contextName) == [nil, "view"])
      #expect(read.map(\.bundleID) == ["org.x", "org.x"])
      #expect(read.map(\.timestamp.timeIntervalSinceReferenceDate) == [10.5, 11.25])
      let changes = read.flatMap { $0.changes ?? [] }
      #expect(changes.map(\.changeType) == [.insert, .update, .delete, .delete])
      #expect(changes.map(\.changedObjectID.entityName) == ["Item", "Item", "Item", "Tag"])
      #expect(changes.map(\.updatedProperties) == [nil, ["name"], nil, nil])
      let uuid = UUID(uuidString: "00112233-4455-6677-8899-AABBCCDDEEFF")
      #expect(changes[2].tombstone == ["code": .string("abc"), "count": .integer(12), "uuid": .uuid(try #require(uuid))])
      #expect(changes.map { $0.tombstone != nil } == [false, false, true, false])
      let merged = read[0].objectIDNotification()
      #expect(merged.insertedObjectIDs == [changes[0].changedObjectID])
      #expect(merged.updatedObjectIDs.isEmpty)
      #expect(read[1].objectIDNotification().deletedObjectIDs == Set(changes[2...].map(\.changedObjectID)))
    }
  }

  @Test("A store without the tables, or with others of their names, has no history")
  func noHistory() throws {
    let model = try StoreFixture().model
    try withTemporaryStore { url in
      try createStore(at: url, model: model).close()
      try #expect(!StoreContents(readingStoreAt: url, registry: nil).hasHistory)
      try MadeStore.run("CREATE TABLE ATRANSACTION (x INTEGER)", "CREATE TABLE ACHANGE (Z_PK INTEGER)", at: url)
      try #expect(!StoreContents(readingStoreAt: url, registry: nil).hasHistory)
      try #expect(Self.transactions(of: url).isEmpty)
    }
  }

  @Test(
    "A change of an unknown kind is damage; one of an entity that nothing names is left out",
    .aboutFiles("histories that Core Data wrote"))
  func damage() throws {
    try withOldHistory { url in
      try MadeStore.run("UPDATE ACHANGE SET ZENTITY = 99 WHERE Z_PK = 4", at: url)
      try #expect(Self.transactions(of: url).last?.changes?.count == 1)
      try MadeStore.run("UPDATE ACHANGE SET ZCHANGETYPE = 7 WHERE Z_PK = 4", at: url)
      let error = #expect(throws: PersistenceError.self) { try Self.transactions(of: url) }
      #expect(error?.code == .storeDamaged)
    }
  }

  @Test("The bits of changed columns name what they were made of, for every entity of every kind")
  func bits() throws {
    let map = TableMap.forNewStore(try StoreFixture().model)
    for entity in map.model.entities {
      let columns = ChangedColumns(of: entity, in: map)
      let stored = entity.properties.filter { !$0.isTransient }
      for property in stored {
        #expect(columns.names(columns.bytes(changing: [property.slot]), isOwn: true) == [property.name])
      }
      let all = columns.bytes(changing: stored.map(\.slot))
      #expect(columns.names(all, isOwn: true) == Set(stored.map(\.name)))
      #expect(columns.names(all + [0], isOwn: true) == nil)
      if entity.name == "House" { #expect(columns.names(all, isOwn: false) == nil) }
    }
  }

  @Test("A token survives coding and its text; those of one store are in the order of their transactions")
  func tokens() throws {
    let store = UUID().uuidString
    let tokens = [0, 1, 2, 10, 100].map { HistoryToken(storeIdentifier: store, transactionNumber: $0) }
    #expect(tokens.shuffled().sorted() == tokens)
    let both = tokens[2].merging(HistoryToken(storeIdentifier: "B", transactionNumber: 4))
    for token in tokens + [both, HistoryToken(transactionNumbers: [:])] {
      try #expect(JSONDecoder().decode(HistoryToken.self, from: JSONEncoder().encode(token)) == token)
      if !token.transactionNumbers.isEmpty { #expect(HistoryToken(token.description) == token) }
    }
    #expect(both.transactionNumber(ofStore: "B") == 4)
    for text in ["", "x", ":1", "a:", "a:-1", "a:1,", "a:1,a:2", "a:9999999999999999999"] {
      #expect(HistoryToken(text) == nil)
    }
  }
}

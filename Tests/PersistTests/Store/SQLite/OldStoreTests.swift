import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

/// Stores of early frameworks and other systems, created here by their SQL.
@Suite("Stores from other origins", .aboutFiles("stores that other programs made"))
struct OldStoreTests {
  private let model: ManagedObjectModel

  init() throws {
    model = try ManagedObjectModel(
      ModelDescription(entities: [
        EntityDescription(
          "Event", attributes: [AttributeDescription("title", .string), AttributeDescription("start", .date)],
          relationships: [RelationshipDescription("guests", toMany: "Guest", inverse: "events")]),
        EntityDescription(
          "Guest", attributes: [AttributeDescription("name", .string)],
          relationships: [RelationshipDescription("events", toMany: "Event", inverse: "guests")]),
      ]))
  }

  private static let common = [
    "CREATE TABLE ZGUEST ( Z_ENT INTEGER, Z_PK INTEGER PRIMARY KEY, Z_OPT INTEGER, ZNAME VARCHAR )",
    "CREATE TABLE ZEVENT ( Z_ENT INTEGER, Z_PK INTEGER PRIMARY KEY, Z_OPT INTEGER, ZSTART TIMESTAMP, ZTITLE VARCHAR )",
    "CREATE TABLE Z_1GUESTS ( Z_1EVENTS1 INTEGER, Z_2GUESTS INTEGER, PRIMARY KEY (Z_1EVENTS1, Z_2GUESTS) )",
    "CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER)",
    "CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB)",
    "INSERT INTO Z_PRIMARYKEY VALUES (1, 'Event', 0, 1), (2, 'Guest', 0, 2)",
    "INSERT INTO ZEVENT VALUES (1, 1, 1, 1.5, 'Tea')",
    "INSERT INTO ZGUEST VALUES (2, 1, 1, 'Ada'), (2, 2, 1, 'Ben')",
    "INSERT INTO Z_1GUESTS VALUES (1, 1), (1, 2)",
  ]

  private static let xmlMetadata = """
    <?xml version="1.0" encoding="UTF-8"?>
    <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
    <plist version="1.0"><dict>
    <key>NSPersistenceFrameworkVersion</key><integer>241</integer>
    <key>NSStoreModelVersionHashes</key><dict><key>Event</key><data>AQID</data><key>Guest</key><data>BAUG</data></dict>
    <key>NSStoreType</key><string>SQLite</string></dict></plist>
    """

  private func withStore(_ sql: [String], _ body: (URL) throws -> Void) throws {
    try withTemporaryStore { url in
      let connection = try SQLiteConnection(url, mode: .create)
      for line in Self.common + sql { try connection.execute(SQLText(checked: line)) }
      try connection.execute(
        "INSERT INTO Z_METADATA VALUES (1, 'A-B', \(value: .blob(Data(Self.xmlMetadata.utf8))))")
      connection.close()
      try body(url)
    }
  }

  private var registry: ModelRegistry { ModelRegistry(versions: [ModelVersion(name: "Events", model: model)]) }

  @Test("A store without a model of its own, with metadata in XML, is identified by its columns")
  func early() throws {
    try withStore([]) { url in
      let found = try StoreIdentification.identify(storeAt: url, registry: registry)
      #expect(found.origin == .columns && found.version?.name == "Events")
      #expect(found.metadata.frameworkVersion == 241)
      #expect(found.metadata.versionHashes["Guest"] == Data([4, 5, 6]))
      #expect(found.tableMap.joinTables.first?.first.column == "Z_1EVENTS1")
      try checkStore(at: url, registry: registry) { Issue.record("\($0)") }
      let error = #expect(throws: PersistenceError.self) { try StoreIdentification.identify(storeAt: url) }
      #expect(error?.code == .missingSourceModel)
    }
  }

  @Test("History, mirroring, range indexes, triggers and an application's own tables are not part of the model")
  func strangers() throws {
    let others = [
      "CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB)",
      "INSERT INTO Z_PRIMARYKEY VALUES (16001, 'CHANGE', 0, 4), (16002, 'TRANSACTION', 0, 2)",
      "CREATE TABLE ACHANGE (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZENTITY INTEGER)",
      "CREATE TABLE ANSCKRECORDMETADATA (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZENTITYID INTEGER)",
      "CREATE TABLE Z_UBMETA (UB_ID INTEGER PRIMARY KEY, UB_VALUE BLOB)",
      "CREATE TABLE notes_of_mine (id, body)",
      "CREATE VIEW guests AS SELECT ZNAME FROM ZGUEST",
      "CREATE VIRTUAL TABLE Z_RT_Event_place USING rtree (Z_PK, low, high)",
      "CREATE TRIGGER Z_DA_Guest AFTER UPDATE ON ZGUEST BEGIN "
        + "SELECT NSCoreDataDATriggerUpdatedAffectedObjectValue('Event', 1, NEW.Z_PK); END",
    ]
    try withStore(others) { url in
      let found = try StoreIdentification.identify(storeAt: url, registry: registry)
      #expect(found.origin == .columns)
      #expect(found.tableMap.unexplained == [])
      #expect(found.catalog.schema.triggers.map(\.name) == ["Z_DA_Guest"])
      try checkStore(at: url, registry: registry) { Issue.record("\($0)") }
    }
  }

  @Test("An additional entity table means another model")
  func another() throws {
    let more = [
      "CREATE TABLE ZPLACE (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER)",
      "INSERT INTO Z_PRIMARYKEY VALUES (3, 'Place', 0, 0)",
    ]
    try withStore(more) { url in
      let error = #expect(throws: PersistenceError.self) {
        try StoreIdentification.identify(storeAt: url, registry: registry)
      }
      #expect(error?.code == .missingSourceModel)
      #expect(error.map { "\($0)".contains("Events") } == true)
    }
  }
}

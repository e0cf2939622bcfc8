import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Stores: concurrency and interruption")
struct SQLiteStoreSafetyTests {
  let fixture: StoreFixture

  init() throws { fixture = try StoreFixture() }

  @Test("Eight threads read complete saves while one writes")
  func concurrency() throws {
    try fixture.withStore { store in
      let problems = LockProtected<[String]>([])
      let group = DispatchGroup()
      let fixture = fixture
      for thread in 0...8 {
        group.enter()
        Thread.detachNewThread {
          defer { group.leave() }
          do {
            let (house, person) = (try fixture.entity("House"), try fixture.entity("Person"))
            for round in 0..<40 {
              if thread == 0 {
                // Each save adds one house, and three people who live there.
                let id = ManagedObjectID(temporaryFor: "House")
                let people = try (0..<3).map { _ in try fixture.insert("Child", ["home": .objectID(id)]) }
                _ = try store.commit(
                  RowWrites(inserts: [try fixture.insert("House", ["number": .integer(Int64(round))], id: id)] + people))
              } else {
                let houses = try store.rows(RowQuery(entity: house))
                guard let last = houses.last, let residents = house.property(named: "residents") else { continue }
                let members = try store.related(by: residents, of: house, key: last.key)
                let keys = members.compactMap(\.primaryKey)
                let found = try store.rows(RowQuery(entity: person, keys: keys))
                if members.count != 3 || found.count != 3 {
                  problems.withLock { $0.append("\(members.count) members, \(found.count) rows") }
                }
              }
            }
          } catch { problems.withLock { $0.append("\(error)") } }
        }
      }
      group.wait()
      #expect(problems.withLock { $0 } == [])
      try #expect(store.count(RowQuery(entity: fixture.entity("Person"))) == 120)
    }
  }

  @Test(
    "A store is created in a file whose creation was interrupted before its first commit",
    .aboutFiles("files of killed programs"))
  func interruptedCreation() throws {
    try withTemporaryFile { url in
      func interrupt(_ statements: String...) throws {
        try Data().write(to: url)
        LostLog.markCreation(ofStoreAt: url)
        try ForeignSQL.run(
          ["PRAGMA page_size = 4096", "PRAGMA auto_vacuum = 2", "PRAGMA journal_mode = WAL"] + statements, at: url)
      }
      try interrupt()
      #expect(FileState(url)?.size == 4096)
      let coordinator = PersistentStoreCoordinator(model: fixture.model)
      try coordinator.remove(coordinator.addStore(at: url))
      try coordinator.remove(coordinator.addStore(at: url))
      for marked in ["PRAGMA user_version = 1", "PRAGMA application_id = 1", "CREATE TABLE T (A)"] {
        try FileManager.default.removeItem(at: url)
        try interrupt(marked)
        #expect(persistError { try coordinator.addStore(at: url) }?.code == .notAStore, "\(marked)")
      }
    }
  }

  @Test("A store whose creation failed after its file was made can be created", .aboutFiles("new files"))
  func failedCreation() throws {
    try withTemporaryFile { url in
      struct Refusal: Error {}
      let pool = try SQLiteConnectionPool(url, options: StoreOptions(), creates: true)
      #expect(throws: Refusal.self) {
        try pool.write { connection in
          try connection.execute("CREATE TABLE T (A)")
          throw Refusal()
        }
      }
      pool.close()
      #expect(FileState(url)?.size ?? 0 > 0)
      let coordinator = PersistentStoreCoordinator(model: fixture.model)
      try coordinator.addStore(at: url)
    }
  }

  @Test("A program killed in the middle of a save leaves the store unchanged", .aboutFiles("files of killed programs"))
  func killed() async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("persist-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = folder.appendingPathComponent("Store.sqlite").path
    let store = try SQLiteStore.create(URL(fileURLWithPath: path), model: fixture.model)
    _ = try store.commit(RowWrites(inserts: [fixture.insert("Tag", ["label": .string("before")])]))
    try store.close()
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
      TestKey.install
      let fixture = try StoreFixture()
      let store = try SQLiteStore.open(URL(fileURLWithPath: path), model: fixture.model)
      let inserts = try (0..<5000).map { try fixture.insert("Tag", ["label": .string("\($0)")]) }
      try store.pool.write { connection in
        try connection.execute("PRAGMA cache_size = 10")
        var pass = CommitPass(RowWrites(inserts: inserts), store: store, connection: connection)
        try pass.assignKeys()
        try pass.insertRows()
        kill(getpid(), SIGKILL)
      }
    }
    let again = try SQLiteStore.open(URL(fileURLWithPath: path), model: fixture.model)
    try #expect(again.count(RowQuery(entity: fixture.entity("Tag"))) == 1)
    let next = try again.insertedIDs(RowWrites(inserts: [fixture.insert("Tag", ["label": .string("after")])]))
    #expect(next.first?.primaryKey == 2)
    try #expect(
      again.pool.read { try $0.first("PRAGMA integrity_check") { $0.text(0) } } == "ok")
    try again.close()
  }

  @Test(
    "Tables, columns, triggers and metadata unknown to the model survive every save",
    .aboutFiles("SQLite's triggers"))
  func unknownThings() throws {
    try fixture.withFile { first in
      try first.pool.write { connection in
        try connection.execute("CREATE TABLE \"my own\" (a, b)")
        try connection.execute("INSERT INTO \"my own\" VALUES (1, 'x')")
        try connection.execute("ALTER TABLE ZTAG ADD COLUMN ZEXTRA DEFAULT 'kept'")
        try connection.execute(
          """
          CREATE TRIGGER t AFTER INSERT ON ZTAG FOR EACH ROW BEGIN
          UPDATE ZTAG SET ZEXTRA = NSCoreDataUppercase(ZLABEL) WHERE Z_PK = NEW.Z_PK;
          SELECT NSCoreDataDATriggerInsertUpdatedAffectedObjectValue('ZTAG', Z_ENT, Z_PK) FROM ZTAG; END
          """)
      }
      let store = try fixture.reopened(first)
      let id = try store.insertedIDs(RowWrites(inserts: [fixture.insert("Tag", ["label": .string("é")])]))[0]
      _ = try store.commit(RowWrites(updates: [fixture.update(id, ["label": .string("b")])]))
      let again = try fixture.reopened(store)
      try again.pool.read { connection in
        try #expect(connection.first("SELECT ZEXTRA FROM ZTAG") { $0.text(0) } == "É")
        try #expect(connection.first("SELECT b FROM \"my own\"") { $0.text(0) } == "x")
      }
      try again.close()
    }
  }

  @Test(
    "Persist's record of the model is written with the first save, not by opening",
    .aboutFiles("files of other frameworks"))
  func note() throws {
    try fixture.withFile { first in
      try first.pool.write { try $0.execute("DROP TABLE PERSIST_METADATA") }
      func hasModelRecord(_ store: SQLiteStore) throws -> Bool {
        try store.pool.read { try StoreCatalog($0).record != nil }
      }
      let store = try fixture.reopened(first)
      _ = try store.rows(RowQuery(entity: fixture.entity("Tag")))
      try #expect(!hasModelRecord(store))
      _ = try store.commit(RowWrites(inserts: [fixture.insert("Tag")]))
      try #expect(hasModelRecord(store))
      try store.close()
    }
  }

  @Test("The debug log prints SQL, values, rows and plans, as much as requested", arguments: 0...4)
  func debugLog(level: Int) throws {
    var lines: [String] = []
    let connection = try SQLiteConnection(nil, mode: .memory)
    try connection.execute("CREATE TABLE T (A)")
    try connection.execute("INSERT INTO T VALUES ('secret')")
    let log = SQLiteDebugLog(
      attachedTo: connection.handle, name: "memory", level: level, print: { lines.append($0) })
    _ = try connection.all("SELECT A FROM T WHERE A = \(value: .text("secret"))") { $0.text(0) }
    withExtendedLifetime(log) {}
    let text = lines.joined(separator: "\n")
    #expect(text.contains("SELECT A FROM T") == (level >= 1))
    #expect(text.contains("A = 'secret'") == (level >= 2))
    #expect(text.contains("row 1: A=secret") == (level >= 3))
  }
}

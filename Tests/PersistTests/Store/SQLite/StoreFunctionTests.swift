import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

/// Stores whose triggers call functions that only Core Data defines.
@Suite("Functions called by a store's triggers", .aboutFiles("functions of Core Data's triggers"))
struct StoreFunctionTests {
  private func withStore(_ triggers: [SQLText], _ body: (SQLiteConnection) throws -> Void) throws {
    try withTemporaryStore { url in
      let first = try SQLiteConnection(url, mode: .create)
      try first.execute("CREATE TABLE ZA (Z_PK INTEGER PRIMARY KEY, ZNAME VARCHAR, ZCOUNT INTEGER, ZOTHER)")
      for trigger in triggers { try first.execute(trigger) }
      first.close()
      try body(try SQLiteConnection(url, mode: .readWrite))
    }
  }

  @Test("Those that report which rows a trigger changed return nothing and don't interfere")
  func reporting() throws {
    try withStore([
      """
      CREATE TRIGGER Z_DA_ZA_A_count_INSERT AFTER INSERT ON ZA FOR EACH ROW BEGIN
      UPDATE ZA SET ZCOUNT = (SELECT COUNT(*) FROM ZA) WHERE Z_PK = NEW.Z_PK;
      SELECT NSCoreDataDATriggerUpdatedAffectedObjectValue('ZA', Z_PK, ZCOUNT) FROM ZA WHERE Z_PK = NEW.Z_PK;
      SELECT NSCoreDataDATriggerInsertUpdatedAffectedObjectValue('ZA', 1, NEW.Z_PK, 'ZCOUNT');
      SELECT SomethingNewer(1); END
      """
    ]) { connection in
      try connection.execute("INSERT INTO ZA (ZNAME) VALUES ('x')")
      #expect(try connection.first("SELECT ZCOUNT FROM ZA") { $0.integer(0) } == 1)
    }
  }

  @Test("Those that derive a text or a time do what their name says")
  func deriving() throws {
    try withStore([
      """
      CREATE TRIGGER t AFTER INSERT ON ZA FOR EACH ROW BEGIN UPDATE ZA SET
      ZNAME = NSCoreDataUppercase(ZNAME) || NSCoreDataLowercase(ZNAME) || NSCoreDataCanonical(ZNAME),
      ZCOUNT = NSCoreDataNow(), ZOTHER = NSCoreDataCanonical(NULL) WHERE Z_PK = NEW.Z_PK; END
      """
    ]) { connection in
      try connection.execute("INSERT INTO ZA (ZNAME) VALUES ('Grand Café')")
      #expect(try connection.first("SELECT ZNAME FROM ZA") { $0.text(0) } == "GRAND CAFÉgrand cafégrand cafe")
      let now = try connection.first("SELECT ZCOUNT FROM ZA") { $0.double(0) }
      #expect(abs((now ?? 0) - Date().timeIntervalSinceReferenceDate) < 60)
      #expect(try connection.first("SELECT ZOTHER FROM ZA") { $0.isNull(0) } == true)
    }
  }

  @Test("An unknown one fails with its name when it is called, and only then")
  func unknown() throws {
    try withStore([
      "CREATE TRIGGER t AFTER DELETE ON ZA FOR EACH ROW BEGIN UPDATE ZA SET ZOTHER = Mystery(ZNAME); END"
    ]) { connection in
      try connection.execute("INSERT INTO ZA (ZNAME) VALUES ('x')")
      try connection.execute("INSERT INTO ZA (ZNAME) VALUES ('y')")
      let error = #expect(throws: PersistenceError.self) { try connection.execute("DELETE FROM ZA WHERE ZNAME = 'x'") }
      #expect(error?.engineMessage?.contains("Mystery") == true)
    }
  }
}

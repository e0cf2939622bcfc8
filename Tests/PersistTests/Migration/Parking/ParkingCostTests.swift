import LinkedSQLite
import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

/// The cost of parking the values of a removed attribute, in statements and written pages.
@Suite("Cost of parking values in place", .aboutFiles("pages that SQLite writes"))
struct ParkingCostTests {
  private struct Cost: Equatable {
    var statements: [String]
    /// The pages that SQLite wrote.
    var pages: Int
  }

  private static func registry() throws -> ModelRegistry {
    let attributes = [
      AttributeDescription("name", .string), .init("note", .string), .init("size", .int32, default: .integer(3)),
      .init("code", .string, isOptional: false, default: .string("none")),
    ]
    let removed = [attributes, [attributes[0]]]
    return ModelRegistry(
      versions: try removed.enumerated().map { number, attributes in
        let entity = EntityDescription("Item", attributes: attributes)
        return ModelVersion(
          name: "\(number + 1)", model: try ManagedObjectModel(ModelDescription(entities: [entity])))
      })
  }

  /// The cost of removing three attributes, without missing values, in a store with some rows.
  private func cost(rows: Int, _ parking: MigrationParking) throws -> Cost {
    let registry = try Self.registry()
    return try withTemporaryFolder { folder in
      let url = folder.appendingPathComponent("Parking-\(UUID().uuidString).sqlite")
      try MadeStore.make(registry.versions[0].model, at: url)
      try MadeStore.run(
        """
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(rows)) \
        INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZNAME, ZNOTE, ZSIZE, ZCODE) \
        SELECT i, 1, 1, 'name ' || i, 'a note of some length ' || i, i, 'code ' || i FROM n
        """, at: url)
      var migrator = AutomaticMigrator()
      migrator.parking = parking
      let census = StatementCensus(of: url)
      defer { census.end() }
      let connection = try SQLiteConnection(url, mode: .readWrite)
      defer { connection.close() }
      var migration = InPlaceMigration(
        url: url, destination: registry.versions[1], registry: registry, options: StoreOptions(), migrator: migrator)
      let report = try migration.run(on: connection)
      #expect(report.parked == (parking == .always ? 3 * rows : 0))
      var (pages, highest): (Int32, Int32) = (0, 0)
      sqlite3_db_status(connection.handle, SQLITE_DBSTATUS_CACHE_WRITE, &pages, &highest, 0)
      return Cost(statements: census.statements, pages: Int(pages))
    }
  }

  @Test("Removed attributes are parked in place by a fixed number of statements and pages, however many rows there are")
  func rowless() throws {
    let (few, many) = try (cost(rows: 1000, .always), cost(rows: 4000, .always))
    #expect(few.statements.count == many.statements.count)
    #expect(many.pages <= few.pages + 2, "\(few.pages) and \(many.pages) pages")
  }

  @Test("The model of several parked attributes is read once, even if it is damaged", arguments: [false, true])
  func modelsOfSlots(isDamaged: Bool) throws {
    let registry = try Self.registry()
    try withTemporaryFolder { folder in
      let url = folder.appendingPathComponent("Parking-\(UUID().uuidString).sqlite")
      try MadeStore.make(registry.versions[0].model, at: url)
      try MadeStore.run(
        "INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZNOTE, ZSIZE, ZCODE) VALUES (1, 1, 1, 'a', 2, 'b')", at: url)
      try AutomaticMigrator().migrate(storeAt: url, to: registry.versions[1], registry: registry)
      if isDamaged { try MadeStore.run("UPDATE PERSIST_PARKED_MODELS SET CONTENT = x'00'", at: url) }
      let census = StatementCensus(of: url)
      defer { census.end() }
      func reads(_ body: () throws -> Void) rethrows -> Int {
        let before = census.statements.count
        try body()
        return census.statements.dropFirst(before).count { $0.hasPrefix("SELECT CONTENT FROM PERSIST_PARKED_MODELS") }
      }
      var problems = 0
      try #expect(reads { try checkStore(at: url) { problems += $0.kind == .parkedValues ? 1 : 0 } } == 1)
      #expect(problems == (isDamaged ? 3 : 0))
      let connection = try SQLiteConnection(url, mode: .readOnly)
      defer { connection.close() }
      let slots = try connection.parkedSlots()
      #expect(slots.count == 3)
      try #expect(
        reads {
          _ = try ParkingComparisons(slots, with: registry.versions[0], registry: registry, inspector: connection)
        } == 1)
    }
  }

  @Test("Parking removed attributes writes fewer pages than destroying them, and runs no statement for each row")
  func comparison() throws {
    let (parked, destroyed) = try (cost(rows: 3200, .always), cost(rows: 3200, .none))
    #expect(parked.pages < destroyed.pages, "\(parked.pages) and \(destroyed.pages) pages")
    // Six tables and triggers of Persist's own, and three statements for each attribute.
    #expect(parked.statements.count <= destroyed.statements.count + 30, "\(parked.statements)")
  }
}

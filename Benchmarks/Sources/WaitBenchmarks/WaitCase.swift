import CSQLiteForBenchmarks
import Foundation
import Persist

/// A change of the model, with a kind of step that takes long in a large table.
struct WaitCase: Sendable {
  let name: String
  private let former: [AttributeDescription]
  private let new: [AttributeDescription]
  private let isIndexed: Bool

  static let all = [
    WaitCase(
      name: "missing values replaced", former: [.init("amount", .int32)],
      new: [.init("amount", .int32, isOptional: false, default: .integer(7))], isIndexed: false),
    WaitCase(
      name: "another type", former: [.init("amount", .int32)], new: [.init("amount", .double)], isIndexed: false),
    WaitCase(name: "a column dropped", former: [.init("amount", .int32)], new: [], isIndexed: false),
    WaitCase(
      name: "three columns dropped",
      former: [.init("amount", .int32), .init("note", .string), .init("rank", .int64)], new: [], isIndexed: false),
    WaitCase(name: "an index created", former: [], new: [], isIndexed: true),
    WaitCase(
      name: "all of these", former: [.init("amount", .int32), .init("note", .string), .init("rank", .int64)],
      new: [.init("amount", .int32, isOptional: false, default: .integer(7)), .init("rank", .double)],
      isIndexed: true),
  ]

  static func name(ofRow key: Int) -> String { "Item \(key * 7919 % 1_000_003)" }

  var registry: ModelRegistry {
    get throws {
      ModelRegistry(versions: [
        ModelVersion(name: "1", model: try Self.model(former, isIndexed: false)),
        ModelVersion(name: "2", model: try Self.model(new, isIndexed: isIndexed)),
      ])
    }
  }

  private static func model(_ attributes: [AttributeDescription], isIndexed: Bool) throws -> ManagedObjectModel {
    let names: [AttributeDescription] = [.init("name", .string), .init("code", .string), .init("quantity", .int64)]
    let added = isIndexed ? [FetchIndexDescription("byCode", on: "code")] : []
    return try ManagedObjectModel(
      ModelDescription(entities: [
        EntityDescription(
          "Item", attributes: names + attributes, indexes: [FetchIndexDescription("byName", on: "name")] + added)
      ]))
  }

  /// - Parameter later: Whether steps are deferred.
  static func options(later: Bool) -> StoreOptions {
    var migrator = AutomaticMigrator()
    migrator.defersWork = later
    // Otherwise nothing is dropped.
    migrator.parking = .none
    return StoreOptions(busyTimeout: .seconds(60), migrator: migrator)
  }

  /// Creates a store of the first version.
  func fill(_ url: URL, rows: Int) throws {
    let coordinator = PersistentStoreCoordinator(model: try registry.versions[0].model)
    try coordinator.remove(coordinator.addStore(at: url))
    let values = former.map { attribute in
      switch attribute.name {
      case "amount": "CASE WHEN I % 3 THEN I % 100 END"
      case "rank": "I * 13"
      default: "'a note of some length for number ' || I"
      }
    }
    let columns = former.map { ", Z\($0.name.uppercased())" }.joined()
    let database = PlainProgram(url)
    database.run(
      """
      WITH RECURSIVE N(I) AS (SELECT 1 UNION ALL SELECT I + 1 FROM N WHERE I < \(rows)) \
      INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZNAME, ZCODE, ZQUANTITY\(columns)) \
      SELECT I, 1, 1, 'Item ' || (I * 7919 % 1000003), 'code ' || (I * 104729 % 1000003), I % 1000\
      \(values.map { ", \($0)" }.joined()) FROM N
      """)
    database.run("UPDATE Z_PRIMARYKEY SET Z_MAX = \(rows)")
    database.run("PRAGMA wal_checkpoint(TRUNCATE)")
  }
}

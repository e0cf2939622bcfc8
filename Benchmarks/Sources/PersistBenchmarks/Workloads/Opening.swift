import CSQLiteForBenchmarks
import Foundation
import GRDB
import Persist

extension Workload {
  static let opening = [
    small,
    large("openFlat", "1,000 entities", depth: 1, target: 2.5),
    large("openLines", "1,000 entities in 100 lines of 10 that inherit from each other", depth: 10, target: 2.0),
    large("openDeep", "1,000 entities in 10 lines of 100 that inherit from each other", depth: 100, target: 2.5),
  ]

  private static func large(_ name: String, _ what: String, depth: Int, target: Double) -> Workload {
    Workload(
      name: name, summary: "open a store of \(what), and fetch one object", rows: 1000, target: target,
      start: .largeModel(depth: depth), scales: false, leastRounds: 9,
      parts: [
        .persist: { setting in
          let model = try Samples.largeModel(depth: depth)
          return {
            let coordinator = PersistentStoreCoordinator(model: model)
            try coordinator.addStore(at: setting.file, options: BenchmarkKey.options())
            let found = try ManagedObjectContext(coordinator).fetch(FetchRequest("Entity1999", limit: 1))
            return UInt64((found.first?["name0"] as? String)?.utf8.count ?? 0)
          }
        },
        .sqlite: { setting in
          let table = "ZENTITY\(2000 - depth)"
          return {
            let database = PlainSQLite(setting.file.path)
            let statement = database.prepare("SELECT ZNAME0 FROM \(table) WHERE ZNAME0 = 'Entity1999' LIMIT 1")
            defer { sqlite3_finalize(statement) }
            database.check(sqlite3_step(statement))
            return UInt64(PlainSQLite.text(statement, 0).utf8.count)
          }
        },
      ],
      shortfall: """
        The numbers of 1,000 entities are read and the seal is computed over them. The object has \(2 * depth) \
        attributes, each of which gets a column's name and a check and is read, where the plain statement names one.
        """)
  }

  private static let small = Workload(
    name: "open", summary: "open a store of 50 entities and fetch one object, in a fresh process", rows: 500,
    target: 2.0, start: .manyEntities, scales: false, leastRounds: 9,
    parts: [
      .persist: { setting in
        let model = try Samples.entities(50)
        return {
          let coordinator = PersistentStoreCoordinator(model: model)
          try coordinator.addStore(at: setting.file, options: BenchmarkKey.options())
          let found = try ManagedObjectContext(coordinator).fetch(FetchRequest("Entity40", limit: 1))
          return UInt64((found.first?["name"] as? String)?.utf8.count ?? 0)
        }
      },
      .sqlite: { setting in
        {
          let database = PlainSQLite(setting.file.path)
          let statement = database.prepare("SELECT * FROM ZENTITY40 LIMIT 1")
          defer { sqlite3_finalize(statement) }
          database.check(sqlite3_step(statement))
          let index = (0..<sqlite3_column_count(statement)).first {
            String(cString: sqlite3_column_name(statement, $0)) == "ZNAME"
          }
          return UInt64(index.map { PlainSQLite.text(statement, $0).utf8.count } ?? 0)
        }
      },
      .grdb: { setting in
        {
          let pool = try DatabasePool.measured(setting.file)
          let row = try pool.read { try Row.fetchOne($0, sql: "SELECT * FROM ZENTITY40 LIMIT 1") }
          return UInt64((row?["ZNAME"] as String?)?.utf8.count ?? 0)
        }
      },
    ],
    shortfall: """
      Three fifths of the instructions are outside SQLite. A third of these are the first uses of some 110 generic \
      types in the process, which Swift's runtime then creates. The rest verifies the seal of the store, for which the \
      metadata of all entities are read. A fifth of the time is page faults, most of them in the program's code.
      """)
}

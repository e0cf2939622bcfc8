import CSQLiteForBenchmarks
import Foundation
import Persist

extension GrowthCurve {
  static let ofEntities = [
    GrowthCurve(
      axis: .entities, name: "open", summary: "open the store, fetch one object", start: .entities,
      persist: { setting in
        let model = try Samples.entities(setting.rows)
        return {
          var sum: UInt64 = 0
          for _ in 0..<20 {
            let context = try Samples.context(setting.file, model)
            let found = try context.fetch(FetchRequest("Entity15", limit: 1))
            sum &+= UInt64((found.first?["name"] as? String)?.utf8.count ?? 0)
          }
          return sum
        }
      },
      sqlite: { setting in
        {
          var sum: UInt64 = 0
          for _ in 0..<20 {
            let database = PlainSQLite(setting.file.path)
            let statement = database.prepare("SELECT ZNAME FROM ZENTITY15 LIMIT 1")
            defer { sqlite3_finalize(statement) }
            if sqlite3_step(statement) == SQLITE_ROW { sum &+= UInt64(PlainSQLite.text(statement, 0).utf8.count) }
          }
          return sum
        }
      }),
    update("update", "change one object, save, after a first save", repetitions: 20),
    update("firstUpdate", "change one object, save, for the first time", repetitions: 1),
    GrowthCurve(
      axis: .entities, name: "migrate", summary: "open the store, add an attribute to one entity", start: .entities,
      repetitions: 1,
      persist: { setting in
        let (old, new) = (try Samples.entities(setting.rows), try Samples.entitiesWithDiscount(setting.rows))
        return {
          let coordinator = PersistentStoreCoordinator(
            model: new, registry: ModelRegistry(versions: [
              ModelVersion(name: "1", model: old), ModelVersion(name: "2", model: new),
            ]))
          try coordinator.addStore(
            at: setting.file, options: BenchmarkKey.options(StoreOptions(migrator: AutomaticMigrator())))
          return 0
        }
      },
      sqlite: { setting in
        {
          let database = PlainSQLite(setting.file.path)
          database.run("ALTER TABLE ZENTITY\(9 + setting.rows) ADD COLUMN ZDISCOUNT FLOAT")
          return 0
        }
      }),
  ]

  private static func update(_ name: String, _ summary: String, repetitions: Int) -> GrowthCurve {
    GrowthCurve(
      axis: .entities, name: name, summary: summary, start: .entities, repetitions: repetitions,
      persist: { setting in
        let context = try Samples.context(setting.file, Samples.entities(setting.rows))
        let objects = try context.fetch(FetchRequest("Entity15"))
        func change(_ number: Int) throws {
          objects[number % objects.count]["quantity"] = Int64(100 + number)
          try context.save()
        }
        if repetitions > 1 { try change(repetitions) }
        return {
          for number in 0..<repetitions { try change(number) }
          return 0
        }
      },
      sqlite: { setting in
        let database = PlainSQLite(setting.file.path)
        return {
          let statement = database.prepare("UPDATE ZENTITY15 SET ZQUANTITY = ?, Z_OPT = Z_OPT + 1 WHERE Z_PK = ?")
          defer { sqlite3_finalize(statement) }
          for number in 0..<repetitions {
            sqlite3_bind_int64(statement, 1, Int64(100 + number))
            sqlite3_bind_int64(statement, 2, Int64(number % 10 + 1))
            database.commit(statement)
          }
          return 0
        }
      })
  }
}

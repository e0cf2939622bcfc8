import CSQLiteForBenchmarks
import Foundation
import GRDB
import LatencyMeasurement
import Persist

/// The contestants' sessions over a store of items with an index over quantity and rank.
enum FileSessions {
  /// Opens the file as the contestant's users do, and returns what makes the sessions of its threads.
  static func maker(_ contestant: Contestant, _ file: URL, isDurable: Bool) throws -> LatencySession.Maker {
    switch contestant {
    case .persist: try persist(file, isDurable: isDurable)
    case .sqlite: sqlite(file, isDurable: isDurable)
    case .grdb: try grdb(file, isDurable: isDurable)
    }
  }

  /// The quantities of ``SampleRow`` are from 0 to 99.
  private static func quantity(_ start: Int) -> Int64 { Int64(start % 100) }

  private static func persist(_ file: URL, isDurable: Bool) throws -> LatencySession.Maker {
    let coordinator = PersistentStoreCoordinator(model: try Samples.indexedItems)
    let options = StoreOptions(pragmas: isDurable ? ["synchronous": "FULL"] : [:])
    try coordinator.addStore(at: file, options: BenchmarkKey.options(options))
    let newContext = { @Sendable in ManagedObjectContext(coordinator, classes: ["Item": SampleItem.self]) }
    let identifiers = try newContext().fetchObjectIDs(FetchRequest<SampleItem>("Item", sortedBy: "addedAt"))
    let template = try FetchPredicate("quantity == $quantity")
    return { thread in
      try LatencySession(
        newContext, own: identifiers[thread], identifiers: identifiers, name: \SampleItem.code,
        change: { $0.price += 1 },
        page: { start in
          var request = FetchRequest<SampleItem>("Item", sortedBy: "rank")
          request.fetchLimit = LatencySession.pageSize
          request.predicate = template.substituting(["quantity": quantity(start)])
          return request
        })
    }
  }

  private static func grdb(_ file: URL, isDurable: Bool) throws -> LatencySession.Maker {
    let pool = try DatabasePool.measured(file)
    // A pool of GRDB's sets it to NORMAL when it opens the file.
    if isDurable { try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") } }
    return { thread in
      LatencySession(
        save: {
          try pool.write { database in
            guard var item = try ItemRecord.fetchOne(database, key: Int64(thread + 1)) else { return }
            item.price += 1
            item.version += 1
            try item.update(database, columns: ["ZPRICE", "Z_OPT"])
          }
        },
        fetch: { key in
          let item = try pool.read { try ItemRecord.everything.filter(key: Int64(key + 1)).fetchOne($0) }
          try LatencySession.check(item == nil ? 0 : 1, of: 1)
        },
        page: { start in
          let items = try pool.read { database in
            try ItemRecord.everything.filter(Column("ZQUANTITY") == quantity(start)).order(Column("ZRANK"))
              .limit(LatencySession.pageSize).fetchAll(database)
          }
          try LatencySession.check(items.count)
        })
    }
  }

  private static func sqlite(_ file: URL, isDurable: Bool) -> LatencySession.Maker {
    { thread in
      let database = PlainSQLite(file.path)
      if isDurable { database.run("PRAGMA synchronous = FULL") }
      let update = database.prepare(
        "UPDATE ZITEM SET ZPRICE = ZPRICE + 1, Z_OPT = Z_OPT + 1 WHERE Z_PK = \(thread + 1)")
      let select = "SELECT \(PlainSQLite.columns) FROM ZITEM"
      let one = database.prepare("\(select) WHERE Z_PK = ?")
      let page = database.prepare("\(select) WHERE ZQUANTITY = ? ORDER BY ZRANK LIMIT \(LatencySession.pageSize)")
      return LatencySession(
        save: {
          // Connections wait for the lock by trying again, without an order, and give up.
          while case let code = sqlite3_step(update), code != SQLITE_DONE {
            if code != SQLITE_BUSY { database.check(code) }
            sqlite3_reset(update)
          }
          sqlite3_reset(update)
        },
        fetch: { key in
          sqlite3_bind_int64(one, 1, Int64(key + 1))
          defer { sqlite3_reset(one) }
          let isFound = sqlite3_step(one) == SQLITE_ROW && !PlainSQLite.text(one, 7).isEmpty
          try LatencySession.check(isFound ? 1 : 0, of: 1)
        },
        page: { start in
          sqlite3_bind_int64(page, 1, quantity(start))
          defer { sqlite3_reset(page) }
          var count = 0
          while sqlite3_step(page) == SQLITE_ROW { count += PlainSQLite.text(page, 7).isEmpty ? 0 : 1 }
          try LatencySession.check(count)
        })
    }
  }
}

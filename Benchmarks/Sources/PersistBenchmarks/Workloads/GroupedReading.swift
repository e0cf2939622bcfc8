import CSQLiteForBenchmarks
import Foundation
import GRDB
import Persist

/// Reading in batches: the members of each owner, and the results of a long list.
extension Workload {
  static let groupedReading = [
    Workload(
      name: "members", summary: "10,000 × 10 members through for, map, filter and first, not prefetched",
      rows: 100_000, target: 2.0, start: .library(booksPerAuthor: 10),
      parts: [
        .persist: { setting in
          let context = try Samples.context(setting.file, Samples.library)
          return {
            var sum: UInt64 = 0
            for (index, author) in try context.fetch(FetchRequest<SampleAuthor>("Author")).enumerated() {
              let books = author.books
              switch index % 4 {
              case 0: for book in books { sum &+= UInt64(book.pages) }
              case 1: sum &+= books.map { UInt64($0.pages) }.reduce(0, &+)
              case 2: sum &+= UInt64(books.filter { $0.pages.isMultiple(of: 2) }.count)
              default: sum &+= UInt64(books.first { $0.pages.isMultiple(of: 2) }?.pages ?? 0)
              }
            }
            return sum
          }
        },
        .sqlite: { setting in
          let database = PlainSQLite(setting.file.path)
          return {
            let owners = database.prepare("SELECT Z_PK, Z_OPT, ZNAME FROM ZAUTHOR")
            let members = database.prepare(membersSQL)
            var sum: UInt64 = 0
            var index = 0
            while sqlite3_step(owners) == SQLITE_ROW {
              sqlite3_bind_int64(members, 1, sqlite3_column_int64(owners, 0))
              var pages: [Int64] = []
              while sqlite3_step(members) == SQLITE_ROW {
                _ = PlainSQLite.text(members, 3)
                pages.append(sqlite3_column_int64(members, 2))
              }
              sqlite3_reset(members)
              sum &+= visit(pages, index)
              index += 1
            }
            sqlite3_finalize(owners)
            sqlite3_finalize(members)
            return sum
          }
        },
        .grdb: { setting in
          let pool = try DatabasePool.measured(setting.file)
          return {
            try pool.read { database in
              var sum: UInt64 = 0
              for (index, author) in try AuthorRecord.fetchAll(database).enumerated() {
                sum &+= visit(try author.books.fetchAll(database).map(\.pages), index)
              }
              return sum
            }
          }
        },
      ],
      shortfall: """
        SQLite executes as much for Persist as for the plain statements: the members of up to 16 owners are read by \
        one statement, as long as no more than 5 ms pass between the first and the last use. Each member becomes an \
        object with 1,700 instructions, which its owner holds with 500. Each owner has a list of members, a set of \
        those that it holds and memory for both: 9 allocations, 150 instructions for each of its ten members.
        """),
    Workload(
      name: "fetchBatched", summary: "sort 10,000,000 rows by an index and walk 100 batches of 100",
      rows: 10_000_000, target: 1.5, peakTarget: 120 << 20, start: .rankedItems, scales: false,
      parts: [
        .persist: { setting in
          let context = try Samples.context(setting.file, Samples.rankedItems)
          var request = FetchRequest<SampleItem>("Item", sortedBy: "rank")
          request.fetchBatchSize = 100
          return {
            let items = try context.fetchBatched(request)
            var sum: UInt64 = 0
            for batch in 0..<100 {
              let start = batch * (items.count / 100)
              for item in items[start..<start + 100] { sum &+= UInt64(bitPattern: item.rank) }
            }
            return sum
          }
        },
        .sqlite: { setting in
          let database = PlainSQLite(setting.file.path)
          return {
            let statement = database.prepare("SELECT Z_PK FROM ZITEM ORDER BY ZRANK, Z_PK")
            var keys: ContiguousArray<Int64> = []
            keys.reserveCapacity(setting.rows)
            while sqlite3_step(statement) == SQLITE_ROW { keys.append(sqlite3_column_int64(statement, 0)) }
            sqlite3_finalize(statement)
            let row = database.prepare("SELECT \(PlainSQLite.columns) FROM ZITEM WHERE Z_PK = ?")
            var sum: UInt64 = 0
            for batch in 0..<100 {
              let start = batch * (keys.count / 100)
              for key in keys[start..<start + 100] {
                sqlite3_bind_int64(row, 1, key)
                while sqlite3_step(row) == SQLITE_ROW {
                  PlainSQLite.touch(row)
                  sum &+= UInt64(bitPattern: sqlite3_column_int64(row, 4))
                }
                sqlite3_reset(row)
              }
            }
            sqlite3_finalize(row)
            return sum
          }
        },
        .grdb: { setting in
          let pool = try DatabasePool.measured(setting.file)
          return {
            try pool.read { database in
              let keys = try Int64.fetchAll(database, sql: "SELECT Z_PK FROM ZITEM ORDER BY ZRANK, Z_PK")
              var sum: UInt64 = 0
              for batch in 0..<100 {
                let start = batch * (keys.count / 100)
                let items = try ItemRecord.everything.filter(keys: keys[start..<start + 100]).fetchAll(database)
                for item in items { sum &+= UInt64(bitPattern: item.rank) }
              }
              return sum
            }
          }
        },
      ]),
  ]

  private static let membersSQL = "SELECT Z_PK, Z_OPT, ZPAGES, ZTITLE, ZAUTHOR FROM ZBOOK WHERE ZAUTHOR = ?"

  private static func visit(_ pages: [Int64], _ index: Int) -> UInt64 {
    switch index % 4 {
    case 0, 1: pages.reduce(0) { $0 &+ UInt64($1) }
    case 2: UInt64(pages.count { $0.isMultiple(of: 2) })
    default: UInt64(pages.first { $0.isMultiple(of: 2) } ?? 0)
    }
  }
}

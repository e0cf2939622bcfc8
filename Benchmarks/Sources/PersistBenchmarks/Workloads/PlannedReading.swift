import CSQLiteForBenchmarks
import Foundation
import GRDB
import Persist

/// Reads whose time depends on a statement's plan.
extension Workload {
  static let plannedReading = [
    Workload(
      name: "pathQuery", summary: "predicate over a to-one path, 20 results of 200,000, 1,000 times", target: 1.3,
      start: .indexedLibrary(booksPerAuthor: 20),
      parts: [
        .persist: { setting in
          let context = try Samples.context(setting.file, Samples.indexedLibrary)
          var request = FetchRequest<SampleBook>("Book")
          let template = try FetchPredicate("author.name == $name")
          return {
            var sum: UInt64 = 0
            for name in names(setting) {
              request.predicate = template.substituting(["name": name])
              for book in try context.fetch(request) { sum &+= visit(Int64(book.pages), book.title) }
            }
            return sum
          }
        },
        .sqlite: { setting in
          let database = PlainSQLite(setting.file.path)
          return {
            let statement = database.prepare(pathSQL)
            var sum: UInt64 = 0
            for var name in names(setting) {
              name.withUTF8 { bytes in
                PlainSQLite.bind(statement, 1, bytes)
                while sqlite3_step(statement) == SQLITE_ROW {
                  sum &+= visit(sqlite3_column_int64(statement, 2), PlainSQLite.text(statement, 3))
                }
              }
              sqlite3_reset(statement)
            }
            sqlite3_finalize(statement)
            return sum
          }
        },
        .grdb: { setting in
          let pool = try DatabasePool.measured(setting.file)
          return {
            var sum: UInt64 = 0
            for name in names(setting) {
              let books = try pool.read { database in
                try BookRecord.fetchAll(database.cachedStatement(sql: pathSQL), arguments: [name])
              }
              for book in books { sum &+= visit(book.pages, book.title) }
            }
            return sum
          }
        },
      ],
      shortfall: requestShortfall),
    Workload(
      name: "page", summary: "a range, an order by another column, 20 results of 200,000, 1,000 times", target: 1.3,
      start: .indexedLibrary(booksPerAuthor: 20),
      parts: [
        .persist: { setting in
          let context = try Samples.context(setting.file, Samples.indexedLibrary)
          var request = FetchRequest<SampleBook>("Book", sortedBy: "title")
          request.fetchLimit = 20
          let template = try FetchPredicate("pages > $pages")
          return {
            var sum: UInt64 = 0
            for pages in leastPages {
              request.predicate = template.substituting(["pages": pages])
              for book in try context.fetch(request) { sum &+= visit(Int64(book.pages), book.title) }
            }
            return sum
          }
        },
        .sqlite: { setting in
          let database = PlainSQLite(setting.file.path)
          return {
            let statement = database.prepare(pageSQL)
            var sum: UInt64 = 0
            for pages in leastPages {
              sqlite3_bind_int64(statement, 1, pages)
              while sqlite3_step(statement) == SQLITE_ROW {
                sum &+= visit(sqlite3_column_int64(statement, 2), PlainSQLite.text(statement, 3))
              }
              sqlite3_reset(statement)
            }
            sqlite3_finalize(statement)
            return sum
          }
        },
        .grdb: { setting in
          let pool = try DatabasePool.measured(setting.file)
          return {
            var sum: UInt64 = 0
            for pages in leastPages {
              let books = try pool.read { database in
                try BookRecord.fetchAll(database.cachedStatement(sql: pageSQL), arguments: [pages])
              }
              for book in books { sum &+= visit(book.pages, book.title) }
            }
            return sum
          }
        },
      ],
      shortfall: requestShortfall),
  ]

  private static let requestShortfall = """
    Plain SQLite executes 119,000 instructions for a request of `page` and 62,000 of `pathQuery`. Creating, reading \
    and freeing 20 objects takes Persist 46,000 more. The request takes 43,000: ten steps of at most 4,000, such as \
    its copy with other values, the check of its predicate and of its order, their division between store and memory, \
    and the searches for its template and statement.
    """

  private static let bookColumns = "b.Z_PK, b.Z_OPT, b.ZPAGES, b.ZTITLE, b.ZAUTHOR"
  private static let pathSQL = """
    SELECT \(bookColumns) FROM ZBOOK b LEFT JOIN ZAUTHOR a ON a.Z_PK = b.ZAUTHOR WHERE a.ZNAME = ?
    """
  private static let pageSQL = """
    SELECT \(bookColumns) FROM ZBOOK b WHERE b.ZPAGES > ? ORDER BY b.ZTITLE, b.Z_PK LIMIT 20
    """
  private static let leastPages = (0..<1000).map { Int64($0 * 37 % 600) }

  private static func names(_ setting: Setting) -> some Sequence<String> {
    let authors = setting.rows / 20
    return (0..<1000).lazy.map { "Author \($0 * 7919 % authors)" }
  }

  private static func visit(_ pages: Int64, _ title: String?) -> UInt64 {
    UInt64(pages) &+ UInt64(title?.utf8.count ?? 0) &* 31
  }
}

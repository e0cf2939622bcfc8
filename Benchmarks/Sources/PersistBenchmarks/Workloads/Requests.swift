import CSQLiteForBenchmarks
import Foundation
import GRDB
import Persist

/// The reads of a server's requests, without the network and without threads of their own.
extension Workload {
  static let requests = [
    Workload(
      name: "request",
      summary: "1,000 requests, each with a context of its own: 20 books by an index of 200,000, with their authors",
      target: 2.5, start: .indexedLibrary(booksPerAuthor: 20),
      parts: [
        .persist: { setting in
          let coordinator = try Samples.context(setting.file, Samples.indexedLibrary).persistentStoreCoordinator
          return {
            var sum: UInt64 = 0
            for title in titles(setting) {
              let context = Samples.context(coordinator)
              var request = try FetchRequest<SampleBook>(
                "Book", where: "title > %@", title, sortedBy: [FetchSortDescriptor("title")], limit: 20)
              request.relationshipKeyPathsForPrefetching = ["author"]
              for book in try context.fetch(request) {
                sum &+= visit(Int64(book.pages), book.title, book.author?.name)
              }
            }
            return sum
          }
        },
        .sqlite: { setting in
          let database = PlainSQLite(setting.file.path)
          return {
            let statement = database.prepare(listSQL)
            var sum: UInt64 = 0
            for var title in titles(setting) {
              title.withUTF8 { bytes in
                PlainSQLite.bind(statement, 1, bytes)
                while sqlite3_step(statement) == SQLITE_ROW {
                  sum &+= visit(
                    sqlite3_column_int64(statement, 2), PlainSQLite.text(statement, 3), PlainSQLite.text(statement, 7))
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
            for title in titles(setting) {
              let books = try pool.read { database in
                try BookRecord.including(optional: BookRecord.author)
                  .filter(Column("ZTITLE") > title).order(Column("ZTITLE")).limit(20)
                  .asRequest(of: BookWithAuthor.self).fetchAll(database)
              }
              for book in books { sum &+= visit(book.book.pages, book.book.title, book.author?.name) }
            }
            return sum
          }
        },
      ],
      shortfall: """
        Plain SQLite executes 104,000 instructions with one join, GRDB 1,073,000 with the same. SQLite executes \
        145,000 for Persist, which reads the authors by a second statement. Forty objects take 67,000; the rest is a \
        context of its own, the request's text and its examination, and the program's reads.
        """)
  ]

  private static let listSQL = """
    SELECT b.Z_PK, b.Z_OPT, b.ZPAGES, b.ZTITLE, b.ZAUTHOR, a.Z_PK, a.Z_OPT, a.ZNAME
    FROM ZBOOK b LEFT JOIN ZAUTHOR a ON a.Z_PK = b.ZAUTHOR WHERE b.ZTITLE > ? ORDER BY b.ZTITLE LIMIT 20
    """

  private static func titles(_ setting: Setting) -> some Sequence<String> {
    (0..<1000).lazy.map { "Book \($0 * 7919 % setting.rows)" }
  }

  private static func visit(_ pages: Int64, _ title: String?, _ author: String?) -> UInt64 {
    UInt64(pages) &+ UInt64(title?.utf8.count ?? 0) &* 31 &+ UInt64(author?.utf8.count ?? 0) &* 37
  }
}

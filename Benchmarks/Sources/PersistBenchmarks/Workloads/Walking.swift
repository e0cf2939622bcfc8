import CSQLiteForBenchmarks
import Foundation
import GRDB
import Persist

extension Workload {
  static let walking = [
    Workload(
      name: "walk", summary: "a to-many and a to-one over 10,000 × 20 objects, prefetched, against a join",
      target: 1.8,
      start: .library(booksPerAuthor: 20),
      parts: [
        .persist: { setting in
          let context = try Samples.context(setting.file, Samples.library)
          var request = FetchRequest<SampleAuthor>("Author")
          request.relationshipKeyPathsForPrefetching = ["books"]
          return {
            var sum: UInt64 = 0
            for author in try context.fetch(request) {
              for book in author.books {
                sum &+= visit(pages: Int64(book.pages), title: book.title, author: book.author?.name)
              }
            }
            return sum
          }
        },
        .sqlite: { setting in
          let database = PlainSQLite(setting.file.path)
          return {
            let statement = database.prepare(
              """
              SELECT a.Z_PK, a.Z_OPT, a.ZNAME, b.Z_PK, b.Z_OPT, b.ZPAGES, b.ZTITLE \
              FROM ZAUTHOR a JOIN ZBOOK b ON b.ZAUTHOR = a.Z_PK
              """)
            var sum: UInt64 = 0
            while sqlite3_step(statement) == SQLITE_ROW {
              sum &+= visit(
                pages: sqlite3_column_int64(statement, 5), title: PlainSQLite.text(statement, 6),
                author: PlainSQLite.text(statement, 2))
            }
            sqlite3_finalize(statement)
            return sum
          }
        },
        .grdb: { setting in
          let pool = try DatabasePool.measured(setting.file)
          return {
            let request = AuthorRecord.including(all: AuthorRecord.books).asRequest(of: AuthorWithBooks.self)
            var sum: UInt64 = 0
            for found in try pool.read({ try request.fetchAll($0) }) {
              for book in found.books {
                sum &+= visit(pages: book.pages, title: book.title, author: found.author.name)
              }
            }
            return sum
          }
        },
      ],
      shortfall: """
        For each row of the join, which plain SQLite visits with 2,600 instructions, SQLite executes 2,700 for \
        Persist, whose rows are read in the order of an index. Persist reads its values into a row with 500, creates \
        and frees an object with 1,700, lets it and its author hold each other with 600, and answers the program's \
        four questions to it with 1,200, of which 330 ask whether somebody observes them.
        """)
  ]

  private static func visit(pages: Int64, title: String?, author: String?) -> UInt64 {
    UInt64(pages) &+ UInt64(title?.utf8.count ?? 0) &* 31 &+ UInt64(author?.utf8.count ?? 0) &* 1009
  }
}

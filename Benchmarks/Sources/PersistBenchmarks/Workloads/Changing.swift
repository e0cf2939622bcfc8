import CSQLiteForBenchmarks
import Foundation
import GRDB
import Persist

extension Workload {
  static let changing = [
    Workload(
      name: "update",
      summary: "change one property of all and save; Persist and plain SQLite check versions, GRDB does not",
      target: 1.4, start: .items, writtenTables: ["ZITEM"],
      parts: [
        .persist: { setting in
          let context = try Samples.context(setting.file, Samples.items)
          let items = try context.fetch(SampleItem.all)
          return {
            for (number, item) in items.enumerated() { item.quantity = Int64(number) }
            try context.save()
            return 0
          }
        },
        .sqlite: { setting in
          let database = PlainSQLite(setting.file.path)
          return {
            database.run("BEGIN IMMEDIATE")
            let statement = database.prepare("UPDATE ZITEM SET ZQUANTITY = ?, Z_OPT = 2 WHERE Z_PK = ? AND Z_OPT = 1")
            for number in 0..<setting.rows {
              sqlite3_bind_int64(statement, 1, Int64(number))
              sqlite3_bind_int64(statement, 2, Int64(number + 1))
              database.check(sqlite3_step(statement))
              sqlite3_reset(statement)
            }
            sqlite3_finalize(statement)
            database.run("COMMIT")
            return 0
          }
        },
        .grdb: { setting in
          let pool = try DatabasePool.measured(setting.file)
          let items = try pool.read { try ItemRecord.everything.fetchAll($0) }
          return {
            try pool.write { database in
              for (number, item) in items.enumerated() {
                var item = item
                item.quantity = Int64(number)
                item.version += 1
                try item.update(database, columns: ["ZQUANTITY", "Z_OPT"])
              }
            }
            return 0
          }
        },
      ],
      shortfall: """
        In addition to the same statements, Persist creates and frees an array of changed values for each object, and \
        writes a new snapshot of its row, so that nothing needs to be read again: 2,500 instructions, and 2,200 of \
        allocations and reference counts, beside 9,800 of the plain statement.
        """),
    Workload(
      name: "delete",
      summary: "delete all and save; Persist and plain SQLite check versions, GRDB does not", target: 1.2,
      start: .items, writtenTables: ["ZITEM"],
      parts: [
        .persist: { setting in
          let context = try Samples.context(setting.file, Samples.items)
          let items = try context.fetch(SampleItem.all)
          return {
            for item in items { context.delete(item) }
            try context.save()
            return 0
          }
        },
        .sqlite: { setting in
          let database = PlainSQLite(setting.file.path)
          return {
            database.run("BEGIN IMMEDIATE")
            let statement = database.prepare("DELETE FROM ZITEM WHERE Z_PK = ? AND Z_OPT = 1")
            for key in 1...setting.rows {
              sqlite3_bind_int64(statement, 1, Int64(key))
              database.check(sqlite3_step(statement))
              sqlite3_reset(statement)
            }
            sqlite3_finalize(statement)
            database.run("COMMIT")
            return 0
          }
        },
        .grdb: { setting in
          let pool = try DatabasePool.measured(setting.file)
          let items = try pool.read { try ItemRecord.everything.fetchAll($0) }
          return {
            try pool.write { database in
              for item in items { try item.delete(database) }
            }
            return 0
          }
        },
      ],
      shortfall: """
        Deleting a row is the cheapest statement there is, with 4,800 instructions. Marking each object, running its \
        delete rules and hooks, and removing it from the context take 900, in passes over eight lists of objects, and \
        allocations and reference counts 1,300.
        """),
    Workload(
      name: "cascade", summary: "delete parents with a cascade over 10 children each; rows are the children",
      target: 1.4, start: .library(booksPerAuthor: 10), writtenTables: ["ZAUTHOR", "ZBOOK"],
      parts: [
        .persist: { setting in
          let context = try Samples.context(setting.file, Samples.library)
          var request = FetchRequest<SampleAuthor>("Author")
          request.relationshipKeyPathsForPrefetching = ["books"]
          return {
            for author in try context.fetch(request) { context.delete(author) }
            try context.save()
            return 0
          }
        },
        .sqlite: { setting in
          let database = PlainSQLite(setting.file.path)
          return {
            deleteAuthors(in: database)
            return 0
          }
        },
        .grdb: { setting in
          let pool = try DatabasePool.measured(setting.file)
          return {
            try pool.write { database in
              for author in try AuthorRecord.fetchAll(database) {
                _ = try author.books.deleteAll(database)
                _ = try author.delete(database)
              }
            }
            return 0
          }
        },
      ],
      shortfall: """
        Persist reads the children completely and creates objects, whose hooks and rules run. Plain SQLite reads their \
        keys and versions.
        """),
  ]

  /// Reads the authors, then each author's books, with their keys and versions, and deletes the rows it has read, as a
  /// program does that must not delete others' changes.
  private static func deleteAuthors(in database: PlainSQLite) {
    database.run("BEGIN IMMEDIATE")
    let authors = database.prepare("SELECT Z_PK, Z_OPT FROM ZAUTHOR")
    let books = database.prepare("SELECT Z_PK, Z_OPT FROM ZBOOK WHERE ZAUTHOR = ?")
    let deleteBook = database.prepare("DELETE FROM ZBOOK WHERE Z_PK = ? AND Z_OPT = ?")
    let deleteAuthor = database.prepare("DELETE FROM ZAUTHOR WHERE Z_PK = ? AND Z_OPT = ?")
    for author in database.keysAndVersions(authors) {
      sqlite3_bind_int64(books, 1, author.key)
      for book in database.keysAndVersions(books) { database.delete(book, by: deleteBook) }
      database.delete(author, by: deleteAuthor)
    }
    for statement in [authors, books, deleteBook, deleteAuthor] { sqlite3_finalize(statement) }
    database.run("COMMIT")
  }
}

extension PlainSQLite {
  fileprivate typealias Read = (key: Int64, version: Int64)

  fileprivate func keysAndVersions(_ statement: OpaquePointer?) -> [Read] {
    var found: [Read] = []
    while sqlite3_step(statement) == SQLITE_ROW {
      found.append((sqlite3_column_int64(statement, 0), sqlite3_column_int64(statement, 1)))
    }
    sqlite3_reset(statement)
    return found
  }

  fileprivate func delete(_ row: Read, by statement: OpaquePointer?) {
    sqlite3_bind_int64(statement, 1, row.key)
    sqlite3_bind_int64(statement, 2, row.version)
    check(sqlite3_step(statement))
    sqlite3_reset(statement)
  }
}

import CSQLiteForBenchmarks
import Foundation
import Persist

extension GrowthCurve {
  static let ofMembers = [
    members(
      "walk", "find the owner, read its members", isPerUnit: true,
      persist: { context in
        let author = try author(in: context)
        return author.books.reduce(0) { $0 &+ UInt64($1.pages) }
      },
      sqlite: "SELECT Z_PK, Z_OPT, ZTITLE, ZPAGES FROM ZBOOK WHERE ZAUTHOR = 1", column: 3),
    members(
      "count", "find the owner, count its members", isPerUnit: true,
      persist: { context in UInt64(try author(in: context).books.count) },
      sqlite: "SELECT count(*) FROM ZBOOK WHERE ZAUTHOR = 1", column: 0),
    changes(
      "contains", "ask the owner for a member",
      persist: { author, book in _ = author.books.contains(book) },
      sqlite: "SELECT 1 FROM ZBOOK WHERE Z_PK = ? AND ZAUTHOR = 1"),
    changes(
      "remove", "remove a member, save",
      persist: { author, book in
        author.books.remove(book)
        try author.managedObjectContext?.save()
      },
      sqlite: "UPDATE ZBOOK SET ZAUTHOR = NULL, Z_OPT = Z_OPT + 1 WHERE Z_PK = ?"),
    changes(
      "add", "create a member, save",
      persist: { author, _ in
        guard let context = author.managedObjectContext else { return }
        author.books.insert(SampleBook(context: context))
        try context.save()
      },
      sqlite: "INSERT INTO ZBOOK (Z_ENT, Z_OPT, ZAUTHOR) SELECT 2, 1, 1 WHERE ? > 0"),
    GrowthCurve(
      axis: .members, name: "delete", summary: "delete the owner with its members", start: .owner, repetitions: 1,
      isPerUnit: true,
      persist: { setting in
        let context = try Samples.context(setting.file, Samples.library)
        return {
          context.delete(try author(in: context))
          try context.save()
          return 0
        }
      },
      sqlite: { setting in
        let database = PlainSQLite(setting.file.path)
        return {
          database.run(
            "BEGIN IMMEDIATE; DELETE FROM ZBOOK WHERE ZAUTHOR = 1; DELETE FROM ZAUTHOR WHERE Z_PK = 1; COMMIT")
          return 0
        }
      }),
  ]

  /// Twenty contexts that each read what the owner has.
  private static func members(
    _ name: String, _ summary: String, isPerUnit: Bool,
    persist read: @escaping @Sendable (ManagedObjectContext) throws -> UInt64, sqlite sql: String, column: Int32
  ) -> GrowthCurve {
    GrowthCurve(
      axis: .members, name: name, summary: summary, start: .owner, isPerUnit: isPerUnit,
      persist: { setting in
        let coordinator = try Samples.context(setting.file, Samples.library).persistentStoreCoordinator
        return {
          try (0..<20).reduce(0) { sum, _ in sum &+ (try read(Samples.context(coordinator))) }
        }
      },
      sqlite: { setting in
        let database = PlainSQLite(setting.file.path)
        return {
          let statement = database.prepare(sql)
          defer { sqlite3_finalize(statement) }
          var sum: UInt64 = 0
          for _ in 0..<20 {
            _ = database.integer("SELECT Z_PK FROM ZAUTHOR LIMIT 1")
            while sqlite3_step(statement) == SQLITE_ROW {
              sum &+= UInt64(sqlite3_column_int64(statement, column))
            }
            sqlite3_reset(statement)
          }
          return sum
        }
      })
  }

  /// One context with the owner and all members, and an operation on each of twenty of them, or of ten twice.
  private static func changes(
    _ name: String, _ summary: String,
    persist change: @escaping @Sendable (SampleAuthor, SampleBook) throws -> Void, sqlite sql: String
  ) -> GrowthCurve {
    GrowthCurve(
      axis: .members, name: name, summary: summary, start: .owner,
      persist: { setting in
        let context = try Samples.context(setting.file, Samples.library)
        let author = try author(in: context)
        let books = author.books.sorted { $0.objectID.uriRepresentation().path < $1.objectID.uriRepresentation().path }
        return {
          for number in 0..<20 { try change(author, books[number * (books.count - 1) / 19]) }
          try context.save()  // keeps the context
          return 0
        }
      },
      sqlite: { setting in
        let database = PlainSQLite(setting.file.path)
        return {
          let statement = database.prepare(sql)
          defer { sqlite3_finalize(statement) }
          for number in 0..<20 {
            sqlite3_bind_int64(statement, 1, Int64(number * (setting.rows - 1) / 19 + 1))
            database.commit(statement)
          }
          return 0
        }
      })
  }

  private static func author(in context: ManagedObjectContext) throws -> SampleAuthor {
    guard let author = try context.fetch(FetchRequest<SampleAuthor>("Author", limit: 1)).first else {
      throw BenchmarkError("The owner is missing.")
    }
    return author
  }
}

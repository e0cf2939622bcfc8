import GRDB

/// An author as a GRDB record with its association, in its recommended form.
struct AuthorRecord: FetchableRecord, PersistableRecord, TableRecord {
  static let databaseTableName = "ZAUTHOR"
  static let books = hasMany(BookRecord.self, using: ForeignKey(["ZAUTHOR"], to: ["Z_PK"])).forKey("books")
  var key: Int64
  var name: String

  init(row: Row) {
    key = row["Z_PK"]
    name = row["ZNAME"]
  }

  func encode(to container: inout PersistenceContainer) {
    container["Z_PK"] = key
    container["ZNAME"] = name
  }

  var books: QueryInterfaceRequest<BookRecord> { request(for: AuthorRecord.books) }
}

struct BookRecord: FetchableRecord, TableRecord {
  static let databaseTableName = "ZBOOK"
  static let author = belongsTo(AuthorRecord.self, using: ForeignKey(["ZAUTHOR"], to: ["Z_PK"])).forKey("author")
  var key: Int64
  var title: String
  var pages: Int64

  init(row: Row) {
    key = row["Z_PK"]
    title = row["ZTITLE"]
    pages = row["ZPAGES"]
  }
}

/// A book with its author, as returned by `including(optional:)`.
struct BookWithAuthor: FetchableRecord {
  let book: BookRecord
  let author: AuthorRecord?

  init(row: Row) throws {
    book = BookRecord(row: row)
    author = row.scopes["author"].flatMap { $0.containsNonNullValue ? AuthorRecord(row: $0) : nil }
  }
}

/// An author with its books, as returned by `including(all:)`.
struct AuthorWithBooks: FetchableRecord {
  let author: AuthorRecord
  let books: [BookRecord]

  init(row: Row) throws {
    author = AuthorRecord(row: row)
    books = (row.prefetchedRows["books"] ?? []).map { BookRecord(row: $0) }
  }
}

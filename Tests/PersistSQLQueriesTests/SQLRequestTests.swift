import Foundation
import Persist
import PersistMacrosless
import PersistSQLQueries
import PersistTestSupport
import Testing

private final class Author: ManagedObject {
  @Attribute var name = ""
  @Relationship var books: RelationshipSet<Book>
}

private class Work: ManagedObject {
  @Attribute var title = ""
  @Attribute var price = 0.0
}

private final class Book: Work {
  @Attribute var published: Date?
  @Attribute var number = UUID()
  @Attribute var isPrinted = true
  @Attribute var order = 0
  @Relationship(inverse: \Author.books) var author: Author?
  @Relationship var tags: RelationshipSet<Tag>
}

private final class Film: Work {
  @Attribute var minutes = 90
}

private final class Tag: ManagedObject {
  @Attribute var name = ""
  @Relationship(inverse: \Book.tags) var books: RelationshipSet<Book>
}

private final class Folder: ManagedObject {
  @Attribute var name = ""
  @Relationship(inverse: \Folder.children) var parent: Folder?
  @Relationship var children: RelationshipSet<Folder>
}

@Suite("Queries in SQL")
struct SQLRequestTests {
  private func withContext(_ body: (ManagedObjectContext) throws -> Void) throws {
    try withTemporaryStore { url in
      let model = try ManagedObjectModel(
        Author.self, Work.self, Book.self, Film.self, Tag.self, Folder.self)
      let coordinator = PersistentStoreCoordinator(model: model)
      try coordinator.addStore(at: url)
      try fill(ManagedObjectContext(coordinator))
      try body(ManagedObjectContext(coordinator))
    }
  }

  private let day = Date(timeIntervalSinceReferenceDate: 700_000_000)

  private func fill(_ context: ManagedObjectContext) throws {
    let (austen, verne) = (Author(context: context), Author(context: context))
    (austen.name, verne.name) = ("Austen", "Verne")
    let tags = ["sea", "love"].map { name in
      let tag = Tag(context: context)
      tag.name = name
      return tag
    }
    for (index, title) in ["Emma", "Persuasion", "Nautilus"].enumerated() {
      let book = Book(context: context)
      (book.title, book.price, book.order) = (title, Double(index) * 2.5 + 5, index)
      book.published = index == 0 ? nil : day.addingTimeInterval(Double(index))
      book.author = index < 2 ? austen : verne
      book.tags.insert(tags[index < 2 ? 1 : 0])
      book.isPrinted = index != 1
    }
    let film = Film(context: context)
    (film.title, film.price) = ("Metropolis", 20)
    let root = Folder(context: context)
    root.name = "root"
    var last = root
    for name in ["a", "b", "c"] {
      let folder = Folder(context: context)
      (folder.name, folder.parent) = (name, last)
      last = folder
    }
    try context.save()
  }

  @Test("Columns have the names of properties, and values the types that are asked for")
  func values() throws {
    try withContext { context in
      let rows = try context.rows(
        sql: """
          SELECT title, price, published, isPrinted, number, \(name: "order") FROM \(Book.self) ORDER BY title
          """)
      let number = try #require(try context.fetch(Book.where(\.title == "Emma")).first).number
      #expect(try rows.map { try $0["title", as: String.self] } == ["Emma", "Nautilus", "Persuasion"])
      #expect(try rows.map { try $0["price", as: Double.self] } == [5, 10, 7.5])
      #expect(try rows.map { try $0["Published", as: Date?.self] } == [nil, day.addingTimeInterval(2), day.addingTimeInterval(1)])
      #expect(try rows.map { try $0["isPrinted", as: Bool.self] } == [true, true, false])
      #expect(try rows[0]["number", as: UUID.self] == number)
      #expect(try rows.map { try $0[5, as: Int.self] } == [0, 2, 1])
    }
  }

  @Test("Interpolated values are bound in the form of their columns")
  func binding() throws {
    try withContext { context in
      let emma = try #require(try context.fetch(Book.where(\.title == "Emma")).first)
      func titles(_ request: SQLRequest) throws -> [String] {
        try context.rows(sql: request).map { try $0[0, as: String.self] }
      }
      #expect(try titles("SELECT title FROM \(Book.self) WHERE number = \(emma.number)") == ["Emma"])
      #expect(try titles("SELECT title FROM \(Book.self) WHERE published > \(day.addingTimeInterval(1))") == ["Nautilus"])
      #expect(try titles("SELECT title FROM \(Book.self) WHERE isPrinted = \(false)") == ["Persuasion"])
      #expect(try titles("SELECT title FROM \(Book.self) WHERE title = \("x' OR 1=1 --")") == [])
      #expect(
        try titles("SELECT title FROM \(Book.self) WHERE author = \(emma.author?.objectID) ORDER BY 1 DESC")
          == ["Persuasion", "Emma"])
    }
  }

  @Test("A class selects its objects and those of its subclasses alone, in groups, joins and windows")
  func classes() throws {
    try withContext { context in
      func number(_ request: SQLRequest) throws -> Int { try context.rows(sql: request)[0][0, as: Int.self] }
      #expect(try number("SELECT COUNT(*) FROM \(Work.self)") == 4)
      #expect(try number("SELECT COUNT(*) FROM \(entity: "Film")") == 1)
      let groups = try context.rows(
        sql: """
          SELECT a.name, COUNT(*) AS books, MAX(b.price) AS dearest, RANK() OVER (ORDER BY MAX(b.price)) AS place
          FROM \(Author.self) AS a JOIN \(Book.self) AS b ON b.author = a.pk GROUP BY a.name ORDER BY a.name -- by name
          """)
      #expect(groups.map(\.columnNames)[0] == ["name", "books", "dearest", "place"])
      #expect(try groups.map { try $0["books", as: Int.self] } == [2, 1])
      #expect(try groups.map { try $0["place", as: Int.self] } == [1, 2])
    }
  }

  @Test("A to-many relationship is a table of pairs")
  func members() throws {
    try withContext { context in
      let rows = try context.rows(
        sql: """
          SELECT b.title, t.name FROM \(Book.self) AS b JOIN \(members: "tags", of: Book.self) AS p ON p.owner = b.pk
          JOIN \(Tag.self) AS t ON t.pk = p.member ORDER BY b.title
          """)
      #expect(try rows.map { try $0["name", as: String.self] } == ["love", "sea", "love"])
      let counts = try context.rows(
        sql: "SELECT owner, COUNT(member) FROM \(members: "books", of: "Author") GROUP BY owner ORDER BY 2")
      #expect(try counts.map { try $0[1, as: Int.self] } == [1, 2])
    }
  }

  @Test("A recursive query finds a subtree, as objects in its order")
  func tree() throws {
    try withContext { context in
      let a = try #require(try context.fetch(Folder.where(\.name == "a")).first)
      let folders = try context.objects(
        Folder.self,
        sql: """
          WITH RECURSIVE tree(pk, depth) AS (
            SELECT pk, 0 FROM \(Folder.self) WHERE pk = \(a.objectID)
            UNION ALL SELECT f.pk, depth + 1 FROM \(Folder.self) AS f JOIN tree ON f.parent = tree.pk
          ) SELECT pk FROM tree ORDER BY depth DESC
          """)
      #expect(folders.map(\.name) == ["c", "b", "a"])
      #expect(folders.last === a)
      let works = try context.objects(Work.self, sql: "SELECT pk FROM \(Work.self) ORDER BY price DESC LIMIT 2")
      #expect(works.map(\.title) == ["Metropolis", "Nautilus"])
      #expect(works[0] is Film)
    }
  }

  @Test("SQL that writes, several statements, wrong names and wrong types are errors")
  func errors() throws {
    try withContext { context in
      func code(_ request: SQLRequest) -> PersistenceError.Code? {
        do { _ = try context.rows(sql: request) } catch { return (error as? PersistenceError)?.code }
        return nil
      }
      #expect(code("DELETE FROM \(Book.self)") == .invalidRequest)
      #expect(code("SELECT 1; SELECT 2") == .invalidRequest)
      #expect(code("SELECT nosuch FROM \(Book.self)") == .invalidRequest)
      #expect(code("SELECT 1 FROM \(entity: "Nosuch")") == .unknownEntity)
      #expect(code("SELECT 1 FROM \(members: "nosuch", of: Book.self)") == .unknownProperty)
      #expect(code("SELECT 1 FROM \(members: "author", of: Book.self)") == .invalidRequest)
      let row = try context.rows(sql: "SELECT title, published FROM \(Book.self) WHERE title = 'Emma'")[0]
      #expect(throws: PersistenceError.self) { try row["title", as: Int.self] }
      #expect(throws: PersistenceError.self) { try row["published", as: Date.self] }
      #expect(throws: PersistenceError.self) { try row["nosuch", as: Int.self] }
      #expect(try context.count("Book") == 3)
    }
  }
}

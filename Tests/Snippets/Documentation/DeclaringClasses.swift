import Foundation
import Persist
import PersistMacrosless

enum First {
  // <block 0>
}

enum Values {
  // <block 1>
}

enum Related {
  // <block 2>
}

final class Author: ManagedObject {
  @Attribute var name = ""
  @Relationship(deleteRule: .cascade) var books: RelationshipSet<Book>
  // <block 4>
}

final class Book: ManagedObject {
  @Attribute var title = ""
  @Attribute var isbn: String?
  @Attribute var pages = 0
  @Attribute var price: Decimal = 0
  @Relationship(inverse: \Author.books) var author: Author?
  @Relationship(inverse: \Chapter.book, deleteRule: .cascade) var chapters: OrderedRelationshipSet<Chapter>
  // <block 8>
}

final class Chapter: ManagedObject {
  @Attribute var title = ""
  @Relationship(optional: false) var book: Book?
}

func members(_ author: Author, _ book: Book, _ last: Chapter) throws {
  // <block 3>
  _ = cheap
}

// <block 5>

final class Seat: ManagedObject, DescribedEntity {
  @Attribute var row = ""
  @Attribute var number = 0
  // <block 6>
}

final class Member: ManagedObject, DescribedEntity {
  @Attribute var email = ""
  @Attribute var deletedAt: Date?
  // <block 7>
}

enum Stored {
  final class Book: ManagedObject {
    @Attribute var title = ""
    let note: String
    // <block 9>
  }
}

func opened(_ url: URL) throws {
  // <block 10>
  let coordinator = PersistentStoreCoordinator(model: model)
  // <block 11>
}

enum Growing {
  // <block 12>
}

func unreadable(at url: URL) throws {
  // <block 13>
}

func fetched(_ context: ManagedObjectContext) throws {
  // <block 14>
  _ = (all, cheap, first, count, read, titles, long, found)
}

func changed(_ context: ManagedObjectContext) throws {
  // <block 15>
  _ = changed
}

func encoded(_ context: ManagedObjectContext, _ author: Author) throws {
  // <block 16>
  _ = authors
}

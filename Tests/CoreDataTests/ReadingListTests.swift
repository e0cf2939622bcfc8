import CoreData
import Foundation
@testable import ReadingList
import Testing

@Suite("An application of Core Data's")
struct ReadingListTests {
  private let folder: URL

  init() throws {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  private func open() throws -> ReadingListStore {
    try ReadingListStore(url: folder.appendingPathComponent("books.sqlite"))
  }

  @discardableResult
  private func emma(_ context: NSManagedObjectContext) -> Book {
    let author = Author(context: context)
    author.name = "Jane Austen"
    author.born = Date(timeIntervalSince1970: 0)
    let book = Book(context: context)
    book.title = "Emma"
    book.pages = 474
    book.shelf = .reading
    book.isRead = true
    book.price = NSDecimalNumber(string: "9.99")
    book.rating = 4.5
    book.keywords = ["classic", "novel"]
    book.cover = Data([1, 2, 3])
    book.author = author
    return book
  }

  @Test("Values of every type are equal after reopening")
  func values() throws {
    let id: UUID?
    do {
      let store = try open()
      let book = emma(store.viewContext)
      #expect(book.wasInserted)
      #expect(book.objectID.isTemporaryID)
      id = book.id
      #expect(id != nil)
      try store.viewContext.save()
      #expect(!store.viewContext.hasChanges)
    }
    let store = try open()
    let books = try store.books(on: .reading)
    let book = try #require(books.first)
    #expect(books.count == 1)
    #expect(book.title == "Emma")
    #expect(book.pages == 474)
    #expect(book.shelf == .reading)
    #expect(book.isRead)
    #expect(book.price == NSDecimalNumber(string: "9.99"))
    #expect(book.rating?.doubleValue == 4.5)
    #expect(book.keywords == ["classic", "novel"])
    #expect(book.cover == Data([1, 2, 3]))
    #expect(book.id == id)
    #expect(book.addedAt != nil)
    #expect(book.author?.name == "Jane Austen")
    #expect(book.author?.sortedBooks == [book])
    #expect(!book.wasInserted)
    #expect(book.summary == "Emma (474 pages)")
    #expect(book.entity.name == "Book")
    #expect(book.managedObjectContext === store.viewContext)
    #expect(book.value(forKey: "pages") as? Int == 474)
    #expect(book.value(forKey: "pages") as? Int32 == 474)
    #expect(book.value(forKeyPath: "author.name") as? String == "Jane Austen")
  }

  @Test("Generated accessors change both ends of a relationship")
  func relationships() throws {
    let store = try open()
    let context = store.viewContext
    let book = emma(context)
    let author = try #require(book.author)
    author.removeFromBooks(book)
    #expect(book.author == nil)
    author.addToBooks(NSSet(array: [book]))
    #expect(book.author === author)
    let notes = ["b", "c"].map { text -> Note in
      let note = Note(context: context)
      note.text = text
      #expect(note.createdInCode)
      book.addToNotes(note)
      return note
    }
    let first = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
    let note = try #require(first as? Note)
    note.text = "a"
    book.insertIntoNotes(note, at: 0)
    #expect(book.notes?.array.compactMap { ($0 as? Note)?.text } == ["a", "b", "c"])
    book.removeFromNotes(at: 1)
    #expect(notes[0].book == nil)
    let members = book.mutableOrderedSetValue(forKey: "notes")
    members.add(notes[0])
    #expect(book.notes?.count == 3)
    try context.save()
    let other = try open()
    let read = try #require(try other.books(on: .reading).first)
    #expect(read.notes?.array.compactMap { ($0 as? Note)?.text } == ["a", "c", "b"])
    #expect((read.notes?.firstObject as? Note)?.createdInCode == true)
  }

  @Test("Errors have Cocoa's domain, code and user information")
  func errors() throws {
    let context = try open().viewContext
    let book = Book(context: context)
    book.title = ""
    #expect { try context.save() } throws: { error in
      let error = error as NSError
      return error.domain == NSCocoaErrorDomain && error.code == NSValidationStringTooShortError
        && error.userInfo[NSValidationKeyErrorKey] as? String == "title"
        && error.userInfo[NSValidationObjectErrorKey] as? Book === book
    }
    book.title = "Emma"
    book.pages = -1
    #expect { try context.save() } throws: { ($0 as NSError).domain == "ReadingListErrorDomain" }
    #expect(context.hasChanges)
    context.rollback()
    #expect(!context.hasChanges)
    #expect { try context.existingObject(with: book.objectID) } throws: { error in
      (error as? CocoaError)?.code == .managedObjectReferentialIntegrity
    }
  }

  @Test("A background task's save is merged into the view context")
  @MainActor func backgroundTask() async throws {
    let store = try open()
    let book = emma(store.viewContext)
    book.author?.name = "Charlotte Brontë"
    try store.viewContext.save()
    let count = try await withCheckedThrowingContinuation { continuation in
      store.addBooks(["Villette", "Shirley"], by: "Charlotte Brontë") { @Sendable result in
        continuation.resume(with: result)
      }
    }
    #expect(count == 3)
    try await Task.sleep(for: .milliseconds(50))
    #expect(book.author?.books?.count == 3)
    #expect(try store.books(on: .wanted, containing: "vILL").map(\.title) == ["Villette"])
    #expect(try store.pagesByAuthor().map(\.pages) == [674])
    #expect(try store.markAllRead() == 3)
    #expect(try store.books(on: .wanted).allSatisfy(\.isRead))
  }

  @Test("A model's class with another name in Objective-C is found")
  func classNames() throws {
    let store = try open()
    let model = store.container.managedObjectModel
    #expect(model.entitiesByName["Book"]?.managedObjectClassName == "CDBook")
    #expect(NSEntityDescription.insertNewObject(forEntityName: "Book", into: store.viewContext) is Book)
    #expect(Book.entity().name == "Book")
  }
}

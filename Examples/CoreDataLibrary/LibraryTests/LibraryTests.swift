import CoreData
@testable import CoreDataLibrary
import XCTest

final class LibraryTests: XCTestCase {
    private var folder: URL!
    private var url: URL { folder.appendingPathComponent("Library.sqlite") }

    override func setUpWithError() throws {
        folder = URL(fileURLWithPath: NSTemporaryDirectory()).appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    override func tearDownWithError() throws {
        try FileManager.default.removeItem(at: folder)
    }

    private func open() throws -> LibraryContainer {
        let container = LibraryContainer(at: url)
        try container.load()
        return container
    }

    private func json(_ count: Int, author: String? = nil) throws -> Data {
        try JSONEncoder().encode((0..<count).map {
            BookRecord(isbn: "isbn-\($0)", title: "Book \($0)", author: author, cents: $0)
        })
    }

    func testBatchImportIsSeenThroughHistory() async throws {
        let container = try open()
        let merger = HistoryMerger(container: container, tokenFile: folder.appendingPathComponent("token"))
        XCTAssertEqual(try container.viewContext.count(for: NSFetchRequest<Book>(entityName: "Book")), 0)
        let count = try await BookImporter(container: container).importInBatch(json(25))
        XCTAssertEqual(count, 25)
        let transactions = try merger.merge()
        XCTAssertEqual(transactions.count, 1)
        XCTAssertEqual(transactions.first?.author, "importer")
        XCTAssertEqual(transactions.first?.contextName, "importContext")
        XCTAssertEqual(transactions.first?.changes?.count, 25)
        XCTAssertEqual(transactions.first?.changes?.first?.changeType, .insert)
        XCTAssertTrue(try merger.merge().isEmpty)
        let request = NSFetchRequest<Book>(entityName: "Book")
        request.sortDescriptors = [NSSortDescriptor(keyPath: \Book.cents, ascending: false)]
        request.fetchLimit = 3
        XCTAssertEqual(try container.viewContext.fetch(request).map(\.title), ["Book 24", "Book 23", "Book 22"])
        XCTAssertGreaterThan(merger.notifications, 0)
        try merger.purge(before: .distantFuture)
    }

    func testObjectImportFindsExisting() throws {
        let container = try open()
        let importer = BookImporter(container: container)
        for _ in 0..<2 {
            let done = expectation(description: "imported")
            importer.importObjects(try json(150, author: "Jane Austen")) { result in
                XCTAssertEqual((try? result.get())?.count, 150)
                done.fulfill()
            }
            wait(for: [done], timeout: 600)
        }
        let author = try Author.findOrCreate("Jane Austen", in: container.viewContext)
        XCTAssertFalse(author.isInserted)
        XCTAssertEqual(author.books.count, 150)
        XCTAssertEqual(author.books.first?.author, author)
        XCTAssertNotNil(author.books.first?.importedAt)
        let template = container.managedObjectModel.fetchRequestFromTemplate(
            withName: "BooksOfAuthor", substitutionVariables: ["NAME": "Jane Austen"])
        XCTAssertEqual(try container.viewContext.count(for: XCTUnwrap(template)), 150)
        try importer.deleteAll()
        XCTAssertEqual(try container.viewContext.count(for: Book.fetchRequest()), 0)
    }

    func testLoansAreAddedUp() throws {
        let container = try open()
        let (first, second) = (container.newBackgroundContext(), container.newBackgroundContext())
        let id: NSManagedObjectID = try first.performAndWait {
            let book = Book(context: first)
            book.isbn = "1"
            book.title = "Emma"
            book.price = 12.5
            try first.save()
            XCTAssertEqual(book.cents, 1250)
            return book.objectID
        }
        try second.performAndWait {
            let book = try XCTUnwrap(second.existingObject(with: id) as? Book)
            book.lend()
            try first.performAndWait {
                let same = try XCTUnwrap(first.existingObject(with: id) as? Book)
                same.lend()
                same.lend()
                try first.save()
            }
            try second.save()
            XCTAssertEqual(book.loans, 3)
            XCTAssertEqual(book.state, .lent)
        }
    }

    func testDuplicateIsConstraintConflict() throws {
        let context = try open().viewContext
        context.mergePolicy = NSErrorMergePolicy
        for _ in 0..<2 {
            let book = Book(context: context)
            (book.isbn, book.title) = ("1", "Emma")
        }
        XCTAssertThrowsError(try context.save()) { error in
            let error = error as NSError
            XCTAssertEqual(error.domain, NSCocoaErrorDomain)
            XCTAssertEqual(error.code, NSManagedObjectConstraintMergeError)
            let conflicts = error.userInfo["conflictList"] as? [NSConstraintConflict]
            XCTAssertEqual(conflicts?.first?.constraint, ["isbn"])
            XCTAssertEqual(conflicts?.first?.conflictingObjects.count, 2)
        }
    }

    func testMigrationCallsPolicies() throws {
        do {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Migrator.model(named: "Library"))
            let store = try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: nil)
            let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            context.persistentStoreCoordinator = coordinator
            for (first, last) in [("Jane", "Austen"), (nil, "Homer")] as [(String?, String)] {
                let author = NSEntityDescription.insertNewObject(forEntityName: "Author", into: context)
                author.setValue(first, forKey: "firstName")
                author.setValue(last, forKey: "lastName")
                let book = NSEntityDescription.insertNewObject(forEntityName: "Book", into: context)
                book.setValuesForKeys(["isbn": last, "title": "By \(last)", "price": "9.5", "author": author])
            }
            try context.save()
            try coordinator.remove(store)
        }
        XCTAssertTrue(try Migrator.requiresMigration(at: url))
        XCTAssertThrowsError(try open()) { error in
            XCTAssertEqual((error as NSError).code, NSMigrationMissingMappingModelError)
        }
        try Migrator.migrate(storeAt: url)
        XCTAssertFalse(try Migrator.requiresMigration(at: url))
        let container = try open()
        let request = Book.fetchRequest()
        request.sortDescriptors = [NSSortDescriptor(key: "author.fullName", ascending: true)]
        let books = try container.viewContext.fetch(request) as? [Book] ?? []
        XCTAssertEqual(books.map { $0.author?.fullName }, ["Homer", "Jane Austen"])
        XCTAssertEqual(books.map(\.cents), [950, 950])
    }
}

import CoreData
import Foundation

/// The usual stack: a container, its view context, and background tasks.
public final class ReadingListStore {
    public let container: NSPersistentContainer

    public init(url: URL?) throws {
        guard let modelURL = Bundle.module.url(forResource: "ReadingList", withExtension: "momd"),
              let model = NSManagedObjectModel(contentsOf: modelURL) else {
            fatalError("The model is missing.")
        }
        container = NSPersistentContainer(name: "ReadingList", managedObjectModel: model)
        let description = NSPersistentStoreDescription(url: url ?? URL(fileURLWithPath: "/dev/null"))
        description.shouldMigrateStoreAutomatically = true
        description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
        container.persistentStoreDescriptions = [description]
        var loadError: Error?
        container.loadPersistentStores { _, error in loadError = error }
        if let loadError { throw loadError }
        container.viewContext.automaticallyMergesChangesFromParent = true
        container.viewContext.mergePolicy = NSMergeByPropertyObjectTrumpMergePolicy
    }

    public var viewContext: NSManagedObjectContext { container.viewContext }

    public func books(on shelf: Shelf, containing text: String? = nil) throws -> [Book] {
        let request: NSFetchRequest<Book> = Book.fetchRequest()
        var predicates = [NSPredicate(format: "%K == %d", #keyPath(Book.shelf), shelf.rawValue)]
        if let text {
            predicates.append(NSPredicate(format: "title CONTAINS[cd] %@ OR author.name CONTAINS[cd] %@", text, text))
        }
        request.predicate = NSCompoundPredicate(andPredicateWithSubpredicates: predicates)
        request.sortDescriptors = [
            NSSortDescriptor(key: #keyPath(Book.author.name), ascending: true),
            NSSortDescriptor(key: "title", ascending: true, selector: #selector(NSString.caseInsensitiveCompare(_:))),
        ]
        return try viewContext.fetch(request)
    }

    public func pagesByAuthor() throws -> [(name: String, pages: Int)] {
        let sum = NSExpressionDescription()
        sum.name = "total"
        sum.expression = NSExpression(forFunction: "sum:", arguments: [NSExpression(forKeyPath: #keyPath(Book.pages))])
        sum.expressionResultType = .integer64AttributeType
        let request = NSFetchRequest<NSDictionary>(entityName: "Book")
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = ["author.name", sum]
        request.propertiesToGroupBy = ["author.name"]
        return try viewContext.fetch(request).map { row in
            (row["author.name"] as? String ?? "", row["total"] as? Int ?? 0)
        }.sorted { $0.name < $1.name }
    }

    public func addBooks(_ titles: [String], by name: String, completion: @escaping (Result<Int, Error>) -> Void) {
        container.performBackgroundTask { context in
            do {
                let request: NSFetchRequest<Author> = Author.fetchRequest()
                request.predicate = NSPredicate(format: "name = %@", name)
                request.fetchLimit = 1
                let author = try context.fetch(request).first ?? Author(context: context)
                author.name = name
                for title in titles {
                    let book = Book(context: context)
                    book.title = title
                    book.pages = 100
                    author.addToBooks(book)
                }
                try context.save()
                completion(.success(author.books?.count ?? 0))
            } catch {
                completion(.failure(error))
            }
        }
    }

    public func markAllRead() throws -> Int {
        let request = NSBatchUpdateRequest(entityName: "Book")
        request.propertiesToUpdate = ["isRead": true]
        request.resultType = .updatedObjectIDsResultType
        let result = try viewContext.execute(request) as? NSBatchUpdateResult
        let ids = result?.result as? [NSManagedObjectID] ?? []
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSUpdatedObjectsKey: ids], into: [viewContext])
        return ids.count
    }
}

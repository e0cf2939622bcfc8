import CoreData
import Foundation

public struct BookRecord: Codable {
    let isbn: String, title: String, author: String?, cents: Int?

    var dictionary: [String: Any] {
        ["isbn": isbn, "title": title, "cents": cents ?? 0]
    }
}

public final class BookImporter {
    public enum ImportError: Error {
        case nothingInserted
    }

    private let container: LibraryContainer
    private let decoder = JSONDecoder()

    public init(container: LibraryContainer) { self.container = container }

    /// Inserts all at once, without objects.
    @discardableResult
    public func importInBatch(_ json: Data) async throws -> Int {
        let records = try decoder.decode([BookRecord].self, from: json)
        let context = container.newBackgroundContext()
        context.name = "importContext"
        return try await context.perform {
            var iterator = records.makeIterator()
            let request = NSBatchInsertRequest(entity: Book.entity(), dictionaryHandler: { dictionary in
                guard let record = iterator.next() else { return true }
                dictionary.addEntries(from: record.dictionary)
                return false
            })
            request.resultType = .count
            guard let result = try context.execute(request) as? NSBatchInsertResult, let count = result.result as? Int,
                  count > 0 else { throw ImportError.nothingInserted }
            return count
        }
    }

    /// Finds or creates objects, a hundred at a time.
    public func importObjects(_ json: Data, completion: @escaping (Result<Set<NSManagedObjectID>, Error>) -> Void) {
        container.performBackgroundTask { [decoder] context in
            context.mergePolicy = NSMergeByPropertyObjectTrumpMergePolicy
            do {
                var ids = Set<NSManagedObjectID>()
                let records = try decoder.decode([BookRecord].self, from: json)
                for start in stride(from: 0, to: records.count, by: 100) {
                    let books = try records[start..<min(start + 100, records.count)].map { record -> Book in
                        let request = NSFetchRequest<Book>(entityName: "Book")
                        request.predicate = NSPredicate(format: "isbn = %@", argumentArray: [record.isbn])
                        let book = try context.fetch(request).first ?? Book(context: context)
                        book.setValuesForKeys(record.dictionary)
                        book.author = try record.author.map { try Author.findOrCreate($0, in: context) }
                        return book
                    }
                    try context.obtainPermanentIDs(for: books)
                    ids.formUnion(books.map(\.objectID))
                    try context.save()
                    context.reset()
                }
                completion(.success(ids))
            } catch {
                completion(.failure(error))
            }
        }
    }

    public func deleteAll() throws {
        let fetch: NSFetchRequest<NSFetchRequestResult> = NSFetchRequest(entityName: "Book")
        let request = NSBatchDeleteRequest(fetchRequest: fetch)
        request.resultType = .resultTypeObjectIDs
        let result = try container.viewContext.execute(request) as? NSBatchDeleteResult
        let changes: [AnyHashable: Any] = [NSDeletedObjectsKey: result?.result as? [NSManagedObjectID] ?? []]
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: changes, into: [container.viewContext])
    }
}

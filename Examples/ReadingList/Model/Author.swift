import CoreData

@objc(Author)
public class Author: NSManagedObject {
    @nonobjc public class func fetchRequest() -> NSFetchRequest<Author> {
        return NSFetchRequest<Author>(entityName: "Author")
    }

    @NSManaged public var born: Date?
    @NSManaged public var name: String
    @NSManaged public var books: NSSet?

    public var sortedBooks: [Book] {
        let books = self.books as? Set<Book> ?? []
        return books.sorted { $0.title < $1.title }
    }
}

// MARK: Generated accessors for books
extension Author {
    @objc(addBooksObject:)
    @NSManaged public func addToBooks(_ value: Book)

    @objc(removeBooksObject:)
    @NSManaged public func removeFromBooks(_ value: Book)

    @objc(addBooks:)
    @NSManaged public func addToBooks(_ values: NSSet)

    @objc(removeBooks:)
    @NSManaged public func removeFromBooks(_ values: NSSet)
}

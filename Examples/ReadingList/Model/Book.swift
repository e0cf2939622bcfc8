import CoreData

@objc public enum Shelf: Int16, CaseIterable {
    case wanted, reading, done
}

@objc(CDBook)
public final class Book: NSManagedObject, Identifiable {
    @nonobjc public class func fetchRequest() -> NSFetchRequest<Book> {
        NSFetchRequest<Book>(entityName: "Book")
    }

    @NSManaged public private(set) var addedAt: Date?
    @NSManaged public var cover: Data?
    @NSManaged public var id: UUID?
    @NSManaged public var isRead: Bool
    @NSManaged public var keywords: [String]?
    @NSManaged public var pages: Int32
    @NSManaged public var price: NSDecimalNumber?
    @NSManaged public var rating: NSNumber?
    @NSManaged public dynamic var shelf: Shelf
    @NSManaged public var title: String
    @NSManaged public var author: Author?
    @NSManaged public var notes: NSOrderedSet? // ordered by the reader

    /// Only while the object lives.
    private(set) lazy var summary = "\(title) (\(pages) pages)"
    var wasInserted = false

    public override func awakeFromInsert() {
        super.awakeFromInsert()
        setPrimitiveValue(Date(), forKey: #keyPath(Book.addedAt))
        setPrimitiveValue(UUID(), forKey: #keyPath(id))
        wasInserted = true
    }

    public override func validateForInsert() throws {
        try super.validateForInsert()
        try validatePages()
    }

    public override func validateForUpdate() throws {
        try super.validateForUpdate()
        try validatePages()
    }

    private func validatePages() throws {
        guard pages >= 0 else {
            throw NSError(
                domain: "ReadingListErrorDomain", code: 42,
                userInfo: [NSLocalizedDescriptionKey: "A book can't have \(pages) pages.", NSValidationKeyErrorKey: "pages"])
        }
    }
}

extension Book {
    @objc(insertObject:inNotesAtIndex:)
    @NSManaged public func insertIntoNotes(_ value: Note, at idx: Int)

    @objc(removeObjectFromNotesAtIndex:)
    @NSManaged public func removeFromNotes(at idx: Int)

    @objc(addNotesObject:)
    @NSManaged public func addToNotes(_ value: Note)
}

@objc(Note)
public class Note: NSManagedObject {
    @NSManaged public var text: String?
    @NSManaged public var book: Book?

    @objc public override init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
        createdInCode = true
        super.init(entity: entity, insertInto: context)
    }

    let createdInCode: Bool

    convenience init(_ text: String, in context: NSManagedObjectContext) {
        self.init(context: context)
        self.text = text
    }
}

import CoreData

@objc(Author)
public class Author: NSManagedObject {
    @NSManaged public var fullName: String
    @NSManaged public var books: Set<Book>

    static func findOrCreate(_ name: String, in context: NSManagedObjectContext) throws -> Author {
        let request = Author.fetchRequest()
        request.predicate = NSPredicate(format: "%K == %@", #keyPath(fullName), name)
        request.fetchLimit = 1
        request.returnsObjectsAsFaults = false
        if let author = try context.fetch(request).first as? Author { return author }
        let author = Author(context: context)
        author.fullName = name
        return author
    }
}

@objc public enum LoanState: Int16 {
    case available, lent, lost
}

@objc(Book)
public class Book: NSManagedObject {
    @NSManaged public var cents: Int64, loans: Int32
    @NSManaged public private(set) var importedAt: Date?
    @NSManaged public var isbn: String
    @NSManaged public var state: LoanState
    @NSManaged public var title: String
    @NSManaged public weak var author: Author?

    public override func willSave() {
        super.willSave()
        guard isInserted, importedAt == nil else { return }
        importedAt = Date()
    }

    public override class func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> {
        key == "price" ? [#keyPath(Book.cents)] : super.keyPathsForValuesAffectingValue(forKey: key)
    }

    @objc public dynamic var price: Decimal {
        get { Decimal(cents) / 100 }
        set { cents = NSDecimalNumber(decimal: newValue * 100).int64Value }
    }

    @objc public func lend() {
        state = .lent
        loans += 1
    }
}

import CoreData

extension Item {
    public override func awakeFromInsert() {
        super.awakeFromInsert()
        setPrimitiveValue(Date(), forKey: #keyPath(Item.createdAt))
        setPrimitiveValue(UUID(), forKey: "id")
    }
}

extension Note {
    public convenience init(title: String, body: String? = nil, in folder: Folder?, context: NSManagedObjectContext) {
        self.init(context: context)
        self.title = title
        self.body = body
        self.folder = folder
        editedAt = Date.timeIntervalSinceReferenceDate
    }

    public var wordCount: Int {
        if words == 0 {
            words = Int64((body ?? "").split(whereSeparator: \.isWhitespace).count)
        }
        return Int(words)
    }

    static func matching(_ text: String, pinnedFirst: Bool = true) -> NSFetchRequest<Note> {
        let request: NSFetchRequest<Note> = Note.fetchRequest()
        request.predicate = NSPredicate(
            format: "%K CONTAINS[cd] %@ OR %K CONTAINS[cd] %@", #keyPath(Note.title), text, #keyPath(Note.body), text)
        request.sortDescriptors = [
            NSSortDescriptor(keyPath: \Note.isPinned, ascending: !pinnedFirst),
            NSSortDescriptor(key: #keyPath(Note.title), ascending: true,
                             selector: #selector(NSString.localizedCaseInsensitiveCompare(_:))),
        ]
        return request
    }
}

extension Folder {
    @objc public func toggleOrder() {
        children = children?.reversed
    }

    public var path: String {
        sequence(first: self, next: { $0.parent }).map { $0.name ?? "" }.reversed().joined(separator: "/")
    }

    public static func root(named name: String, in context: NSManagedObjectContext) throws -> Folder {
        let request = NSFetchRequest<Folder>(entityName: String(describing: Folder.self))
        request.predicate = NSPredicate(format: "parent == nil AND name = %@", name)
        request.fetchLimit = 1
        if let existing = try context.fetch(request).first {
            return existing
        }
        let folder = Folder(context: context)
        folder.name = name
        return folder
    }
}

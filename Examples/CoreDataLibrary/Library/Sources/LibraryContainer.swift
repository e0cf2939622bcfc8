import CoreData
import Foundation

public final class LibraryContainer: NSPersistentContainer {
    public enum Actor: String, CaseIterable {
        case app, importer
    }

    static let modelURL = Bundle.module.url(forResource: "Library", withExtension: "momd")!
    static let currentModel = NSManagedObjectModel(contentsOf: modelURL)!

    public convenience init(at url: URL, readOnly: Bool = false) {
        self.init(name: "Library", managedObjectModel: Self.currentModel)
        let description = NSPersistentStoreDescription(url: url)
        description.isReadOnly = readOnly
        description.shouldInferMappingModelAutomatically = false
        description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
        description.setOption(true as NSNumber, forKey: NSPersistentStoreRemoteChangeNotificationPostOptionKey)
        description.setValue("DELETE" as NSObject, forPragmaNamed: "journal_mode")
        persistentStoreDescriptions = [description]
    }

    public override class func defaultDirectoryURL() -> URL {
        super.defaultDirectoryURL().appendingPathComponent("Library", isDirectory: true)
    }

    public func load() throws {
        var loadError: Swift.Error?
        loadPersistentStores { [viewContext] _, error in
            loadError = error
            viewContext.name = "view"
            viewContext.transactionAuthor = Actor.app.rawValue
            viewContext.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
        }
        if let loadError { throw loadError }
        try viewContext.setQueryGenerationFrom(.current)
    }

    public override func newBackgroundContext() -> NSManagedObjectContext {
        let context = super.newBackgroundContext()
        context.transactionAuthor = Actor.importer.rawValue
        context.mergePolicy = LoansMergePolicy()
        context.undoManager = nil
        return context
    }
}

/// Adds up loans that were counted at the same time.
final class LoansMergePolicy: NSMergePolicy {
    init() { super.init(merge: .mergeByPropertyObjectTrumpMergePolicyType) }

    override func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
        var sums: [(Book, Int32)] = []
        for conflict in list {
            guard let book = conflict.sourceObject as? Book,
                  let before = conflict.objectSnapshot?["loans"] as? Int32,
                  let stored = (conflict.persistedSnapshot ?? conflict.cachedSnapshot)?["loans"] as? Int32
            else { continue }
            sums.append((book, stored + book.loans - before))
        }
        try super.resolve(optimisticLockingConflicts: list)
        for (book, loans) in sums { book.loans = loans }
    }
}

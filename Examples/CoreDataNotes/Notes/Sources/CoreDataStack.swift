import CoreData

/// The stack of the whole application.
public final class CoreDataStack {
    public static let shared = CoreDataStack()

    private let inMemory: Bool

    public init(inMemory: Bool = false) {
        self.inMemory = inMemory
    }

    static let model: NSManagedObjectModel = {
        NoteColorTransformer.register()
        guard let url = Bundle.module.url(forResource: "Notes", withExtension: "momd"),
              let model = NSManagedObjectModel(contentsOf: url) else {
            fatalError("Notes.momd isn't in the bundle")
        }
        return model
    }()

    public private(set) lazy var persistentContainer: NSPersistentContainer = {
        let container = NSPersistentContainer(name: "Notes", managedObjectModel: Self.model)
        if inMemory {
            container.persistentStoreDescriptions.first?.url = URL(fileURLWithPath: "/dev/null")
        }
        container.loadPersistentStores { description, error in
            if let error = error as NSError? {
                fatalError("Unresolved error \(error), \(error.userInfo)")
            }
        }
        container.viewContext.automaticallyMergesChangesFromParent = true
        container.viewContext.undoManager = UndoManager()
        return container
    }()

    public var viewContext: NSManagedObjectContext { persistentContainer.viewContext }

    public func saveContext() throws {
        let context = viewContext
        guard context.hasChanges else { return }
        do {
            try context.save()
        } catch let error as NSError {
            context.rollback()
            throw error
        }
    }

    public func newChildContext() -> NSManagedObjectContext {
        let child = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        child.parent = viewContext
        return child
    }
}

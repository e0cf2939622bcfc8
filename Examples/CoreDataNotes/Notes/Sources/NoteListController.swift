import CoreData

/// What a list on the screen shows: sections of notes by folder, with the changes it would animate.
public final class NoteListController: NSObject {
    private let resultsController: NSFetchedResultsController<Note>
    public private(set) var log: [String] = []

    public init(context: NSManagedObjectContext) {
        let request: NSFetchRequest<Note> = Note.fetchRequest()
        request.sortDescriptors = [
            NSSortDescriptor(key: "folder.name", ascending: true),
            NSSortDescriptor(key: #keyPath(Note.title), ascending: true),
        ]
        request.fetchBatchSize = 20
        resultsController = NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: #keyPath(Note.folder.name),
            cacheName: nil)
        super.init()
        resultsController.delegate = self
    }

    public func load() {
        do {
            try resultsController.performFetch()
        } catch {
            log.append("failed: \(error)")
        }
    }

    public var numberOfSections: Int { resultsController.sections?.count ?? 0 }

    public func title(ofSection section: Int) -> String? { resultsController.sections?[section].name }

    public func numberOfRows(inSection section: Int) -> Int {
        resultsController.sections?[section].numberOfObjects ?? 0
    }

    public func note(at indexPath: IndexPath) -> Note { resultsController.object(at: indexPath) }

    public func delete(at indexPath: IndexPath) throws {
        let note = resultsController.object(at: indexPath)
        note.managedObjectContext?.delete(note)
        try note.managedObjectContext?.save()
    }
}

extension NoteListController: NSFetchedResultsControllerDelegate {
    public func controllerWillChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) {
        log.append("begin")
    }

    public func controller(_ controller: NSFetchedResultsController<NSFetchRequestResult>,
                           didChange sectionInfo: NSFetchedResultsSectionInfo, atSectionIndex sectionIndex: Int,
                           for type: NSFetchedResultsChangeType) {
        switch type {
        case .insert: log.append("+section \(sectionIndex) \(sectionInfo.name)")
        case .delete: log.append("-section \(sectionIndex)")
        default: break
        }
    }

    public func controller(_ controller: NSFetchedResultsController<NSFetchRequestResult>, didChange anObject: Any,
                           at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?) {
        switch type {
        case .insert: log.append("+\(newIndexPath!.section).\(newIndexPath!.item)")
        case .delete: log.append("-\(indexPath!.section).\(indexPath!.item)")
        case .update: log.append("~\(indexPath!.section).\(indexPath!.item)")
        case .move: log.append("\(indexPath!.section).\(indexPath!.item)>\(newIndexPath!.section).\(newIndexPath!.item)")
        @unknown default: log.append("?")
        }
    }

    public func controllerDidChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) {
        log.append("end")
    }
}

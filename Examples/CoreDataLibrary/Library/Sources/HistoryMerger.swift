import CoreData
import Foundation

/// Brings what others saved into the view context, from where it stopped the last time.
public final class HistoryMerger {
    private let container: LibraryContainer
    private let tokenFile: URL
    private var observer: NSObjectProtocol?
    public private(set) var notifications = 0

    public init(container: LibraryContainer, tokenFile: URL) {
        self.container = container
        self.tokenFile = tokenFile
        observer = NotificationCenter.default.addObserver(
            forName: .NSPersistentStoreRemoteChange, object: container.persistentStoreCoordinator, queue: nil
        ) { [weak self] notification in
            precondition(notification.userInfo?[NSStoreUUIDKey] is String)
            precondition(notification.userInfo?[NSPersistentStoreURLKey] is URL)
            self?.notifications += 1
        }
    }

    deinit {
        if let observer { NotificationCenter.default.removeObserver(observer) }
    }

    private var lastToken: NSPersistentHistoryToken? {
        get {
            guard let data = try? Data(contentsOf: tokenFile) else { return nil }
            return try? NSKeyedUnarchiver.unarchivedObject(ofClass: NSPersistentHistoryToken.self, from: data)
        }
        set {
            guard let token = newValue, let data = try? NSKeyedArchiver.archivedData(
                withRootObject: token, requiringSecureCoding: true) else { return }
            try? data.write(to: tokenFile)
        }
    }

    @discardableResult
    public func merge() throws -> [NSPersistentHistoryTransaction] {
        let context = container.newBackgroundContext()
        var transactions: [NSPersistentHistoryTransaction] = []
        try context.performAndWait {
            let request = NSPersistentHistoryChangeRequest.fetchHistory(after: lastToken)
            if let fetch = NSPersistentHistoryTransaction.fetchRequest {
                fetch.predicate = NSPredicate(
                    format: "%K != %@", #keyPath(NSPersistentHistoryTransaction.author),
                    LibraryContainer.Actor.app.rawValue)
                request.fetchRequest = fetch
            }
            let result = try context.execute(request) as? NSPersistentHistoryResult
            transactions = result?.result as? [NSPersistentHistoryTransaction] ?? []
        }
        guard !transactions.isEmpty else { return [] }
        let view = container.viewContext
        view.performAndWait {
            for transaction in transactions {
                view.mergeChanges(fromContextDidSave: transaction.objectIDNotification())
                lastToken = transaction.token
            }
        }
        return transactions
    }

    public func purge(before date: Date) throws {
        try container.viewContext.execute(NSPersistentHistoryChangeRequest.deleteHistory(before: date))
    }
}

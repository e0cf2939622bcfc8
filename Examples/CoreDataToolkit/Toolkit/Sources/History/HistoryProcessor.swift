import CoreData
import Foundation

public protocol PersistentHistoryTokenStore {
  func load() -> NSPersistentHistoryToken?
  func save(_ token: NSPersistentHistoryToken?)
}

public final class FileTokenStore: PersistentHistoryTokenStore {
  let file: URL
  public init(file: URL) { self.file = file }

  public func load() -> NSPersistentHistoryToken? {
    guard let data = try? Data(contentsOf: file) else { return nil }
    do {
      return try NSKeyedUnarchiver.unarchivedObject(ofClass: NSPersistentHistoryToken.self, from: data)
    } catch {
      print("Failed to unarchive: \(error)")
      return nil
    }
  }

  public func save(_ token: NSPersistentHistoryToken?) {
    guard let token = token,
      let data = try? NSKeyedArchiver.archivedData(withRootObject: token, requiringSecureCoding: true)
    else { return }
    try? data.write(to: file)
  }
}

public final class PersistentHistoryProcessor {
  public enum ProcessError: Error { case historyTransactionConvertionFailed, historyChangeConvertionFailed }
  private let container: NSPersistentContainer
  private let tokens: PersistentHistoryTokenStore
  private let author: String
  public var onMerge: ((Int) -> Void)?
  private lazy var queue: OperationQueue = {
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = 1
    return queue
  }()
  private var observer: Any?

  public init(container: NSPersistentContainer, author: String, tokens: PersistentHistoryTokenStore) {
    self.container = container
    self.author = author
    self.tokens = tokens
    observer = NotificationCenter.default.addObserver(
      forName: .NSPersistentStoreRemoteChange, object: container.persistentStoreCoordinator, queue: nil
    ) { [weak self] notification in
      self?.storeRemoteChange(notification)
    }
  }

  deinit { observer.map { NotificationCenter.default.removeObserver($0) } }

  private func storeRemoteChange(_ notification: Notification) {
    guard notification.userInfo?[NSStoreUUIDKey] is String else { return }
    _ = notification.userInfo?[NSPersistentHistoryTokenKey] as? NSPersistentHistoryToken
    _ = notification.userInfo?[NSPersistentStoreURLKey] as? URL
  }

  public func fetchTransactions(in context: NSManagedObjectContext) throws -> [NSPersistentHistoryTransaction] {
    let request = NSPersistentHistoryChangeRequest.fetchHistory(after: tokens.load())
    if let fetch = NSPersistentHistoryTransaction.fetchRequest {
      fetch.predicate = NSPredicate(format: "%K != %@", #keyPath(NSPersistentHistoryTransaction.author), author)
      request.fetchRequest = fetch
    }
    guard let result = try context.execute(request) as? NSPersistentHistoryResult,
      let transactions = result.result as? [NSPersistentHistoryTransaction]
    else { throw ProcessError.historyTransactionConvertionFailed }
    return transactions
  }

  @discardableResult
  public func process() throws -> Int {
    let context = container.newBackgroundContext()
    return try context.performAndWait {
      let transactions = try fetchTransactions(in: context)
      guard !transactions.isEmpty else { return 0 }
      let viewContext = container.viewContext
      viewContext.performAndWait {
        transactions.forEach { transaction in
          guard let userInfo = transaction.objectIDNotification().userInfo else { return }
          NSManagedObjectContext.mergeChanges(fromRemoteContextSave: userInfo, into: [viewContext])
          viewContext.mergeChanges(fromContextDidSave: transaction.objectIDNotification())
        }
      }
      tokens.save(transactions.last?.token)
      onMerge?(transactions.count)
      return transactions.count
    }
  }

  public func changes(ofEntity entity: NSEntityDescription, type: NSPersistentHistoryChangeType) throws
    -> [NSPersistentHistoryChange]
  {
    let context = container.newBackgroundContext()
    return try context.performAndWait {
      let entityDescription = NSPersistentHistoryChange.entityDescription(with: context)!
      let request = NSFetchRequest<NSFetchRequestResult>()
      request.entity = entityDescription
      request.resultType = .managedObjectResultType
      request.predicate = NSCompoundPredicate(andPredicateWithSubpredicates: [
        NSPredicate(format: "%K = %@", #keyPath(NSPersistentHistoryChange.changedEntity), entity),
        NSPredicate(format: "%K = %d", #keyPath(NSPersistentHistoryChange.changeType), type.rawValue),
      ])
      let history = NSPersistentHistoryChangeRequest.fetchHistory(withFetch: request)
      history.resultType = .changesOnly
      let result = try context.execute(history) as! NSPersistentHistoryResult
      return result.result as! [NSPersistentHistoryChange]
    }
  }

  public func clean(before date: Date) throws -> Bool {
    let context = container.newBackgroundContext()
    return try context.performAndWait {
      let request = NSPersistentHistoryChangeRequest.deleteHistory(before: date)
      let result = try context.execute(request) as? NSPersistentHistoryResult
      return result?.result as? Bool ?? false
    }
  }

  public func log(_ transaction: NSPersistentHistoryTransaction) -> [String] {
    transaction.changes?.map { change in
      let operation: String
      switch change.changeType {
      case .insert: operation = "insert"
      case .update:
        operation = "update \(change.updatedProperties?.map { $0.name }.sorted().joined(separator: ",") ?? "")"
      case .delete: operation = "delete \(change.tombstone?.count ?? 0)"
      @unknown default: operation = "unknown"
      }
      return "\(change.changedObjectID.entity.name ?? "?") \(operation)"
    } ?? []
  }
}

extension NSPersistentHistoryTransaction {
  public func mergeChanges(into context: NSManagedObjectContext) {
    context.performAndWait { context.mergeChanges(fromContextDidSave: objectIDNotification()) }
  }
}

extension Array where Element == NSPersistentHistoryTransaction {
  public func latest() -> NSPersistentHistoryTransaction? { self.max { $0.timestamp < $1.timestamp } }
}

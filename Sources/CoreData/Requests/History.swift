public import Foundation
public import Persist

/// A position in the history of stores.
public final class NSPersistentHistoryToken: NSObject, NSCopying, NSSecureCoding, Sendable {
  let token: HistoryToken

  init(_ token: HistoryToken) { self.token = token }

  public static var supportsSecureCoding: Bool { true }

  public func encode(with coder: NSCoder) { coder.encode(NSString(string: token.description), forKey: "token") }

  public init?(coder: NSCoder) {
    guard let text = coder.decodeObject(of: NSString.self, forKey: "token"),
      let token = HistoryToken(String(describing: text))
    else { return nil }
    self.token = token
  }

  public func copy(with zone: NSZone? = nil) -> Any { self }
  public override func isEqual(_ other: Any?) -> Bool { (other as? NSPersistentHistoryToken)?.token == token }
  public override var hash: Int { token.hashValue }
}

/// A version of the stores' contents that a context can be pinned to.
public final class NSQueryGenerationToken: NSObject, NSCopying, Sendable {
  let token: QueryGenerationToken

  init(_ token: QueryGenerationToken) { self.token = token }

  public static let current = NSQueryGenerationToken(.current)

  public func copy(with zone: NSZone? = nil) -> Any { self }
  public override func isEqual(_ other: Any?) -> Bool { (other as? NSQueryGenerationToken)?.token == token }
  public override var hash: Int { token.hashValue }
}

extension NSManagedObjectContext {
  public final var queryGenerationToken: NSQueryGenerationToken? {
    base.queryGenerationToken.map(NSQueryGenerationToken.init)
  }

  public final func setQueryGenerationFrom(_ token: NSQueryGenerationToken?) throws {
    try bridging { try base.setQueryGeneration(from: token?.token) }
  }
}

public enum NSPersistentHistoryChangeType: Int, Sendable {
  case insert = 0
  case update = 1
  case delete = 2
}

public final class NSPersistentHistoryChange: NSObject, NSCopying, Sendable {
  private let change: HistoryChange

  init(_ change: HistoryChange) { self.change = change }

  public var changeID: Int64 { change.changeID }
  public var changedObjectID: NSManagedObjectID { change.changedObjectID }
  public var changeType: NSPersistentHistoryChangeType {
    switch change.changeType {
    case .insert: .insert
    case .update: .update
    case .delete: .delete
    }
  }
  public var tombstone: [AnyHashable: Any]? {
    change.tombstone.map { values in
      var result: [AnyHashable: Any] = [:]
      for (key, value) in values { result[key] = FoundationValue.any(value) }
      return result
    }
  }
  /// The names of the changed properties; Core Data has the properties here.
  public var updatedProperties: Set<NSPropertyDescription>? {
    change.updatedProperties.map { names in
      Set(
        names.map { name in
          let property = NSPropertyDescription()
          property.name = name
          return property
        })
    }
  }

  public func copy(with zone: NSZone? = nil) -> Any { self }

  public class var entityDescription: NSEntityDescription? { named("Change") }
  public class var fetchRequest: NSFetchRequest<any NSFetchRequestResult>? { NSFetchRequest(entityName: "Change") }
  public class func entityDescription(with context: NSManagedObjectContext) -> NSEntityDescription? { named("Change") }

  fileprivate static func named(_ name: String) -> NSEntityDescription {
    let entity = NSEntityDescription()
    entity.name = name
    return entity
  }
}

public final class NSPersistentHistoryTransaction: NSObject, NSCopying, Sendable {
  let transaction: HistoryTransaction

  init(_ transaction: HistoryTransaction) { self.transaction = transaction }

  public var timestamp: Date { transaction.timestamp }
  public var changes: [NSPersistentHistoryChange]? { transaction.changes?.map(NSPersistentHistoryChange.init) }
  public var transactionNumber: Int64 { transaction.transactionNumber }
  public var storeID: String { transaction.storeID }
  public var bundleID: String { transaction.bundleID ?? "" }
  public var processID: String { transaction.processID ?? "" }
  public var contextName: String? { transaction.contextName }
  public var author: String? { transaction.author }
  public var token: NSPersistentHistoryToken { NSPersistentHistoryToken(transaction.token) }

  public func objectIDNotification() -> Notification {
    let changes = transaction.objectIDNotification()
    return Notification(
      name: .NSManagedObjectContextDidSaveObjectIDs, object: nil,
      userInfo: [
        NSInsertedObjectIDsKey: changes.insertedObjectIDs, NSUpdatedObjectIDsKey: changes.updatedObjectIDs,
        NSDeletedObjectIDsKey: changes.deletedObjectIDs,
      ])
  }

  public func copy(with zone: NSZone? = nil) -> Any { self }

  public class var entityDescription: NSEntityDescription? { NSPersistentHistoryChange.named("Transaction") }
  public class var fetchRequest: NSFetchRequest<any NSFetchRequestResult>? {
    NSFetchRequest(entityName: "Transaction")
  }
  public class func entityDescription(with context: NSManagedObjectContext) -> NSEntityDescription? {
    NSPersistentHistoryChange.named("Transaction")
  }
}

public enum NSPersistentHistoryResultType: Int, Sendable {
  case statusOnly = 0
  case objectIDs = 1
  case count = 2
  case transactionsOnly = 3
  case changesOnly = 4
  case transactionsAndChanges = 5

  fileprivate var persistType: HistoryChangeRequest.ResultType {
    switch self {
    case .statusOnly: .statusOnly
    case .objectIDs: .objectIDs
    case .count: .count
    case .transactionsOnly: .transactionsOnly
    case .changesOnly: .changesOnly
    case .transactionsAndChanges: .transactionsAndChanges
    }
  }
}

// Unchecked: as its superclass is.
open class NSPersistentHistoryChangeRequest: NSPersistentStoreRequest, @unchecked Sendable {
  private let request: HistoryChangeRequest?
  private let deletes: Bool
  open var resultType: NSPersistentHistoryResultType
  open var fetchRequest: NSFetchRequest<any NSFetchRequestResult>?

  private init(_ request: HistoryChangeRequest?, deletes: Bool = false) {
    self.request = request
    self.deletes = deletes
    resultType = deletes ? .statusOnly : .transactionsAndChanges
  }

  public class func fetchHistory(after date: Date) -> NSPersistentHistoryChangeRequest {
    NSPersistentHistoryChangeRequest(.fetchHistory(after: date))
  }

  public class func fetchHistory(after token: NSPersistentHistoryToken?) -> NSPersistentHistoryChangeRequest {
    NSPersistentHistoryChangeRequest(.fetchHistory(after: token?.token))
  }

  public class func fetchHistory(
    after transaction: NSPersistentHistoryTransaction?
  ) -> NSPersistentHistoryChangeRequest {
    NSPersistentHistoryChangeRequest(.fetchHistory(after: transaction?.transaction.token))
  }

  public class func fetchHistory(
    withFetch request: NSFetchRequest<any NSFetchRequestResult>
  ) -> NSPersistentHistoryChangeRequest {
    let result = NSPersistentHistoryChangeRequest(nil)
    result.fetchRequest = request
    return result
  }

  public class func deleteHistory(before date: Date) -> NSPersistentHistoryChangeRequest {
    NSPersistentHistoryChangeRequest(.deleteHistory(before: date), deletes: true)
  }

  public class func deleteHistory(before token: NSPersistentHistoryToken?) -> NSPersistentHistoryChangeRequest {
    NSPersistentHistoryChangeRequest(.deleteHistory(before: token?.token), deletes: true)
  }

  public class func deleteHistory(
    before transaction: NSPersistentHistoryTransaction?
  ) -> NSPersistentHistoryChangeRequest {
    NSPersistentHistoryChangeRequest(.deleteHistory(before: transaction?.transaction.token), deletes: true)
  }

  open var token: NSPersistentHistoryToken? { nil }

  /// Executes the request: from its position, if it has one, and with the selection of its fetch request.
  fileprivate func result(in context: ManagedObjectContext) throws -> HistoryResult {
    guard let fetchRequest else { return try context.execute(typed(request ?? .fetchHistory(after: Date.distantPast))) }
    let coordinator = context.persistentStoreCoordinator
    if fetchRequest.entityName == "Change" {
      let fetch = try fetchRequest.persistRequest(HistoryChange.self)
      guard let request else { return try context.execute(typed(.fetchHistory(withFetch: fetch))) }
      return try coordinator.execute(typed(request), selecting: fetch)
    }
    let fetch = try fetchRequest.persistRequest(HistoryTransaction.self)
    guard let request else { return try context.execute(typed(.fetchHistory(withFetch: fetch))) }
    return try coordinator.execute(typed(request), selecting: fetch)
  }

  private func typed(_ request: HistoryChangeRequest) -> HistoryChangeRequest {
    var request = request
    request.resultType = resultType.persistType
    request.affectedStoreIdentifiers = storeIdentifiers
    return request
  }
}

// Unchecked: as its superclass is.
open class NSPersistentHistoryResult: NSPersistentStoreResult, @unchecked Sendable {
  public let result: Any?
  public let resultType: NSPersistentHistoryResultType

  init(_ result: HistoryResult, _ type: NSPersistentHistoryResultType) {
    resultType = type
    self.result =
      switch type {
      case .statusOnly: NSNumber(value: true)
      case .objectIDs: result.objectIDs
      case .count: NSNumber(value: result.count)
      case .transactionsOnly, .transactionsAndChanges:
        result.transactions.map(NSPersistentHistoryTransaction.init)
      case .changesOnly: result.changes.map(NSPersistentHistoryChange.init)
      }
  }
}

extension NSManagedObjectContext {
  func execute(history request: NSPersistentHistoryChangeRequest) throws -> NSPersistentHistoryResult {
    NSPersistentHistoryResult(try request.result(in: base), request.resultType)
  }
}

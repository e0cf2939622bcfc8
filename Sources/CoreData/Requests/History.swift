public import Foundation
public import Persist

/// A position in the history of stores.
public final class NSPersistentHistoryToken: NSObject, NSCopying, NSSecureCoding, Sendable {
  let token: HistoryToken

  init(_ token: HistoryToken) { self.token = token }

  /// Whether the token can be archived safely.
  public static var supportsSecureCoding: Bool { true }

  /// Archives the token.
  public func encode(with coder: NSCoder) { coder.encode(NSString(string: token.description), forKey: "token") }

  /// Reads an archived token; nil if it is malformed.
  public init?(coder: NSCoder) {
    guard let text = coder.decodeObject(of: NSString.self, forKey: "token"),
      let token = HistoryToken(String(describing: text))
    else { return nil }
    self.token = token
  }

  /// Returns the token or the value itself.
  public func copy(with zone: NSZone? = nil) -> Any { self }
  public override func isEqual(_ other: Any?) -> Bool { (other as? NSPersistentHistoryToken)?.token == token }
  public override var hash: Int { token.hashValue }
}

/// A version of the stores' contents that a context can be pinned to.
public final class NSQueryGenerationToken: NSObject, NSCopying, Sendable {
  let token: QueryGenerationToken

  init(_ token: QueryGenerationToken) { self.token = token }

  /// The contents at the time at which a context is pinned.
  public static let current = NSQueryGenerationToken(.current)

  /// Returns the token or the value itself.
  public func copy(with zone: NSZone? = nil) -> Any { self }
  public override func isEqual(_ other: Any?) -> Bool { (other as? NSQueryGenerationToken)?.token == token }
  public override var hash: Int { token.hashValue }
}

extension NSManagedObjectContext {
  /// The version of the stores' contents that the context reads; nil for the newest.
  public final var queryGenerationToken: NSQueryGenerationToken? {
    base.queryGenerationToken.map(NSQueryGenerationToken.init)
  }

  /// Pins the context to a version of the stores' contents, or to the newest one with nil.
  ///
  /// - Throws: An error if a store has no such version.
  public final func setQueryGenerationFrom(_ token: NSQueryGenerationToken?) throws {
    try bridging { try base.setQueryGeneration(from: token?.token) }
  }
}

/// The kinds of changes.
public enum NSPersistentHistoryChangeType: Int, Sendable {
  /// An insertion.
  case insert = 0
  /// An update.
  case update = 1
  /// A deletion.
  case delete = 2
}

/// A change of an object in the history.
public final class NSPersistentHistoryChange: NSObject, NSCopying, Sendable {
  private let change: HistoryChange
  /// The transaction; nil if the request asked for changes alone.
  public let transaction: NSPersistentHistoryTransaction?

  init(_ change: HistoryChange, in transaction: NSPersistentHistoryTransaction? = nil) {
    self.change = change
    self.transaction = transaction
  }

  /// The number of the change.
  public var changeID: Int64 { change.changeID }
  /// The identifier of the object.
  public var changedObjectID: NSManagedObjectID { change.changedObjectID }
  /// The kind of the change.
  public var changeType: NSPersistentHistoryChangeType {
    switch change.changeType {
    case .insert: .insert
    case .update: .update
    case .delete: .delete
    }
  }
  /// The values of a deleted object that the history keeps.
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

  /// Returns the token or the value itself.
  public func copy(with zone: NSZone? = nil) -> Any { self }

  /// The entity of requests for changes or transactions.
  public class var entityDescription: NSEntityDescription? { named("Change") }
  /// The request that selects and sorts; its entity is that of changes or transactions.
  public class var fetchRequest: NSFetchRequest<any NSFetchRequestResult>? { NSFetchRequest(entityName: "Change") }
  /// The entity of requests for changes or transactions.
  public class func entityDescription(with context: NSManagedObjectContext) -> NSEntityDescription? { named("Change") }

  fileprivate static func named(_ name: String) -> NSEntityDescription {
    let entity = NSEntityDescription()
    entity.name = name
    return entity
  }
}

/// A save in the history.
public final class NSPersistentHistoryTransaction: NSObject, NSCopying, Sendable {
  let transaction: HistoryTransaction

  init(_ transaction: HistoryTransaction) { self.transaction = transaction }

  /// The time of the save.
  public var timestamp: Date { transaction.timestamp }
  /// The changes; nil if the request left them out.
  public var changes: [NSPersistentHistoryChange]? {
    transaction.changes?.map { NSPersistentHistoryChange($0, in: self) }
  }
  /// The number of the transaction in its store.
  public var transactionNumber: Int64 { transaction.transactionNumber }
  /// The identifier of the store.
  public var storeID: String { transaction.storeID }
  /// The bundle of the program that saved.
  public var bundleID: String { transaction.bundleID ?? "" }
  /// The name of the process that saved.
  public var processID: String { transaction.processID ?? "" }
  /// The name of the context that saved.
  public var contextName: String? { transaction.contextName }
  /// The author of the save.
  public var author: String? { transaction.author }
  /// The position of the transaction.
  public var token: NSPersistentHistoryToken { NSPersistentHistoryToken(transaction.token) }

  /// Returns a notification whose changes a context can merge.
  public func objectIDNotification() -> Notification {
    let changes = transaction.objectIDNotification()
    return Notification(
      name: .NSManagedObjectContextDidSaveObjectIDs, object: nil,
      userInfo: [
        NSInsertedObjectIDsKey: changes.insertedObjectIDs, NSUpdatedObjectIDsKey: changes.updatedObjectIDs,
        NSDeletedObjectIDsKey: changes.deletedObjectIDs,
      ])
  }

  /// Returns the token or the value itself.
  public func copy(with zone: NSZone? = nil) -> Any { self }

  /// The entity of requests for changes or transactions.
  public class var entityDescription: NSEntityDescription? { NSPersistentHistoryChange.named("Transaction") }
  /// The request that selects and sorts; its entity is that of changes or transactions.
  public class var fetchRequest: NSFetchRequest<any NSFetchRequestResult>? {
    NSFetchRequest(entityName: "Transaction")
  }
  /// The entity of requests for changes or transactions.
  public class func entityDescription(with context: NSManagedObjectContext) -> NSEntityDescription? {
    NSPersistentHistoryChange.named("Transaction")
  }
}

/// The kinds of results of requests for history.
public enum NSPersistentHistoryResultType: Int, Sendable {
  /// Whether it succeeded.
  case statusOnly = 0
  /// The identifiers of the changed objects.
  case objectIDs = 1
  /// The number of transactions.
  case count = 2
  /// Transactions without changes.
  case transactionsOnly = 3
  /// Changes.
  case changesOnly = 4
  /// Transactions with their changes.
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
/// A request for the history of stores, or for its deletion.
open class NSPersistentHistoryChangeRequest: NSPersistentStoreRequest, @unchecked Sendable {
  private let request: HistoryChangeRequest?
  private let deletes: Bool
  /// The kind of the result.
  open var resultType: NSPersistentHistoryResultType
  /// The request that selects and sorts; its entity is that of changes or transactions.
  open var fetchRequest: NSFetchRequest<any NSFetchRequestResult>?

  private init(_ request: HistoryChangeRequest?, deletes: Bool = false) {
    self.request = request
    self.deletes = deletes
    resultType = deletes ? .statusOnly : .transactionsAndChanges
  }

  /// Requests the transactions after a position, or those that a request selects.
  public class func fetchHistory(after date: Date) -> NSPersistentHistoryChangeRequest {
    NSPersistentHistoryChangeRequest(.fetchHistory(after: date))
  }

  /// Requests the transactions after a position, or those that a request selects.
  public class func fetchHistory(after token: NSPersistentHistoryToken?) -> NSPersistentHistoryChangeRequest {
    NSPersistentHistoryChangeRequest(.fetchHistory(after: token?.token))
  }

  /// Requests the transactions after a position, or those that a request selects.
  public class func fetchHistory(
    after transaction: NSPersistentHistoryTransaction?
  ) -> NSPersistentHistoryChangeRequest {
    NSPersistentHistoryChangeRequest(.fetchHistory(after: transaction?.transaction.token))
  }

  /// Requests the transactions after a position, or those that a request selects.
  public class func fetchHistory(
    withFetch request: NSFetchRequest<any NSFetchRequestResult>
  ) -> NSPersistentHistoryChangeRequest {
    let result = NSPersistentHistoryChangeRequest(nil)
    result.fetchRequest = request
    return result
  }

  /// Requests the deletion of the transactions before a position.
  public class func deleteHistory(before date: Date) -> NSPersistentHistoryChangeRequest {
    NSPersistentHistoryChangeRequest(.deleteHistory(before: date), deletes: true)
  }

  /// Requests the deletion of the transactions before a position.
  public class func deleteHistory(before token: NSPersistentHistoryToken?) -> NSPersistentHistoryChangeRequest {
    NSPersistentHistoryChangeRequest(.deleteHistory(before: token?.token), deletes: true)
  }

  /// Requests the deletion of the transactions before a position.
  public class func deleteHistory(
    before transaction: NSPersistentHistoryTransaction?
  ) -> NSPersistentHistoryChangeRequest {
    NSPersistentHistoryChangeRequest(.deleteHistory(before: transaction?.transaction.token), deletes: true)
  }

  /// The position of the transaction.
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
/// The result of a request for history.
open class NSPersistentHistoryResult: NSPersistentStoreResult, @unchecked Sendable {
  /// Transactions, changes, identifiers or a number, according to ``resultType``.
  public let result: Any?
  /// The kind of the result.
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
      case .changesOnly: result.changes.map { NSPersistentHistoryChange($0) }
      }
  }
}

extension NSManagedObjectContext {
  func execute(history request: NSPersistentHistoryChangeRequest) throws -> NSPersistentHistoryResult {
    NSPersistentHistoryResult(try request.result(in: base), request.resultType)
  }
}

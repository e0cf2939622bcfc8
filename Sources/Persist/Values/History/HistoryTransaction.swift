public import Foundation

/// One save, batch operation or migration in the history of a store.
///
/// ```swift
/// for transaction in transactions {
///   print(transaction.author ?? "somebody", transaction.timestamp)
///   for change in transaction.changes ?? [] { print(change.changeType, change.changedObjectID) }
/// }
/// ```
///
/// The history is stored in the tables that Core Data uses, so that either framework can read what the other wrote. A
/// transaction written by Core Data records which columns an update changed, but the order of an entity's to-many
/// relationships in that record depends on the version of Core Data. If such an update changed one of several to-many
/// relationships, or if the entity has composite attributes or is part of an ordered relationship,
/// ``HistoryChange/updatedProperties`` is nil.
public struct HistoryTransaction: Sendable, Hashable {
  /// The number of the transaction in its store. Later transactions have greater numbers.
  public let transactionNumber: Int64
  /// The UUID of the store, as in its metadata.
  public let storeID: String
  /// The time of the save.
  public let timestamp: Date
  /// The ``ManagedObjectContext/transactionAuthor`` of the context that saved.
  public let author: String?
  /// The ``ManagedObjectContext/name`` of the context that saved.
  public let contextName: String?
  /// The bundle identifier of the program that saved; nil for a program without one.
  public let bundleID: String?
  /// The name of the process that saved.
  public let processID: String?
  /// The changes in the order of their numbers; nil if they weren't requested.
  public let changes: [HistoryChange]?
  /// The life of the store; nil for a transaction that wasn't read from one.
  package var life: UInt64?

  /// Creates a transaction from its parts.
  public init(
    transactionNumber: Int64, storeID: String, timestamp: Date, author: String? = nil, contextName: String? = nil,
    bundleID: String? = nil, processID: String? = nil, changes: [HistoryChange]? = nil
  ) {
    self.transactionNumber = transactionNumber
    self.storeID = storeID
    self.timestamp = timestamp
    self.author = author
    self.contextName = contextName
    self.bundleID = bundleID
    self.processID = processID
    self.changes = changes
  }

  /// The position after this transaction, for requests of later ones.
  public var token: HistoryToken {
    let mark = life.map { HistoryMark(life: $0, time: timestamp.timeIntervalSinceReferenceDate) }
    return HistoryToken([storeID: transactionNumber], marks: mark.map { [storeID: $0] } ?? Dictionary())
  }

  /// Returns the identifiers of the changed objects, for ``ManagedObjectContext/mergeChanges(from:)``.
  ///
  /// It is empty if the changes weren't requested.
  public func objectIDNotification() -> SavedChanges {
    var merged = SavedChanges()
    for change in changes ?? [] {
      let id = change.changedObjectID
      switch change.changeType {
      case .insert:
        merged.insertedObjectIDs.insert(id)
        merged.deletedObjectIDs.remove(id)
      case .update: if !merged.insertedObjectIDs.contains(id) { merged.updatedObjectIDs.insert(id) }
      case .delete:
        merged.insertedObjectIDs.remove(id)
        merged.updatedObjectIDs.remove(id)
        merged.deletedObjectIDs.insert(id)
      }
    }
    return merged
  }
}

extension HistoryTransaction {
  /// The beginning of the author of a transaction that records a migration, as Core Data writes it.
  package static let migratingAuthor = "com.apple.coredata.schemamigrator"

  /// Whether it records a migration, and has no changes.
  package var isMigration: Bool { author?.hasPrefix(Self.migratingAuthor) == true }
}

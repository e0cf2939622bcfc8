/// The kind of a change in a store's history. The raw values are those in the store.
public enum HistoryChangeType: Int, Sendable, Hashable, CaseIterable, Codable {
  /// A new object.
  case insert = 0
  /// An object with new values or members.
  case update = 1
  /// A deleted object.
  case delete = 2
}

/// One change of one object, as part of a ``HistoryTransaction``.
public struct HistoryChange: Sendable, Hashable {
  /// The number of the change, unique in its store. Later changes have greater numbers.
  public let changeID: Int64
  /// The kind of the change.
  public let changeType: HistoryChangeType
  /// The identifier of the changed object. After a deletion, it is still the identifier that the object had.
  public let changedObjectID: ManagedObjectID
  /// The names of the properties that an update changed.
  ///
  /// Nil for inserts and deletes, and for an update whose changed properties the store can't identify: see
  /// ``HistoryTransaction``.
  public let updatedProperties: Set<String>?
  /// The values that a deleted object had in its attributes with
  /// ``AttributeDescription/preservesValueOnDeletion``, by name, without those that were nil.
  ///
  /// Nil for inserts and updates, and for entities without such attributes.
  public let tombstone: [String: StoredValue]?
  /// The number of the transaction that the change is part of.
  public let transactionNumber: Int64

  /// Creates a change from its parts.
  public init(
    changeID: Int64, changeType: HistoryChangeType, changedObjectID: ManagedObjectID,
    updatedProperties: Set<String>? = nil, tombstone: [String: StoredValue]? = nil, transactionNumber: Int64
  ) {
    self.changeID = changeID
    self.changeType = changeType
    self.changedObjectID = changedObjectID
    self.updatedProperties = updatedProperties
    self.tombstone = tombstone
    self.transactionNumber = transactionNumber
  }
}

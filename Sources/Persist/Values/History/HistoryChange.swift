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
  /// The values of attributes and to-one relationships before the change, by name: those that an update replaced, nil
  /// included, and those of a deleted object, without those that were nil.
  ///
  /// Nil for inserts, and for changes of a time when the store didn't keep old values: see
  /// ``StoreOptions/historyKeeps``. Derived attributes aren't kept.
  public let oldValues: [String: StoredValue]?
  /// The members that to-many relationships gained and lost, by name.
  ///
  /// These are relationships whose inverse is a to-many relationship too, or that have no inverse. The members of
  /// others change by the old values of their to-one relationship. Nil where ``oldValues`` is nil.
  public let memberChanges: [String: HistoryMemberChange]?
  /// The version of a deleted row, if old values are kept.
  package var formerVersion: Int64?
  /// The number of the transaction that the change is part of.
  public let transactionNumber: Int64

  /// Creates a change from its parts.
  public init(
    changeID: Int64, changeType: HistoryChangeType, changedObjectID: ManagedObjectID,
    updatedProperties: Set<String>? = nil, tombstone: [String: StoredValue]? = nil,
    oldValues: [String: StoredValue]? = nil, memberChanges: [String: HistoryMemberChange]? = nil,
    transactionNumber: Int64
  ) {
    self.changeID = changeID
    self.changeType = changeType
    self.changedObjectID = changedObjectID
    self.updatedProperties = updatedProperties
    self.tombstone = tombstone
    self.oldValues = oldValues
    self.memberChanges = memberChanges
    self.transactionNumber = transactionNumber
  }
}

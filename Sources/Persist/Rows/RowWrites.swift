/// All writes of one save to one store, as data.
///
/// Values are by property slot. References to rows inserted in the same save are temporary identifiers; the store
/// assigns every inserted row its key and returns the permanent identifiers.
package struct RowWrites: Sendable {
  /// A new row.
  package struct Insert: Sendable {
    /// Temporary; permanent if the key was obtained before.
    package let key: ManagedObjectID.Key
    package let entity: Entity
    /// The values of attributes and to-one relationships; those that are missing are null.
    package let values: SlotValues
    /// The values that aren't in ``values``, which may then be empty. Nobody changes the row before the write is over.
    let row: RowSnapshot?
    /// The initial `Z_OPT`: 1, unless the row was deleted and is being restored.
    package let version: Int64

    package init(
      key: ManagedObjectID.Key, entity: Entity, values: SlotValues, version: Int64 = 1
    ) {
      self.init(key: key, entity: entity, values: values, row: nil, version: version)
    }

    /// - Parameter row: The values that aren't in `values`.
    init(
      key: ManagedObjectID.Key, entity: Entity, values: SlotValues, row: RowSnapshot?,
      version: Int64
    ) {
      self.key = key
      self.entity = entity
      self.values = values
      self.row = row
      self.version = version
    }

    /// The value of a property; nil for null.
    package func value(at slot: Int) -> StoredValue? {
      if let value = values[slot] { return value }
      guard let row, let attribute = entity.properties[slot].attribute else { return nil }
      return row.value(slot, as: SlotForm(attribute), slotCount: entity.rowSlotCount)
    }

    /// ``values`` and those of ``row``.
    package var allValues: SlotValues { row == nil ? values : SlotValues(entity.properties.indices.map(value)) }

    /// Whether the row was deleted and is being restored.
    var isOfFormerRow: Bool { version > 1 }

    package init(id: ManagedObjectID, entity: Entity, values: [StoredValue]) {
      self.init(key: id.key, entity: entity, values: SlotValues(values))
    }
  }

  /// Changed columns of a row.
  package struct Update: Sendable {
    package let key: ManagedObjectID.Key
    package let entity: Entity
    /// `Z_OPT` as it was read; the write fails as a conflict if the row's current value differs. Nil for a row that
    /// wasn't read: the write fails only if the row doesn't exist, and the caller ensures by other means that nobody
    /// has changed it.
    package let version: Int64?
    /// The changed property slots. May be empty: the row's version is still incremented.
    package let slots: [Int]
    /// The values of at least those slots; those that are missing are null. Separate from the slots, so that an object
    /// can hand over its values, and equally changed objects share one list of slots.
    package let values: SlotValues

    package init(
      key: ManagedObjectID.Key, entity: Entity, version: Int64?, slots: [Int], values: SlotValues
    ) {
      self.key = key
      self.entity = entity
      self.version = version
      self.slots = slots
      self.values = values
    }

    package init(id: ManagedObjectID, entity: Entity, version: Int64, changes: [(slot: Int, value: StoredValue)]) {
      var values = SlotValues()
      for change in changes { values[change.slot] = change.value }
      self.init(key: id.key, entity: entity, version: version, slots: changes.map(\.slot), values: values)
    }
  }

  /// A row and its version as it was read.
  package struct RowVersion: Sendable {
    package let key: ManagedObjectID.Key
    package let entity: Entity
    /// `Z_OPT`.
    package let version: Int64

    package init(key: ManagedObjectID.Key, entity: Entity, version: Int64) {
      self.key = key
      self.entity = entity
      self.version = version
    }

    package init(id: ManagedObjectID, entity: Entity, version: Int64) {
      self.init(key: id.key, entity: entity, version: version)
    }
  }

  /// To-one relationships of a row to delete that had already changed when it was deleted: delete rules must not reach
  /// their former ends.
  package struct Ending: Sendable {
    package let key: ManagedObjectID.Key
    package let entity: Entity
    package let slots: [Int]
  }

  /// Members added to and removed from a many-to-many relationship, stated from one side only.
  package struct Link: Sendable {
    package let owner: ManagedObjectID
    package let entity: Entity
    /// The slot of the relationship.
    package let slot: Int
    package let added: [ManagedObjectID]
    package let removed: [ManagedObjectID]

    package init(
      owner: ManagedObjectID, entity: Entity, slot: Int, added: [ManagedObjectID], removed: [ManagedObjectID]
    ) {
      self.owner = owner
      self.entity = entity
      self.slot = slot
      self.added = added
      self.removed = removed
    }
  }

  /// The new order of an ordered to-many relationship, written after the links and updates that change its members.
  package struct Ordering: Sendable {
    package let owner: ManagedObjectID
    package let entity: Entity
    package let slot: Int
    package let members: [ManagedObjectID]
    /// Whether these are all members of the relationship; otherwise they are moved to its end, after all others.
    package let isWhole: Bool

    package init(owner: ManagedObjectID, entity: Entity, slot: Int, members: [ManagedObjectID], isWhole: Bool = true) {
      self.owner = owner
      self.entity = entity
      self.slot = slot
      self.members = members
      self.isWhole = isWhole
    }
  }

  /// A to-many relationship of a row whose members changed.
  package struct ChangedMembers: Sendable {
    package let key: ManagedObjectID.Key
    package let entity: Entity
    /// The slot of the relationship.
    package let slot: Int

    package init(key: ManagedObjectID.Key, entity: Entity, slot: Int) {
      self.key = key
      self.entity = entity
      self.slot = slot
    }
  }

  /// The to-one relationships of rows to delete that end beforehand; only in a child's writes to its parent.
  package var endings: [Ending] = []
  package var inserts: [Insert] = []
  package var updates: [Update] = []
  /// Rows of which only the members of to-many relationships changed: their versions are incremented unconditionally.
  /// Members added and removed by two contexts don't interfere with each other, and so aren't a conflict;
  /// ``CommitReceipt/overtakenTouches`` lists the rows that others had changed.
  package var touches: [RowVersion] = []
  /// Rows to delete; a different version is a conflict.
  package var deletes: [RowVersion] = []
  /// Rows that are only checked: a different version is a conflict.
  package var checks: [RowVersion] = []
  /// The to-many relationships whose members changed, for rows in ``updates`` and ``touches``; for the store's history,
  /// if any.
  package var changedMembers: [ChangedMembers] = []
  /// The author of the changes, for the history.
  package var origin: HistoryOrigin?
  package var links: [Link] = []
  package var orderings: [Ordering] = []

  package init() {}

  package var isEmpty: Bool {
    inserts.isEmpty && updates.isEmpty && touches.isEmpty && deletes.isEmpty && links.isEmpty && orderings.isEmpty
      && checks.isEmpty
  }

  /// The updates, with those that satisfy a condition before the others.
  package func updates(beginningWith isFirst: (Update) throws -> Bool) rethrows -> [Update] {
    let first = try updates.filter(isFirst)
    return first.isEmpty ? updates : first + (try updates.filter { try !isFirst($0) })
  }
}

/// The result of a commit.
package struct CommitReceipt: Sendable {
  /// The key of every inserted row, in the order of ``RowWrites/inserts``.
  package let insertedKeys: [Int64]
  /// The indexes in ``RowWrites/touches`` of the rows that others had changed since they were read.
  package let overtakenTouches: [Int]
  /// The number of the transaction in the store's history; nil if none was recorded.
  package let historyNumber: Int64?
  /// The mark of this transaction.
  package var historyMark: HistoryMark?

  package init(insertedKeys: [Int64] = [], overtakenTouches: [Int] = [], historyNumber: Int64? = nil) {
    self.insertedKeys = insertedKeys
    self.overtakenTouches = overtakenTouches
    self.historyNumber = historyNumber
  }
}

/// A row that has been changed or deleted elsewhere since it was read.
package struct RowConflict: Sendable {
  package let id: ManagedObjectID
  package let entity: Entity
  /// The row's version when it was read.
  package let expectedVersion: Int64
  /// The row's current version; nil if it was deleted.
  package let storedVersion: Int64?

  package init(id: ManagedObjectID, entity: Entity, expectedVersion: Int64, storedVersion: Int64? = nil) {
    self.id = id
    self.entity = entity
    self.expectedVersion = expectedVersion
    self.storedVersion = storedVersion
  }
}

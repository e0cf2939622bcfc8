/// Everything that one save writes to one store, as data.
///
/// Values are by property slot. References to rows that are inserted in the same save are temporary
/// identifiers; the store gives every inserted row its key and returns the permanent identifiers.
public struct RowWrites: Sendable {
  /// A new row.
  public struct Insert: Sendable {
    /// Temporary; or permanent where the key was obtained before.
    public let key: ManagedObjectID.Key
    public let entity: Entity
    /// A value for each property slot, nil for no value, as it is for transient attributes, to-many relationships and
    /// fetched properties. Of this type so that an object hands over the values it has without copying them.
    public let values: ContiguousArray<StoredValue?>
    /// What `Z_OPT` begins with: 1, but for a row that was deleted and comes back.
    public let version: Int64

    public init(
      key: ManagedObjectID.Key, entity: Entity, values: ContiguousArray<StoredValue?>, version: Int64 = 1
    ) {
      self.key = key
      self.entity = entity
      self.values = values
      self.version = version
    }

    /// Whether the row was deleted and comes back.
    var isOfFormerRow: Bool { version > 1 }

    public init(id: ManagedObjectID, entity: Entity, values: [StoredValue]) {
      self.init(key: id.key, entity: entity, values: ContiguousArray(values))
    }
  }

  /// Changed columns of a row.
  public struct Update: Sendable {
    public let key: ManagedObjectID.Key
    public let entity: Entity
    /// `Z_OPT` as it was read; the write fails as a conflict where the row has another now.
    public let version: Int64
    /// The property slots that change. May be empty: the row's version then still goes up.
    public let slots: [Int]
    /// The values of at least those slots, by slot; nil for no value. Of this type, and beside the slots, so that an
    /// object hands over what it has, and objects that are changed alike share one list of slots.
    public let values: ContiguousArray<StoredValue?>

    public init(
      key: ManagedObjectID.Key, entity: Entity, version: Int64, slots: [Int], values: ContiguousArray<StoredValue?>
    ) {
      self.key = key
      self.entity = entity
      self.version = version
      self.slots = slots
      self.values = values
    }

    public init(id: ManagedObjectID, entity: Entity, version: Int64, changes: [(slot: Int, value: StoredValue)]) {
      var values = ContiguousArray<StoredValue?>(repeating: nil, count: entity.properties.count)
      for change in changes { values[change.slot] = change.value }
      self.init(key: id.key, entity: entity, version: version, slots: changes.map(\.slot), values: values)
    }
  }

  /// A row and its version as it was read.
  public struct RowVersion: Sendable {
    public let key: ManagedObjectID.Key
    public let entity: Entity
    /// `Z_OPT`.
    public let version: Int64

    public init(key: ManagedObjectID.Key, entity: Entity, version: Int64) {
      self.key = key
      self.entity = entity
      self.version = version
    }

    public init(id: ManagedObjectID, entity: Entity, version: Int64) {
      self.init(key: id.key, entity: entity, version: version)
    }
  }

  /// Members that a many-to-many relationship gains and loses, told from one side only.
  public struct Link: Sendable {
    public let owner: ManagedObjectID
    public let entity: Entity
    /// Slot of the relationship.
    public let slot: Int
    public let added: [ManagedObjectID]
    public let removed: [ManagedObjectID]

    public init(
      owner: ManagedObjectID, entity: Entity, slot: Int, added: [ManagedObjectID], removed: [ManagedObjectID]
    ) {
      self.owner = owner
      self.entity = entity
      self.slot = slot
      self.added = added
      self.removed = removed
    }
  }

  /// The new order of an ordered to-many relationship, written after the links and updates that make its members.
  public struct Ordering: Sendable {
    public let owner: ManagedObjectID
    public let entity: Entity
    public let slot: Int
    public let members: [ManagedObjectID]
    /// Whether the members are all of the relationship; otherwise they go to its end, behind whatever is there.
    public let isWhole: Bool

    public init(owner: ManagedObjectID, entity: Entity, slot: Int, members: [ManagedObjectID], isWhole: Bool = true) {
      self.owner = owner
      self.entity = entity
      self.slot = slot
      self.members = members
      self.isWhole = isWhole
    }
  }

  public var inserts: [Insert] = []
  public var updates: [Update] = []
  /// Rows of which only members of to-many relationships changed: their versions go up, whatever they are. Members that
  /// two contexts add and remove don't get in each other's way, and so are no conflict;
  /// ``CommitReceipt/overtakenTouches`` lists the rows that others had changed.
  public var touches: [RowVersion] = []
  /// Rows that go; another version is a conflict.
  public var deletes: [RowVersion] = []
  /// Rows that aren't written: another version is a conflict.
  public var checks: [RowVersion] = []
  public var links: [Link] = []
  public var orderings: [Ordering] = []

  public init() {}

  public var isEmpty: Bool {
    inserts.isEmpty && updates.isEmpty && touches.isEmpty && deletes.isEmpty && links.isEmpty && orderings.isEmpty
      && checks.isEmpty
  }
}

/// What a commit did.
public struct CommitReceipt: Sendable {
  /// The key of every inserted row, in the order of ``RowWrites/inserts``.
  public let insertedKeys: [Int64]
  /// Places in ``RowWrites/touches`` of the rows that others had changed since they were read.
  public let overtakenTouches: [Int]
  private let inserts: [RowWrites.Insert]
  private let storeIdentifier: String

  public init(
    inserts: [RowWrites.Insert] = [], keys: [Int64] = [], storeIdentifier: String = "", overtakenTouches: [Int] = []
  ) {
    self.inserts = inserts
    insertedKeys = keys
    self.overtakenTouches = overtakenTouches
    self.storeIdentifier = storeIdentifier
  }

  /// The permanent identifier of every inserted row, in the order of ``RowWrites/inserts``.
  ///
  /// - Complexity: linear in their number; an identifier is made for each.
  public var inserted: [ManagedObjectID] {
    zip(inserts, insertedKeys).map { insert, key in
      ManagedObjectID(entityName: insert.entity.name, storeIdentifier: storeIdentifier, key: .permanent(key))
    }
  }
}

/// A row that was changed or deleted by someone else since it was read.
public struct RowConflict: Sendable {
  public let id: ManagedObjectID
  public let entity: Entity
  /// The version that the row was read with.
  public let expectedVersion: Int64
  /// The version that it has now; nil where it is gone.
  public let storedVersion: Int64?
}

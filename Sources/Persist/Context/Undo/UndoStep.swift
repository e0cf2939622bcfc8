/// The data for undoing one event of a context: the previous states of its objects.
///
/// Values are absolute and relationships refer to objects, so that saves in the meantime don't matter.
struct UndoStep {
  weak var context: ManagedObjectContext?
  /// Objects that didn't exist before.
  private(set) var inserted: [Arrival] = []
  /// Deleted objects, with their complete state.
  private(set) var deleted: [Former] = []
  /// Objects that had other values.
  private(set) var updated: [Former] = []

  var isEmpty: Bool { inserted.isEmpty && deleted.isEmpty && updated.isEmpty }

  /// An object that didn't exist before.
  struct Arrival {
    let object: ManagedObject
    /// Whether the object was deleted before, and had its row: its delete rules may not have updated the other ends.
    let wasDeleted: Bool
  }

  /// The previous state of an object, as far as it differs.
  struct Former {
    let object: ManagedObject
    var values: [(slot: Int, value: StoredValue)] = []
    var toOnes: [(slot: Int, other: ManagedObject?)] = []
    var toManys: [Members] = []
    /// The slots with unsaved values of a deleted object. Its other values are those of its row, which others may have
    /// changed by the time it is restored.
    var unsaved: Set<Int> = []
    /// The slots with pending values of a deleted object at the end of the event. Values that are pending at others
    /// later were restored by undoing a later event.
    var pendingAtDeletion: Set<Int> = []
    /// Whether the object left its context because it had no row. If it has one by the time it is restored, a child
    /// context brought it back and it was saved; nothing of this state is in that row.
    var hadNoRow = false

    var isEmpty: Bool { values.isEmpty && toOnes.isEmpty && toManys.isEmpty }
  }

  /// Members that a to-many relationship gained and lost, to be reverted.
  struct Members {
    let relationship: RelationshipLayout
    let gained: [ManagedObject]
    let lost: [ManagedObject]
    /// All members in order, for an ordered relationship.
    let order: [ManagedObject]?
    /// All members of a deleted object.
    var all: [ManagedObject] = []
    /// Whether the order was an unsaved one. Otherwise the object returns with the stored order, which others may have
    /// changed.
    var isOrderUnsaved = true
  }

  init(_ entries: ContiguousArray<ChangeTracker.Entry>, in context: ManagedObjectContext) {
    self.context = context
    let objects = Resolver(entries, in: context)
    for entry in entries {
      let object = entry.object
      let isThere = object.table != nil && object.change != .deleted
      switch (entry.before, isThere) {
      case (nil, true): inserted.append(Arrival(object: object, wasDeleted: false))
      case (nil, false): break
      case (let before?, true) where before.change == .deleted:
        inserted.append(Arrival(object: object, wasDeleted: !before.isGone))
        // A child context may have brought it back with other values, which can be saved before this is undone.
        let former = Former(object, before: before, objects)
        if !former.isEmpty { updated.append(former) }
      case (let before?, false):
        if before.change != .deleted { deleted.append(Former(whole: object, before: before, objects)) }
      case (let before?, true):
        let former = Former(object, before: before, objects)
        if !former.isEmpty { updated.append(former) }
      }
    }
  }
}

extension UndoStep.Former {
  /// Creates the difference between an object's earlier state and its current one.
  fileprivate init(_ object: ManagedObject, before: ObjectState, _ objects: UndoStep.Resolver) {
    self.object = object
    for slot in object.layout.properties.indices {
      switch object.layout.kinds[slot] {
      case .attribute, .composite: if let old = object.oldValue(at: slot, before) { values.append((slot, old)) }
      case .transient, .toOne:
        guard let old = object.oldValue(at: slot, before) else { continue }
        if object.layout.relationshipsBySlot[slot] == nil {
          values.append((slot, old))
        } else {
          toOnes.append((slot, objects[old]))
        }
      case .toMany, .transientToMany:
        guard let relationship = object.layout.relationshipsBySlot[slot],
          let difference = MembersDifference(of: relationship, before: before, now: object)
        else { continue }
        toManys.append(
          UndoStep.Members(
            relationship: relationship, gained: objects[difference.gained],
            lost: objects[difference.lost],
            order: difference.oldOrder.map { objects[$0] }))
      case .fetched: continue
      }
    }
  }

  /// Creates the complete state of an object before its deletion, so that it can be recreated if its row was deleted.
  fileprivate init(whole object: ManagedObject, before: ObjectState, _ objects: UndoStep.Resolver) {
    self.object = object
    hadNoRow = object.table == nil
    if object.loading == .fault { object.fulfill() }
    for slot in object.layout.properties.indices {
      if object.hasUnsavedValue(at: slot, in: before) { unsaved.insert(slot) }
      if object.hasPending(at: slot) { pendingAtDeletion.insert(slot) }
      switch object.layout.kinds[slot] {
      case .attribute, .composite: values.append((slot, object.value(at: slot, in: before)))
      case .transient, .toOne:
        let old = object.value(at: slot, in: before)
        if object.layout.relationshipsBySlot[slot] == nil {
          values.append((slot, old))
        } else {
          toOnes.append((slot, objects[old]))
        }
      case .toMany, .transientToMany:
        guard let relationship = object.layout.relationshipsBySlot[slot] else { continue }
        let now = object.knownMemberIDs(of: relationship)
        let difference = MembersDifference(of: relationship, before: before, now: object)
        let old = difference.map { $0.oldOrder ?? now.subtracting($0.gained).union($0.lost) } ?? now
        let members = objects[old]
        toManys.append(
          UndoStep.Members(
            relationship: relationship, gained: objects[now.subtracting(old)],
            lost: objects[difference?.lost ?? []], order: relationship.isOrdered ? members : nil, all: members,
            isOrderUnsaved: !before.members.isEmpty && before.members[slot]?.isReordered == true))
      case .fetched: continue
      }
    }
  }
}

extension UndoStep {
  /// Resolves identifiers to objects, including objects that left the context in this event.
  fileprivate struct Resolver {
    private let context: ManagedObjectContext
    private let gone: [ManagedObjectID: ManagedObject]

    init(_ entries: ContiguousArray<ChangeTracker.Entry>, in context: ManagedObjectContext) {
      self.context = context
      gone = entries.reduce(into: Dictionary()) { gone, entry in
        if entry.object.table == nil { gone[entry.object.objectID] = entry.object }
      }
    }

    subscript(value: StoredValue) -> ManagedObject? {
      if case .objectID(let id) = value { object(id) } else { nil }
    }

    subscript(ids: OrderedSet<ManagedObjectID>) -> [ManagedObject] { ids.compactMap(object) }

    private func object(_ id: ManagedObjectID) -> ManagedObject? { gone[id] ?? context.registeredOrFault(id) }
  }
}

extension ManagedObject {
  /// Returns the value of an attribute or to-one relationship in an earlier state.
  fileprivate final func value(at slot: Int, in before: ObjectState) -> StoredValue {
    pendingValue(at: slot, in: before) ?? committedValue(at: slot)
  }

  /// Whether an attribute or to-one relationship had a value other than its row's in an earlier state.
  fileprivate final func hasUnsavedValue(at slot: Int, in before: ObjectState) -> Bool {
    guard let value = before.pending[slot] else { return false }
    guard let row = before.snapshot, layout.kinds[slot] != .transient, !layout.mayBeInFile[slot] else {
      return true
    }
    return storedValue(at: slot, in: row) != value
  }

  final func hasPending(at slot: Int) -> Bool { pending.contains(slot) }

  /// Returns the members of a to-many relationship, even for an object that left its context.
  fileprivate final func knownMemberIDs(of relationship: RelationshipLayout) -> OrderedSet<ManagedObjectID> {
    if table != nil { return memberIDs(of: relationship) }
    return toManys.isEmpty ? [] : toManys[relationship.slot]?.current ?? []
  }
}

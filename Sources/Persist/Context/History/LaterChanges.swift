/// The effects of a history's later transactions on objects, as far as they still last: changes that were reverted
/// since, in whatever way, have none.
struct LaterChanges {
  /// The effect on one object.
  struct Effect {
    /// The names of changed properties.
    fileprivate(set) var properties: Set<String> = []
    /// Whether the changed properties of an update are unknown.
    fileprivate(set) var isUnknown = false
    fileprivate(set) var isDeleted = false
    /// Whether it was inserted again, with other values than known ones.
    fileprivate(set) var isInserted = false
    /// Whether it didn't exist before the first later change.
    fileprivate let isNew: Bool
    /// The values before the first later change of each property.
    fileprivate var formerValues: [String: StoredValue] = Dictionary()
    /// The changed properties of changes whose old values weren't kept. Those of others may have been set to the value
    /// that they had, which has no old value.
    fileprivate var unkept: Set<String> = []
    /// Whether these include all values before a deletion.
    fileprivate var hasAllFormerValues = false
    /// For each member of a to-many relationship that was added or removed, whether it was one before that.
    fileprivate var formerMembers: [String: [ManagedObjectID: Bool]] = Dictionary()

    func hasChanged(_ name: String) -> Bool { isUnknown || isInserted || properties.contains(name) }

    /// Whether the object is no longer what it was.
    var lasts: Bool { isUnknown || isDeleted || isInserted || !properties.isEmpty }

    /// - Parameter first: The first later change of the object.
    fileprivate init(_ first: HistoryChange) { isNew = first.changeType == .insert }

    fileprivate mutating func record(_ change: HistoryChange) {
      switch change.changeType {
      case .insert: (isDeleted, isInserted) = (false, true)
      case .delete:
        isDeleted = true
        if change.oldValues != nil { hasAllFormerValues = true }
      case .update:
        if let names = change.updatedProperties {
          properties.formUnion(names)
          if change.oldValues == nil { unkept.formUnion(names) }
        } else if let values = change.oldValues {
          // The old values of everything that changed are kept.
          properties.formUnion(values.keys)
          properties.formUnion(change.memberChanges?.keys.map { $0 } ?? [])
        } else {
          isUnknown = true
        }
      }
      formerValues.merge(change.oldValues ?? Dictionary()) { first, _ in first }
      for (name, members) in change.memberChanges ?? Dictionary() {
        for (changed, wasMember) in [(members.added, false), (members.removed, true)] {
          for member in changed where formerMembers[name]?[member] == nil {
            formerMembers[name, default: Dictionary()][member] = wasMember
          }
        }
      }
    }
  }

  private var effects: [ManagedObjectID: Effect]

  /// - Parameter newest: A context without changes that has read nothing.
  /// - Throws: The store's errors.
  init(_ transactions: [HistoryTransaction], comparedWith newest: ManagedObjectContext) throws {
    effects = transactions.reduce(into: Dictionary()) { effects, transaction in
      for change in transaction.changes ?? [] {
        effects[change.changedObjectID, default: Effect(change)].record(change)
      }
    }
    try removeReverted(newest)
  }

  subscript(id: ManagedObjectID) -> Effect? { effects[id] }

  /// Removes the properties that have the values that they had before.
  private mutating func removeReverted(_ newest: ManagedObjectContext) throws {
    // Objects that came and went leave no effect, not even on the objects that they were related to.
    effects = effects.filter { !($0.value.isNew && $0.value.isDeleted) }
    let objects = effects.keys.compactMap { newest.registeredOrFault($0) }
    newest.prefetchRows(of: objects)
    // The objects whose to-many relationships differ because to-one relationships of others do.
    var ends: Set<ManagedObjectID> = []
    for object in objects {
      guard var effect = effects[object.objectID] else { continue }
      let toOnes = object.entity.properties.filter(\.isToOne)
      if effect.isDeleted {
        for case .objectID(let id)? in toOnes.map({ effect.formerValues[$0.name] }) { ends.insert(id) }
        continue
      }
      object.fulfill()
      if effect.isInserted, effect.hasAllFormerValues {
        effect.isInserted = false
        let valued = object.entity.properties.filter { $0.attribute != nil || $0.isToOne }
        effect.properties.formUnion(valued.map(\.name) + effect.formerMembers.keys)
      }
      effect.properties = effect.properties.filter { name in
        guard let property = object.entity.property(named: name) else { return true }
        if property.relationship?.isToMany == true {
          guard let relationship = object.layout.relationshipsBySlot[property.slot] else { return true }
          guard let former = effect.formerMembers[name] else {
            // Members with a to-one relationship to the object are examined below.
            return relationship.inverse?.isToMany == false || effect.unkept.contains(name)
          }
          // The history doesn't record members that a reinserted object got back, so they are compared.
          let members = object.memberIDs(of: relationship)
          return former.contains { member, wasMember in members.contains(member) != wasMember }
        }
        guard property.attribute?.isTransient != true, property.attribute?.isDerived != true else { return false }
        guard let former = effect.formerValues[name] ?? (effect.hasAllFormerValues ? .null : nil) else {
          return effect.unkept.contains(name)
        }
        return object.presentValue(at: property.slot) != former
      }
      for toOne in toOnes where effect.hasChanged(toOne.name) {
        for case .objectID(let id)? in [effect.formerValues[toOne.name], object.presentValue(at: toOne.slot)] {
          ends.insert(id)
        }
      }
      effects[object.objectID] = effect
    }
    try newest.throwDeferredError()
    removeUntouched(ends, newest)
  }

  /// Removes to-many relationships whose members refer to the object and haven't changed.
  private mutating func removeUntouched(_ ends: Set<ManagedObjectID>, _ newest: ManagedObjectContext) {
    for (id, effect) in effects where !effect.isDeleted && !ends.contains(id) {
      guard let layout = newest.layout(named: id.entityName) else { continue }
      let names = layout.relationships.filter {
        $0.isToMany && $0.inverse?.isToMany != true && effect.formerMembers[$0.name] == nil
      }
      effects[id]?.properties.subtract(names.map(\.name))
    }
  }
}

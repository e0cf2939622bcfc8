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
    /// The values before the first later change of each property.
    fileprivate var formerValues: [String: StoredValue] = [:]
    /// Whether these include all values before a deletion.
    fileprivate var hasAllFormerValues = false
    /// For each member of a to-many relationship, how many more times it was added than removed.
    fileprivate var memberCounts: [String: [ManagedObjectID: Int]] = [:]

    func hasChanged(_ name: String) -> Bool { isUnknown || isInserted || properties.contains(name) }

    /// Whether the object is no longer what it was.
    var lasts: Bool { isUnknown || isDeleted || isInserted || !properties.isEmpty }

    fileprivate mutating func note(_ change: HistoryChange) {
      switch change.changeType {
      case .insert: (isDeleted, isInserted) = (false, true)
      case .delete:
        isDeleted = true
        if change.oldValues != nil { hasAllFormerValues = true }
      case .update:
        if let names = change.updatedProperties { properties.formUnion(names) } else { isUnknown = true }
      }
      formerValues.merge(change.oldValues ?? [:]) { first, _ in first }
      for (name, members) in change.memberChanges ?? [:] {
        for member in members.added { memberCounts[name, default: [:]][member, default: 0] += 1 }
        for member in members.removed { memberCounts[name, default: [:]][member, default: 0] -= 1 }
      }
    }
  }

  private var effects: [ManagedObjectID: Effect]

  /// - Parameter newest: A context without changes that has read nothing.
  /// - Throws: The store's errors.
  init(_ transactions: [HistoryTransaction], comparedWith newest: ManagedObjectContext) throws {
    effects = transactions.reduce(into: [:]) { effects, transaction in
      for change in transaction.changes ?? [] {
        effects[change.changedObjectID, default: Effect()].note(change)
      }
    }
    try removeReverted(newest)
  }

  subscript(id: ManagedObjectID) -> Effect? { effects[id] }

  /// Removes the properties that have the values that they had before.
  private mutating func removeReverted(_ newest: ManagedObjectContext) throws {
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
        effect.properties.formUnion(valued.map(\.name) + effect.memberCounts.keys)
      }
      effect.properties = effect.properties.filter { name in
        guard let property = object.entity.property(named: name) else { return true }
        if property.relationship?.isToMany == true {
          guard let counts = effect.memberCounts[name],
            let relationship = object.layout.relationshipsBySlot[property.slot]
          else { return true }
          // Members that an insertion got again aren't recorded.
          let members = object.memberIDs(of: relationship)
          return counts.contains { member, count in count != 0 && members.contains(member) == (count > 0) }
        }
        guard property.attribute?.isTransient != true, property.attribute?.isDerived != true else { return false }
        guard let former = effect.formerValues[name] ?? (effect.hasAllFormerValues ? .null : nil) else { return true }
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
        $0.isToMany && $0.inverse?.isToMany != true && effect.memberCounts[$0.name] == nil
      }
      effects[id]?.properties.subtract(names.map(\.name))
    }
  }
}

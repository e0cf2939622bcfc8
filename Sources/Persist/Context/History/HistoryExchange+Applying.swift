/// Applying the changes of other stores.
extension HistoryExchange {
  /// Applies the changes of another store, and saves them. Changes that were applied before, or are older than the
  /// present values, have no effect.
  ///
  /// - Returns: False if the changes are of objects that the store doesn't have yet: nothing was applied; repeat the
  ///   call after other change sets.
  /// - Throws: Validation errors, ``PersistenceError/Code/constraintConflict``, and the store's errors. Nothing is
  ///   applied then.
  @discardableResult
  public func apply(_ set: HistoryChangeSet) throws -> Bool {
    guard set.storeID != storeID else { return true }
    var attempts = 0
    while true {
      do {
        return try attempt(set)
      } catch let error as PersistenceError where error.code == .mergeConflict && attempts < 100 {
        // Somebody has changed the objects meanwhile.
        attempts += 1
      }
    }
  }

  private func attempt(_ set: HistoryChangeSet) throws -> Bool {
    try absorb()
    let state = ExchangeState(self, author: Self.author)
    let present = try set.changes.filter { try $0.deletion == nil && !state.isDeleted($0.identity) }
    guard try present.allSatisfy({ try $0.isWhole || state.object($0.identity) != nil }) else { return false }
    let created = try present.filter { try state.object($0.identity) == nil }
    for change in created { try state.create(change) }
    for change in created { try resolveReferences(to: change.identity, state) }
    for change in present { try applyValues(change, state) }
    for change in present { try applyMembers(change, state) }
    for change in set.changes where change.deletion != nil { try applyDeletion(change, state) }
    state.context.exchangeNotes = state.notes
    try state.context.save()
    // A save without changed rows writes nothing.
    if state.context.exchangeNotes != nil { try history.write(state.notes) }
    return true
  }

  private func applyValues(_ change: HistoryChangeSet.ObjectChange, _ state: ExchangeState) throws {
    guard let object = try state.object(change.identity) else { return }
    for (name, value) in change.values.sorted(by: { $0.key < $1.key }) {
      guard let property = object.entity.property(named: name), property.isExchangedValue else { continue }
      let part = ExchangeEntry.Part(property: name)
      if let known = try state.entry(change.identity, part), known.clock >= value.clock.clock { continue }
      var entry = ExchangeEntry(identity: change.identity, part: part, clock: value.clock.clock)
      if property.isToOne {
        let other = try value.reference.flatMap { try state.object($0) }
        if let reference = value.reference, other == nil, try !state.isDeleted(reference) {
          entry.reference = reference
        }
        object.setToOne(other, at: property.slot)
      } else {
        let new = value.value?.storedValue ?? .null
        if object.presentValue(at: property.slot) != new { object.setAttributeValue(new, at: property.slot) }
      }
      state.set(entry)
    }
  }

  private func applyMembers(_ change: HistoryChangeSet.ObjectChange, _ state: ExchangeState) throws {
    guard let object = try state.object(change.identity) else { return }
    for (name, members) in change.members {
      guard let property = object.entity.property(named: name), state.isMembers(property, of: object.entity),
        let relationship = object.layout.relationshipsBySlot[property.slot]
      else { continue }
      for (identity, member) in members.sorted(by: { $0.key < $1.key }) {
        let part = ExchangeEntry.Part(property: name, member: identity)
        if let known = try state.entry(change.identity, part), known.clock >= member.clock.clock { continue }
        let other = try state.object(identity)
        var entry = ExchangeEntry(
          identity: change.identity, part: part, clock: member.clock.clock, isPresent: member.isPresent)
        if let other {
          if member.isPresent {
            object.insertMember(other, of: relationship)
          } else {
            object.removeMember(other, of: relationship)
          }
        } else if member.isPresent, try !state.isDeleted(identity) {
          entry.reference = identity
        }
        state.set(entry)
      }
    }
  }

  /// Relates objects to one that they refer to, and that has arrived.
  private func resolveReferences(to identity: String, _ state: ExchangeState) throws {
    guard let other = try state.object(identity) else { return }
    for var entry in try history.exchangeEntries(referringTo: identity) {
      guard let object = try state.object(entry.identity),
        let property = object.entity.property(named: entry.part.property),
        let relationship = object.layout.relationshipsBySlot[property.slot]
      else { continue }
      if relationship.isToMany {
        object.insertMember(other, of: relationship)
      } else {
        object.setToOne(other, at: property.slot)
      }
      _ = try state.entries(entry.identity)
      entry.reference = nil
      state.set(entry)
    }
  }

  /// Related objects aren't deleted with it: their deletions are changes of their own.
  private func applyDeletion(_ change: HistoryChangeSet.ObjectChange, _ state: ExchangeState) throws {
    guard let clock = change.deletion?.clock, try !state.isDeleted(change.identity) else { return }
    if let object = try state.object(change.identity) { state.context.deleteAlone(object) }
    state.set(ExchangeEntry(identity: change.identity, part: .deletion, clock: clock))
  }
}

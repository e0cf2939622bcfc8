import Foundation

/// Puts back what a transaction of a history changed, with ordinary changes to a context.
struct RevertPass {
  private let context: ManagedObjectContext
  private let transaction: HistoryTransaction
  private let changes: [HistoryChange]
  private let later: LaterChanges
  private let rule: ConflictRule?

  /// - Throws: ``PersistenceError/Code/invalidRequest`` if the transaction can't be reverted, and the store's errors.
  init(_ transaction: HistoryTransaction, in context: ManagedObjectContext) throws {
    (self.context, self.transaction) = (context, transaction)
    rule = ConflictRule(context.mergePolicy.mergeType)
    guard let changes = transaction.changes else {
      throw PersistenceError(
        .invalidRequest, "The transaction was fetched without its changes.",
        fix: "Fetch it with the result type transactionsAndChanges.")
    }
    let place = PersistenceError.Place.store(
      context.persistentStoreCoordinator.persistentStores.first { $0.identifier == transaction.storeID }?.url)
    guard changes.allSatisfy({ $0.changeType == .insert || $0.oldValues != nil }) else {
      throw PersistenceError(
        .invalidRequest, at: place,
        "Transaction \(transaction.transactionNumber) can't be reverted, because its old values weren't kept.",
        fix: "Open the store with StoreOptions(historyKeeps: .oldValues), which keeps those of later transactions.")
    }
    self.changes = changes
    var request = HistoryChangeRequest.fetchHistory(after: transaction)
    request.affectedStoreIdentifiers = [transaction.storeID]
    later = try LaterChanges(
      context.persistentStoreCoordinator.execute(request).transactions, comparedWith: context.newestView())
  }

  /// - Throws: ``PersistenceError/Code/mergeConflict`` if the merge policy doesn't resolve conflicts.
  func requireNoConflicts() throws {
    guard rule == nil else { return }
    let found = changes.filter { isInConflict($0) }
    guard !found.isEmpty else { return }
    let errors = found.map { change in
      let id = change.changedObjectID
      let isGone = later[id]?.isDeleted == true
      let names = isGone ? [] : later[id]?.properties.sorted() ?? []
      let changed = names.isEmpty ? "" : " (\(names.joined(separator: ", ")))"
      return PersistenceError(
        .mergeConflict, at: .init(entity: id.entityName, row: id.primaryKey),
        "\(id.entityName) \(id.primaryKey ?? 0) was \(isGone ? "deleted" : "changed") after the transaction\(changed).")
    }
    var error = PersistenceError.combining(
      errors, as: .mergeConflict,
      "\(errors.count) objects were changed after the transaction that was to be reverted.")
    error.fix = "Set the context's mergePolicy, or revert the later transactions first."
    throw error
  }

  private func isInConflict(_ change: HistoryChange) -> Bool {
    guard let later = later[change.changedObjectID], later.lasts else { return false }
    switch change.changeType {
    case .insert: return !later.isDeleted
    case .delete: return false
    case .update:
      let names = (change.oldValues.map { Array($0.keys) } ?? []) + (change.memberChanges.map { Array($0.keys) } ?? [])
      return later.isDeleted || names.contains(where: later.hasChanged)
    }
  }

  /// The object's properties that are put back; nil for none.
  private func accepts(_ name: String, of change: HistoryChange) -> Bool {
    guard change.changeType == .update, let later = later[change.changedObjectID] else { return true }
    switch rule {
    case .rollback: return !isInConflict(change)
    case .store, nil: return !later.hasChanged(name)
    case .object, .overwrite: return true
    }
  }

  /// The transaction's objects, reported as updated, so that the context rereads those that it has: a revert is applied
  /// to the newest rows.
  var concerned: SavedChanges { SavedChanges(updated: Set(changes.map(\.changedObjectID))) }

  // MARK: Changing

  func run() {
    var changed: [(change: HistoryChange, object: ManagedObject)] = []
    for change in changes where change.changeType == .delete {
      guard let object = bringBack(change) else { continue }
      changed.append((change, object))
    }
    for change in changes where change.changeType == .update {
      guard let object = existing(change.changedObjectID) else { continue }
      changed.append((change, object))
    }
    for (change, object) in changed { setValues(of: object, to: change) }
    // Relationships are emptied before others are filled, which would lose their new ends.
    for (change, object) in changed { setToOnes(of: object, to: change) { $0 == nil } }
    for (change, object) in changed { setToOnes(of: object, to: change) { $0 != nil } }
    for (change, object) in changed { setMembers(of: object, to: change) }
    for change in changes where change.changeType == .insert {
      guard !isInConflict(change) || rule?.keepsChanges == true, let object = existing(change.changedObjectID) else {
        continue
      }
      context.deleteAlone(object)
    }
  }

  /// The object with an identifier; nil if it is deleted.
  private func existing(_ id: ManagedObjectID) -> ManagedObject? {
    guard let object = context.registeredOrFault(id), object.change != .deleted else { return nil }
    object.fulfill()
    return object.loading == .missing ? nil : object
  }

  private func bringBack(_ change: HistoryChange) -> ManagedObject? {
    let id = change.changedObjectID
    // A later transaction may have brought it back already.
    guard existing(id) == nil, context.registeredObject(for: id)?.change != .deleted else { return nil }
    return context.insertFormerObject(id, version: change.formerVersion ?? 0)
  }

  private func setValues(of object: ManagedObject, to change: HistoryChange) {
    for (name, value) in change.oldValues ?? Dictionary() where accepts(name, of: change) {
      guard let slot = object.entity.slot(named: name), object.layout.relationshipsBySlot[slot] == nil,
        object.presentValue(at: slot) != value
      else { continue }
      object.setAttributeValue(value, at: slot)
    }
  }

  /// - Parameter isIncluded: Whether to set a destination; nil represents none.
  private dynamic func setToOnes(
    of object: ManagedObject, to change: HistoryChange, where isIncluded: (ManagedObject?) -> Bool
  ) {
    for (name, value) in change.oldValues ?? Dictionary() where accepts(name, of: change) {
      guard let slot = object.entity.slot(named: name), let relationship = object.layout.relationshipsBySlot[slot],
        !relationship.isToMany
      else { continue }
      var other: ManagedObject?
      if case .objectID(let id) = value { other = existing(id) }
      if isIncluded(other) { object.setToOne(other, at: slot) }
    }
  }

  private func setMembers(of object: ManagedObject, to change: HistoryChange) {
    for (name, members) in change.memberChanges ?? Dictionary() where accepts(name, of: change) {
      guard let slot = object.entity.slot(named: name), let relationship = object.layout.relationshipsBySlot[slot],
        relationship.isToMany
      else { continue }
      for other in members.added.compactMap({ existing($0) }) { object.removeMember(other, of: relationship) }
      for other in members.removed.compactMap({ existing($0) }) { object.insertMember(other, of: relationship) }
    }
  }
}

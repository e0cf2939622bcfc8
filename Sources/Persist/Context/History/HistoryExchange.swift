import Foundation

/// Exchanges the changes of a store with other stores of the same model, over any transport.
///
/// ```swift
/// let exchange = try HistoryExchange(coordinator, identifiedBy: ["Item": "id"])
/// for changes in try exchange.changeSets(after: lastSent) {
///   try JSONEncoder().encode(changes).write(to: folder.appendingPathComponent("\(changes.token).json"))
/// }
/// for file in received {
///   try exchange.apply(JSONDecoder().decode(HistoryChangeSet.self, from: Data(contentsOf: file)))
/// }
/// ```
///
/// Stores that have applied each other's change sets have the same objects, in whatever order the sets arrive, and
/// however often. For each property, the value that was set last wins, and a deleted object stays deleted. A merge
/// policy that prefers one side couldn't make two stores equal, so none is used. Each store remembers when its
/// values were set, in tables of Persist's own that Core Data ignores.
///
/// Objects are identified by an attribute that never changes, such as a UUID, or else by the URI that they had in
/// the store that created them. Applied transactions have the author ``author``, and aren't sent back.
///
/// All stores must have a history and use the same version of the model. An identifying attribute must have
/// ``AttributeDescription/preservesValueOnDeletion``, or the store must keep old values, so that deletions can name it.
/// Relationships must have at least one end that is to-many or has no inverse; those that are their own inverse, and
/// to-many relationships without an inverse, aren't supported. Orders of members and values of derived attributes
/// aren't exchanged.
public final class HistoryExchange: Sendable {
  /// The author of applied transactions.
  public static let author = "com.persist.exchange"

  let coordinator: PersistentStoreCoordinator
  let history: any StoreHistory
  let storeID: String
  /// The identifying attribute and the entity that it was given for, by entity.
  let identifiers: [String: (entity: String, attribute: String)]

  /// Prepares the exchange of a store.
  ///
  /// - Parameters:
  ///   - coordinator: The coordinator of the store.
  ///   - store: The store; nil for the coordinator's first one.
  ///   - attributes: The identifying attributes by entity, which apply to subentities too.
  /// - Throws: ``PersistenceError/Code/invalidRequest`` if the store has no history, or the model has relationships
  ///   that aren't supported; ``PersistenceError/Code/unknownProperty`` for an attribute that doesn't exist.
  public init(
    _ coordinator: PersistentStoreCoordinator, store: StoreInfo? = nil, identifiedBy attributes: [String: String] = [:]
  ) throws {
    self.coordinator = coordinator
    let identifier = store?.identifier ?? coordinator.persistentStores.first?.identifier
    guard let found = try coordinator.storesWithHistory(identifier.map { [$0] }).first else {
      throw PersistenceError(.invalidRequest, "The coordinator has no store.", fix: "Add a store with a history.")
    }
    (history, storeID) = (found.history, found.store.identifier)
    var identifiers: [String: (entity: String, attribute: String)] = [:]
    for entity in coordinator.managedObjectModel.entities {
      var holder: Entity? = entity
      while let current = holder, identifiers[entity.name] == nil {
        if let attribute = attributes[current.name] {
          guard current.property(named: attribute)?.attribute != nil else {
            throw PersistenceError(
              .unknownProperty, at: .property(current.name, attribute), "There is no attribute '\(attribute)'.",
              fix: "Name an attribute of '\(current.name)' that identifies its objects.")
          }
          identifiers[entity.name] = (current.name, attribute)
        }
        holder = current.superentity
      }
      for property in entity.properties where !Self.isSupported(property, of: entity, coordinator.managedObjectModel) {
        throw PersistenceError(
          .invalidRequest, at: .property(entity.name, property.name),
          "The relationship '\(property.name)' can't be exchanged.",
          fix: "Give it an inverse other than itself, and make one of the two a to-many relationship.")
      }
    }
    self.identifiers = identifiers
  }

  private static func isSupported(_ property: Property, of entity: Entity, _ model: ManagedObjectModel) -> Bool {
    guard let relationship = property.relationship, !relationship.isTransient else { return true }
    guard let inverse = model.inverse(of: relationship) else { return !relationship.isToMany }
    let isOwn = inverse.name == property.name && relationship.destination == property.declaringEntity
    return !isOwn && (relationship.isToMany || inverse.isToMany)
  }

  // MARK: Sending

  /// Returns the changes of transactions after a position, oldest first, without applied ones.
  ///
  /// - Parameter token: The ``HistoryChangeSet/token`` of the last change set that was sent; nil for all.
  /// - Throws: ``PersistenceError/Code/historyTokenExpired`` if transactions after it were deleted or not
  ///   recorded, or if the history is switched off; ``PersistenceError/Code/invalidRequest`` if a deleted object's
  ///   identifying attribute wasn't kept; the store's errors.
  public func changeSets(after token: HistoryToken?) throws -> [HistoryChangeSet] {
    var request = HistoryChangeRequest.fetchHistory(after: token)
    request.affectedStoreIdentifiers = [storeID]
    let transactions = try coordinator.execute(request).transactions.filter { $0.author != Self.author }
    try absorb()
    let state = ExchangeState(self, author: nil)
    return try transactions.map { transaction in
      var changes: [HistoryChangeSet.ObjectChange] = []
      var names: Set<String> = []
      for change in transaction.changes ?? [] {
        guard let found = try objectChange(change, state), names.insert(found.identity).inserted else { continue }
        changes.append(found)
      }
      return HistoryChangeSet(
        storeID: storeID, transactionNumber: transaction.transactionNumber, timestamp: transaction.timestamp,
        author: transaction.author, changes: changes)
    }
  }

  /// The present state of what a change has changed; nil if the object has been deleted by a later one.
  private func objectChange(_ change: HistoryChange, _ state: ExchangeState) throws -> HistoryChangeSet.ObjectChange? {
    guard let identity = try state.identity(of: change) else { return nil }
    var result = HistoryChangeSet.ObjectChange(entity: change.changedObjectID.entityName, identity: identity)
    if let deletion = try state.entry(identity, .deletion) {
      result.deletion = .init(deletion.clock)
      return result
    }
    guard let object = state.existing(change.changedObjectID) else { return nil }
    result.isWhole = change.changeType == .insert
    for property in object.entity.properties where change.concerns(property) {
      if state.isMembers(property, of: object.entity) {
        let entries = try state.entries(identity).values.filter { $0.part.property == property.name }
        result.members[property.name] = Dictionary(
          entries.map { ($0.part.member, .init(clock: .init($0.clock), isPresent: $0.isPresent)) },
          uniquingKeysWith: { first, _ in first })
      } else if property.isExchangedValue {
        let entry = try state.entry(identity, .init(property: property.name))
        let clock = HistoryChangeSet.Clock(entry?.clock ?? ExchangeClock(time: 0, store: storeID))
        var value = HistoryChangeSet.Value(clock: clock)
        if property.isToOne {
          let other = object.destination(at: property.slot).flatMap { state.existing($0.objectID) }
          value.reference = try entry?.reference ?? other.map { try state.identity(of: $0) }
        } else {
          value.value = .init(object.presentValue(at: property.slot))
        }
        result.values[property.name] = value
      }
    }
    return result
  }

  // MARK: Clocks of own changes

  /// Records the times of changes that weren't applied from elsewhere.
  func absorb() throws {
    var transactions: [HistoryTransaction] = []
    try history.forEachTransaction(HistoryQuery(afterNumber: history.exchangePosition())) { transactions.append($0) }
    guard let last = transactions.last else { return }
    let state = ExchangeState(self, author: nil)
    state.notes.position = last.transactionNumber
    for transaction in transactions where transaction.author != Self.author {
      let time = transaction.timestamp.timeIntervalSinceReferenceDate
      for change in transaction.changes ?? [] { try absorb(change, time, state) }
    }
    try history.write(state.notes)
  }

  private func absorb(_ change: HistoryChange, _ time: Double, _ state: ExchangeState) throws {
    guard let identity = try state.identity(of: change) else { return }
    func note(_ part: ExchangeEntry.Part, isPresent: Bool = true) throws {
      let former = try state.entry(identity, part)?.clock.time ?? -.infinity
      state.set(
        ExchangeEntry(
          identity: identity, part: part,
          clock: ExchangeClock(time: time > former ? time : former.nextUp, store: storeID), isPresent: isPresent))
    }
    if change.changeType == .delete { return try note(.deletion) }
    guard let object = state.existing(change.changedObjectID) else { return }
    for property in object.entity.properties where change.concerns(property) {
      if state.isMembers(property, of: object.entity) {
        guard let relationship = object.layout.relationshipsBySlot[property.slot] else { continue }
        let members = try Set(
          object.memberList(of: relationship).identifiers.compactMap(state.existing).map { try state.identity(of: $0) })
        let known = try state.entries(identity).values.filter { $0.part.property == property.name && $0.isPresent }
        let former = Set(known.filter { $0.reference == nil }.map(\.part.member))
        for member in members.subtracting(former) { try note(.init(property: property.name, member: member)) }
        for member in former.subtracting(members) {
          try note(.init(property: property.name, member: member), isPresent: false)
        }
      } else if property.isExchangedValue {
        try note(.init(property: property.name))
      }
    }
  }
}

extension HistoryChange {
  /// Whether the change may have changed a property.
  fileprivate func concerns(_ property: Property) -> Bool {
    changeType == .insert || updatedProperties?.contains(property.name) ?? true
  }
}

extension Property {
  /// Whether the property is an attribute or a to-one relationship that stores exchange.
  var isExchangedValue: Bool { !isTransient && attribute?.isDerived != true && (attribute != nil || isToOne) }
}

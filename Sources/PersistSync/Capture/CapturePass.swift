import Foundation
import Persist

/// Makes facts of the changes that programs have saved in the store.
struct CapturePass {
  let step: SyncStep
  /// The times of transactions by the replica's clock.
  let times: (HistoryTransaction) -> Date
  var record: ReplicaRecord
  var changes = RowChanges()
  /// The last transaction that has been read.
  var position: Int64
  /// The facts, in the order in which they were made.
  var facts: [(key: FactKey, value: Data)] = []
  /// The entries of objects whose facts were written as bytes, in the order of their keys.
  var entries = AttachedList()
  /// The facts of these objects, which aren't among ``facts``.
  var values = ValueFacts()
  /// Those facts on which the rows of other objects may depend.
  private(set) var related: [(key: FactKey, value: Data)] = []
  var inserted: Set<SyncTables.RowID> = []
  /// Objects that refer to deleted rows through relationships without an inverse.
  private(set) var dangling: Set<Identity> = []
  /// The same before the first synchronization, when other rows have no facts yet: rows and slots.
  private(set) var danglingRows: [(row: SyncStore.Row, slot: Int)] = []
  private var orders: [SyncTables.RowID: Set<String>] = [:]
  /// The version of the model before a migration since the last synchronization.
  var formerMap: ModelMap?
  /// The objects from which a migration has made others, with the entities of these, by the rows of the latter.
  var derived: [SyncTables.RowID: (source: Identity, entity: String)] = [:]
  /// The time of the first transaction that was read, in seconds since 2001.
  private(set) var firstTime: Double?
  /// Whether facts of nothing but values are written as ``entries``, which other facts don't see.
  var makesEntries = true
  /// The number of rows in a step of the first synchronization.
  var birthCount = 2000
  /// Before the first synchronization, changes have no replica, so that copies of a store agree on them.
  let isBirth: Bool

  var tables: SyncTables { step.tables }
  var schema: SyncSchema { step.schema }

  init(_ step: SyncStep, _ record: ReplicaRecord, times: @escaping (HistoryTransaction) -> Date) {
    (self.step, self.record, self.times) = (step, record, times)
    (position, isBirth) = (record.position, !record.isBorn)
  }

  /// - Parameter number: The last transaction of the state that the step reads; nil for the last one of the history.
  /// - Returns: Whether there is anything to write.
  mutating func run(upTo number: Int64? = nil) throws -> Bool {
    let extent = try step.history.extent()
    position = number ?? extent.lastNumber
    guard position != record.position || record.model != step.map.tag else { return false }
    var isComplete = record.isBorn && extent.isTracking && extent.isComplete(after: record.position)
    if record.isBorn, record.model != step.map.tag, try !adoptModel() { isComplete = false }
    try readHistory(after: isComplete ? record.position : nil)
    if !isComplete { try addAllRows() }
    // Rows that were changed during the birth have been left out.
    if record.isFresh { for row in changes.order { changes.change(row) { if $0.whole == nil { $0.whole = 0 } } } }
    if try !(makesEntries && captureAsBytes()) {
      let rows = try readRows()
      try tables.load(changes.order)
      let former = try captureDeletions(rows)
      try captureInsertions(rows, former)
      for row in changes.order {
        if let change = changes[row], let present = rows[row] { try capture(change, of: row, present) }
      }
      try captureOrders()
    }
    record.position = position
    record.model = step.map.tag
    record.isFresh = false
    return true
  }

  mutating func captureOrders() throws {
    for (row, names) in orders.sorted(by: { ($0.key.root, $0.key.key) < ($1.key.root, $1.key.key) }) {
      for name in names.sorted() { try captureOrder(name, of: row) }
    }
  }

  // MARK: Reading

  mutating func readHistory(after number: Int64?) throws {
    let (model, last) = (step.model, position)
    var (changes, time, firstTime) = (changes, record.time, firstTime)
    let (times, isBirth) = (times, isBirth)
    var query = HistoryQuery(afterNumber: number)
    query.includesOldValues = isBirth && !schema.identifiers.isEmpty
    try step.history.forEachTransaction(query) { transaction in
      if firstTime == nil { firstTime = transaction.timestamp.timeIntervalSinceReferenceDate }
      guard transaction.transactionNumber <= last, transaction.author != Replica.author, !transaction.isMigration else {
        return
      }
      let present = Stamp.time(of: times(transaction))
      // A time of a clock that was wrong, and has been corrected, doesn't last.
      let isWrong = time > present + Stamp.maximumSkew
      time = isWrong ? present : isBirth ? max(time, present) : max(present, time + 1)
      for change in transaction.changes ?? [] {
        changes.add(change, of: transaction, isBirth ? present : time, in: model)
      }
    }
    (self.changes, self.firstTime) = (changes, firstTime)
    record.time = time
  }

  /// All rows may have changed: the history doesn't show which ones have.
  private mutating func addAllRows() throws {
    let time = record.time + 1
    record.time = time
    var known: Set<SyncTables.RowID> = []
    // The rows of entities that the model lacks are parked.
    try tables.forEachRow { if step.model.entitiesByName[$1.entity] != nil { known.insert($1) } }
    var changes = changes
    for entity in step.model.entities where !entity.isAbstract {
      try step.store.forEachGroup(of: entity) { rows in
        for row in rows {
          let id = step.store.row(entity, row.key)
          known.remove(id)
          changes.change(id) { if $0.whole == nil { $0.whole = time } }
        }
      }
    }
    for row in known { changes.change(row) { $0.wasDeleted = true } }
    self.changes = changes
  }

  private func readRows() throws -> [SyncTables.RowID: SyncStore.Row] {
    try step.rows(changes.order)
  }

  // MARK: Objects

  /// - Parameter isPlain: Whether only the row of the fact's own object depends on it, and shows it already.
  mutating func add(_ key: FactKey, _ value: Data, isPlain: Bool = false) throws {
    guard try tables.join(key, value) else { return }
    facts.append((key, value))
    if !isPlain { related.append((key, value)) }
  }

  /// - Returns: The identities of rows that were inserted again.
  private mutating func captureDeletions(
    _ rows: [SyncTables.RowID: SyncStore.Row]
  ) throws -> [SyncTables.RowID: Identity] {
    var former: [SyncTables.RowID: Identity] = [:]
    for row in changes.order where changes[row]?.wasDeleted == true || rows[row] == nil {
      let identities = try tables.identities(of: row)
      former[row] = identities.min()
      for identity in identities { try delete(identity) }
      if identities.isEmpty { addDeletion(of: row) }
    }
    entries.sort()
    return former
  }

  mutating func delete(_ identity: Identity) throws {
    if var life = try tables.facts(of: identity).life, life.exists, life.count < SyncFormat.maximumLife {
      life.count += 1
      try add(.life(identity), life.bytes)
    }
    try step.setRow(of: identity, to: nil)
    try tables.setUniqueKeys(of: identity, to: [])
  }

  mutating func captureInsertions(
    _ rows: [SyncTables.RowID: SyncStore.Row], _ former: [SyncTables.RowID: Identity]
  ) throws {
    let new = try changes.order.filter { try rows[$0] != nil && tables.identities(of: $0).isEmpty }
    try tables.load(
      new.compactMap { row in
        try former[row] ?? rows[row].map { try step.identifier(of: $0) ?? creation(of: row, $0) }
      })
    for row in new {
      guard let present = rows[row] else { continue }
      let identity = try former[row] ?? newIdentity(of: row, present)
      let facts = try tables.facts(of: identity)
      // A migration doesn't revive what others have deleted.
      let isRevived = derived[row] != nil && facts.count > 0
      if !facts.exists, !isRevived, facts.count < SyncFormat.maximumLife {
        let life = Life(count: facts.count + 1, model: step.map.tag, entity: row.entity)
        try add(.life(identity), life.bytes)
      }
      try step.setRow(of: identity, to: row)
      inserted.insert(row)
      changes.change(row) { if $0.whole == nil { $0.whole = 0 } }
    }
  }

  private func newIdentity(of row: SyncTables.RowID, _ present: SyncStore.Row) throws -> Identity {
    // Another object of the store may have the same value: only one of them is known by it.
    if let identity = try step.identifier(of: present),
      try !tables.facts(of: identity).exists || tables.row(of: identity) == nil
    {
      return identity
    }
    if let (source, entity) = derived[row] { return Identity(derivedFrom: source, as: entity) }
    return creation(of: row, present)
  }

  /// The identity by the place and time of creation.
  private func creation(of row: SyncTables.RowID, _ present: SyncStore.Row) -> Identity {
    let created = changes[row]?.created ?? 0
    let root = schema[present.entity].oldestRoot
    return Identity(store: step.storeName, entity: root, key: row.key, created: created)
  }

  // MARK: Values

  mutating func capture(
    _ change: RowChange, of id: SyncTables.RowID, _ row: SyncStore.Row
  ) throws {
    let identities = try tables.identities(of: id).sorted()
    guard let first = identities.first else { return }
    if identities.count == 1, try captureAttributes(change, of: first, row) { return }
    // The object whose unique values the row shows gets the row's new values.
    let identity = try Uniqueness(step).winner(of: identities)?.identity ?? first
    let isNew = inserted.contains(id)
    let (part, properties) = (schema[row.entity], change.properties)
    try unite(identities)
    let object = try tables.facts(of: identity)
    let shown = try shown(identities, by: identity, in: row, id)
    // Changes of removed parts that are there again aren't named by the history.
    let unnamed = try change.whole == nil && change.lastTime != nil ? formerNames(of: object, in: row.entity) : []
    let isCompared = change.whole != nil || !unnamed.isEmpty
    let formerlyShown = try !isCompared || isNew ? nil : formerlyShown(identities, by: identity, in: row, id)
    func adoptionTime(_ name: String) -> UInt64? { change.wasMigrated && shown.registers[name] == nil ? 0 : nil }
    func time(_ name: String) -> UInt64? {
      // Values that a migration has computed are older than all changes.
      let whole = change.inserted == nil ? adoptionTime(name) ?? change.whole : change.whole
      return [properties[name], whole].compactMap { $0 }.max() ?? (unnamed.contains(name) ? change.lastTime : nil)
    }
    /// - Parameters:
    ///   - stored: The content of the fact if it isn't the value itself.
    ///   - isPart: Whether the history doesn't tell whether the value is one of those that were changed.
    func set(
      _ name: String, _ content: Data, at time: UInt64, isPart: @autoclosure () -> Bool = false,
      as stored: @autoclosure () -> Data? = nil
    ) throws {
      let last = shown.registers[name]?.first
      // A value that was changed and changed back was set last.
      if let last, last.content == content, !change.isRepeated(name) || isPart() { return }
      let register = Register(life: object.count, stamp: stamp(time, after: last?.stamp), content: stored() ?? content)
      let former = try properties[name] == nil ? formerName(of: name, object, in: row.entity) : nil
      let property = former ?? PropertyName(model: step.map.tag, entity: row.entity.name, name: name)
      try add(.value(identity, property), register.bytes)
    }
    for attribute in part.attributes {
      let name = row.entity.properties[attribute.propertySlot].name
      guard let time = time(name) ?? adoptionTime(attribute.name) else { continue }
      let value = try step.store.value(attribute, in: row)
      if !isNew, properties[name] == nil,
        [shown, formerlyShown].contains(where: { shown in
          shown.map { value == attribute.value(of: $0.registers[attribute.name] ?? []) } == true
        })
      {
        continue
      }
      if !isNew, identities.count == 1, object.unions.isEmpty, time > 0,
        let last = shown.registers[attribute.name]?.first,
        try captureMembers(of: attribute, value, after: last, at: time, object, row.entity)
      {
        continue
      }
      try set(
        attribute.name, PortableValue.bytes(value), at: time,
        isPart: !attribute.path.isEmpty || Self.mayHaveMembers(attribute, value, isChanged: !object.parts.isEmpty),
        as: tables.content(of: value))
    }
    for relationship in part.relationships {
      guard let time = time(relationship.name) ?? adoptionTime(relationship.name) else { continue }
      if relationship.isRegister {
        let target = step.store.target(relationship, in: row)
        if let target, relationship.inverse == nil, try tables.identities(of: target).isEmpty {
          if isBirth { danglingRows.append((row, relationship.property.slot)) } else { dangling.insert(identity) }
        }
        if !isNew, properties[relationship.name] == nil,
          try [shown, formerlyShown].compactMap({ $0 }).contains(where: {
            try target == ProjectionPass(step).destination(relationship, of: $0)
          })
        {
          continue
        }
        try set(relationship.name, content(referringTo: target), at: time)
        // At the birth, the owner's row has the order.
        if !isBirth, relationship.inverse?.relationship?.isOrdered == true, let owner = target,
          let name = relationship.inverse?.name
        {
          orders[owner, default: []].insert(name)
        }
      } else if relationship.hasMemberFacts
        || (relationship.isOtherEnd && !isBirth && (change.whole != nil || time == 0))
      {
        // A changed pair is recorded for both of its rows, unless one of them is new.
        try captureMembers(relationship, of: row, identities, time, isNew: isNew, adopts: time == 0 && !isBirth)
      } else if relationship.isOneWay {
        try captureOwned(relationship, by: row, identities, time, isNew: isNew, adopts: time == 0 && !isBirth)
      }
      if relationship.isOrdered, try time > 0 || isBirth || !hasPlaces(relationship.name, object, row.entity) {
        orders[id, default: []].insert(relationship.name)
      }
    }
    try Uniqueness(step).update(identities)
  }

  private func hasPlaces(_ name: String, _ object: ObjectFacts, _ entity: Entity) throws -> Bool {
    try !step.places(name, of: [object.identity], in: entity).isEmpty
  }

  private func content(referringTo target: SyncTables.RowID?) throws -> Data {
    guard let target, let identity = try tables.identities(of: target).min() else { return PortableValue.bytes(.null) }
    return PortableValue.bytes(referringTo: identity, life: try tables.facts(of: identity).count)
  }

  /// The row that follows from the known facts. It may be less than they contain: a reference to an object that hasn't
  /// arrived is nil, and so is a value that the model has no equal for. Rows that show just that haven't been changed.
  func shown(
    _ identities: [Identity], by winner: Identity, in row: SyncStore.Row, _ id: SyncTables.RowID
  ) throws -> ProjectionPass.Target {
    let group = Uniqueness.Group(members: identities, winner: winner, entity: row.entity)
    let target = ProjectionPass.Target(group, id)
    try ProjectionPass(step).readRegisters(of: target)
    return target
  }

  /// The row that follows from the facts that the version before a migration had a place for. If the history doesn't
  /// tell what was changed before the migration, a row that shows just that wasn't.
  private func formerlyShown(
    _ identities: [Identity], by winner: Identity, in row: SyncStore.Row, _ id: SyncTables.RowID
  ) throws -> ProjectionPass.Target? {
    guard let formerMap else { return nil }
    let target = ProjectionPass.Target(
      Uniqueness.Group(members: identities, winner: winner, entity: row.entity), id)
    for member in identities {
      let found = try step.registers(of: tables.facts(of: member), in: row.entity, visibleIn: formerMap)
      target.registers.merge(found) { ($0 + $1).sorted { Register.isLater($0, than: $1) } }
    }
    return target
  }

  func stamp(_ time: UInt64, after former: Stamp?) -> Stamp {
    // Values older than all changes name no replica, so that copies of a store agree on them.
    let replica = isBirth || time == 0 ? Stamp.origin : record.id
    return Stamp(time: former.map { max(time, min($0.time + 1, SyncFormat.maximumTime)) } ?? time, replica: replica)
  }

  /// A change of a row that represents several objects makes them one for good.
  private mutating func unite(_ identities: [Identity]) throws {
    guard let first = identities.first else { return }
    for other in identities.dropFirst() {
      try add(.union(first, other), Register.present)
      try add(.union(other, first), Register.present)
    }
  }
}

import Foundation
import Persist

/// The steps of a synchronization that use the store. Each one is a transaction of its own.
struct ReplicaWork: Sendable {
  let coordinator: PersistentStoreCoordinator
  let storeIdentifier: String
  let schema: SyncSchema
  let tag: ModelTag
  let sources: SyncSources
  let mappings: VersionMappings
  let arrivals = Arrivals()

  /// The number of facts in a change set, and their size in bytes.
  private static let setSize = (count: 5000, bytes: 4 << 20)

  func storeWithHistory() throws -> (store: any PersistentStore, history: any StoreHistory) {
    guard let found = try coordinator.storesWithHistory([storeIdentifier]).first else {
      throw PersistenceError(
        .invalidRequest, "The store of the replica is no longer open.", fix: "Add it to the coordinator again.")
    }
    return found
  }

  /// - Parameter state: The state of the rows; nil for the present one.
  func open(reading state: State? = nil) throws -> (step: SyncStep, record: ReplicaRecord, isNew: Bool) {
    let found = try storeWithHistory()
    guard try found.history.extent().isTracking else {
      throw PersistenceError(
        .invalidRequest, at: .store(found.store.url), "The history of the store is switched off.",
        fix: "Open it with StoreOptions(tracksHistory: true).")
    }
    let store = SyncStore(found.store, coordinator.managedObjectModel, schema, reading: state?.rows)
    let step = try SyncStep(
      store, found.history, tag: tag, registry: coordinator.registry, mappings: mappings, known: sources.known,
      storeName: sources.storeName(found.store.identifier))
    let life = found.history.life
    guard var record = step.tables.record else {
      return (step, ReplicaRecord(id: sources.newIdentity(), life: life, model: tag), true)
    }
    guard record.life != life else { return (step, record, false) }
    try begin(life, &record, step.tables)
    return (step, record, true)
  }

  /// Makes a copy, or a store that was put back to an earlier state, a replica of its own.
  private func begin(_ life: UInt64, _ record: inout ReplicaRecord, _ tables: SyncTables) throws {
    let unsent = try tables.unsent(limit: .max)
    var former = ReceivedSets()
    former.upTo = (unsent.first?.number ?? record.lastNumber + 1) - 1
    tables.setReceived(former, from: record.id)
    (record.id, record.life, record.lastNumber) = (sources.newIdentity(), life, 0)
    for (number, _) in unsent { try tables.setUnsent(number, nil) }
    for (_, data) in unsent {
      record.lastNumber += 1
      let entry = SyncEntry(replica: record.id, number: record.lastNumber)
      let set = ChangeSet(entry, try ChangeSet(data).facts)
      try tables.setUnsent(record.lastNumber, set.data, naming: set.digests)
    }
  }

  // MARK: Own changes

  /// Makes facts and change sets of the changes since the last synchronization, and updates the rows that depend on
  /// them: a new object may be one that others have referred to, and a changed one may have another's unique value.
  @discardableResult
  func capture() throws -> (record: ReplicaRecord, applied: AppliedSets) {
    if let captured = try captureChanges() { return captured }
    let first = try bear()
    guard let (record, applied) = try captureChanges() else { return try capture() }
    return (record, first + applied)
  }

  /// - Returns: Nil before the birth.
  private func captureChanges() throws -> (record: ReplicaRecord, applied: AppliedSets)? {
    if let captured = try besideOthers(attempts: 1, { try captureChanges(of: nil) }) { return captured }
    // Most captures write no rows, and needn't know what has been saved since.
    if let state = try presentState(),
      let captured = try besideOthers(attempts: 1, { try captureChanges(of: state) })
    {
      return captured
    }
    return try alone { try captureChanges(of: nil) }
  }

  /// - Parameter state: A state of the store; nil for the present one.
  private func captureChanges(of state: State?) throws -> (record: ReplicaRecord, applied: AppliedSets)? {
    let (step, record, isNew) = try open(reading: state)
    guard record.isBorn else { return nil }
    var pass = CapturePass(step, record, times: sources.times())
    guard try pass.run(upTo: state?.number) || isNew else { return (record, AppliedSets()) }
    var new = pass.record
    let joining = try joining(pass, &new)
    return try write(joining, pass.entries, in: step, new, of: state)
  }

  /// Makes facts and change sets of all rows before the first synchronization.
  private func bear() throws -> AppliedSets {
    var applied = AppliedSets()
    var history: CapturePass.BirthHistory?
    while let step = try bearNext(&history) { applied = applied + step }
    return applied
  }

  /// Makes facts of the next rows. Nobody knows of these objects, so that no row depends on the new facts.
  ///
  /// - Parameter history: The history at the beginning, which is read if it isn't known.
  /// - Returns: Nil once the birth is over.
  func bearNext(_ history: inout CapturePass.BirthHistory?) throws -> AppliedSets? {
    try repeating { attempt in
      var (step, record, _) = try open()
      guard !record.isBorn else { return nil }
      var birth = try record.birth ?? ReplicaRecord.Birth(upTo: step.history.lastNumber())
      // A migration has given rows other names: those that have been reached are recognized by their identities.
      if record.model != tag { birth = ReplicaRecord.Birth(upTo: birth.upTo) }
      (record.birth, record.model) = (birth, tag)
      var pass = CapturePass(step, record, times: sources.times())
      if attempt == .alone { pass.birthCount /= 4 }
      let known = try history.flatMap { $0.upTo == birth.upTo ? $0 : nil } ?? pass.readBirthHistory(upTo: birth.upTo)
      history = known
      let last = try pass.bear(known)
      var new = pass.record
      if birth.phase == .values {
        try addSets(pass.facts, &new, step)
        try addSets(pass.values, &new, step)
      }
      let writes = step.store.clearing(pass.danglingRows)
      _ = try commit(writes, pass.entries, in: step, new, from: nil, after: last, advances: false)
      return AppliedSets(waiting: step.map.failures)
    }
  }

  /// Writes the facts of a step, with the rows that depend on them, in one transaction.
  ///
  /// - Parameters:
  ///   - entries: Entries beside those of the step.
  ///   - state: The state that the step has read; nil for the present one.
  /// - Throws: ``RowConflicts`` if there are rows to write, and others may have changed them since the state.
  func write(
    _ facts: FactJoining, _ entries: AttachedList = AttachedList(), in step: SyncStep, _ former: ReplicaRecord,
    of state: State? = nil
  ) throws -> (record: ReplicaRecord, applied: AppliedSets) {
    var (record, facts) = (former, facts)
    let affected = try facts.affected()
    var pass = ProjectionPass(step)
    pass.add(affected.all.sorted(), attributesOnly: affected.attributesOnly)
    let deleted = try pass.assignRows()
    let writing = try RowWriting(pass, deleting: deleted)
    if state != nil, !writing.writes.isEmpty { throw RowConflicts(conflicts: []) }
    record = try commit(
      writing.writes, entries, in: step, record, from: facts.origins, after: state == nil ? record.position : nil)
    return (record, AppliedSets(problems: writing.problems, waiting: step.map.failures))
  }

  /// Writes rows and entries in one transaction.
  ///
  /// - Parameters:
  ///   - origins: The replicas that made the changes.
  ///   - entries: Entries beside those of the step.
  ///   - number: The last transaction of the history that the step knows; nil if others may follow, and there are no
  ///     rows.
  ///   - advances: Whether the transaction becomes the record's position, so that it needn't be read again.
  /// - Returns: The new record.
  func commit(
    _ writes: RowWrites, _ entries: AttachedList, in step: SyncStep, _ record: ReplicaRecord, from origins: String?,
    after number: Int64?, advances: Bool = true
  ) throws -> ReplicaRecord {
    var (record, writes) = (record, writes)
    if advances, !writes.isEmpty, let number { record.position = number + 1 }
    step.tables.setRecord(record)
    var attached = try step.tables.finish(after: number)
    if !entries.isEmpty { attached.lists.append(entries) }
    guard !writes.isEmpty else {
      try step.history.write(attached)
      arrivals.add(attached, step.tables.record)
      return step.tables.record ?? record
    }
    writes.origin = HistoryOrigin(author: Replica.author, contextName: origins)
    writes.origin?.attached = attached
    let receipt = try step.store.store.commit(writes)
    guard let number, receipt.historyNumber == number + 1 else {
      throw PersistenceError(
        .saveFailed, at: .store(step.store.store.url), "The history hasn't recorded applied changes.",
        fix: "Open the store with StoreOptions(tracksHistory: true).")
    }
    arrivals.add(attached, step.tables.record)
    // Large sets of identifiers are made only for contexts that merge them.
    coordinator.announce { step.store.changes(of: writes) }
    return step.tables.record ?? record
  }

  /// Writes the entries of a step in a transaction that the history doesn't record.
  func write(_ step: SyncStep) throws {
    let entries = try step.tables.finish(after: nil)
    try step.history.write(entries)
    arrivals.add(entries, step.tables.record)
  }

  func addSets(
    _ facts: [(key: FactKey, value: Data)], _ record: inout ReplicaRecord, _ step: SyncStep
  ) throws {
    var latest: [FactKey: Data] = [:]
    var order: [FactKey] = []
    for (key, value) in facts where latest.updateValue(value, forKey: key) == nil { order.append(key) }
    if try step.tables.entry(FactKey.model(tag).bytes) == nil {
      for (key, description) in descriptions() where try step.tables.join(key, description) {
        order.insert(key, at: 0)
        latest[key] = description
      }
    }
    var set: [ChangeSet.Fact] = []
    var size = 0
    func finish() throws {
      record.lastNumber += 1
      let changes = ChangeSet(SyncEntry(replica: record.id, number: record.lastNumber), set)
      try step.tables.setUnsent(record.lastNumber, changes.data, naming: changes.digests)
      (set, size) = ([], 0)
    }
    for key in order {
      guard let value = latest[key] else { continue }
      set.append(ChangeSet.Fact(key: key, value: value))
      size += value.count
      if set.count >= Self.setSize.count || size >= Self.setSize.bytes { try finish() }
    }
    if !set.isEmpty { try finish() }
  }

  func addSets(_ values: ValueFacts, _ record: inout ReplicaRecord, _ step: SyncStep) throws {
    var start = 0
    while start < values.facts.count {
      let end = values.end(after: start, Self.setSize)
      record.lastNumber += 1
      let entry = SyncEntry(replica: record.id, number: record.lastNumber)
      try step.tables.setUnsent(record.lastNumber, values.data(entry, start..<end))
      start = end
    }
  }

  /// The descriptions of the own version and of those before it, which lead older replicas through several renames.
  private func descriptions() -> [FactKey: Data] {
    var models = [tag: coordinator.managedObjectModel]
    for version in (coordinator.registry?.versions ?? []).before(tag) {
      models[ModelTag(of: version.model)] = version.model
    }
    return Dictionary(uniqueKeysWithValues: models.map { (.model($0.key), Data($0.value.description.json.utf8)) })
  }

  /// The next change sets to send, with the parts of large values that they name.
  func unsent() throws -> [(number: Int64, data: Data, parts: [Data])] {
    let tables = try open().step.tables
    return try tables.unsent(limit: 16).map { ($0.number, $0.data, try tables.digests(ofUnsent: $0.number)) }
  }

  /// A part of a large value; nil if the store doesn't have it.
  func part(_ digest: Data) throws -> Data? { try open().step.tables.part(digest) }

  /// The parts of large values that the store doesn't have, among some.
  func missingParts(_ digests: [Data]) throws -> [Data] { try open().step.tables.missingParts(digests) }

  /// Stores a part of a large value before the change set that names it.
  func addPart(_ part: Data) throws {
    try repeating { _ in
      let (step, record, _) = try open()
      step.tables.setPart(part)
      step.tables.setRecord(record)
      try write(step)
    }
  }

  func removeSent(_ numbers: [Int64], of replica: UUID) throws {
    guard !numbers.isEmpty else { return }
    try repeating { _ in
      let (step, record, isNew) = try open()
      guard !isNew, record.id == replica else { return }
      for number in numbers { try step.tables.setUnsent(number, nil) }
      step.tables.setRecord(record)
      try write(step)
    }
  }

  /// Makes the store another replica.
  func renew() throws {
    try repeating { _ in
      var (step, record, _) = try open()
      try begin(record.life, &record, step.tables)
      step.tables.setRecord(record)
      try write(step)
    }
  }

  // MARK: Changes of others

  func received() throws -> (replica: UUID, received: [UUID: ReceivedSets]) {
    let (step, record, _) = try open()
    return (record.id, try step.tables.allReceived())
  }

  func position() throws -> ReplicaPosition {
    let (step, record, _) = try open()
    return ReplicaPosition(
      replica: record.id, sent: record.lastNumber, received: try step.tables.allReceived().mapValues(\.upTo),
      date: sources.now())
  }
}

public import Foundation
public import Persist

/// A store whose changes are synchronized with those of other stores.
///
/// ```swift
/// let replica = try Replica(coordinator, identifiedBy: ["Note": "id"])
/// let report = try await replica.synchronize(with: FolderHub(folder))
/// ```
///
/// Replicas that have received each other's changes have the same objects. The store must have a history:
/// `StoreOptions.tracksHistory`.
public final class Replica: Sendable {
  /// The author of transactions with changes of other replicas, in the history.
  public static let author = "com.persist.sync"

  let coordinator: PersistentStoreCoordinator
  let work: ReplicaWork
  private let turn = SyncTurn()
  private let listeners = LockProtected<[UUID: AsyncStream<SyncEvent>.Continuation]>([:])

  /// Prepares the synchronization of a store.
  ///
  /// - Parameters:
  ///   - coordinator: The coordinator of the store.
  ///   - store: The store; nil for the coordinator's first one with a history.
  ///   - attributes: Attributes that identify objects, by entity; they apply to subentities too. Objects that two
  ///     replicas create with the same value are one. Other objects are identified by the place and time of their
  ///     creation.
  ///   - mappingModels: Mapping models that aren't files of the coordinator's registry, for changes of other versions.
  ///     Each names its versions, which are in the registry.
  ///   - clock: The present time.
  /// - Throws: `PersistenceError.Code.invalidRequest` if the store has no history or is one of a configuration, or if
  ///   a uniqueness constraint names a derived attribute;
  ///   `PersistenceError.Code.unknownEntity` and `PersistenceError.Code.unknownProperty` for attributes that don't
  ///   exist; the errors of reading the registry's mapping models.
  public convenience init(
    _ coordinator: PersistentStoreCoordinator, store: StoreInfo? = nil, identifiedBy attributes: [String: String] = [:],
    mappingModels: [MappingModel] = [], clock: @escaping @Sendable () -> Date = { Date() }
  ) throws {
    try self.init(
      coordinator, store: store, identifiedBy: attributes, mappingModels: mappingModels,
      sources: SyncSources(now: clock))
  }

  init(
    _ coordinator: PersistentStoreCoordinator, store: StoreInfo? = nil, identifiedBy attributes: [String: String],
    mappingModels: [MappingModel] = [], sources: SyncSources
  ) throws {
    self.coordinator = coordinator
    guard let found = try coordinator.storesWithHistory(store.map { [$0.identifier] }).first else {
      throw PersistenceError(.invalidRequest, "The coordinator has no store.", fix: "Add a store with a history.")
    }
    guard found.store.configuration == nil else {
      throw PersistenceError(
        .invalidRequest, at: .store(found.store.url), "A store of a configuration can't be synchronized.",
        fix: "Add the store without a configuration, so that it has all entities of the model.")
    }
    let mappings = try VersionMappings(coordinator.registry, mappingModels)
    work = ReplicaWork(
      coordinator: coordinator, storeIdentifier: found.store.identifier,
      schema: try SyncSchema(
        coordinator.managedObjectModel, identifiedBy: attributes, among: coordinator.registry?.versions ?? [],
        mappings: mappings, holdsNullCharacters: found.store.holdsNullCharacters),
      tag: ModelTag(of: coordinator.managedObjectModel), sources: sources, mappings: mappings)
  }

  /// The steps of synchronizations from now on.
  public var events: AsyncStream<SyncEvent> {
    let (stream, continuation) = AsyncStream.makeStream(of: SyncEvent.self)
    let id = UUID()
    let listeners = listeners
    listeners.withLock { $0[id] = continuation }
    continuation.onTermination = { _ in _ = listeners.withLock { $0.removeValue(forKey: id) } }
    return stream
  }

  private func send(_ event: SyncEvent) {
    for listener in listeners.withLock({ Array($0.values) }) { listener.yield(event) }
  }

  /// The identity of the replica. A copy and a restored backup of a store are other replicas.
  ///
  /// - Throws: The store's errors.
  public func identifier() async throws -> UUID {
    let work = work
    return try await turn.run { try await self.inBackground { try work.capture().record.id } }
  }

  func inBackground<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
    try await coordinator.threads.background.run(body)
  }

  /// Sends the store's changes to a hub, and applies those of other replicas.
  ///
  /// It can be interrupted at any time: what wasn't sent or applied is sent or applied next time. A change set that
  /// can't be read doesn't stop the others, and is in the report.
  ///
  /// - Throws: The errors of the store and of the hub; `PersistenceError.Code.invalidRequest` if the history is
  ///   switched off.
  /// - Complexity: O(*changes*), whatever the store's size, except for the first time.
  @discardableResult
  public func synchronize(with hub: any SyncHub) async throws -> SyncReport {
    try await turn.run {
      var report = SyncReport()
      try await self.push(to: hub, &report)
      let hasReceived = try await self.pull(from: hub, &report)
      // Deletions of objects that have just arrived.
      if hasReceived { try await self.push(to: hub, &report) }
      if report.sent > 0 || hasReceived {
        let work = self.work
        try await hub.setPosition(self.inBackground { try work.position() })
      }
      self.send(.finished(report))
      return report
    }
  }

  private func push(to hub: any SyncHub, _ report: inout SyncReport) async throws {
    let work = work
    var captured = try await inBackground { try work.capture() }
    report.add(captured.applied)
    while true {
      let (replica, last) = (captured.record.id, captured.record.lastNumber)
      // Changes that programs save meanwhile are sent next time.
      let unsent = try await inBackground { try work.unsent().filter { $0.number <= last } }
      guard !unsent.isEmpty else { return }
      guard try await inBackground({ try work.open().record.id == replica }) else {
        // The store was put back to an earlier state just now.
        captured = try await inBackground { try work.capture() }
        continue
      }
      var sent: [Int64] = []
      for (number, data, parts) in unsent {
        for part in parts { try await send(part, to: hub) }
        let entry = SyncEntry(replica: replica, number: number)
        guard try await hub.put(data, as: entry) else {
          // The store was put back to an earlier state, and has sent other changes since.
          captured = try await inBackground {
            try work.renew()
            return try work.capture()
          }
          report.add(captured.applied)
          break
        }
        // Somebody may have deleted a part that nothing named until now.
        for part in parts { try await send(part, to: hub) }
        sent.append(number)
        report.sent += 1
        send(.sent(entry))
      }
      let numbers = sent
      try await inBackground { try work.removeSent(numbers, of: replica) }
    }
  }

  /// Sends a part of a large value unless the hub has it.
  func send(_ digest: Data, to hub: any SyncHub) async throws {
    let (work, entry) = (work, SyncEntry(part: digest))
    guard try await !hub.contains(entry), let part = try await inBackground({ try work.part(digest) }) else { return }
    _ = try await hub.put(part, as: entry)
  }

  /// Gets the parts of large values that a change set names and the store doesn't have. Each is stored at once, so that
  /// an interrupted synchronization doesn't get it again.
  func getParts(of set: ChangeSet, from hub: any SyncHub) async throws {
    let (work, digests) = (work, set.digests)
    guard !digests.isEmpty else { return }
    for digest in try await inBackground({ try work.missingParts(digests) }) {
      guard let part = try await hub.content(of: SyncEntry(part: digest)) else {
        throw SyncFormat.error("A part of a large value isn't on the hub.")
      }
      guard Data(SHA256.digest(part)) == digest else {
        throw SyncFormat.error("A part of a large value is damaged.")
      }
      try await inBackground { try work.addPart(part) }
    }
  }

  private func pull(from hub: any SyncHub, _ report: inout SyncReport) async throws -> Bool {
    let work = work
    let (replica, received) = try await inBackground { try work.received() }
    var numbers = received.mapValues(\.upTo)
    numbers[replica] = .max
    var entries = try await hub.entries(after: numbers).filter { received[$0.replica]?.contains($0.number) != true }
    // A snapshot makes others unnecessary.
    entries = entries.filter(\.isSnapshot) + entries.filter { !$0.isSnapshot }
    var hasReceived = false
    var next = try await read(entries, from: hub)
    while !next.isEmpty {
      let batch = next
      report.refused += batch.refused
      let sets = try await withParts(batch.sets, from: hub, &report)
      // The following ones arrive while these are applied.
      async let following = read(batch.rest, from: hub)
      if !sets.isEmpty {
        report.add(try await inBackground { try work.apply(sets) })
        report.received += sets.count
        hasReceived = true
      }
      next = try await following
      if sets.contains(where: \.entry.isSnapshot) {
        let known = try await inBackground { try work.received() }.received
        next.remove { known[$0.replica]?.contains($0.number) == true }
      }
      if !sets.isEmpty { send(.received(sets.map(\.entry), remaining: next.sets.count + next.rest.count)) }
    }
    return hasReceived
  }

  /// Change sets that have been read, and are applied in one transaction.
  private struct Batch: Sendable {
    var sets: [ChangeSet] = []
    var refused: [RefusedChangeSet] = []
    /// The entries that are left.
    var rest: [SyncEntry]

    var isEmpty: Bool { sets.isEmpty && refused.isEmpty && rest.isEmpty }

    mutating func remove(_ isUnnecessary: (SyncEntry) -> Bool) {
      sets.removeAll { isUnnecessary($0.entry) }
      rest.removeAll(where: isUnnecessary)
    }
  }

  /// Reads the first of some change sets.
  private func read(_ entries: [SyncEntry], from hub: any SyncHub) async throws -> Batch {
    var batch = Batch(rest: [])
    var (size, facts, count) = (0, 0, 0)
    // Facts need much more memory than their sets.
    for entry in entries {
      if batch.sets.count >= 100 || size >= 8 << 20 || facts >= 100_000 { break }
      count += 1
      do {
        guard let data = try await hub.content(of: entry) else { continue }
        size += data.count
        let set = try ChangeSet(data)
        guard set.entry == entry else { throw SyncFormat.error("It is that of another entry.") }
        batch.sets.append(set)
        facts += set.count
      } catch let error as PersistenceError where !error.isOfHub {
        batch.refused.append(RefusedChangeSet(entry: entry, error: error))
      }
    }
    batch.rest = Array(entries[count...])
    return batch
  }

  /// The change sets whose parts of large values the store has got; the others are refused.
  private func withParts(
    _ sets: [ChangeSet], from hub: any SyncHub, _ report: inout SyncReport
  ) async throws -> [ChangeSet] {
    var complete: [ChangeSet] = []
    for set in sets {
      do {
        try await getParts(of: set, from: hub)
        complete.append(set)
      } catch let error as PersistenceError where !error.isOfHub {
        report.refused.append(RefusedChangeSet(entry: set.entry, error: error))
      }
    }
    return complete
  }
}

/// Runs one synchronization after another.
private actor SyncTurn {
  private var isTaken = false
  private var waiting: [CheckedContinuation<Void, Never>] = []

  private func take() async {
    if !isTaken {
      isTaken = true
      return
    }
    await withCheckedContinuation { waiting.append($0) }
  }

  private func leave() {
    if waiting.isEmpty { isTaken = false } else { waiting.removeFirst().resume() }
  }

  nonisolated func run<Result: Sendable>(_ body: @Sendable () async throws -> Result) async throws -> Result {
    await take()
    do {
      let result = try await body()
      await leave()
      return result
    } catch {
      await leave()
      throw error
    }
  }
}

extension PersistenceError {
  /// Whether the hub couldn't be reached or read, so that nothing is known about the content.
  var isOfHub: Bool { [.serverFailed, .fileAccess, .diskFull].contains(code) }
}

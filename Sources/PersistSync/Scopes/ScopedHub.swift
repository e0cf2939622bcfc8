public import Foundation
import Persist

/// The part of a hub that one user's devices see, on a server that has a replica of the whole.
///
/// The server decides what devices get and what they may change:
///
/// ```swift
/// let hub = ScopedHub(FolderHub(folder), server: replica, user: "ann", scope: scope)
/// ```
///
/// A device begins with a snapshot of its scope. Objects that come into the scope arrive with everything that is known
/// about them, and with the objects that they need. Objects that leave the scope leave the device, and are deleted for
/// nobody. Changes that the user may not make are refused object by object, and the device gets the server's state of
/// these objects again; the synchronization's ``SyncReport/refusals`` name them.
///
/// References to objects outside of the scope are nil on the device, and are kept. The identities of these objects are
/// sent with them: choose identifying attributes that are no secrets.
public struct ScopedHub: SyncHub {
  private let hub: any SyncHub
  private let server: Replica
  private let user: String
  private let scope: SyncScope
  private let review: @Sendable (SyncChange) async throws -> String?
  private let work: ScopeWork

  /// Restricts a hub to the objects of a user.
  ///
  /// - Parameters:
  ///   - hub: The hub with the changes of all users.
  ///   - server: A replica of the server that synchronizes with the hub. Its store has the objects of all users.
  ///   - user: A name for the user, which the server has authenticated.
  ///   - scope: The objects that the user gets and may change.
  ///   - review: Called for each change of an object that the scope allows. It returns a reason to refuse the change,
  ///     or nil to accept it. If it throws, the device keeps the change set and sends it again.
  /// - Throws: `PersistenceError.Code.unknownEntity` and `PersistenceError.Code.unknownProperty` if the server's model
  ///   doesn't have the entities and relationships of the scope.
  public init(
    _ hub: any SyncHub, server: Replica, user: String, scope: SyncScope,
    review: @escaping @Sendable (SyncChange) async throws -> String? = { _ in nil }
  ) throws {
    try scope.check(server.coordinator.managedObjectModel)
    (self.hub, self.server, self.user, self.scope, self.review) = (hub, server, user, scope, review)
    work = ScopeWork(server: server.work, user: user, scope: scope)
  }

  private func inBackground<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
    try await server.inBackground(body)
  }

  // MARK: Entries

  /// Lists the entries that bring a device of the user up to date.
  public func entries(after numbers: [UUID: Int64]) async throws -> [SyncEntry] {
    try await server.synchronize(with: hub)
    let work = work
    let (refreshed, known) = try await inBackground { (try work.refresh(), try work.server.covered()) }
    var state = refreshed
    let applied = known.filter { SyncEntry(replica: $0.key, number: 1).isOrdinary }
    func isMissing(after numbers: [UUID: Int64], in entries: [SyncEntry]) -> Bool {
      let present = Set(entries)
      return applied.contains { replica, sets in
        let last = numbers[replica] ?? 0
        return last < sets.upTo && !present.contains(SyncEntry(replica: replica, number: last + 1))
      }
    }
    // Others may contain facts that the server doesn't know yet.
    func list(after numbers: [UUID: Int64]) async throws -> [SyncEntry] {
      try await hub.entries(after: numbers).filter { applied[$0.replica]?.contains($0.number) == true }
    }
    var all = try await list(after: numbers)
    var (first, numbers) = (numbers[state.stream] ?? -1, numbers)
    var entries: [SyncEntry] = []
    if first < state.removed || isMissing(after: numbers, in: all) {
      all = try await list(after: [:])
      let isCurrent = state.snapshot.map {
        state.size <= max($0.size, 1000) && !isMissing(after: $0.covers, in: all)
      }
      if isCurrent != true { state = try await inBackground { try work.makeSnapshot() } }
      if let snapshot = state.snapshot {
        let last = numbers[snapshot.id] ?? 0
        if last < snapshot.count {
          entries += (last + 1...snapshot.count).map { SyncEntry(replica: snapshot.id, number: $0) }
        }
        first = max(first, snapshot.number)
        numbers.merge(snapshot.covers) { max($0, $1) }
      }
    }
    // Objects that come into the scope precede changes that refer to them.
    if first < state.number {
      entries += (first + 1...state.number).map { SyncEntry(replica: state.stream, number: $0) }
    }
    return entries + all.filter { $0.number > numbers[$0.replica] ?? 0 }
  }

  /// Returns the part of an entry that concerns the user; nil if there is no such entry.
  public func content(of entry: SyncEntry) async throws -> Data? {
    let work = work
    // Whoever knows the digest of a part has got it with a fact.
    if entry.isPart { return try await hub.content(of: entry) }
    guard entry.isOrdinary else { return try await inBackground { try work.content(of: entry) } }
    guard let content = try await hub.content(of: entry) else { return nil }
    return try await inBackground { try work.filtered(content) }
  }

  /// Stores those changes of a set that the user may make.
  ///
  /// - Throws: `PersistenceError.Code.malformedFile` if it isn't a change set of this entry;
  ///   `PersistenceError.Code.invalidRequest` if it belongs to another user's device;
  ///   `PersistenceError.Code.incompatibleModel` if the server's model has no place for an object.
  public func put(_ content: Data, as entry: SyncEntry) async throws -> Bool {
    if entry.isPart {
      guard entry.isPart(of: content) else { throw SyncFormat.error("It isn't the part of a large value.") }
      return try await hub.put(content, as: entry)
    }
    let set = try ChangeSet(content)
    guard set.entry == entry, entry.isOrdinary, set.facts.allSatisfy({ $0.key.isOrdinary }) else {
      throw SyncFormat.error("It isn't that of a device.")
    }
    let work = work
    let digest = Data(SHA256.digest(content))
    var reviewed = try await inBackground {
      try work.claim(entry.replica)
      return try work.reviewed(entry)
    }
    if reviewed == nil {
      if let present = try await hub.content(of: entry) {
        // The same set may have been reviewed meanwhile, and parts of it refused.
        reviewed = try await inBackground { try work.reviewed(entry) } ?? Data(SHA256.digest(present))
      } else {
        try await review(set, digest)
        reviewed = try await inBackground { try work.reviewed(entry) }
      }
    }
    guard let reviewed, reviewed.prefix(digest.count) == digest else { return false }
    let accepted = reviewed.count == digest.count ? content : reviewed.dropFirst(digest.count)
    guard try await hub.put(accepted, as: entry) else { return false }
    try await server.getParts(of: ChangeSet(accepted), from: hub)
    // Before the answer, even to a repeated request: the next set may change objects of this one, and a device gets the
    // server's facts of objects that come back.
    try await inBackground { _ = try work.server.apply([ChangeSet(accepted)]) }
    return true
  }

  /// Reviews a change set, and records the outcome.
  private func review(_ set: ChangeSet, _ digest: Data) async throws {
    let (work, user, scope, coordinator) = (work, user, scope, server.coordinator)
    let limit = Stamp.time(of: work.server.sources.now()) + Stamp.maximumSkew
    let changes = try await inBackground {
      try work.server.repeating { attempt in
        // The rows are computed from facts, which the server's own saves get when they are captured: once to add those
        // of the set, and once without them.
        let (present, former) = (try work.server.captured(attempt), try work.server.captured(attempt))
        let changes = try ChangeReview(
          step: present.step, former: former.step.tables, coordinator: coordinator, user: user, scope: scope
        ).changes(set, upTo: limit)
        // Facts and rows are those of one moment.
        if try present.step.history.lastNumber() != present.record.position { throw RowConflicts(conflicts: []) }
        return changes
      }
    }
    let outcome = try await ChangeReview.outcome(set, changes, review)
    let rest = outcome.refused.isEmpty ? Data() : ChangeSet(set.entry, outcome.accepted).data
    try await inBackground { try work.record(outcome, as: set.entry, digest + rest) }
  }

  /// Returns whether there is a part of a large value.
  public func contains(_ entry: SyncEntry) async throws -> Bool {
    entry.isPart ? try await hub.contains(entry) : try await content(of: entry) != nil
  }

  /// Throws: only the server forgets devices.
  public func removePositions(of replicas: [UUID]) async throws {
    guard !replicas.isEmpty else { return }
    throw PersistenceError(
      .invalidRequest, "Devices of a user can't forget others.", fix: "Compact the hub on the server.")
  }

  /// Throws: only the server replaces change sets by a snapshot.
  public func remove(_ entries: [SyncEntry]) async throws {
    guard !entries.isEmpty else { return }
    throw PersistenceError(
      .invalidRequest, "Devices of a user can't delete change sets.", fix: "Compact the hub on the server.")
  }

  // MARK: Positions

  /// Returns the positions of the user's devices.
  public func positions() async throws -> [ReplicaPosition] {
    let work = work
    let all = try await hub.positions()
    return try await inBackground { try all.filter { try work.owner(of: $0.replica) == work.user } }
  }

  /// Records the position of a device of the user.
  public func setPosition(_ position: ReplicaPosition) async throws {
    let work = work
    try await inBackground { try work.claim(position.replica) }
    try await hub.setPosition(position)
  }
}

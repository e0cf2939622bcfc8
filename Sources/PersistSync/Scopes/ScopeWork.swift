import Foundation
import Persist

/// The steps of serving one user's devices that use the server's store.
struct ScopeWork: Sendable {
  let server: ReplicaWork
  let user: String
  let scope: SyncScope

  private static let setSize = (count: 5000, bytes: 4 << 20)
  /// The number of objects in a set of the stream.
  private static let passageCount = 500

  /// Determines which objects have come into the scope and left it since the last time, and adds them to the stream.
  ///
  /// - Complexity: O(1) if the store hasn't changed; O(*objects of the scope*) otherwise.
  func refresh() throws -> ScopeState {
    try server.repeating { _ in
      let (step, _, _) = try server.open()
      let tables = ScopeTables(history: step.history, user: user)
      let (former, data) = try tables.state(server.sources.newIdentity)
      let (position, text) = (try step.history.lastNumber(), scope.text)
      let refusals = try tables.refusals()
      guard !former.isBegun || former.position != position || former.scope != text || !refusals.isEmpty else {
        return former
      }
      var state = former
      (state.position, state.scope, state.isBegun) = (position, text, true)
      let wanted = try identities(step)
      let held = try tables.identities(.held)
      let entering = wanted.subtracting(held)
      // Objects that were deleted don't leave: the devices learn of the deletion.
      var leaving = try held.subtracting(wanted).filter { try step.tables.row(of: $0) != nil }
      if try !leaving.isEmpty && step.history.lastNumber() != position {
        // A device's new object may have become one of the held ones and got its row after the scope was determined.
        leaving.subtract(try identities(server.open().step))
      }
      var values: [Data: Data?] = [:]
      for identity in entering {
        values[tables.key(.held, identity)] = Data()
        values.updateValue(nil, forKey: tables.key(.left, identity))
      }
      for identity in leaving {
        values.updateValue(nil, forKey: tables.key(.held, identity))
        values[tables.key(.left, identity)] = Data()
      }
      for (identity, reason) in refusals {
        values.updateValue(nil, forKey: tables.key(.refused, identity))
        values[tables.key(.replaced, identity)] = former.isBegun ? Data() : reason
      }
      // Nobody has asked for anything before: the first device begins with a snapshot.
      if former.isBegun {
        let kept = held.union(entering).subtracting(leaving)
        for facts in sets(entering: entering, leaving: leaving, refusing: refusals, keeping: kept) {
          values.merge(state.add(facts, tables)) { $1 }
        }
        state.size += entering.count + refusals.count
      }
      var entries = try tables.writing(state, replacing: data)
      entries.values.merge(values) { $1 }
      try step.history.write(entries)
      return state
    }
  }

  /// The objects of the scope, and those that they need.
  private func identities(_ step: SyncStep) throws -> Set<Identity> {
    try ScopeEvaluation(step: step, scope: scope, coordinator: server.coordinator).identities()
  }

  /// The sets of the stream as the store has them: which objects enter and leave. Their facts are added when a device
  /// reads a set, so that it gets everything that it has sent itself.
  private func sets(
    entering: Set<Identity> = [], leaving: Set<Identity> = [], refusing refusals: [Identity: Data],
    keeping kept: Set<Identity>
  ) -> [[ChangeSet.Fact]] {
    var passages: [Identity: Passage] = [:]
    for identity in entering { passages[identity] = Passage(kind: .enters) }
    for identity in leaving { passages[identity] = Passage(kind: .leaves) }
    for (identity, reason) in refusals {
      passages[identity] = Passage(
        kind: kept.contains(identity) ? .isReplaced : .leaves, reason: String(decoding: reason, as: UTF8.self))
    }
    let facts = passages.sorted { $0.key < $1.key }.map { ChangeSet.Fact(key: .pass($0), value: $1.bytes) }
    return stride(from: 0, to: facts.count, by: Self.passageCount).map {
      Array(facts[$0..<min($0 + Self.passageCount, facts.count)])
    }
  }

  /// The content of a set of the stream for devices.
  private func expanded(_ data: Data, _ step: SyncStep, _ tables: ScopeTables) throws -> Data {
    let set = try ChangeSet(data)
    var facts: [ChangeSet.Fact] = []
    for fact in set.facts {
      guard case .pass(let identity) = fact.key else { continue }
      let passage = try Passage(fact.value)
      if passage.kind != .enters { facts.append(fact) }
      // An object that has left again meanwhile does so in a later set.
      if passage.kind != .leaves, try !tables.held([identity]).isEmpty { facts += try Self.facts(of: identity, step) }
    }
    return ChangeSet(set.entry, facts).data
  }

  private static func facts(of identity: Identity, _ step: SyncStep) throws -> [ChangeSet.Fact] {
    try step.tables.facts(in: step.tables.entries(withPrefix: FactKey.prefix(of: identity)))
  }

  // MARK: Snapshots

  /// Writes a snapshot of the scope, part by part, in bounded memory; the former one and the sets that it contains are
  /// deleted.
  func makeSnapshot() throws -> ScopeState {
    let covers = try server.covered().filter { $0.value.upTo > 0 && SyncEntry(replica: $0.key, number: 1).isOrdinary }
    let number = try refresh().number
    let (step, _, _) = try server.open()
    let tables = ScopeTables(history: step.history, user: user)
    var entry = SyncEntry(replica: SyncEntry.snapshot(server.sources.newIdentity()), number: 0)
    func write(_ facts: [ChangeSet.Fact]) throws {
      entry.number += 1
      var entries = AttachedEntries()
      entries.values = [tables.key(part: entry): ChangeSet(entry, facts).data]
      try step.history.write(entries)
    }
    try write(step.tables.models().map { ChangeSet.Fact(key: .model($0.key), value: $0.value) })
    var (part, partSize): ([ChangeSet.Fact], Int) = ([], 0)
    let held = try tables.identities(.held)
    for identity in held.sorted() {
      let facts = try Self.facts(of: identity, step)
      part += facts
      partSize += facts.reduce(0) { $0 + $1.value.count }
      guard part.count >= Self.setSize.count || partSize >= Self.setSize.bytes else { continue }
      try write(part)
      (part, partSize) = ([], 0)
    }
    part += try tables.identities(.left).map {
      ChangeSet.Fact(key: .pass($0), value: Passage(kind: .leaves).bytes)
    }
    if !part.isEmpty { try write(part) }
    var covered = covers.mapValues(\.upTo)
    covered[try tables.state(server.sources.newIdentity).state.stream] = number
    try write(covered.map { ChangeSet.Fact(cover: $0.key, upTo: $0.value) })
    return try adopt(
      .init(id: entry.replica, count: entry.number, number: number, covers: covers.mapValues(\.upTo), size: held.count))
  }

  private func adopt(_ snapshot: ScopeState.Snapshot) throws -> ScopeState {
    try server.repeating { _ in
      let (step, _, _) = try server.open()
      let tables = ScopeTables(history: step.history, user: user)
      var (state, data) = try tables.state(server.sources.newIdentity)
      var removed: [Data] = []
      if let former = state.snapshot {
        removed += (1...former.count).map { tables.key(part: SyncEntry(replica: former.id, number: $0)) }
      }
      if state.removed < snapshot.number {
        removed += (state.removed + 1...snapshot.number).map { tables.key(stream: $0) }
      }
      (state.snapshot, state.removed, state.size) = (snapshot, max(state.removed, snapshot.number), 0)
      // A device that begins again may still have what was refused.
      let refusals = try tables.refusals(.replaced)
      var values: [Data: Data] = [:]
      for facts in sets(refusing: refusals, keeping: Set(refusals.keys)) {
        values.merge(state.add(facts, tables)) { $1 }
      }
      var entries = try tables.writing(state, replacing: data)
      for (key, value) in values { entries.values[key] = value }
      for (identity, reason) in refusals where !reason.isEmpty {
        entries.values[tables.key(.replaced, identity)] = Data()
      }
      for key in removed { entries.values.updateValue(nil, forKey: key) }
      try step.history.write(entries)
      return state
    }
  }

  // MARK: Contents

  /// The content of a set of the stream, or of a part of a snapshot; nil if it isn't there.
  func content(of entry: SyncEntry) throws -> Data? {
    let (step, _, _) = try server.open()
    let tables = ScopeTables(history: step.history, user: user)
    let state = try tables.state(server.sources.newIdentity).state
    if entry.replica == state.stream {
      return try tables.value(tables.key(stream: entry.number)).map { try expanded($0, step, tables) }
    }
    return entry.isSnapshot ? try tables.value(tables.key(part: entry)) : nil
  }

  /// The facts of a change set that concern objects which the user's devices have.
  func filtered(_ content: Data) throws -> Data {
    let set = try ChangeSet(content)
    let (step, _, _) = try server.open()
    let held = try ScopeTables(history: step.history, user: user).held(Set(set.facts.compactMap(\.key.object)))
    let facts = set.facts.filter { fact in
      fact.key.object.map(held.contains) ?? { if case .model = fact.key { true } else { false } }()
    }
    return facts.count == set.facts.count ? content : ChangeSet(set.entry, facts).data
  }
}

extension ScopeState {
  /// Adds a set to the stream.
  ///
  /// - Returns: The entry to write.
  fileprivate mutating func add(_ facts: [ChangeSet.Fact], _ tables: ScopeTables) -> [Data: Data] {
    number += 1
    let entry = SyncEntry(replica: stream, number: number)
    return [tables.key(stream: number): ChangeSet(entry, facts).data]
  }
}

extension SyncEntry {
  /// Whether the entry has changes of a replica itself.
  var isOrdinary: Bool { !isSnapshot && !isStream && !isPart }
}

extension ChangeSet.Fact {
  /// The fact that a snapshot contains the change sets of a replica up to a number.
  init(cover replica: UUID, upTo number: Int64) {
    var writer = ByteWriter()
    writer.fixed(UInt64(bitPattern: number))
    self.init(key: .cover(replica), value: writer.data)
  }
}

import Foundation
import Persist

/// Applying the changes of others.
extension ReplicaWork {
  /// Applies change sets: those of other replicas in one transaction, and parts of snapshots, whose facts are of many
  /// moments, perhaps in two.
  func apply(_ sets: [ChangeSet]) throws -> AppliedSets {
    let first = try applyModels(of: sets) + applyDeletions(among: sets)
    let (plain, left) = try applyPlain(sets)
    guard let left else { return first + plain }
    return try first + plain + apply(sets, left)
  }

  /// Adds unknown models first, because facts depend on them.
  private func applyModels(of sets: [ChangeSet]) throws -> AppliedSets {
    let models = sets.flatMap { $0.table?.general ?? [] }.filter { if case .model = $0.key { true } else { false } }
    guard !models.isEmpty else { return AppliedSets() }
    return try repeating { attempt in
      var captured = try captured(attempt)
      let new = try models.filter { try captured.step.tables.entry($0.key.bytes) == nil }
      guard !new.isEmpty else { return captured.applied }
      for fact in new { try captured.joining.join(fact) }
      return captured.applied + (try write(captured).applied)
    }
  }

  /// The latest time that raises the replica's.
  var limit: UInt64 { Stamp.time(of: sources.now()) + Stamp.maximumSkew }

  /// Applies facts that concern nothing but their own objects, unless others save all the time.
  ///
  /// - Returns: The facts of each change set that are left; nil if all sets have been applied.
  private func applyPlain(_ sets: [ChangeSet]) throws -> (applied: AppliedSets, left: [[ChangeSet.Fact]]?) {
    // A row may be missing.
    var readsRows = false
    let applied = try besideOthers { () -> (AppliedSets, [[ChangeSet.Fact]]?) in
      defer { readsRows = true }
      let captured = try capture().applied
      var (step, record, _) = try open()
      let tables = sets.compactMap(\.table)
      guard try PlainPass.accepts(sets, step) else { return (captured, sets.map(\.facts)) }
      if let applied = try applyValues(of: sets, tables, in: step, record, readsRows: readsRows) {
        return (captured + applied, nil)
      }
      var rows = try PlainRows(join(tables, step, record))
      let leavesObjects = rows.pass.leavesObjects
      guard !leavesObjects || sets.allSatisfy(\.entry.isSnapshot) else { return (captured, sets.map(\.facts)) }
      try rows.write()
      if !leavesObjects { for set in sets { try setReceived(set, step) } }
      record.time = max(record.time, rows.pass.latest)
      let replicas = rows.pass.replicas.union(sets.map(\.entry).filter(\.isOrdinary).map(\.replica))
      _ = try commit(
        rows.writes, rows.entries, in: step, record, from: FactJoining.origins(replicas), after: record.position)
      let applied = AppliedSets(problems: rows.problems, waiting: step.map.failures)
      return (captured + applied, leavesObjects ? tables.indices.map(rows.pass.leftFacts) : nil)
    }
    return applied ?? (AppliedSets(), sets.map(\.facts))
  }

  private func join(_ tables: [FactTable], _ step: SyncStep, _ record: ReplicaRecord) throws -> PlainPass {
    var pass = try PlainPass(tables, step, upTo: limit)
    try pass.join { try arrivals.possible($0, record, step.history) }
    return pass
  }

  /// Applies change sets with nothing but values of known objects.
  ///
  /// - Returns: Nil if a fact needs more than this.
  private func applyValues(
    of sets: [ChangeSet], _ tables: [FactTable], in step: SyncStep, _ former: ReplicaRecord, readsRows: Bool
  ) throws -> AppliedSets? {
    var (pass, record) = (ValuePass(tables, step, upTo: limit, readsRows: readsRows), former)
    guard try pass.run() else { return nil }
    for set in sets { try setReceived(set, step) }
    record.time = max(record.time, pass.latest)
    let replicas = pass.replicas.union(sets.map(\.entry).filter(\.isOrdinary).map(\.replica))
    _ = try commit(
      pass.writes, pass.entries, in: step, record, from: FactJoining.origins(replicas), after: record.position)
    return AppliedSets(problems: pass.problems, waiting: step.map.failures)
  }

  /// Applies facts of change sets in one transaction, with the rows that depend on them.
  private func apply(_ sets: [ChangeSet], _ facts: [[ChangeSet.Fact]]) throws -> AppliedSets {
    if let applied = try besideOthers({ try apply(sets, facts, .besideOthers) }) { return applied }
    // Others wait for a part of a change set at a time. Facts can be applied in any order, and more than once.
    var applied = AppliedSets()
    for (set, facts) in zip(sets, facts) {
      var rest = facts[...]
      repeat {
        let part = rest.prefix(Self.aloneCount)
        rest = rest.dropFirst(part.count)
        let (isFirst, isLast) = (part.startIndex == facts.startIndex, rest.isEmpty)
        applied = applied + (try alone {
          try apply([set], [Array(part)], .alone, leaves: isFirst, receives: isLast)
        })
      } while !rest.isEmpty
    }
    return applied
  }

  /// The number of facts that are applied while others wait.
  private static let aloneCount = 500

  /// - Parameters:
  ///   - leaves: Whether the objects that leave are forgotten.
  ///   - receives: Whether the sets count as applied afterward.
  private func apply(
    _ sets: [ChangeSet], _ facts: [[ChangeSet.Fact]], _ attempt: Attempt, leaves: Bool = true, receives: Bool = true
  ) throws -> AppliedSets {
    var captured = try captured(attempt)
    let step = captured.step
    var refusals: [SyncRefusal] = []
    try step.tables.load(Array(Set(facts.joined().compactMap(\.key.object))))
    try step.tables.loadReferrers(to: facts.joined().compactMap(\.key.createdOrDeleted))
    for (set, facts) in zip(sets, facts) {
      // Objects come into a scope and leave it in an order.
      let received = try step.tables.received(from: set.entry.replica)
      if set.entry.isStream, received.upTo != set.entry.number - 1 { continue }
      if set.entry.isOrdinary { captured.joining.replicas.insert(set.entry.replica) }
      if leaves, !set.entry.isOrdinary { refusals += try leave(set, &captured.joining, step) }
      for fact in facts { try captured.joining.join(fact) }
      if receives { try setReceived(set, step) }
    }
    captured.record.time = max(captured.record.time, captured.joining.latest)
    let applied = try write(captured).applied
    return AppliedSets(
      problems: captured.applied.problems + applied.problems, waiting: applied.waiting, refusals: refusals)
  }

  private func setReceived(_ set: ChangeSet, _ step: SyncStep) throws {
    var received = try step.tables.received(from: set.entry.replica)
    received.insert(set.entry.number)
    step.tables.setReceived(received, from: set.entry.replica)
    // The values may have been overruled already.
    step.tables.released.formUnion(set.digests)
    try step.tables.finishSnapshot(set, received)
  }

  /// Forgets the objects that leave the replica.
  ///
  /// - Returns: Those among them of which a change was refused.
  private func leave(_ set: ChangeSet, _ joining: inout FactJoining, _ step: SyncStep) throws -> [SyncRefusal] {
    var refusals: [SyncRefusal] = []
    var left: Set<Identity> = []
    for fact in set.facts {
      guard case .pass(let identity) = fact.key else { continue }
      let reason = try Passage(fact.value).reason
      if !reason.isEmpty {
        let id = try step.tables.row(of: identity).flatMap { row in
          step.model.entitiesByName[row.entity].map { step.store.identifier($0, row.key) }
        }
        refusals.append(SyncRefusal(objectID: id, reason: reason))
      }
      left.insert(identity)
      try joining.forget(identity)
    }
    guard !left.isEmpty else { return refusals }
    // The server gets these changes later, and sends them to others only. The object may come back.
    for (_, data) in try step.tables.unsent(limit: .max) {
      for fact in try ChangeSet(data).facts where fact.key.object.map(left.contains) == true {
        try joining.join(fact)
      }
    }
    return refusals
  }
}

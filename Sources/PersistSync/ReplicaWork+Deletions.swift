import Foundation
import Persist

/// Objects that the store has deleted before its first synchronization: see ``FormerDeletion``.
extension ReplicaWork {
  /// Deletes the objects among those of change sets that this store has deleted before, before their facts are applied.
  func applyDeletions(among sets: [ChangeSet]) throws -> AppliedSets {
    try repeating { attempt in
      let known = try open()
      guard !known.record.isBorn || known.record.hasDeletions else { return AppliedSets() }
      var captured = try captured(attempt)
      let step = captured.step
      let deleted = try step.deletedBefore(among: sets.compactMap(\.table))
      var facts: [(key: FactKey, value: Data)] = []
      for (identity, life) in deleted where try step.tables.join(.life(identity), life.bytes) {
        facts.append((.life(identity), life.bytes))
      }
      guard !facts.isEmpty else { return captured.applied }
      try addSets(facts, &captured.record, step)
      return captured.applied + (try write(captured).applied)
    }
  }
}

extension SyncStep {
  /// The objects that were deleted before the first synchronization, with their lives after that.
  fileprivate func deletedBefore(among sets: [FactTable]) throws -> [(identity: Identity, life: Life)] {
    var found: [(identity: Identity, origin: Origin, life: Life)] = []
    for table in sets {
      let heads = table.heads.map { Origin.isOrigin($0, inStore: storeName) }
      for object in table.objects {
        var (origin, life) = (object.identity.creation(inStore: storeName), Life?.none)
        for place in object.facts {
          let entry = table.entries[place]
          let head = table.heads[Int(entry.head)]
          if case .life? = head { life = try Life(table.bytes, entry.content) }
          if heads[Int(entry.head)] {
            origin = Origin(head, try PortableValue.content(table.bytes, entry.content), inStore: storeName)
          }
        }
        // Whoever has created it again knew of a deletion.
        if let origin, let life, life.count == 1 { found.append((object.identity, origin, life)) }
      }
    }
    guard !found.isEmpty else { return [] }
    let entries = try history.attachedValues(found.map { FormerDeletion.key(of: $0.origin) })
    found = try found.filter { identity, origin, _ in
      try entries[FormerDeletion.key(of: origin)].map { try FormerDeletion.proves($0, identity, origin) } ?? false
    }
    try tables.load(found.map(\.identity))
    return try found.compactMap { identity, _, life in
      // An object of the store may have got the same identifying value since.
      guard try tables.facts(of: identity).life == nil else { return nil }
      return (identity, Life(count: life.count + 1, model: life.model, entity: life.entity))
    }
  }
}

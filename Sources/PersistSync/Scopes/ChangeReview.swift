import Foundation
import Persist

/// Decides which facts of a user's change set a server accepts.
///
/// The rows are computed as if all facts were accepted. An object's facts are accepted if the user may write the object
/// as it was, and as it would be.
struct ChangeReview {
  let step: SyncStep
  /// The facts without the changes.
  let former: SyncTables
  let coordinator: PersistentStoreCoordinator
  let user: String
  let scope: SyncScope

  /// The result of a review.
  struct Outcome: Sendable {
    var accepted: [ChangeSet.Fact] = []
    /// The objects whose facts are accepted.
    var objects: Set<Identity> = []
    /// The reasons by object whose facts aren't.
    var refused: [Identity: String] = [:]
  }

  /// - Parameter hook: The application's own decision.
  static func outcome(
    _ set: ChangeSet, _ changes: [ReviewedChange], _ hook: @Sendable (SyncChange) async throws -> String?
  ) async throws -> Outcome {
    var refusals: [Identity: String] = [:]
    let changed = Set(set.facts.compactMap(\.key.object))
    for change in changes {
      var reason = change.refusal
      if reason == nil, changed.contains(change.identity), let description = change.description {
        reason = try await hook(description)
      }
      if let reason { refusals[change.identity] = reason.isEmpty ? "The change was refused." : reason }
    }
    var outcome = Outcome()
    for fact in set.facts {
      guard let identity = fact.key.object else {
        outcome.accepted.append(fact)
        continue
      }
      let ends = [identity, fact.key.other].compactMap { $0 }
      let reasons = ends.compactMap { refusals[$0] }
      let isRefused =
        switch fact.key {
        // A pair changes both of its objects: it is refused if both ends are.
        case .member: reasons.count == ends.count
        // A union affects both objects, so one refusal is enough.
        case .union: !reasons.isEmpty
        default: refusals[identity] != nil
        }
      if isRefused {
        outcome.refused[identity] = reasons.first
      } else {
        outcome.accepted.append(fact)
        outcome.objects.insert(identity)
      }
    }
    outcome.objects.subtract(outcome.refused.keys)
    return outcome
  }

  /// The change of one object by a set.
  struct ReviewedChange: Sendable {
    let identity: Identity
    var refusal: String?
    var description: SyncChange?
  }

  /// - Throws: `PersistenceError.Code.incompatibleModel` if the server's model has no place for an object.
  func changes(_ set: ChangeSet, upTo limit: UInt64) throws -> [ReviewedChange] {
    let identities = Set(set.facts.flatMap { [$0.key.object, $0.key.other].compactMap { $0 } })
    let tables = step.tables
    var joining = FactJoining(step, upTo: limit)
    for fact in set.facts { try joining.join(fact) }
    let affected = try joining.affected()
    var pass = ProjectionPass(step)
    pass.add(affected.all.sorted())
    let deleted = try pass.assignRows()
    let rows = ReviewedRows(try RowWriting(pass, deleting: deleted).writes, step, coordinator)
    return try identities.sorted().map { identity in
      let object = try tables.facts(of: identity)
      if object.exists, try step.entity(of: object) == nil {
        throw PersistenceError(
          .incompatibleModel,
          "The server's model has no place for '\(object.life?.entity ?? "")' of the version that the device has.",
          fix: "Update the server. The changes wait on the device.")
      }
      var change = ReviewedChange(identity: identity)
      let group = pass.targets[identity]?.group.members ?? [identity]
      for member in group {
        if let before = try former.row(of: member), try !isWritable(id(before), rows.present(id(before))) {
          change.refusal = "The object belongs to others."
        }
      }
      let after = try tables.row(of: identity).map(id)
      if let after, let object = rows.object(after), change.refusal == nil, try !isWritable(after, object) {
        change.refusal = "The user may not create or change such an object."
      }
      let before = try former.row(of: identity).map(id)
      if let entity = (after ?? before)?.entityName {
        change.description = SyncChange(
          user: user, kind: after == nil ? .deletion : before == nil ? .insertion : .update, entityName: entity,
          objectID: before, values: after.map { values(of: $0, rows) } ?? [:])
      }
      return change
    }
  }

  private func id(_ row: SyncTables.RowID) -> ManagedObjectID {
    ManagedObjectID(entityName: row.entity, storeIdentifier: step.store.store.identifier, key: .permanent(row.key))
  }

  private func isWritable(_ id: ManagedObjectID, _ object: (any KeyedObject)?) throws -> Bool {
    guard let entity = step.model.entitiesByName[id.entityName], let rule = scope.rule(of: entity)?.writing else {
      return false
    }
    guard let object else { return true }
    return try rule.evaluate(with: object)
  }

  private func values(of id: ManagedObjectID, _ rows: ReviewedRows) -> [String: StoredValue] {
    guard let entity = step.model.entitiesByName[id.entityName] else { return [:] }
    var values: [String: StoredValue] = [:]
    for (slot, value) in rows.values[id] ?? [:] where entity.properties.indices.contains(slot) {
      let property = entity.properties[slot]
      if property.attribute != nil { values[property.name] = value }
    }
    return values
  }
}

import Foundation
import Persist

/// Finds the objects of a scope in a server's store.
struct ScopeEvaluation {
  let step: SyncStep
  let scope: SyncScope
  let coordinator: PersistentStoreCoordinator

  /// The identities of the objects that match the rules, and of those that they need.
  ///
  /// - Complexity: O(*objects of the scope*).
  func identities() throws -> Set<Identity> {
    var rows: Set<SyncTables.RowID> = []
    var queue: [SyncTables.RowID] = []
    for entity in step.model.entities where !entity.isAbstract {
      guard let rule = scope.rule(of: entity) else { continue }
      for row in try matches(rule.reading, entity) where rows.insert(row).inserted { queue.append(row) }
    }
    while !queue.isEmpty {
      let group = queue
      queue = []
      for row in try needed(by: group) where rows.insert(row).inserted { queue.append(row) }
    }
    return Set(try rows.flatMap { try step.tables.identities(of: $0) })
  }

  private func matches(_ predicate: FetchPredicate, _ entity: Entity) throws -> [SyncTables.RowID] {
    var request = FetchRequest<ManagedObjectID>(entity.name)
    request.predicate = predicate
    request.includesSubentities = false
    return try ManagedObjectContext(coordinator).fetch(request).compactMap { id in
      guard id.storeIdentifier == step.store.store.identifier, let key = id.primaryKey else { return nil }
      return step.store.row(entity, key)
    }
  }

  /// The rows to which required relationships and those to follow lead.
  private func needed(by rows: [SyncTables.RowID]) throws -> [SyncTables.RowID] {
    var found: [SyncTables.RowID] = []
    for (name, group) in Dictionary(grouping: rows, by: \.entity) {
      guard let entity = step.model.entitiesByName[name] else { continue }
      let following = Set(scope.rule(of: entity)?.following ?? [])
      let relationships = step.schema[entity].relationships.filter {
        following.contains($0.name) || (!$0.isToMany && $0.property.relationship?.isOptional == false)
      }
      guard !relationships.isEmpty else { continue }
      for start in stride(from: 0, to: group.count, by: 500) {
        let keys = group[start..<min(start + 500, group.count)].map(\.key)
        for (key, row) in try step.store.rows(of: entity, keys) {
          for relationship in relationships {
            if relationship.isToMany {
              found += try step.store.members(relationship, of: entity, key)
            } else if let target = step.store.target(relationship, in: row) {
              found.append(target)
            }
          }
        }
      }
    }
    return found
  }
}

import Persist

/// Reads the objects at the other end of a relationship, in windows.
struct RelatedObjectsReader {
  let context: ManagedObjectContext
  let id: ManagedObjectID
  /// More members than this are read by a request with a limit rather than all at once.
  private static let countReadAtOnce = 5000

  /// A window of the members, and the number of all.
  func members(
    of relationship: RelationshipDescription, start: Int, count: Int
  ) throws -> (ids: [ManagedObjectID], total: Int) {
    let total = try memberCount(of: relationship)
    guard total > Self.countReadAtOnce, !relationship.isOrdered, let inverse = context.model(inverseOf: relationship)
    else {
      let all = try context.object(with: id).objectIDs(forRelationshipNamed: relationship.name)
      let sorted = relationship.isOrdered ? all : all.sorted { ($0.primaryKey ?? 0) < ($1.primaryKey ?? 0) }
      return (Array(sorted.dropFirst(start).prefix(count)), sorted.count)
    }
    var request = FetchRequest<ManagedObjectID>(relationship.destination, limit: count, offset: start)
    request.predicate = predicate(inverse)
    return (try context.fetch(request), total)
  }

  private func memberCount(of relationship: RelationshipDescription) throws -> Int {
    var request = FetchRequest<FetchedRow>(id.entityName, objectIDs: [id])
    request.propertiesToFetch = [
      ExpressionDescription("count", .path(of: .current, [relationship.name, "@count"]))
    ]
    guard case .integer(let count)? = try context.fetch(request).first?.storedValue(forKey: "count") else { return 0 }
    return Int(count)
  }

  /// The condition that a relationship leads to the object.
  private func predicate(_ relationship: RelationshipDescription) -> FetchPredicate {
    .compare(
      .path(of: .current, [relationship.name]), .equal, .constant(.objectID(id)),
      modifier: relationship.isToMany ? .any : .direct)
  }

  /// Objects that refer to this one by relationships without an inverse, with the relationship and their number.
  func referrers(limit: Int) throws -> [(entity: Entity, name: String, ids: [ManagedObjectID], total: Int)] {
    let own = try context.entity(named: id.entityName)
    let model = context.persistentStoreCoordinator.managedObjectModel
    return try model.entities.flatMap { entity in
      try entity.properties.compactMap { property in
        guard let relationship = property.relationship, property.declaringEntity == entity.name,
          !relationship.isTransient, relationship.inverse == nil, own.isKind(of: model.destination(of: relationship))
        else { return nil }
        var request = FetchRequest<ManagedObjectID>(entity.name, limit: limit)
        request.predicate = predicate(relationship)
        let ids = try context.fetch(request)
        guard !ids.isEmpty else { return nil }
        request.fetchLimit = 0
        let total = ids.count < limit ? ids.count : try context.count(for: request.returning(ManagedObject.self))
        return (entity, relationship.name, ids, total)
      }
    }
  }
}

extension ManagedObjectContext {
  fileprivate func model(inverseOf relationship: RelationshipDescription) -> RelationshipDescription? {
    persistentStoreCoordinator.managedObjectModel.inverse(of: relationship)
  }
}

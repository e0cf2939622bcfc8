/// Propagates a deletion according to the delete rules, handling cycles and visiting each object once.
///
/// | rule | the other end |
/// |---|---|
/// | nullify | drops its reference to the object |
/// | cascade | is deleted too |
/// | deny | remains unchanged; the next save fails unless it is deleted as well |
/// | no action | remains unchanged |
///
/// Objects that were never saved leave no trace: for them deny and no action nullify too. For objects that only a
/// parent context has, no action nullifies, because it does in the parent.
struct DeletePropagation {
  private let context: ManagedObjectContext
  private static let batchSize = 500

  init(in context: ManagedObjectContext) { self.context = context }

  func delete(_ object: ManagedObject) {
    if object.change == .deleted {
      object.prepareForDeletion()
      return
    }
    guard !object.layout.relationships.isEmpty else {
      object.prepareForDeletion()
      if object.change != .deleted, object.table != nil { _ = release(object) }
      return
    }
    var waiting = [object]
    var position = 0
    while position < waiting.count {
      // In groups, so that the rows of objects reached by a cascade are read together.
      let group = Array(waiting[position..<min(position + Self.batchSize, waiting.count)])
      position += group.count
      context.prefetchRows(of: group)
      for object in group where object.change != .deleted && object.table != nil {
        object.prepareForDeletion()
        guard object.change != .deleted, object.table != nil else { continue }
        waiting += release(object)
      }
      if position > 10_000 {
        waiting.removeFirst(position)
        position = 0
      }
    }
  }

  /// Propagates a deletion to objects that others have since related to the deleted one.
  func propagateAgain(from object: ManagedObject) {
    for relationship in object.layout.relationships {
      // The store may have members that have another owner here, and the object's own former members have already
      // dropped it.
      let others = others(of: object, in: relationship).filter { $0.leads(to: object, back: relationship) }
      switch relationship.deleteRule {
      case .cascade: for other in others where other.change != .deleted { delete(other) }
      case .nullify: letGo(of: object, others, by: relationship)
      case .deny, .noAction: continue
      }
    }
  }

  /// Removes an object that is deleted again from the other ends of its relationships. Its own side stays as it is.
  func letGo(of object: ManagedObject) {
    for relationship in object.layout.relationships
    where relationship.inverse != nil && !relationship.leavesOthersAlone {
      let others = others(of: object, in: relationship).filter { $0.leads(to: object, back: relationship) }
      letGo(of: object, others, by: relationship)
    }
  }

  /// Marks an object as deleted and updates the other ends of its relationships.
  ///
  /// - Returns: The objects to delete with it.
  private func release(_ object: ManagedObject) -> [ManagedObject] {
    let isNew = object.change == .inserted
    let ends = object.layout.relationships.map { ($0, others(of: object, in: $0)) }
    object.leaveOneWayOwners()
    context.leaveChangeSets(object)
    object.change = .deleted
    var cascaded: [ManagedObject] = []
    for (relationship, others) in ends {
      switch relationship.deleteRule {
      case .cascade:
        cascaded += others.filter { $0.change != .deleted }
        // Objects deleted with it must not resolve it: with a permanent identifier it would be mistaken for a row.
        if isNew { letGo(of: object, others, by: relationship, isNew: true) }
      case .nullify: letGo(of: object, others, by: relationship, isNew: isNew)
      case .deny: if isNew { letGo(of: object, others, by: relationship, isNew: true) }
      case .noAction: if isNew || object.isNewInParent { letGo(of: object, others, by: relationship, isNew: true) }
      }
    }
    if isNew {
      clearOneWayReferences(to: object)
      // Deleted objects may still refer to it.
      context.detachNew(object)
    } else {
      context.deleted.insert(object)
    }
    object.isTouched = true
    return cascaded
  }

  private func others(of object: ManagedObject, in relationship: RelationshipLayout) -> [ManagedObject] {
    // Members of a many-to-many relationship lose the object with its row, regardless of the rule, so they must be
    // read.
    let isManyToMany = relationship.isToMany && relationship.inverse?.isToMany == true
    if relationship.deleteRule == .noAction, object.change != .inserted, !isManyToMany, !object.isNewInParent {
      return []
    }
    guard relationship.isToMany else { return object.destination(at: relationship.slot).map { [$0] } ?? [] }
    // Members without an inverse need no update.
    if relationship.inverse == nil, relationship.deleteRule != .cascade { return [] }
    return object.memberObjects(of: relationship)
  }

  private func letGo(
    of object: ManagedObject, _ others: [ManagedObject], by relationship: RelationshipLayout, isNew: Bool = false
  ) {
    // Deleted ends keep their references, except those to new objects, which leave no trace.
    for other in others where other !== object && (isNew || other.change != .deleted) {
      guard let back = other.back(of: relationship) else { continue }
      if back.isToMany || other.destination(at: back.slot) === object { other.forget(object, in: back) }
    }
  }

  /// Removes an object from unsaved changes of relationships without an inverse. Only changed objects can refer to a
  /// new one.
  func clearOneWayReferences(to object: ManagedObject) {
    for referrer in object.layout.oneWayReferrers {
      for holder in context.inserted.objects + context.updated.objects
      where holder.layout.isKind(ofEntityAt: referrer.entityIndex) {
        guard let relationship = holder.layout.relationshipsBySlot[referrer.slot] else { continue }
        if relationship.isToMany {
          if !holder.toManys.isEmpty { holder.toManys[referrer.slot]?.drop(object.objectID) }
        } else if holder.isChanged(at: referrer.slot), holder.destination(at: referrer.slot) === object {
          holder.forget(object, in: relationship)
        }
      }
    }
  }
}

/// Carries a deletion along the delete rules, through cycles, each object once.
///
/// | rule | the other end |
/// |---|---|
/// | nullify | forgets the object |
/// | cascade | is deleted too |
/// | deny | stays as it is; the next save refuses unless it is deleted as well |
/// | no action | stays as it is |
///
/// Objects that were never saved leave no trace: for them deny and no action nullify.
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
      // Whole groups at a time, so that the rows of what a cascade reaches are read together.
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

  /// Carries a deletion on to objects that others have related to the deleted one meanwhile.
  func carryOn(from object: ManagedObject) {
    for relationship in object.layout.relationships {
      // The store may have members that have another owner here, and the object had members of its own that have
      // forgotten it already.
      let others = others(of: object, in: relationship).filter { $0.leads(to: object, back: relationship) }
      switch relationship.deleteRule {
      case .cascade: for other in others where other.change != .deleted { delete(other) }
      case .nullify: letGo(of: object, others, by: relationship)
      case .deny, .noAction: continue
      }
    }
  }

  /// Marks one object as deleted and lets the other ends of its relationships know.
  ///
  /// - Returns: the objects that are to be deleted with it.
  private func release(_ object: ManagedObject) -> [ManagedObject] {
    let isNew = object.change == .inserted
    let ends = object.layout.relationships.map { ($0, others(of: object, in: $0)) }
    context.leaveChangeSets(object)
    object.change = .deleted
    var cascaded: [ManagedObject] = []
    for (relationship, others) in ends {
      switch relationship.deleteRule {
      case .cascade:
        cascaded += others.filter { $0.change != .deleted }
        // What is deleted with it must not look for it: under a permanent identifier it would be taken for a row.
        if isNew { letGo(of: object, others, by: relationship, isNew: true) }
      case .nullify: letGo(of: object, others, by: relationship, isNew: isNew)
      case .deny, .noAction: if isNew { letGo(of: object, others, by: relationship, isNew: true) }
      }
    }
    if isNew {
      clearOneWayReferences(to: object)
      object.detach()
    } else {
      context.deleted.insert(object)
    }
    object.isTouched = true
    return cascaded
  }

  private func others(of object: ManagedObject, in relationship: RelationshipLayout) -> [ManagedObject] {
    // Members of a many-to-many relationship lose the object with its row, whatever the rule: they have to be known.
    let isManyToMany = relationship.isToMany && relationship.inverse?.isToMany == true
    if relationship.deleteRule == .noAction, object.change != .inserted, !isManyToMany { return [] }
    guard relationship.isToMany else { return object.destination(at: relationship.slot).map { [$0] } ?? [] }
    // Nothing is to be told to members that nothing leads back from.
    if relationship.inverse == nil, relationship.deleteRule != .cascade { return [] }
    return object.memberObjects(of: relationship)
  }

  private func letGo(
    of object: ManagedObject, _ others: [ManagedObject], by relationship: RelationshipLayout, isNew: Bool = false
  ) {
    // Deleted ends keep what they had, but for new objects: these leave no trace.
    for other in others where other !== object && (isNew || other.change != .deleted) {
      guard let back = other.back(of: relationship) else { continue }
      if back.isToMany || other.destination(at: back.slot) === object { other.forget(object, in: back) }
    }
  }

  /// Takes a new object out of the relationships without inverse that lead to it. Only changed objects can have it.
  func clearOneWayReferences(to object: ManagedObject) {
    for referrer in object.layout.oneWayReferrers {
      for holder in context.inserted.objects + context.updated.objects
      where holder.layout.isKind(ofEntityAt: referrer.entityIndex) {
        guard let relationship = holder.layout.relationshipsBySlot[referrer.slot] else { continue }
        if relationship.isToMany {
          if holder.memberIDs(of: relationship).contains(object.objectID) {
            holder.forget(object, in: relationship)
          }
        } else if holder.destination(at: referrer.slot) === object {
          holder.forget(object, in: relationship)
        }
      }
    }
  }
}

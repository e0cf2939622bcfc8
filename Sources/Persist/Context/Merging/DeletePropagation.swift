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
    guard object.hasRelationships else {
      object.prepareForDeletion()
      var (ends, cascaded): ([End], [ManagedObject]) = ([], [])
      if object.change != .deleted, object.tableReference != nil { release(object, &ends, adding: &cascaded) }
      return
    }
    var waiting = [object]
    var position = 0
    var ends: [End] = []
    while position < waiting.count {
      // In groups, so that the rows of objects reached by a cascade are read together.
      let group = Array(waiting[position..<min(position + Self.batchSize, waiting.count)])
      position += group.count
      readRows(of: group)
      let partners = group.count > 1 ? readEnds(of: group) : []
      defer { withExtendedLifetime(partners) {} }
      group.forEachUnretained { object in
        guard object.change != .deleted, object.tableReference != nil else { return }
        object.prepareForDeletion()
        guard object.change != .deleted, object.tableReference != nil else { return }
        release(object, &ends, adding: &waiting)
      }
      if position > 10_000 {
        waiting.removeFirst(position)
        position = 0
      }
    }
  }

  /// Reads the rows of objects to delete.
  ///
  /// A save checks that these rows are the newest, so that the deletion must not be propagated by older members. An
  /// object without a row remains one: a row that others insert afterward isn't deleted.
  private func readRows(of group: [ManagedObject]) {
    let unread = group.filter(\.isWithoutRow)
    guard !unread.isEmpty else { return }
    for object in unread { for members in object.toManys { members?.forgetStored() } }
    do {
      try context.readRows(of: unread)
      for object in unread where object.snapshot == nil { object.loseRow() }
    } catch {
      context.deferError(error)
    }
  }

  /// Reads the members and the one-to-one partners of objects to delete, with one statement for each relationship.
  ///
  /// - Returns: The partners, which nothing else holds.
  private func readEnds(of group: [ManagedObject]) -> [ManagedObject] {
    var partners: [ManagedObject] = []
    for (_, owners) in Dictionary(grouping: group, by: { $0.layout.index }) where owners.count > 1 {
      guard let layout = owners.first?.layout else { continue }
      for relationship in layout.relationships {
        if relationship.isToMany, reachesMembers(by: relationship) {
          do { try context.readMembers(of: owners, relationship) } catch { context.deferError(error) }
        } else if !relationship.isToMany, relationship.inverse?.isToMany == false {
          partners += owners.compactMap { $0.loading == .missing ? nil : $0.destination(at: relationship.slot) }
        }
      }
    }
    context.prefetchRows(of: partners)
    return partners
  }

  /// Whether deletions of saved objects reach the members of a to-many relationship.
  private func reachesMembers(by relationship: RelationshipLayout) -> Bool {
    switch relationship.deleteRule {
    case .cascade: true
    // Members of a many-to-many relationship lose the object with its row.
    case .noAction: relationship.inverse?.isToMany == true
    case .nullify, .deny: relationship.inverse != nil
    }
  }

  /// Propagates a deletion to objects that others have since related to the deleted one.
  func propagateAgain(from object: ManagedObject) {
    for relationship in object.layout.relationships {
      guard relationship.deleteRule == .cascade || relationship.deleteRule == .nullify else { continue }
      let ends = storedEnds(of: object, in: relationship)
      // Ends that were read before others related them to the object don't refer to it yet.
      context.adoptNewerRows(of: ends.filter { $0.canBeReplaced && !$0.leads(to: object, back: relationship) })
      // Skips ends that have another owner in this context, and those that the first propagation has handled.
      for end in ends where end.leads(to: object, back: relationship) {
        if relationship.deleteRule == .nullify {
          letGo(of: object, end, by: relationship)
        } else if end.change != .deleted {
          delete(end)
        }
      }
    }
  }

  /// The objects at the other ends of an object's relationship in the store, whatever unsaved changes it has.
  private func storedEnds(of object: ManagedObject, in relationship: RelationshipLayout) -> [ManagedObject] {
    guard relationship.isToMany else { return object.storedEnd(of: relationship).map { [$0] } ?? [] }
    // Members without an inverse need no update.
    if relationship.inverse == nil, relationship.deleteRule != .cascade { return [] }
    _ = object.memberList(of: relationship)
    return object.members(of: relationship).base?.compactMap { context.registeredOrFault($0) } ?? []
  }

  /// Removes an object that is deleted again from the other ends of its relationships. Its own side stays as it is.
  func letGo(of object: ManagedObject) {
    for relationship in object.layout.relationships
    where relationship.inverse != nil && !relationship.leavesOthersAlone {
      for other in others(of: object, in: relationship) where other.leads(to: object, back: relationship) {
        letGo(of: object, other, by: relationship)
      }
    }
  }

  /// An object at the other end of a relationship of an object that is deleted.
  private struct End {
    let relationship: RelationshipLayout
    let object: ManagedObject
  }

  /// Marks an object as deleted and updates the other ends of its relationships.
  ///
  /// - Parameters:
  ///   - ends: Memory for the other ends, reused from object to object: a cascade over many objects would otherwise
  ///     allocate it for each.
  ///   - cascaded: Receives the objects to delete with it.
  private func release(
    _ object: ManagedObject, _ ends: inout [End], adding cascaded: inout [ManagedObject]
  ) {
    let isNew = object.change == .inserted
    ends.removeAll(keepingCapacity: true)
    if object.hasRelationships {
      for relationship in object.layout.relationships {
        forEachEnd(of: object, in: relationship) { ends.append(End(relationship: relationship, object: $0)) }
      }
    }
    readRows(ofNullified: ends)
    object.leaveOneWayOwners()
    context.graph.delete(object)
    // By index, because copies of the elements would cost reference counts.
    for index in ends.indices {
      let isLetGo: Bool
      let rule = ends[index].relationship.deleteRule
      switch rule {
      case .cascade:
        if ends[index].object.change != .deleted { cascaded.append(ends[index].object) }
        // A new object is detached now: objects deleted with it would otherwise resolve its permanent identifier as
        // that of a row.
        isLetGo = isNew
      case .nullify: isLetGo = true
      case .deny: isLetGo = isNew
      case .noAction: isLetGo = isNew || object.isNewInParent
      }
      if isLetGo {
        letGo(of: object, ends[index].object, by: ends[index].relationship, isNew: isNew || rule == .noAction)
      }
    }
    if isNew {
      clearOneWayReferences(to: object, context.oneWay.holders(in: context))
      // Deleted objects may still refer to it.
      context.detachNew(object)
    }
  }

  /// Reads the rows of the ends whose references are to be removed: a list of many members comes without rows.
  private func readRows(ofNullified ends: [End]) {
    func isUnread(_ end: End) -> Bool {
      end.relationship.deleteRule == .nullify && end.relationship.inverse?.isToMany == false && end.object.isWithoutRow
    }
    guard ends.count > 1, ends.contains(where: isUnread) else { return }
    context.prefetchRows(of: ends.filter(isUnread).map(\.object))
  }

  private func others(of object: ManagedObject, in relationship: RelationshipLayout) -> [ManagedObject] {
    var others: [ManagedObject] = []
    forEachEnd(of: object, in: relationship) { others.append($0) }
    return others
  }

  private func forEachEnd(
    of object: ManagedObject, in relationship: RelationshipLayout, _ body: (ManagedObject) -> Void
  ) {
    // Members of a many-to-many relationship lose the object with its row, regardless of the rule, so they must be
    // read.
    let isManyToMany = relationship.isToMany && relationship.inverse?.isToMany == true
    if relationship.deleteRule == .noAction, object.change != .inserted, !isManyToMany, !object.isNewInParent { return }
    guard relationship.isToMany else {
      let other = object.destination(at: relationship.slot)
      if let other, !other.hasLeft(object, by: relationship) { body(other) }
      // Under an unsaved value, others may have related the object to another partner.
      if object.isChanged(at: relationship.slot), let stored = object.storedEnd(of: relationship), stored !== other,
        let back = stored.back(of: relationship), !back.isToMany, stored.refers(to: object, at: back)
      {
        body(stored)
      }
      return
    }
    // Members without an inverse need no update.
    if relationship.inverse == nil, relationship.deleteRule != .cascade { return }
    // With their rows, which most rules need too, and those of the next owners, which are usually deleted next.
    let list = object.memberListWithRows(of: relationship)
    for other in list.objects(0..<list.count, of: object) { body(other) }
  }

  private func letGo(
    of object: ManagedObject, _ other: ManagedObject, by relationship: RelationshipLayout, isNew: Bool = false
  ) {
    // Deleted ends keep their references, except those to new objects, which leave no trace.
    guard other !== object, isNew || other.change != .deleted, let back = other.back(of: relationship) else { return }
    if back.isToMany || other.refers(to: object, at: back) { other.forget(object, in: back) }
  }

  /// Removes an object from unsaved changes of relationships without an inverse. Only changed objects can refer to a
  /// new one.
  ///
  /// - Parameter holders: Shared by the deletions of several objects.
  func clearOneWayReferences(to object: ManagedObject, _ holders: OneWayHolders) {
    guard !object.layout.oneWayReferrers.isEmpty else { return }
    let found = holders.holders(of: object)
    for referrer in object.layout.oneWayReferrers {
      for holder in found where holder.layout.isKind(ofEntityAt: referrer.entityIndex) {
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

extension ManagedObject {
  final var hasRelationships: Bool { withLayout { !$0.relationships.isEmpty } }

  /// Whether an unsaved change ended a one-to-one relationship to an object whose row still refers to this one.
  ///
  /// Such a row is outdated: others had already separated the two, so that the change didn't find the partner.
  fileprivate final func hasLeft(_ partner: ManagedObject, by relationship: RelationshipLayout) -> Bool {
    guard change == .inserted || change == .updated, relationship.inverse?.isToMany == false,
      let back = back(of: relationship)
    else { return false }
    return (change == .inserted || isChanged(at: back.slot)) && destination(at: back.slot) !== partner
  }
}

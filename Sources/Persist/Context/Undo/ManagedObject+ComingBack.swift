/// Relationships of an object whose deletion is undone.
extension ManagedObject {
  /// Makes both sides of the relationships agree, for an object whose row still exists.
  ///
  /// An inverse to-one relationship decides: delete rules may have emptied it, or others may have changed it. The pairs
  /// of many-to-many relationships were only hidden by the deletion.
  final func matchOwnEnds() {
    guard let context = table?.context else { return }
    for relationship in layout.relationships where relationship.inverse != nil {
      guard relationship.isToMany else {
        if let other = destination(at: relationship.slot), !other.leads(to: self, back: relationship) {
          setPending(.null, at: relationship.slot)
        }
        continue
      }
      guard !toManys.isEmpty, let members = toManys[relationship.slot] else { continue }
      for id in memberIDs(of: relationship) {
        guard let other = context.registeredOrFault(id), other.loading != .missing, mayLead(to: other, by: relationship)
        else {
          members.remove(id)
          continue
        }
        if other.leads(to: self, back: relationship) { continue }
        if let back = other.back(of: relationship), back.isToMany {
          other.gain(self, in: back)
        } else {
          members.remove(id)
        }
      }
    }
  }

  /// Removes members without an inverse from owners that got them while the object was deleted.
  final func reclaimOneWayMembers() {
    guard !toManys.isEmpty, let context = table?.context else { return }
    for relationship in layout.relationships where relationship.isOneWayToMany {
      for id in toManys[relationship.slot]?.added ?? [] {
        guard let member = context.registeredOrFault(id), member.loading != .missing, member.change != .deleted else {
          toManys[relationship.slot]?.drop(id)
          continue
        }
        removeFromFormerOwner(member, of: relationship)
      }
    }
  }

  /// Finds the members of an object whose row was deleted: members that its delete rules leave alone still refer to it,
  /// in the store or in unsaved changes.
  final func adoptMembers() {
    guard let table, let store = table.store else { return }
    for relationship in layout.relationships where relationship.isToMany && relationship.leavesOthersAlone {
      guard relationship.inverse?.isToMany == false, !relationship.isTransient else { continue }
      do {
        let stored = try store.related(by: layout.properties[relationship.slot], of: layout.entity, key: key)
        adopt(stored, in: relationship)
      } catch {
        table.context.deferError(error)
      }
    }
  }

  private final func adopt(_ stored: [ManagedObjectID], in relationship: RelationshipLayout) {
    guard let context = table?.context else { return }
    let members = ToManyMembers(isOrdered: relationship.isOrdered, base: OrderedSet(stored))
    recordChange(at: relationship.slot)
    setMembers(members, at: relationship.slot)
    let objects = stored.compactMap { context.registeredOrFault($0) }
    context.prefetchRows(of: objects)
    for other in objects {
      let isMember = mayLead(to: other, by: relationship) && other.leads(to: self, back: relationship)
      if !isMember { members.remove(other.objectID) }
    }
    for other in context.graph.insertedAndUpdated {
      guard let back = other.back(of: relationship), other.destination(at: back.slot) === self,
        members.contains(other.objectID) == false
      else { continue }
      members.insert(other.objectID)
    }
  }

  /// Makes a to-one relationship refer to a missing row, as a delete rule had left it. It reads as nil.
  final func point(to id: ManagedObjectID, at slot: Int) {
    guard presentValue(at: slot) != .objectID(id) else { return }
    setToOne(nil, at: slot)
    willChange()
    setPending(.objectID(id), at: slot)
  }
}

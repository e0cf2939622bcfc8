/// Adopts a newer row underneath an object's unsaved changes.
extension ManagedObject {
  /// Whether an attribute or to-one relationship has an unsaved value that differs from the stored one.
  ///
  /// A value in a file counts as different without reading the file, which others may have replaced: values that equal
  /// the file's are discarded when they are set, and when the row is adopted.
  @inline(never)
  final func differsFromStored(_ stored: EntityLayout.StoredSlot) -> Bool {
    guard let value = pending[stored.slot] else { return false }
    if let snapshot, namesFile(at: stored.slot, in: snapshot) { return true }
    return !isCommitted(value, at: stored.slot)
  }

  /// Whether a newer row differs from the row that was read in a property with an unsaved value.
  ///
  /// Also if two attribute values are equal: of two contexts that increment a counter, one would otherwise be lost.
  /// Equal relationships, such as those that two deletions emptied, lose nothing.
  final func isOvertaken(by row: RowSnapshot) -> Bool {
    guard let old = snapshot, !pending.isEmpty else { return false }
    return layout.storedSlots.contains { stored in
      guard differsFromStored(stored), !holds(stored, in: old, as: row) else { return false }
      return stored.kind != .toOne || pending[stored.slot] != storedValue(at: stored.slot, in: row)
    }
  }

  /// Whether two of the object's rows have the same stored value for a property.
  final func holds(_ stored: EntityLayout.StoredSlot, in old: RowSnapshot, as row: RowSnapshot) -> Bool {
    old.holds(stored, as: row, of: layout)
      || (layout.mayBeInFile[stored.slot] && holdsInFiles(stored.slot, in: old, as: row))
  }

  /// Adopts a newer row, keeping the changes made since the older one was read.
  final func rebase(onto row: RowSnapshot) {
    let old = snapshot
    table?.context.recordFormerEnds(of: self)
    discardStoredValues()
    replaceRow(with: row)
    if !pending.isEmpty { discardValuesInFiles() }
    rebaseMembers()
    if let old { forgetViews(changedFrom: old, to: row) }
  }

  /// Discards values that were set to what was read, which would otherwise revert changes by others.
  final func discardStoredValues() {
    guard !pending.isEmpty else { return }
    for stored in layout.storedSlots
    where pending.contains(stored.slot) && !differsFromStored(stored) && !isOfChangedPair(stored) {
      clearPending(at: stored.slot)
    }
  }

  /// Whether a relationship is one-to-one, and its partner has been related to this object, whose row said so already:
  /// others had separated the two.
  private final func isOfChangedPair(_ stored: EntityLayout.StoredSlot) -> Bool {
    guard stored.kind == .toOne, let relationship = layout.relationshipsBySlot[stored.slot],
      relationship.inverse?.isToMany == false, let partner = destination(at: stored.slot),
      let back = partner.back(of: relationship)
    else { return false }
    return partner.isChanged(at: back.slot) && partner.destination(at: back.slot) === self
  }

  /// Discards unsaved values that equal large ones of an adopted row, whose files may be deleted before the next row
  /// is adopted.
  private final func discardValuesInFiles() {
    for stored in layout.storedSlots where layout.mayBeInFile[stored.slot] {
      if let value = pending[stored.slot], isInFile(value, at: stored.slot) { clearPending(at: stored.slot) }
    }
  }

  /// Discards the stored members of to-many relationships; changes are reapplied to the members read next.
  ///
  /// Changed members of relationships without an inverse to-one are reread immediately: a change that others have made
  /// too is no longer a change, even if they undo it later.
  ///
  /// - Parameter isIncluded: Selects the relationships; all by default.
  final dynamic func rebaseMembers(where isIncluded: (RelationshipLayout) -> Bool = { _ in true }) {
    guard !toManys.isEmpty else { return }
    for relationship in layout.relationships where relationship.isToMany && !relationship.isTransient {
      guard isIncluded(relationship), let members = toManys[relationship.slot] else { continue }
      let isOwn = relationship.inverse?.isToMany != false
      guard members.isReordered || (isOwn && members.hasChanges), let store = table?.store else {
        members.forgetStored()
        continue
      }
      do {
        let changed = members.added.union(members.removed)
        var stored = try store.related(by: layout.properties[relationship.slot], of: layout.entity, key: key)
        if relationship.isOneWayToMany { stored = withoutTakenMembers(stored, of: relationship) }
        members.rebase(onto: stored)
        if isOwn { discardStored(changed.subtracting(members.added).subtracting(members.removed), of: relationship) }
      } catch {
        table?.context.deferError(error)
      }
    }
  }

  /// Discards the changes at the other ends of pairs that the store now contains.
  private final func discardStored(_ members: OrderedSet<ManagedObjectID>, of relationship: RelationshipLayout) {
    guard let context = table?.context else { return }
    for id in members {
      guard let other = context.registeredObject(for: id), !other.toManys.isEmpty else { continue }
      guard let back = other.back(of: relationship) else { continue }
      // Members that only the other end relates to are reread with it.
      context.recordFormerEnds(of: other)
      other.toManys[back.slot]?.discardDifference(of: objectID)
    }
  }

  /// Makes objects that only one of two rows relates to reread their side of the relationship.
  final func forgetViews(changedFrom old: RowSnapshot?, to new: RowSnapshot?) {
    guard let siblings = table?.siblings, let context = table?.context else { return }
    for relationship in layout.toOnes {
      let keys = [old, new].map { row in row.flatMap { committedKey(of: relationship, in: $0) } }
      guard keys[0] != keys[1], let inverse = relationship.inverse else { continue }
      for (row, key) in zip([old, new], keys) {
        guard let row, let key else { continue }
        let target = context.layout(ofDestination: relationship, in: row, of: layout)
        siblings.table(for: target).map[key]?.forgetStoredEnd(at: inverse, of: objectID, isLeft: key == keys[0])
      }
    }
  }

  /// - Parameter isLeft: Whether the row no longer relates to this object.
  private final func forgetStoredEnd(
    at inverse: RelationshipLayout.Inverse, of member: ManagedObjectID, isLeft: Bool
  ) {
    table?.context.recordFormerEnds(of: self)
    if inverse.isToMany {
      guard !toManys.isEmpty, let members = toManys[inverse.slot] else { return }
      if isLeft, members.removed.contains(member) { members.discardDifference(of: member) }
      members.forgetStored()
    } else if change == .none, loading == .loaded {
      becomeFault()
    } else if change == .updated, !layout.storedSlots.contains(where: differsFromStored) {
      // The save won't write the row, and thus won't detect others' changes to it.
      adoptNewestRow()
    }
  }

  private final func adoptNewestRow() {
    guard let context = table?.context, let store = table?.store else { return }
    do {
      guard let row = try context.storedRows(of: [self], in: store)[objectID] else { return }
      if row.version != snapshot?.version { rebase(onto: row) }
    } catch {
      context.deferError(error)
    }
  }

  /// Makes the members of many-to-many relationships reread their side, because this side is reread too.
  final func forgetManyToManyViews() {
    guard !toManys.isEmpty, let context = table?.context else { return }
    for relationship in layout.relationships where relationship.isToMany && relationship.inverse?.isToMany == true {
      for id in toManys[relationship.slot]?.list?.identifiers ?? [] {
        // A deleted object's members are those that must be notified of its deletion.
        guard let other = context.registeredObject(for: id), !other.toManys.isEmpty, other.change != .deleted else {
          continue
        }
        if let back = other.back(of: relationship) { other.toManys[back.slot]?.forgetStored() }
      }
    }
  }

  /// Reverts the unsaved value of an attribute or to-one relationship, on both sides.
  ///
  /// A relationship remains empty if the stored destination is deleted here and its delete rule nullifies the
  /// relationship.
  @inline(never)
  final func revert(_ stored: EntityLayout.StoredSlot) {
    if stored.kind == .toOne, table != nil, let relationship = layout.relationshipsBySlot[stored.slot] {
      let end = storedEnd(of: relationship)
      if let end, !mayLead(to: end, by: relationship) { return setToOne(nil, at: stored.slot) }
      setToOne(end.flatMap { agrees($0, on: relationship) ? $0 : nil }, at: stored.slot)
    }
    clearPending(at: stored.slot)
  }

  /// Whether the row of a stored destination doesn't contradict a one-to-one relationship to it: others may have
  /// related it to another object, or to none, since this one was read.
  private final func agrees(_ end: ManagedObject, on relationship: RelationshipLayout) -> Bool {
    guard relationship.inverse?.isToMany == false else { return true }
    if end.loading == .fault { end.fulfill() }
    return end.isStoredPartner(of: self, back: relationship)
  }

  /// Reverts the additions to and removals from a to-many relationship since the last save, on both sides. Members
  /// removed because they are deleted remain removed.
  ///
  /// - Parameter isIncluded: Selects the members to revert; nil for all.
  final func revertMemberChanges(
    of relationship: RelationshipLayout, where isIncluded: ((ManagedObjectID) -> Bool)? = nil
  ) {
    guard !toManys.isEmpty, let members = toManys[relationship.slot], let context = table?.context else { return }
    for id in members.added where isIncluded?(id) ?? true {
      if let other = context.registeredOrFault(id) { removeMember(other, of: relationship) }
    }
    for id in members.removed where isIncluded?(id) ?? true {
      guard let other = context.registeredOrFault(id), mayLead(to: other, by: relationship) else { continue }
      insertMember(other, of: relationship)
    }
  }

  /// Reverts the unsaved order of a to-many relationship, and its unsaved members unless these are stored in the
  /// members' rows.
  ///
  /// - Parameter isIncluded: Selects the members of a many-to-many relationship to revert; nil for all.
  final func revertMembers(
    of relationship: RelationshipLayout, where isIncluded: ((ManagedObjectID) -> Bool)? = nil
  ) {
    guard !toManys.isEmpty, let members = toManys[relationship.slot], table != nil else { return }
    if relationship.inverse?.isToMany == true {
      revertMemberChanges(of: relationship, where: isIncluded)
      members.forgetOrder()
    } else if relationship.inverse == nil {
      members.revert()
    } else {
      members.forgetOrder()
    }
  }
}

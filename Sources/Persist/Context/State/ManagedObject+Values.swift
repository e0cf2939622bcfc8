public import Foundation

/// Members of managed objects that a subclass may declare anew with other types.
public protocol RedeclarableMembers: AnyObject {}

extension ManagedObject: RedeclarableMembers {}

extension RedeclarableMembers where Self: ManagedObject {
  /// The object's entity: its most specific one, not an ancestor.
  public var entity: Entity { withLayout { $0.entity } }

  /// The object's context; nil if it has none or has left it.
  public var managedObjectContext: ManagedObjectContext? {
    recordRead(.state)
    return table?.context
  }
}

extension ManagedObject {
  /// Returns the value of an attribute by slot, including unsaved changes.
  ///
  /// Fires the fault. Typed access in higher layers is built on this method and its siblings; `slot` is the
  /// ``Property/slot`` of an attribute of the object's entity.
  public final func attributeValue(at slot: Int) -> StoredValue {
    recordRead(at: slot)
    return unobservedValue(at: slot)
  }

  /// As ``attributeValue(at:)``, for the context's own purposes, which no observer has to hear of.
  package final func unobservedValue(at slot: Int) -> StoredValue {
    if loading == .fault { fulfill(reading: slot) }
    if hasLooseValues, let value = looseValues[slot] { return value }
    return isDraft ? draftValue(at: slot) : committedValue(at: slot)
  }

  /// Sets an attribute by slot.
  ///
  /// - Parameters:
  ///   - value: A value of the ``StoredValue`` case for the attribute's type, or null.
  ///   - slot: The slot of the attribute.
  public final func setAttributeValue(_ value: consuming StoredValue, at slot: Int) {
    willChange()
    markGiven(slot)
    if withLayout({ $0.setsDirectly[slot] }) { return setPending(value, at: slot) }
    setIndirectly(value, at: slot)
  }

  /// Sets an attribute whose values may be in files, or are rounded.
  private func setIndirectly(_ value: StoredValue, at slot: Int) {
    if case .date(let date) = value { return setPending(.date(date.roundedToMicroseconds), at: slot) }
    guard isInFile(value, at: slot) else { return setPending(value, at: slot) }
    clearPending(at: slot)
  }

  /// Returns the value of an integer attribute by slot, or nil if there is none.
  ///
  /// The most common case, the row's value of an object without changes, is read without a function call.
  @inlinable @inline(__always)
  public final func integer(at slot: Int) -> Int64? {
    recordRead(at: slot)
    if loading == .loaded {
      if !hasLooseValues, let row, !row.isNull(slot, of: rowSlotCount) { return row.integer(slot) }
    }
    return integerOrNone(at: slot)
  }

  @usableFromInline @inline(never)
  final func integerOrNone(at slot: Int) -> Int64? {
    if loading == .fault { fulfill(reading: slot) }
    if hasLooseValues, let value = looseValues[slot] {
      if case .integer(let number) = value { return number }
      return nil
    }
    guard let row else { return StoredValue.integer(missingValue(at: slot)) }
    return row.isNull(slot, of: rowSlotCount) ? nil : row.integer(slot)
  }

  /// Returns a Boolean attribute by slot, including unsaved changes; nil for null or a value of another type.
  public final func boolean(at slot: Int) -> Bool? {
    if let row = row(with: slot, as: .boolean) {
      return row.isNull(slot, of: rowSlotCount) ? nil : row.integer(slot) != 0
    }
    return if case .boolean(let value) = unobservedValue(at: slot) { value } else { nil }
  }

  /// Returns a `double` or `float` attribute by slot, including unsaved changes; nil for null or a value of another
  /// type.
  public final func double(at slot: Int) -> Double? {
    if let row = row(with: slot, as: .double) {
      return row.isNull(slot, of: rowSlotCount) ? nil : row.double(slot)
    }
    return if case .double(let value) = unobservedValue(at: slot) { value } else { nil }
  }

  /// Returns a decimal attribute by slot, including unsaved changes; nil for null or a value of another type.
  public final func decimal(at slot: Int) -> Decimal? {
    if case .decimal(let value) = attributeValue(at: slot) { value } else { nil }
  }

  /// Returns a string attribute by slot, including unsaved changes; nil for null or a value of another type.
  public final func string(at slot: Int) -> String? {
    if let row = row(with: slot, as: .string) {
      return row.isNull(slot, of: rowSlotCount) ? nil : row.string(slot)
    }
    return if case .string(let value) = unobservedValue(at: slot) { value } else { nil }
  }

  /// Returns a date attribute by slot, including unsaved changes; nil for null or a value of another type.
  public final func date(at slot: Int) -> Date? {
    if let row = row(with: slot, as: .date) {
      return row.isNull(slot, of: rowSlotCount) ? nil : Date(timeIntervalSinceReferenceDate: row.double(slot))
    }
    return if case .date(let value) = unobservedValue(at: slot) { value } else { nil }
  }

  /// Returns the bytes of an attribute by slot, archived for a transformable one; nil for null or another type.
  public final func data(at slot: Int) -> Data? {
    if case .data(let value) = attributeValue(at: slot) { value } else { nil }
  }

  /// Returns a UUID attribute by slot, including unsaved changes; nil for null or a value of another type.
  public final func uuid(at slot: Int) -> UUID? {
    if let row = row(with: slot, as: .uuid) {
      return row.isNull(slot, of: rowSlotCount) ? nil : row.uuid(slot)
    }
    return if case .uuid(let value) = unobservedValue(at: slot) { value } else { nil }
  }

  @inline(__always)
  private final func form(of slot: Int) -> SlotForm { withLayout { $0.forms[slot] } }

  /// Returns the row if it alone determines the value of an attribute of the given form; otherwise nil. This common
  /// case needs no intermediate ``StoredValue``.
  ///
  /// The object retains the row, which is valid until the object's next change.
  @inline(__always)
  private final func row(with slot: Int, as form: SlotForm) -> RowView? {
    recordRead(at: slot)
    // An object without a table may record which properties are read; this read has been recorded already.
    if loading == .fault, table != nil { fulfill() }
    return !hasLooseValues && self.form(of: slot) == form ? row?.view : nil
  }
}

extension ManagedObject {
  /// Returns the value of an attribute or to-one relationship as read, without unsaved changes.
  final func committedValue(at slot: Int) -> StoredValue {
    guard let snapshot else { return missingValue(at: slot) }
    return storedValue(at: slot, in: snapshot)
  }

  /// Returns the value of an attribute or to-one relationship in a row of this object.
  final func storedValue(at slot: Int, in snapshot: RowSnapshot) -> StoredValue {
    switch form(of: slot) {
    case .none: return committedCompound(at: slot, in: snapshot)
    case .externalData:
      guard !snapshot.isNull(slot, of: rowSlotCount) else { return .null }
      switch snapshot.externalContent(slot) {
      case .inline(let data): return .data(data)
      case .file(let name): return externalData(named: name, at: slot)
      }
    case let form: return snapshot.value(slot, as: form, slotCount: rowSlotCount)
    }
  }

  /// Returns the value of a property without a row: the default if the row was found to be deleted, else null.
  private final func missingValue(at slot: Int) -> StoredValue {
    loading == .missing ? layout.initialValues[slot] ?? .null : .null
  }

  /// Returns a to-one relationship's identifier or a composite attribute's elements.
  private final func committedCompound(at slot: Int, in snapshot: RowSnapshot) -> StoredValue {
    if layout.kinds[slot] == .toOne {
      guard let relationship = layout.relationshipsBySlot[slot],
        let key = committedKey(of: relationship, in: snapshot), let siblings = table?.siblings,
        let context = table?.context
      else { return .null }
      let target = context.layout(ofDestination: relationship, in: snapshot, of: layout)
      return .objectID(siblings.table(for: target).objectID(of: target, key: key))
    }
    if layout.kinds[slot] == .transient { return layout.initialValues[slot] ?? .null }
    guard layout.kinds[slot] == .composite else { return .null }
    var root: [String: StoredValue] = Dictionary()
    for element in layout.properties[slot].elements {
      var value = snapshot.value(element.slot, as: SlotForm(element.attribute), slotCount: rowSlotCount)
      if SlotForm(element.attribute) == .externalData, !snapshot.isNull(element.slot, of: rowSlotCount),
        case .file(let name) = snapshot.externalContent(element.slot)
      {
        value = externalData(named: name, at: element.slot)
      }
      if !value.isNull { root.insert(value, at: element.path.dropFirst()) }
    }
    return root.isEmpty ? .null : .composite(root)
  }

  /// Returns the key of a to-one relationship's destination as read, or nil if there is none.
  final func committedKey(of relationship: RelationshipLayout, in snapshot: RowSnapshot) -> Int64? {
    guard !relationship.isTransient, !snapshot.isNull(relationship.slot, of: rowSlotCount) else { return nil }
    let key = snapshot.integer(relationship.slot)
    return key == 0 ? nil : key
  }

  /// Returns a large value in a file. If others have replaced it since the row was read, the file is gone, and the
  /// newest row's value is returned: saving the object detects a conflict. If others have deleted the row, the default
  /// is returned.
  private final func externalData(named name: String, at slot: Int) -> StoredValue {
    guard let context = table?.context, let store = table?.store else {
      recordEmptyAnswer(at: slot)
      return .null
    }
    do {
      return try .data(store.externalData(named: name))
    } catch {
      do {
        if let value = try store.newestLargeValue(at: slot, of: layout.entity, key: key) { return value }
        return layout.initialValues[slot] ?? .null
      } catch {
        context.deferError(error)
        return .null
      }
    }
  }

  /// Returns the value including unsaved changes. A fault that has its row remains a fault.
  final func presentValue(at slot: Int) -> StoredValue {
    if hasLooseValues, let value = looseValues[slot] { return value }
    return snapshot == nil ? unobservedValue(at: slot) : committedValue(at: slot)
  }

  /// Prepares for a change: reads the row, and notifies the context.
  @inline(__always)
  final func willChange() {
    if loading == .fault { fulfill() }
    markNewlyChanged()
    if !isInEvent { enterEvent() }
    if change == .none, loading == .loaded { table?.context.graph.update(self) }
  }

  /// Whether a property differs from the store. Transient properties never do.
  final func isChanged(at slot: Int) -> Bool {
    switch withLayout({ $0.kinds[slot] }) {
    case .transient, .transientToMany, .fetched: return false
    case .toMany: return !toManys.isEmpty && toManys[slot]?.hasChanges == true
    case .attribute, .composite, .toOne:
      if isDraft { endDraft() }
      guard let value = looseValues[slot] else { return false }
      return !isCommitted(value, at: slot)
    }
  }

  /// Whether an attribute or to-one relationship had a value when it was read.
  final func isCommitted(_ value: StoredValue, at slot: Int) -> Bool {
    guard !isDraft, row != nil else { return value == committedValue(at: slot) }
    let (form, mayBeInFile) = withLayout { ($0.forms[slot], $0.mayBeInFile[slot]) }
    if mayBeInFile, let snapshot { return holds(value, at: slot, in: snapshot) }
    guard form != .none else { return value == committedValue(at: slot) }
    return row?.holds(value, in: slot, as: form, slotCount: rowSlotCount) ?? false
  }

  /// Whether a to-many relationship differs from the store.
  final var hasChangedMembers: Bool {
    guard !toManys.isEmpty else { return false }
    return layout.kinds.indices.contains { layout.kinds[$0] == .toMany && toManys[$0]?.hasChanges == true }
  }

  /// Whether a save of the object's changes detects a conflict if others have changed its row.
  final var isCheckedBySave: Bool {
    change == .updated && (pending.slots.contains(where: isChanged) || (hasChangedMembers && !hasIndependentMembers))
  }

  /// Whether concurrent additions and removals of members by others don't affect the changes made here: no members were
  /// reordered, and no rule checks the members as a whole.
  final var hasIndependentMembers: Bool {
    let validators = type(of: self).validators
    return layout.relationships.allSatisfy { relationship in
      guard relationship.isToMany, let members = toManys[relationship.slot], members.hasChanges else { return true }
      return !members.isReordered && !layout.checks.contains { $0.slot == relationship.slot }
        && !validators.contains { $0.key == relationship.name }
    }
  }
}

extension StoredValue {
  fileprivate static func integer(_ value: StoredValue) -> Int64? {
    if case .integer(let number) = value { number } else { nil }
  }
}

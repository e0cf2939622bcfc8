import Foundation

/// The facts that contexts need about an entity, computed once per coordinator and then read by slot, without lookups.
@usableFromInline
package final class EntityLayout: Sendable {
  package let entity: Entity
  /// The index in ``ManagedObjectModel/entities``.
  package let index: Int
  /// The index of the hierarchy's root entity. All rows of a hierarchy share one key space.
  let rootIndex: Int
  @usableFromInline let rowSlotCount: Int
  package let properties: [Property]
  private let names: SlotNames
  /// The kind of each property, by slot.
  let kinds: [SlotKind]
  /// The form in which each property's slot stores its value; ``SlotForm/none`` for composites and non-attributes.
  let forms: [SlotForm]
  /// Whether a property's value, or an element of it, may be stored in a file, by slot.
  let mayBeInFile: [Bool]
  /// Whether an attribute's values are set as they are, by slot: neither compared with files nor rounded.
  let setsDirectly: [Bool]
  /// The types of stored attributes whose values can be converted by type alone, without a transformer or elements;
  /// composite for all others. A list of optional types would be two more types that opening a store creates.
  private let plainTypes: [AttributeType]
  /// The slots that a row has values for.
  let storedSlots: [StoredSlot]
  /// The slots of rows whose values are bytes, including those of elements of composites.
  private let byteSlots: [Int]
  /// Relationships by property slot; nil for properties that aren't relationships.
  let relationshipsBySlot: [RelationshipLayout?]
  let relationships: [RelationshipLayout]
  /// Whether a relationship has the delete rule Deny.
  let mayDenyDeletion: Bool
  /// Whether a many-to-many relationship has the delete rule No Action.
  let leavesMembersAlone: Bool
  /// Whether a relationship has no inverse.
  let hasOneWayRelationships: Bool
  /// Whether the entity or an ancestor has uniqueness constraints, so that a new object may be merged into another one.
  let isConstrained: Bool
  /// Stored to-one relationships.
  let toOnes: [RelationshipLayout]
  /// For stored to-one relationships, the ``rootIndex`` of the destination, by property slot; -1 for all other
  /// properties.
  let destinationRoots: [Int]
  /// The initial values of a new object, by property slot.
  let initialValues: SlotValues
  /// The slots with an initial value other than null.
  let defaultSlots: [Int]
  /// The values that the row of an unsaved object may contain, by property slot.
  let draftColumns: [DraftColumn]
  /// The slots of attributes and to-one relationships that exist in memory only.
  let transientSlots: [Int]
  /// Relationships without an inverse whose destination includes this entity.
  let oneWayReferrers: [OneWayReferrer]
  /// The checks of properties with validation rules.
  let checks: [PropertyCheck]
  /// Checks that values fit the columns of their attributes, by property slot.
  let columnChecks: [ColumnCheck.Quick]
  /// The slots of the properties that the entity's classes declare.
  let slotTables = SlotTables()

  /// The role of a property's slot in an object. Read instead of ``Property``, whose copies cost many reference counts.
  enum SlotKind: UInt8, Sendable {
    case attribute, composite, toOne, toMany
    /// In memory only.
    case transient, transientToMany
    case fetched

    init(_ property: Property) {
      self =
        switch property.kind {
        case .attribute(let attribute):
          attribute.isTransient ? .transient : (attribute.type == .composite ? .composite : .attribute)
        case .relationship(let relationship) where relationship.isToMany:
          relationship.isTransient ? .transientToMany : .toMany
        case .relationship(let relationship): relationship.isTransient ? .transient : .toOne
        case .fetchedProperty: .fetched
        }
    }
  }

  /// The slot of an attribute or to-one relationship with a column, in a form that costs nothing to copy.
  struct StoredSlot: Sendable {
    let slot: Int
    let kind: SlotKind
    let form: SlotForm
    let entityNumberSlot: Int?
  }

  /// A relationship without an inverse, declared by the entity at `entityIndex` and inherited by its subentities.
  struct OneWayReferrer: Sendable {
    let entityIndex: Int
    let slot: Int
  }

  fileprivate init(_ entity: Entity, in model: ManagedObjectModel?, referrers: [OneWayReferrer]) {
    self.entity = entity
    index = entity.index
    rootIndex = entity.root.index
    rowSlotCount = entity.rowSlotCount
    properties = entity.properties
    names = SlotNames(entity.slotByName)
    // One pass over the properties: copying one costs more than most of the facts about it.
    var forms: [SlotForm] = []
    var (mayBeInFile, setsDirectly): ([Bool], [Bool]) = ([], [])
    var plainTypes: [AttributeType] = []
    var kinds: [SlotKind] = []
    var storedSlots: [StoredSlot] = []
    var byteSlots: [Int] = []
    var relationshipsBySlot: [RelationshipLayout?] = []
    var initialValues = SlotValues(reserving: entity.properties.count)
    var defaultSlots: [Int] = []
    var checks: [PropertyCheck] = []
    var columnChecks: [ColumnCheck.Quick] = []
    var draftColumns: [DraftColumn] = []
    for property in entity.properties {
      let (slot, kind) = (property.slot, SlotKind(property))
      let stored = property.attribute.flatMap { $0.isTransient ? nil : $0 }
      let form = stored.map(SlotForm.init) ?? SlotForm.none
      let elements = stored == nil ? [] : property.elements
      let isInFile = form == .externalData || elements.contains { SlotForm($0.attribute) == .externalData }
      let roundsDates = property.attribute?.roundsDates == true
      let type = stored?.type
      forms.append(form)
      kinds.append(kind)
      mayBeInFile.append(isInFile)
      setsDirectly.append(!isInFile && !roundsDates)
      plainTypes.append(type.map { roundsDates || $0 == .transformable ? .composite : $0 } ?? .composite)
      if kind == .attribute || kind == .composite || kind == .toOne {
        storedSlots.append(
          StoredSlot(slot: slot, kind: kind, form: form, entityNumberSlot: property.entityNumberSlot))
      }
      if kind == .attribute, form.hasBytes { byteSlots.append(slot) }
      for element in elements where SlotForm(element.attribute).hasBytes { byteSlots.append(element.slot) }
      // A failable initializer would allocate memory for each attribute, too.
      let isRelationship = property.relationship != nil
      relationshipsBySlot.append(isRelationship ? model.flatMap { RelationshipLayout(property, in: $0) } : nil)
      if let attribute = property.attribute, !attribute.isDerived {
        if !attribute.defaultValue.isNull { defaultSlots.append(slot) }
        initialValues.append(attribute.defaultValue, at: slot)
      } else {
        initialValues.append(.null, at: slot)
      }
      if let check = PropertyCheck(property) { checks.append(check) }
      columnChecks.append(ColumnCheck.Quick(property))
      draftColumns.append(DraftColumn(property))
    }
    (self.forms, self.kinds, self.mayBeInFile) = (forms, kinds, mayBeInFile)
    (self.setsDirectly, self.plainTypes, self.storedSlots) = (setsDirectly, plainTypes, storedSlots)
    (self.byteSlots, self.relationshipsBySlot, self.checks) = (byteSlots, relationshipsBySlot, checks)
    (self.columnChecks, self.draftColumns) = (columnChecks, draftColumns)
    relationships = relationshipsBySlot.compactMap { $0 }
    mayDenyDeletion = relationships.contains { $0.deleteRule == .deny }
    leavesMembersAlone = relationships.contains {
      $0.deleteRule == .noAction && $0.isToMany && $0.inverse?.isToMany == true
    }
    hasOneWayRelationships = relationships.contains { $0.inverse == nil }
    isConstrained = sequence(first: entity, next: \.superentity).contains {
      !$0.description.uniquenessConstraints.isEmpty
    }
    toOnes = relationships.filter { !$0.isToMany && !$0.isTransient }
    destinationRoots = relationshipsBySlot.map { relationship in
      guard let relationship, let model, !relationship.isToMany, !relationship.isTransient else { return -1 }
      return model.entities[relationship.destinationIndex].root.index
    }
    (self.initialValues, self.defaultSlots) = (initialValues, defaultSlots)
    transientSlots = kinds.indices.filter { kinds[$0] == .transient }
    oneWayReferrers = referrers
  }

  /// The slot of the property with a name; nil if there is none.
  func slot(named name: String) -> Int? { names.slot(named: name) }
  func slot(of key: PropertyKey) -> Int? { names.slot(of: key) }

  /// The type of a stored attribute whose values can be converted by type alone, without a transformer or elements; nil
  /// for all other properties.
  func plainType(_ slot: Int) -> AttributeType? { plainTypes[slot] == .composite ? nil : plainTypes[slot] }

  /// Whether the values of a property that rows contain, if any, have their place in each row's fixed part, so that a
  /// changed one can replace that of a copied row.
  func hasFixedPlace(_ slot: Int) -> Bool {
    switch kinds[slot] {
    case .attribute: !forms[slot].hasBytes
    case .composite, .toOne: false
    case .toMany, .transient, .transientToMany, .fetched: true
    }
  }

  /// Returns the size of a row, to the end of its bytes.
  func byteCount(of snapshot: RowSnapshot) -> Int {
    let row = snapshot.view
    var end = RowSnapshot.fixedSize(slotCount: rowSlotCount)
    for slot in byteSlots where !row.isNull(slot, of: rowSlotCount) {
      let bytes = row.bytes(slot)
      guard let start = bytes.baseAddress else { continue }
      end = max(end, start + bytes.count - row.row)
    }
    return end
  }

  /// Returns the layout of an object without a context, which has no relationships.
  static func alone(_ entity: Entity) -> EntityLayout { EntityLayout(entity, in: nil, referrers: []) }

  /// Whether the entity is the one at `other` in the model, or a subentity of it.
  package func isKind(ofEntityAt other: Int) -> Bool {
    var entity: Entity? = entity
    while let current = entity {
      if current.index == other { return true }
      entity = current.superentity
    }
    return false
  }
}

/// The layouts of a model's entities, in model order; each is computed when it is first used.
package typealias EntityLayouts = LazyList<EntityLayout>

extension LazyList<EntityLayout> {
  init(of model: ManagedObjectModel) {
    let referrers = Lazy { Self.oneWayReferrers(in: model) }
    self.init(count: model.entities.count) { index in
      let entity = model.entities[index]
      return EntityLayout(entity, in: model, referrers: referrers.value[index])
    }
  }

  /// The relationships without an inverse, by the index of the entity that they may lead to.
  private static func oneWayReferrers(in model: ManagedObjectModel) -> [[EntityLayout.OneWayReferrer]] {
    var referrers: [[EntityLayout.OneWayReferrer]] = Array(repeating: [], count: model.entities.count)
    for entity in model.entities {
      for relationship in entity.description.relationships where relationship.inverse == nil {
        guard let slot = entity.slot(named: relationship.name) else { continue }
        let referrer = EntityLayout.OneWayReferrer(entityIndex: entity.index, slot: slot)
        for target in model.hierarchy(of: model.destination(of: relationship)) {
          referrers[target.index].append(referrer)
        }
      }
    }
    return referrers
  }
}

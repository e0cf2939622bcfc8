import Foundation

extension ModelComparison {
  func operations(forAttributesOf entity: Entity) -> [MigrationOperation] {
    // The attributes of a new entity are added with it.
    guard let source = source(of: entity) else { return [] }
    if isUnchanged(entity) { return operations(forInheritedAttributesOf: entity, from: source) }
    let declared = entity.description.attributes.sorted(on: \.name).flatMap { attribute in
      let old = correspondence.origin(of: attribute.name, in: entity.name)?.source
        .flatMap { source.attribute(named: $0) }
      guard let old else { return appearance(of: attribute, in: entity, from: source) }
      return placement(of: old.name, in: source, to: attribute.name, in: entity, of: .attribute)
        + changes(from: old, of: source, to: attribute, in: entity)
    }
    return declared + operations(forInheritedAttributesOf: entity, from: source)
  }

  /// The changes of inherited attributes that come from a different old attribute than their parent's: the entity's own
  /// attribute moved up, or the entity moved below a parent that has one of the same name.
  private func operations(forInheritedAttributesOf entity: Entity, from source: Entity) -> [MigrationOperation] {
    guard entity.superentity != nil else { return [] }
    return entity.properties.filter { $0.declaringEntity != entity.name }.flatMap { property -> [MigrationOperation] in
      guard let attribute = property.attribute, let old = oldProperty(of: property, in: entity),
        let before = old.attribute
      else { return [] }
      if let parent = entity.superentity.flatMap({ oldProperty(of: property, in: $0) }),
        (parent.name, parent.declaringEntity) == (old.name, old.declaringEntity)
      {
        return []
      }
      return changes(from: before, of: source, to: attribute, in: entity).filter { $0.way != .none }
    }
  }

  /// The old property from which a new entity's property comes.
  private func oldProperty(of property: Property, in entity: Entity) -> Property? {
    correspondence.origin(of: property.name, in: entity.name)?.source
      .flatMap { name in source(of: entity)?.property(named: name) }
  }

  /// The operations for an attribute that is new, or whose values remain those of subentities that already had it.
  private func appearance(
    of attribute: AttributeDescription, in entity: Entity, from source: Entity
  ) -> [MigrationOperation] {
    if let before = source.attribute(named: attribute.name), before.isTransient != attribute.isTransient {
      let kind: MigrationOperation.Kind = attribute.isTransient ? .makeAttributeTransient : .makeAttributePersistent
      return [
        MigrationOperation(
          kind, entity: entity.name, property: attribute.name, losesData: attribute.isTransient)
      ]
    }
    if let before = source.attribute(named: attribute.name), before.isTransient, attribute.isTransient {
      return before == attribute ? [] : [.rules(entity: entity.name, property: attribute.name)]
    }
    if attribute.isDerived, let before = source.attribute(named: attribute.name), !before.isDerived,
      !before.isTransient, correspondence.newName(of: before.name, inOldEntity: source.name) == nil
    {
      return [
        MigrationOperation(
          .changeDerivation, entity: entity.name, property: attribute.name, detail: attribute.derivation,
          losesData: true)
      ]
    }
    let heirs = new.hierarchy(of: entity).dropFirst().filter {
      correspondence.origin(of: attribute.name, in: $0.name)?.source != nil
    }
    return [
      MigrationOperation(
        heirs.isEmpty ? .addAttribute : .moveAttribute, entity: entity.name, property: attribute.name,
        detail: heirs.isEmpty
          ? attribute.summary : "up from \(heirs.map(\.name).sorted().joined(separator: ", "))",
        way: attribute.isTransient ? .none : .inPlace)
    ]
  }

  enum PropertyKind { case attribute, relationship }

  /// Renames, and moves within the hierarchy.
  func placement(
    of oldName: String, in source: Entity, to newName: String, in entity: Entity, of kind: PropertyKind
  ) -> [MigrationOperation] {
    var found: [MigrationOperation] = []
    if oldName != newName {
      found.append(
        MigrationOperation(
          kind == .attribute ? .renameAttribute : .renameRelationship, entity: entity.name, property: oldName,
          newName: newName))
    }
    let declaring = source.property(named: oldName)?.declaringEntity
    if let declaring, declaring != source.name, correspondence.entities[entity.name] != declaring,
      correspondence.newName(ofEntity: declaring) != nil
    {
      found.append(
        MigrationOperation(
          kind == .attribute ? .moveAttribute : .moveRelationship, entity: entity.name, property: newName,
          detail: "down from \(declaring)"))
    }
    return found
  }

  private func changes(
    from old: AttributeDescription, of source: Entity, to new: AttributeDescription, in entity: Entity
  ) -> [MigrationOperation] {
    var found: [MigrationOperation] = []
    func add(_ kind: MigrationOperation.Kind, _ detail: String? = nil, way: MigrationWay) {
      found.append(MigrationOperation(kind, entity: entity.name, property: new.name, detail: detail, way: way))
    }
    if old.type != new.type { found.append(typeChange(from: old, to: new, in: entity)) }
    // The store's own model may not know the name of a composite type, so only its elements are compared.
    if old.type == .composite, new.type == .composite, let before = source.property(named: old.name),
      let now = entity.property(named: new.name)
    {
      found += elementChanges(from: before, to: now, of: new, in: entity)
    }
    switch (old.isOptional, new.isOptional) {
    case (true, false):
      let fill = new.defaultValue.isNull ? nil : "missing values become \(new.defaultValue)"
      add(.makeAttributeRequired, fill, way: .inPlace)
    case (false, true): add(.makeAttributeOptional, way: .none)
    default: break
    }
    if old.allowsExternalStorage != new.allowsExternalStorage {
      let way: MigrationWay = MarkChange(from: old, to: new) == .same ? .none : .inPlace
      add(.changeExternalStorage, new.allowsExternalStorage ? "on" : "off", way: way)
    }
    if old.derivation?.formatNormalForm != new.derivation?.formatNormalForm {
      add(.changeDerivation, new.derivation ?? "no longer derived", way: .inPlace)
    }
    if old.defaultValue != new.defaultValue { add(.changeDefault, way: .none) }
    if old.valueTransformerName != new.valueTransformerName {
      add(.changeTransformer, new.valueTransformerName ?? "none", way: .none)
    }
    if old.rules != new.rules { found.append(.rules(entity: entity.name, property: new.name)) }
    return found
  }

  private func typeChange(
    from old: AttributeDescription, to new: AttributeDescription, in entity: Entity
  ) -> MigrationOperation {
    var operation = MigrationOperation(
      .changeAttributeType, entity: entity.name, property: new.name, detail: "\(old.summary) → \(new.summary)")
    switch AttributeConversion(from: old.type, to: new.type) {
    case .same, .exact, .exactWithin: break
    default:
      operation.way = .impossible
      operation.obstacle = MigrationBlocker(
        entity: entity.name, property: new.name,
        what: "Not every \(old.summary) value of \(entity.name).\(new.name) has an exact equivalent as \(new.summary).",
        fix: "Give the hop a mapping model, or add an attribute of the new type under another name.")
    }
    return operation
  }
}

extension ModelComparison {
  /// The changes of a composite attribute's elements.
  private func elementChanges(
    from before: Property, to now: Property, of attribute: AttributeDescription, in entity: Entity
  ) -> [MigrationOperation] {
    func name(_ element: Property.Element) -> String { element.path.dropFirst().joined(separator: ".") }
    func operation(_ detail: String, losesData: Bool = false) -> MigrationOperation {
      MigrationOperation(
        .changeElements, entity: entity.name, property: attribute.name, detail: detail, losesData: losesData)
    }
    let former = now.formerElements(in: before)
    let kept = Set(former.values.map(\.slot))
    var ends: [(name: String, old: Property.Element?, new: Property.Element?)] = []
    for element in before.elements where !kept.contains(element.slot) { ends.append((name(element), element, nil)) }
    for element in now.elements { ends.append((name(element), former[element.slot], element)) }
    return ends.sorted(on: \.name).flatMap { end -> [MigrationOperation] in
      guard let old = end.old else { return [operation("\(end.name) added")] }
      guard let new = end.new else { return [operation("\(end.name) removed", losesData: true)] }
      let (before, after) = (old.attribute, new.attribute)
      var storage = name(old) == end.name ? [] : [operation("\(name(old)) → \(end.name)")]
      switch MarkChange(from: before, to: after) {
      case .added: storage.append(operation("\(end.name): external storage on"))
      case .removed: storage.append(operation("\(end.name): external storage off"))
      case .same: break
      }
      guard before.type != after.type else { return storage }
      var change = operation("\(end.name): \(before.type.rawValue) → \(after.type.rawValue)")
      switch AttributeConversion(from: before.type, to: after.type) {
      case .same, .exact: break
      case .exactWithin, .refused:
        change.way = .impossible
        change.obstacle = MigrationBlocker(
          entity: entity.name, property: attribute.name,
          what: "Not every \(before.type.rawValue) value of \(entity.name).\(attribute.name).\(end.name) has an "
            + "exact equivalent as \(after.type.rawValue).",
          fix: "Give the hop a mapping model, or add an element of the new type under another name.")
      }
      return [change] + storage
    }
  }
}

extension AttributeDescription {
  /// The type, as phrased in messages.
  var summary: String { compositeName.map { "\(type.rawValue) \($0)" } ?? type.rawValue }

  /// The parts of the declaration that don't affect the store's schema.
  fileprivate var rules: AttributeDescription {
    AttributeDescription(
      "", .undefined, versionHashModifier: versionHashModifier, userInfo: userInfo,
      preservesValueOnDeletion: preservesValueOnDeletion, validation: validation.normalForm)
  }
}

package import Persist

extension ModelPicture {
  /// A picture of the changes from one version to another.
  ///
  /// - Parameters:
  ///   - old: the old version.
  ///   - new: the new version.
  ///   - operations: the operations of the plan between the two versions.
  package init(from old: ModelVersion, to new: ModelVersion, operations: [MigrationOperation]) {
    var drawing = DifferenceDrawing(old: old.model, new: new.model, operations: operations)
    drawing.draw()
    let parts = Change.allCases.compactMap { change -> String? in
      let count = drawing.boxes.count { $0.change == change }
      return count == 0 ? nil : "\(Self.entities(count)) \(change.rawValue)"
    }
    self.init(
      title: "\(old.name) → \(new.name)", summary: parts.isEmpty ? "no entities" : parts.joined(separator: ", "),
      isDifference: true, boxes: drawing.boxes, links: drawing.links)
  }

  /// A picture of one version, with all its properties.
  package init(of version: ModelVersion) {
    var drawing = DifferenceDrawing(old: version.model, new: version.model, operations: [])
    drawing.showsEverything = true
    drawing.draw()
    self.init(
      title: version.name, summary: drawing.boxes.isEmpty ? "no entities" : Self.entities(drawing.boxes.count),
      isDifference: false, boxes: drawing.boxes, links: drawing.links)
  }

  private static func entities(_ count: Int) -> String { Measure.count(count, "entity") }
}

/// Collects the boxes and links of a difference.
private struct DifferenceDrawing {
  typealias Change = ModelPicture.Change

  let old: ManagedObjectModel
  let new: ManagedObjectModel
  let operations: [MigrationOperation]
  let changes: [String: [String: PropertyChange]]
  var boxes: [ModelPicture.Box] = []
  var links: [ModelPicture.Link] = []
  /// Whether to show every property, as in a picture of one model.
  var showsEverything = false
  /// The new names of renamed entities, by old name.
  private var newNames: [String: String] = [:]
  private var boxByNewName: [String: Int] = [:]
  private var boxByRemovedName: [String: Int] = [:]
  /// The maximum number of properties shown for an added or removed entity.
  private static let lineLimit = 12
  private let removed: Set<String>
  private let added: Set<String>

  init(old: ManagedObjectModel, new: ManagedObjectModel, operations: [MigrationOperation]) {
    self.old = old
    self.new = new
    self.operations = operations
    changes = PropertyChange.byEntity(operations)
    removed = Set(operations.filter { $0.kind == .removeEntity }.map(\.entity))
    added = Set(operations.filter { $0.kind == .addEntity }.map(\.entity))
    for operation in operations where operation.kind == .renameEntity { newNames[operation.entity] = operation.newName }
  }

  mutating func draw() {
    for entity in new.entities {
      boxByNewName[entity.name] = boxes.count
      boxes.append(box(entity, added.contains(entity.name) ? .added : showsEverything ? .unchanged : nil))
    }
    for entity in old.entities where removed.contains(entity.name) {
      boxByRemovedName[entity.name] = boxes.count
      boxes.append(box(entity, .removed))
    }
    for entity in new.entities { drawLinks(of: entity) }
    for entity in old.entities { drawRemovedLinks(of: entity) }
  }

  // MARK: Boxes

  private func box(_ entity: Entity, _ whole: Change?) -> ModelPicture.Box {
    let own = changes[entity.name] ?? [:]
    let properties = entity.properties.filter { $0.declaringEntity == entity.name }
    if let whole {
      let lines = shown(properties).map {
        line($0, change: .unchanged, notes: [], marks: PropertyMarks(of: $0, in: entity).words)
      }
      return ModelPicture.Box(
        title: entity.name, change: whole, notes: entity.isAbstract ? ["abstract"] : [], lines: lines,
        hiddenCount: properties.count - lines.count)
    }
    var lines: [ModelPicture.Line] = []
    for (name, change) in own.sorted(by: { $0.key < $1.key }) where !name.isEmpty {
      let property = properties.first { $0.name == name }
        ?? removedProperty(name, of: entity) ?? entity.property(named: name)
      lines.append(
        property.map { line($0, change: change.change, notes: change.notes) }
          ?? ModelPicture.Line(change: change.change, name: name, type: indexType(name, entity), notes: change.notes))
    }
    let rest = properties.filter { own[$0.name] == nil }
    let isShown = !lines.isEmpty && rest.count <= 4
    if isShown { lines += rest.map { line($0, change: .unchanged, notes: []) } }
    return ModelPicture.Box(
      title: entity.name, change: own.isEmpty ? .unchanged : .changed, notes: own[""]?.notes ?? [], lines: lines,
      hiddenCount: isShown ? 0 : rest.count)
  }

  /// As many properties as fit. If there are too many, relationships take precedence over attributes, because links
  /// begin at them.
  private func shown(_ properties: [Property]) -> [Property] {
    guard properties.count > Self.lineLimit, !showsEverything else { return properties }
    let relationships = properties.filter { $0.relationship != nil }.prefix(Self.lineLimit)
    let attributes = properties.filter { $0.relationship == nil }.prefix(Self.lineLimit - relationships.count)
    return Array(attributes) + Array(relationships)
  }

  /// - Parameter marks: The marks at the end of the line of an attribute.
  private func line(
    _ property: Property, change: Change, notes: [String], marks: [String] = []
  ) -> ModelPicture.Line {
    var type = property.attribute.map { attribute in
      ([attribute.type.rawValue + (attribute.isOptional ? "?" : "")] + marks).joined(separator: ", ")
    } ?? ""
    if let relationship = property.relationship {
      type = "\(relationship.isToMany ? "⇉" : "→") \(relationship.destination)"
    }
    return ModelPicture.Line(change: change, name: property.name, type: type, notes: notes)
  }

  private func oldEntity(_ name: String) -> Entity? {
    old.entitiesByName[newNames.first { $0.value == name }?.key ?? name]
  }

  private func removedProperty(_ name: String, of entity: Entity) -> Property? {
    guard changes[entity.name]?[name]?.change == .removed else { return nil }
    return oldEntity(entity.name)?.property(named: name)
  }

  private func indexType(_ name: String, _ entity: Entity) -> String {
    let isConstraint = operations.contains {
      $0.entity == entity.name && $0.property == name
        && [.addUniquenessConstraint, .removeUniquenessConstraint].contains($0.kind)
    }
    return isConstraint ? "unique" : "index"
  }

  // MARK: Links

  private mutating func drawLinks(of entity: Entity) {
    guard let box = boxByNewName[entity.name] else { return }
    if let parent = entity.superentity, let target = boxByNewName[parent.name] {
      let isChanged = operations.contains { $0.kind == .changeParent && $0.entity == entity.name }
      links.append(
        .init(
          kind: .inheritance, change: added.contains(entity.name) ? .added : isChanged ? .changed : .unchanged,
          source: .init(box: box, line: nil, isToMany: false), target: .init(box: target, line: nil, isToMany: false),
          title: "\(entity.name) is a \(parent.name)"))
    }
    for relationship in entity.description.relationships where isFirst(relationship, of: entity.name, in: new) {
      let inverse = inverse(of: relationship, in: new)
      guard let target = boxByNewName[inverse?.entity ?? relationship.destination] else { continue }
      let ends = [changes[entity.name]?[relationship.name]?.change]
        + [inverse.flatMap { changes[$0.entity]?[$0.relationship.name]?.change }]
      let isNew = added.contains(entity.name) || added.contains(relationship.destination)
      let change: Change = isNew || ends.contains(.added) ? .added : ends.contains(.changed) ? .changed : .unchanged
      append(relationship, inverse: inverse?.relationship, from: box, to: target, change: change)
    }
  }

  /// Draws the links of removed relationships of the old model.
  private mutating func drawRemovedLinks(of entity: Entity) {
    for relationship in entity.description.relationships where isFirst(relationship, of: entity.name, in: old) {
      let inverse = inverse(of: relationship, in: old)
      guard let source = boxOfOld(entity.name), let target = boxOfOld(inverse?.entity ?? relationship.destination),
        isRemoved(relationship, of: entity.name) || inverse.map({ isRemoved($0.relationship, of: $0.entity) }) == true
      else { continue }
      append(relationship, inverse: inverse?.relationship, from: source, to: target, change: .removed)
    }
  }

  private func boxOfOld(_ name: String) -> Int? {
    boxByRemovedName[name] ?? boxByNewName[newNames[name] ?? name]
  }

  private func isRemoved(_ relationship: RelationshipDescription, of entity: String) -> Bool {
    removed.contains(entity)
      || operations.contains {
        $0.kind == .removeRelationship && $0.entity == newNames[entity] ?? entity && $0.property == relationship.name
      }
  }

  /// Whether to draw a relationship: it and its inverse are a single link.
  private func isFirst(
    _ relationship: RelationshipDescription, of entity: String, in model: ManagedObjectModel
  ) -> Bool {
    guard let inverse = inverse(of: relationship, in: model) else { return true }
    return (entity, relationship.name) <= (inverse.entity, inverse.relationship.name)
  }

  /// The inverse of a relationship, with the entity that declares it and has its line: an ancestor of the destination,
  /// or the destination itself.
  private func inverse(
    of relationship: RelationshipDescription, in model: ManagedObjectModel
  ) -> (entity: String, relationship: RelationshipDescription)? {
    guard let name = relationship.inverse,
      let property = model.destination(of: relationship).property(named: name), let inverse = property.relationship
    else { return nil }
    return (property.declaringEntity, inverse)
  }

  private mutating func append(
    _ relationship: RelationshipDescription, inverse: RelationshipDescription?, from source: Int, to target: Int,
    change: Change
  ) {
    func line(_ name: String?, of box: Int) -> Int? { boxes[box].lines.firstIndex { $0.name == name } }
    links.append(
      .init(
        kind: .relationship, change: change,
        source: .init(
          box: source, line: line(relationship.name, of: source), isToMany: inverse?.isToMany ?? false),
        target: .init(
          box: target, line: inverse.flatMap { line($0.name, of: target) }, isToMany: relationship.isToMany),
        title: "\(boxes[source].title).\(relationship.name)"
          + (inverse.map { " and \(boxes[target].title).\($0.name)" } ?? " → \(boxes[target].title)")))
  }
}

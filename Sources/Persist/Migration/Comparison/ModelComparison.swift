/// The differences between two models, as operations.
///
/// A pure function of the two models and their correspondence, so the result applies to any store. A model compared
/// with itself gives no operations.
package struct ModelComparison: Sendable {
  let old: ManagedObjectModel
  let new: ManagedObjectModel
  package let correspondence: ModelCorrespondence
  /// In the order of the new model's entities: first the entities, then their attributes, then their relationships;
  /// removals are last.
  package private(set) var operations: [MigrationOperation] = []
  /// By entity of the new model; see ``isUnchanged(_:)``.
  let unchanged: [Bool]

  /// - Throws: ``PersistenceError/Code/mappingAmbiguous`` if the new model's names have several possible sources, or
  ///   share one.
  init(from old: ManagedObjectModel, to new: ManagedObjectModel) throws {
    self.init(from: old, to: new, by: try ModelCorrespondence(from: old, to: new))
  }

  /// Compares two models with a given correspondence, such as one completed from other versions.
  ///
  /// - Parameter unchanged: The entities whose parts needn't be compared; nil to determine them.
  init(
    from old: ManagedObjectModel, to new: ManagedObjectModel, by correspondence: ModelCorrespondence,
    unchanged: [Bool]? = nil
  ) {
    self.old = old
    self.new = new
    self.correspondence = correspondence
    self.unchanged = unchanged ?? Self.unchangedEntities(from: old, to: new, by: correspondence)
    operations =
      new.entities.flatMap(operations(forEntity:)) + new.entities.flatMap(operations(forAttributesOf:))
      + new.entities.flatMap(operations(forRelationshipsOf:)) + removals()
  }

  /// The most expensive way that any operation needs.
  var way: MigrationWay { operations.map(\.way).max() ?? .none }

  /// The old entity of a new one.
  @inline(never)
  func source(of entity: Entity) -> Entity? {
    correspondence.entities[entity.name].flatMap { old.entitiesByName[$0] }
  }

  private func operations(forEntity entity: Entity) -> [MigrationOperation] {
    guard let source = source(of: entity) else { return [MigrationOperation(.addEntity, entity: entity.name)] }
    var found: [MigrationOperation] = []
    if source.name != entity.name {
      found.append(MigrationOperation(.renameEntity, entity: source.name, newName: entity.name))
    }
    let oldParent = source.superentity?.name
    let newParent = entity.superentity?.name
    let parentSource = entity.superentity.flatMap(source(of:))
    if parentSource !== source.superentity || (entity.superentity == nil) != (source.superentity == nil) {
      let obstacle = mergeObstacle(entity, from: source)
      found.append(
        MigrationOperation(
          .changeParent, entity: entity.name, detail: "\(oldParent ?? "no parent") → \(newParent ?? "no parent")",
          way: obstacle == nil ? .inPlace : .impossible, obstacle: obstacle))
    }
    if isUnchanged(entity) { return found }
    if source.isAbstract != entity.isAbstract {
      found.append(
        MigrationOperation(
          .changeAbstract, entity: entity.name, detail: entity.isAbstract ? "abstract" : "no longer abstract",
          way: .none))
    }
    found += uniquenessOperations(entity, from: source) + indexOperations(entity, from: source)
    if entity.rules != source.rules { found.append(.rules(entity: entity.name)) }
    return found
  }

  /// The obstacle to merging the rows of two tables in one: their keys may collide.
  private func mergeObstacle(_ entity: Entity, from source: Entity) -> MigrationBlocker? {
    let roots = Set(new.hierarchy(of: entity.root).compactMap { self.source(of: $0)?.root.name })
    guard roots.count > 1 else { return nil }
    return MigrationBlocker(
      entity: entity.name,
      what: "'\(entity.root.name)' combines \(roots.sorted().joined(separator: " and ")), "
        + "which have no common parent in the old model.",
      fix: "Give them a mapping model, or keep them separate.")
  }

  private func uniquenessOperations(_ entity: Entity, from source: Entity) -> [MigrationOperation] {
    let translated = source.uniquenessRules { newName($0, of: source, for: entity) }
    let wanted = entity.uniquenessRules { $0 }
    func operation(_ kind: MigrationOperation.Kind, _ rule: UniquenessRule) -> MigrationOperation {
      MigrationOperation(
        kind, entity: entity.name, property: rule.names.joined(separator: ", "),
        detail: rule.conditions.isEmpty ? nil : "where \(rule.conditions.words)")
    }
    return translated.filter { !wanted.contains($0) }.map { operation(.removeUniquenessConstraint, $0) }
      + wanted.filter { !translated.contains($0) }.map { operation(.addUniquenessConstraint, $0) }
  }

  private func indexOperations(_ entity: Entity, from source: Entity) -> [MigrationOperation] {
    let old = source.indexDescriptions(renaming: { newName($0, of: source, for: entity) })
    let wanted = entity.indexDescriptions(renaming: { $0 })
    return
      old.filter { wanted[$0.key] == nil }.keys.sorted()
      .map { .init(.removeIndex, entity: entity.name, property: $0) }
      + wanted.filter { old[$0.key] == nil }.keys.sorted()
      .map { .init(.addIndex, entity: entity.name, property: $0) }
      + wanted.filter { old[$0.key] != nil && old[$0.key] != $0.value }.keys.sorted()
      .map { .init(.changeIndex, entity: entity.name, property: $0) }
  }

  private func newName(_ property: String, of source: Entity, for entity: Entity) -> String {
    correspondence.properties[entity.name]?.filter { $0.value.source == property }.keys.min() ?? property
  }
}

/// A uniqueness constraint with its conditions.
private struct UniquenessRule: Equatable {
  let names: [String]
  let conditions: Set<UniquenessCondition>
}

extension MigrationOperation {
  /// A difference that doesn't affect the store's schema.
  static func rules(entity: String, property: String? = nil, detail: String? = nil) -> MigrationOperation {
    MigrationOperation(.changeRules, entity: entity, property: property, detail: detail, way: .none)
  }
}

extension Entity {
  /// The parts of the declaration that don't affect the store's schema.
  fileprivate var rules: EntityDescription {
    var rest = description
    rest.name = ""
    rest.parent = nil
    rest.isAbstract = false
    rest.renamingIdentifier = nil
    rest.attributes = []
    rest.relationships = []
    rest.uniquenessConstraints = []
    rest.uniquenessConditions = Dictionary()
    rest.indexes = []
    rest.compoundIndexes = []
    rest.unknown = Dictionary()
    rest.moduleName = nil
    return rest
  }

  /// The uniqueness constraints with their conditions.
  fileprivate dynamic func uniquenessRules(renaming: (String) -> String) -> [UniquenessRule] {
    description.uniquenessConstraints.map { names in
      let conditions = (description.uniquenessConditions[names] ?? []).map { condition in
        UniquenessCondition(renaming(condition.attribute), condition.test)
      }
      return UniquenessRule(names: names.map(renaming), conditions: Set(conditions))
    }
  }

  /// Indexes by name, including those of the older kinds: compound indexes, and attributes marked as indexed.
  fileprivate dynamic func indexDescriptions(renaming: (String) -> String) -> [String: FetchIndexDescription] {
    var found: [String: FetchIndexDescription] = Dictionary()
    for index in description.indexes {
      var index = index
      for position in index.elements.indices {
        if case .property(let name) = index.elements[position].subject {
          index.elements[position].subject = .property(renaming(name))
        }
      }
      found[index.name] = index.normalForm
    }
    for properties in description.compoundIndexes {
      let name = properties.map(renaming).joined(separator: ", ")
      found[name] = FetchIndexDescription(name, elements: properties.map { .init(.property(renaming($0))) })
    }
    for attribute in description.attributes where attribute.isIndexed {
      let name = renaming(attribute.name)
      if !found.keys.contains(name) { found[name] = FetchIndexDescription(name, on: name) }
    }
    return found
  }
}

import Persist

/// The names of entities in the oldest version of the model that a program knows.
///
/// They are parts of identities, so that replicas of all versions agree on the identities of objects that each of them
/// makes: of objects with an identifying value, and of those that copies of one store share.
struct OldestNames {
  /// The entities of the oldest versions by the model's own names.
  private var entities: [String: Entity] = [:]
  /// The oldest names of tables that several of the model's tables have, because they were one.
  private var shared: Set<String> = []

  /// - Parameters:
  ///   - versions: The versions that the program knows, in their order. Those after the model's own aren't needed.
  ///   - mappings: The mapping models between them.
  init(_ model: ManagedObjectModel, among versions: [ModelVersion], _ mappings: VersionMappings) {
    for entity in model.entities { entities[entity.name] = entity }
    var later = model
    for version in versions.before(ModelTag(of: model)).reversed() {
      follow(from: later, to: version.model, mappings)
      later = version.model
    }
    var roots: [String: Entity] = [:]
    for entity in model.entities {
      let oldest = oldestRoot(of: entity)
      if roots.updateValue(entity.root, forKey: oldest).map({ $0 != entity.root }) == true { shared.insert(oldest) }
    }
  }

  /// Follows the entities of a version to the one before.
  private mutating func follow(
    from later: ManagedObjectModel, to earlier: ManagedObjectModel, _ mappings: VersionMappings
  ) {
    guard let correspondence = try? ModelCorrespondence(from: earlier, to: later) else { return }
    var names: [String: String] = [:]
    for entity in earlier.entities {
      if let name = correspondence.newName(ofEntity: entity.name) { names[name] = entity.name }
    }
    let pairs = mappings.pairs(from: ModelTag(of: earlier), to: ModelTag(of: later))
    for pair in pairs where pair.theirs.count == 1 && pair.own.count == 1 && names[pair.own[0]] == nil {
      names[pair.own[0]] = pair.theirs[0]
    }
    for (name, entity) in entities {
      // An entity that is missing in a version may be in an earlier one, under the same name.
      if let found = earlier.entitiesByName[names[entity.name] ?? entity.name] { entities[name] = found }
    }
  }

  /// The oldest name of an entity.
  func name(of entity: Entity) -> String {
    let oldest = entities[entity.name] ?? entity
    return oldest.description.renamingIdentifier ?? oldest.name
  }

  /// The oldest name of the entity in whose table an entity's rows are. Tables that were one have their own names,
  /// since their rows may have equal keys.
  func root(of entity: Entity) -> String {
    let oldest = oldestRoot(of: entity)
    return shared.contains(oldest) ? entity.root.name : oldest
  }

  private func oldestRoot(of entity: Entity) -> String {
    let root = (entities[entity.name] ?? entity).root
    return root.description.renamingIdentifier ?? root.name
  }
}

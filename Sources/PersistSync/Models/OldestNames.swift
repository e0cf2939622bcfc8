import Persist

/// The names of entities in the oldest version of the model that a program knows.
///
/// They are parts of identities, so that replicas of all versions agree on the identities of objects that each of them
/// makes: of objects with an identifying value, and of those that copies of one store share.
struct OldestNames {
  private let model: ManagedObjectModel
  /// The entities of the oldest versions by the model's own names.
  private var entities: [String: Entity] = [:]

  /// - Parameters:
  ///   - versions: The versions that the program knows, in their order. Those after the model's own aren't needed.
  ///   - mappings: The mapping models between them.
  init(_ model: ManagedObjectModel, among versions: [ModelVersion], _ mappings: VersionMappings) {
    self.model = model
    for entity in model.entities { entities[entity.name] = entity }
    let own = versions.firstIndex { $0.model.description.digest == model.description.digest }
    var later = model
    for version in versions[..<(own ?? versions.endIndex)].reversed() {
      follow(from: later, to: version.model, mappings)
      later = version.model
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
    let pairs = mappings.pairs(
      from: ModelTag(digest: earlier.description.digest), to: ModelTag(digest: later.description.digest))
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
    let isShared = model.entities.contains { $0.root != entity.root && oldestRoot(of: $0) == oldest }
    return isShared ? entity.root.name : oldest
  }

  private func oldestRoot(of entity: Entity) -> String {
    let root = (entities[entity.name] ?? entity).root
    return root.description.renamingIdentifier ?? root.name
  }
}

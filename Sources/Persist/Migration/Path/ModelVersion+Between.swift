extension ModelVersion {
  /// The version between two others that has the entities and properties of both, so that code can compute the values
  /// of the new ones from those of the old ones.
  ///
  /// Entities and properties that both versions have are as in the new one. What is new isn't required yet, and values
  /// of new properties needn't be unique. Its objects have no classes of their own: properties are accessed by name.
  ///
  /// ```swift
  /// let between = try ModelVersion.between(v1, and: v2)
  /// ```
  ///
  /// - Parameters:
  ///   - old: The version that stores have.
  ///   - new: The version that they get.
  ///   - name: The version's name in plans and messages; by default, it has the names of both versions.
  /// - Throws: ``PersistenceError/Code/mappingAmbiguous`` if a name belongs to different properties or entities in the
  ///   two versions: describe the version in Swift then.
  public static func between(
    _ old: ModelVersion, and new: ModelVersion, name: String? = nil
  ) throws -> ModelVersion {
    let name = name ?? "the model between \(quoted(old.name)) and \(quoted(new.name))"
    let union = try ModelUnion(of: old, and: new)
    var description = union.description
    description.versionIdentifiers = [name]
    return ModelVersion(name: name, model: try ManagedObjectModel(description))
  }
}

extension StagedMigration {
  /// A migration in which a block computes the values of new properties, or creates new objects, while the old ones are
  /// still there.
  ///
  /// ```swift
  /// let split = try StagedMigration(from: v1, to: v2) { context in
  ///   for person in try context.fetch(FetchRequest("Person")) {
  ///     let words = (person["name"] as? String ?? "").split(separator: " ")
  ///     person["firstName"] = words.first.map(String.init) ?? ""
  ///     person["lastName"] = words.dropFirst().joined(separator: " ")
  ///   }
  /// }
  /// try coordinator.addStore(at: url, options: .stagedMigration(split))
  /// ```
  ///
  /// The block works in ``ModelVersion/between(_:and:name:)``, where entities and properties that are renamed already
  /// have their new names. Its changes are saved when it returns.
  ///
  /// - Parameters:
  ///   - old: The version that stores have.
  ///   - new: The version that they get.
  ///   - work: The work in the version between the two.
  /// - Throws: ``PersistenceError/Code/mappingAmbiguous`` if a name belongs to different properties or entities in the
  ///   two versions.
  public init(from old: ModelVersion, to new: ModelVersion, _ work: @escaping Block) throws {
    let between = try ModelVersion.between(old, and: new)
    switch between.model.fingerprints {
    case new.model.fingerprints: try self.init([.custom(from: old, to: new, didMigrate: work)])
    case old.model.fingerprints: try self.init([.custom(from: old, to: new, willMigrate: work)])
    default: try self.init([.custom(from: old, to: between, didMigrate: work), .lightweight([between, new])])
    }
  }

  /// This migration, followed by another one that begins where it ends.
  ///
  /// - Throws: ``PersistenceError/Code/invalidRequest`` if stages of both end at the same version.
  public func appending(_ next: StagedMigration) throws -> StagedMigration {
    var joined = try StagedMigration(stages + next.stages)
    joined.objectClass = objectClass
    return joined
  }
}

/// The entities and properties of two versions of a model.
private struct ModelUnion {
  private let old: ModelVersion
  private let new: ModelVersion
  private let correspondence: ModelCorrespondence
  private(set) var description: ModelDescription

  init(of old: ModelVersion, and new: ModelVersion) throws {
    (self.old, self.new) = (old, new)
    correspondence = try ModelCorrespondence(from: old.model, to: new.model)
    description = new.model.description
    description.entities = description.entities.map(relaxed)
    for entity in old.model.entities { try add(entity) }
    let known = Set(description.composites.map(\.name))
    description.composites += old.model.description.composites.filter { !known.contains($0.name) }
  }

  /// An entity of the new version, without what the objects of the old one can't fulfill yet.
  private func relaxed(_ entity: EntityDescription) -> EntityDescription {
    let name = entity.name
    var entity = entity
    (entity.className, entity.moduleName) = (nil, nil)
    guard correspondence.entities[name] != nil else { return entity }
    func isNew(_ property: String) -> Bool {
      correspondence.origin(of: String(property.prefix { $0 != "." }), in: name)?.source == nil
    }
    for index in entity.attributes.indices
    where isNew(entity.attributes[index].name) && entity.attributes[index].defaultValue.isNull {
      entity.attributes[index].isOptional = true
    }
    for index in entity.relationships.indices where isNew(entity.relationships[index].name) {
      entity.relationships[index].isOptional = true
      entity.relationships[index].minimumCount = 0
    }
    for names in entity.uniquenessConstraints where names.contains(where: isNew) {
      entity.uniquenessConditions[names] = nil
    }
    entity.uniquenessConstraints.removeAll { $0.contains(where: isNew) }
    return entity
  }

  /// Adds an entity of the old version, or those of its properties that the new version doesn't have.
  private mutating func add(_ entity: Entity) throws {
    var own = entity.description
    own.relationships = own.relationships.map { translated($0, of: entity) }
    guard let name = correspondence.newName(ofEntity: entity.name),
      let index = description.entities.firstIndex(where: { $0.name == name })
    else {
      guard new.model.entitiesByName[entity.name] == nil else { throw conflict(.entity(entity.name), entity.name) }
      (own.className, own.moduleName) = (nil, nil)
      own.parent = own.parent.map { correspondence.newName(ofEntity: $0) ?? $0 }
      description.entities.append(own)
      for (configuration, entities) in old.model.description.configurations where entities.contains(entity.name) {
        description.configurations[configuration]?.append(entity.name)
      }
      return
    }
    guard let successor = new.model.entitiesByName[name] else { return }
    let attributes = own.attributes.filter { attribute in
      // An attribute that only becomes transient, persistent or derived is as in the new version.
      guard let now = successor.attribute(named: attribute.name) else { return !isKept(attribute.name, of: entity) }
      let isStoredOtherwise = now.isTransient || attribute.isTransient || now.isDerived
      return !isStoredOtherwise && !isKept(attribute.name, of: entity)
    }
    let relationships = own.relationships.filter { !isKept($0.name, of: entity) }
    let taken = new.model.hierarchy(of: successor).flatMap(\.propertiesByName.keys)
    for property in attributes.map(\.name) + relationships.map(\.name) where taken.contains(property) {
      throw conflict(.property(name, property), property)
    }
    description.entities[index].attributes += attributes
    description.entities[index].relationships += relationships
  }

  /// A relationship of the old version with the names that its destination and its inverse have in the union.
  private func translated(_ relationship: RelationshipDescription, of entity: Entity) -> RelationshipDescription {
    var own = relationship
    own.destination = correspondence.newName(ofEntity: relationship.destination) ?? relationship.destination
    // If the new version still has the inverse, it belongs to another relationship there.
    if let inverse = old.model.inverse(of: relationship),
      isKept(inverse.name, of: old.model.destination(of: relationship))
    {
      own.inverse = nil
    }
    return own
  }

  /// Whether the entity's successor, or that of a subentity, has the property.
  @inline(never)
  private func isKept(_ property: String, of entity: Entity) -> Bool {
    old.model.hierarchy(of: entity).contains { correspondence.newName(of: property, inOldEntity: $0.name) != nil }
  }

  private func conflict(_ place: PersistenceError.Place, _ name: String) -> PersistenceError {
    PersistenceError(
      .mappingAmbiguous, at: place,
      "'\(name)' isn't the same in the versions '\(old.name)' and '\(new.name)', so that no version can have both.",
      fix: "Describe the version between them in Swift, where one of the two has another name.")
  }
}

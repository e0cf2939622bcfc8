extension ManagedObjectModel {
  /// Merges several models, such as an application's and those of its libraries.
  ///
  /// An entity, composite type or request template that occurs in several models is merged into one and must be the
  /// same in all of them. Configurations with the same name are combined. If one of the models has ``flaws``, they are
  /// flaws of the merged model too; otherwise it must have none.
  ///
  /// - Throws: ``PersistenceError/Code/invalidModel``, naming everything that two models define differently, or the
  ///   problems of the merged model.
  public convenience init(byMerging models: [ManagedObjectModel]) throws {
    var merge = ModelMerge()
    for model in models { merge.add(model.description) }
    guard merge.problems.isEmpty else {
      throw PersistenceError.combining(
        merge.problems, as: .invalidModel, "The models contradict each other in \(merge.problems.count) places.")
    }
    let classes = models.reduce(into: Dictionary()) { $0.merge($1.classes) { first, _ in first } }
    guard models.contains(where: { !$0.flaws.isEmpty }) else {
      try self.init(merge.merged, classes: classes)
      return
    }
    try self.init(ParsedModel(merge.merged, flaws: Self.flawsOfOmittedParts(of: models)), classes: classes)
  }

  /// Returns the flaws of parts that the models' descriptions lack because of them. The check of the merged model finds
  /// the others again, unless it has what one of the models lacks.
  private static func flawsOfOmittedParts(of models: [ManagedObjectModel]) -> [PersistenceError] {
    var known: Set<PersistenceError> = []
    return models.flatMap { model in
      let remaining = Set(ModelCheck(checking: model.description).flaws)
      return model.flaws.filter { !remaining.contains($0) && known.insert($0).inserted }
    }
  }
}

/// Combines model descriptions.
private struct ModelMerge: ~Copyable {
  private(set) var merged = ModelDescription()
  private(set) var problems: [PersistenceError] = []
  private var entities: [String: EntityDescription] = Dictionary()
  private var composites: [String: CompositeDescription] = Dictionary()

  mutating func add(_ model: ModelDescription) {
    for entity in model.entities {
      if let known = entities[entity.name] {
        if known != entity { contradict("The entity", entity.name, at: .entity(entity.name)) }
      } else {
        merged.entities.append(entity)
        entities[entity.name] = entity
      }
    }
    for composite in model.composites {
      if let known = composites[composite.name] {
        if known != composite { contradict("The composite type", composite.name, at: .entity(composite.name)) }
      } else {
        merged.composites.append(composite)
        composites[composite.name] = composite
      }
    }
    for (name, template) in model.fetchRequestTemplates {
      if let known = merged.fetchRequestTemplates[name] {
        if known != template { contradict("The fetch request template", name, at: .entity(template.entity)) }
      } else {
        merged.fetchRequestTemplates[name] = template
      }
    }
    for (name, entities) in model.configurations {
      let known = merged.configurations[name] ?? []
      let names = Set(known)
      merged.configurations[name] = known + entities.filter { !names.contains($0) }
    }
    merged.versionIdentifiers += model.versionIdentifiers.filter { !merged.versionIdentifiers.contains($0) }
    merged.unknown.merge(model.unknown) { first, _ in first }
  }

  private mutating func contradict(_ kind: String, _ name: String, at place: PersistenceError.Place) {
    problems.append(
      PersistenceError(
        .invalidModel, at: place, "\(kind) '\(name)' isn't the same in two of the models.",
        fix: "Rename one of the two, or make them identical."))
  }
}

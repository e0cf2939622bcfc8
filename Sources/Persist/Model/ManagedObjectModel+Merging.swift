extension ManagedObjectModel {
  /// Merges several models, such as an application's and those of its libraries.
  ///
  /// An entity, composite type or request template that occurs in several models is merged into one and must be the
  /// same in all of them. Configurations with the same name are combined.
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
    let classes = models.reduce(into: [:]) { $0.merge($1.classes) { first, _ in first } }
    try self.init(merge.merged, classes: classes)
  }
}

/// Combines model descriptions.
private struct ModelMerge {
  private(set) var merged = ModelDescription()
  private(set) var problems: [PersistenceError] = []

  mutating func add(_ model: ModelDescription) {
    for entity in model.entities {
      switch merged.entities.first(where: { $0.name == entity.name }) {
      case nil: merged.entities.append(entity)
      case entity: break
      default: contradict("The entity", entity.name, at: .entity(entity.name))
      }
    }
    for composite in model.composites {
      switch merged.composites.first(where: { $0.name == composite.name }) {
      case nil: merged.composites.append(composite)
      case composite: break
      default: contradict("The composite type", composite.name, at: .entity(composite.name))
      }
    }
    for (name, template) in model.fetchRequestTemplates {
      switch merged.fetchRequestTemplates[name] {
      case nil: merged.fetchRequestTemplates[name] = template
      case template: break
      default: contradict("The fetch request template", name, at: .entity(template.entity))
      }
    }
    for (name, entities) in model.configurations {
      let known = merged.configurations[name] ?? []
      merged.configurations[name] = known + entities.filter { !known.contains($0) }
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

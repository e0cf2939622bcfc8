/// The notes of a hop's plan: cases in which the models may not mean what they say.
struct HopNotes: ~Copyable {
  private(set) var sentences: [String] = []
  private let hop: MigrationHop

  /// - Complexity: reads every version of the hop's family.
  init(_ hop: MigrationHop, registry: ModelRegistry?) {
    self.hop = hop
    let family = registry?.family(of: hop.destination)
    addMissingModifiers(family)
    if hop.isInferred, let family, family.contains(hop.source), hop.source.model !== hop.destination.model {
      addDivergence(family.versions(between: hop.source, and: hop.destination).versions)
    }
  }

  // MARK: Versions that are stored alike

  /// Adds versions whose renaming identifiers swap names but whose storage is identical.
  private mutating func addMissingModifiers(_ family: ModelFamily?) {
    let model = hop.destination.model
    for version in family?.versions ?? [hop.source]
    where version.model !== model && version.model.fingerprints == model.fingerprints {
      let alike = ModelCorrespondence(storedAlike: version.model, as: model)
      guard let named = try? ModelCorrespondence(from: version.model, to: model), named != alike else { continue }
      let renamed = model.entities.flatMap { entity -> [String] in
        guard named.entities[entity.name] == entity.name else { return [entity.name] }
        let own = entity.description.attributes.map(\.name) + entity.description.relationships.map(\.name)
        return own.filter { named.properties[entity.name]?[$0]?.source != alike.properties[entity.name]?[$0]?.source }
          .map { "\(entity.name).\($0)" }
      }
      guard !renamed.isEmpty else { continue }
      sentences.append(
        "'\(version.name)' and '\(hop.destination.name)' differ in renaming identifiers alone and are stored alike, so "
          + "nothing is renamed between them. If \(renamed.sorted().joined(separator: ", ")) are to take other values, "
          + "give them a hash modifier in the later version.")
    }
  }

  // MARK: Ways that differ

  /// Adds the values that would differ after a migration through each version in between.
  private mutating func addDivergence(_ between: [ModelVersion]) {
    guard !between.isEmpty,
      let history = try? RenamingHistory(from: hop.source.model, to: hop.destination.model),
      let other = history.through(between.map(\.model))
    else { return }
    let own = hop.comparison.correspondence
    let way = "through \(between.map { "'\($0.name)'" }.joined(separator: ", "))"
    for entity in hop.destination.model.entities {
      guard own.entities[entity.name] == other.entities[entity.name] else {
        let (direct, through) = (own.entities[entity.name], other.entities[entity.name])
        sentences.append(
          "\(entity.name) takes the objects of \(direct ?? "no entity"); \(way) it would take those of "
            + "\(through ?? "no entity").")
        continue
      }
      guard own.entities[entity.name] != nil else { continue }
      let names = entity.description.attributes.map(\.name) + entity.description.relationships.map(\.name)
      for name in names.sorted() {
        let (direct, through) = (own.origin(of: name, in: entity.name), other.origin(of: name, in: entity.name))
        guard let sentence = Self.sentence(direct, through: through, way: way) else { continue }
        sentences.append("\(entity.name).\(name) \(sentence)")
      }
    }
  }

  private static func sentence(
    _ direct: ModelCorrespondence.Origin?, through: ModelCorrespondence.Origin?, way: String
  ) -> String? {
    switch (direct?.source, through?.source) {
    case (let own?, let other?) where own != other:
      return "takes the values of '\(own)'; \(way) it would take those of '\(other)'."
    case (let own?, nil): return "keeps the values of '\(own)'; \(way) they would be lost."
    case (nil, let other?): return "is new; \(way) it would take the values of '\(other)'."
    case (nil, nil):
      let (own, other) = (direct?.fill ?? .null, through?.fill ?? .null)
      guard own != other else { return nil }
      return "is new and becomes \(own); \(way) it would become \(other)."
    default: return nil
    }
  }
}

extension MigrationPath {
  /// The notes of all hops, without duplicates, and those about mapping models that no hop can use.
  func notes(_ resources: MigrationResources) -> [String] {
    var seen: Set<String> = []
    let sentences = hops.flatMap { HopNotes($0, registry: resources.pathRegistry).sentences }
    return (sentences + resources.unusedMappingModels(from: source, to: destination))
      .filter { seen.insert($0).inserted }
  }
}

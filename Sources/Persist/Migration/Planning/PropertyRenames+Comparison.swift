/// The renames that a history follows.
extension PropertyRenames {
  package init(_ comparison: ModelComparison) {
    self.init()
    let (old, correspondence) = (comparison.old, comparison.correspondence)
    for entity in old.entities {
      guard let name = correspondence.newName(ofEntity: entity.name) else { continue }
      entities[entity.name] = name
      properties[entity.name] = Dictionary(
        entity.properties.compactMap { property in
          correspondence.newName(of: property.name, inOldEntity: entity.name).map { (property.name, $0) }
        }, uniquingKeysWith: { first, _ in first })
    }
  }

  /// The renames of a path. A mapping model that isn't inferred transforms values.
  init(_ hops: [MigrationHop]) {
    let all = hops.map { hop in
      var renames = PropertyRenames(hop.comparison)
      renames.transformsValues = !hop.isInferred
      return renames
    }
    self = all.dropFirst().reduce(all.first ?? PropertyRenames()) { $0.followed(by: $1) }
  }
}

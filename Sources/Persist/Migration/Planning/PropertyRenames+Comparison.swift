/// The renames that a history follows.
extension PropertyRenames {
  init(_ comparison: ModelComparison) {
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

  /// The renames of a path. A mapping model that isn't inferred transforms values, so that nothing follows it.
  init(_ hops: [MigrationHop]) {
    var renames: PropertyRenames?
    for hop in hops {
      let next = hop.isInferred ? PropertyRenames(hop.comparison) : PropertyRenames()
      renames = renames?.followed(by: next) ?? next
    }
    self = renames ?? PropertyRenames()
  }
}

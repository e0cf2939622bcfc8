extension TableMap {
  /// The indexes of all attributes that are marked for full-text search.
  var fullTextIndexes: Set<FullTextIndex> {
    var indexes: Set<FullTextIndex> = []
    for entity in model.entities where !absent.contains(entity.name) {
      for attribute in entity.description.attributes where attribute.isFullTextSearched {
        if let index = fullTextIndex(of: attribute.name, in: entity) { indexes.insert(index) }
      }
    }
    return indexes
  }

  /// The index of an attribute that is marked for full-text search.
  func fullTextIndex(of name: String, in entity: Entity) -> FullTextIndex? {
    guard let property = entity.property(named: name), let attribute = property.attribute,
      let search = attribute.fullTextSearch, attribute.isFullTextSearched,
      let column = self[entity].column(slot: property.slot)
    else { return nil }
    return FullTextIndex(
      table: self[entity].table, column: column.name, search: search, entity: property.declaringEntity, attribute: name)
  }
}

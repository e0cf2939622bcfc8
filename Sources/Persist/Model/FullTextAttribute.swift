/// A full-text searched attribute at the end of a key path.
package struct FullTextAttribute: Sendable {
  /// The entity that has the attribute.
  let entity: Entity
  let attribute: AttributeDescription
  package let search: FullTextSearch
}

extension ManagedObjectModel {
  /// Resolves a path of relationships to an attribute for `MATCHTEXT`.
  ///
  /// - Throws: ``PersistenceError/Code/unknownProperty`` if a key doesn't exist,
  ///   ``PersistenceError/Code/invalidPredicate`` if the attribute isn't marked for full-text search.
  package func fullTextAttribute(at keys: [String], from start: Entity) throws -> FullTextAttribute {
    var entity = start
    for key in keys.dropLast() {
      guard let relationship = entity.relationship(named: key) else {
        throw PersistenceError(
          .unknownProperty, at: .property(entity.name, key), "'\(entity.name)' has no relationship '\(key)'.",
          fix: "MATCHTEXT follows relationships to an attribute, as in 'author.biography'.")
      }
      entity = destination(of: relationship)
    }
    guard let key = keys.last, let attribute = entity.attribute(named: key) else {
      throw PersistenceError(
        .unknownProperty, at: .property(entity.name, keys.last ?? ""),
        "'\(entity.name)' has no attribute '\(keys.last ?? "")' for full-text search.")
    }
    guard attribute.isFullTextSearched, let search = attribute.fullTextSearch else {
      throw PersistenceError(
        .invalidPredicate, at: .property(entity.name, key),
        "'\(entity.name).\(key)' isn't marked for full-text search.",
        fix: "Set the attribute's fullTextSearch, or '\(FullTextSearch.userInfoKey)' in its user info.")
    }
    return FullTextAttribute(entity: entity, attribute: attribute, search: search)
  }
}

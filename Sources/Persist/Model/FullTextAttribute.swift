/// An attribute whose texts are searched, where a path of keys leads to one.
struct FullTextAttribute: Sendable {
  /// The entity that the path's last but one key leads to.
  let entity: Entity
  let attribute: AttributeDescription
  let search: FullTextSearch
}

extension ManagedObjectModel {
  /// What a path of keys over relationships leads to, for `MATCHTEXT`.
  ///
  /// - Throws: ``PersistenceError/Code/unknownProperty`` where it leads nowhere,
  ///   ``PersistenceError/Code/invalidPredicate`` where it leads to something that isn't marked for full-text search.
  func fullTextAttribute(at keys: [String], from start: Entity) throws -> FullTextAttribute {
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
        "'\(entity.name)' has no attribute '\(keys.last ?? "")' whose texts could be searched.")
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

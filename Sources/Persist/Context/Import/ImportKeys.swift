/// The import settings in a model's user info: the data keys of properties, and the attributes that identify objects.
///
/// `mappedKeyName`, `mappedKeyName.1` to `.9` of an attribute or relationship are its keys in the data; the first one
/// present is used. `relatedByAttribute` of a relationship or an entity is the attribute that identifies objects of the
/// destination or the entity.
final class ImportKeys {
  /// The keys of the properties met so far: the data contain the same ones again and again.
  private(set) var keys: [ImportedProperty: [String]] = Dictionary()

  /// Returns the value of a property in the data, or nil if the data doesn't contain it.
  func value(of property: Property, in data: ImportValue) -> ImportValue? {
    for key in keys(of: property) {
      if let value = data[key] { return value }
    }
    return nil
  }

  private func keys(of property: Property) -> [String] {
    let declared = ImportedProperty(property)
    if let known = keys[declared] { return known }
    let userInfo = property.attribute?.userInfo ?? property.relationship?.userInfo ?? Dictionary()
    let mapped = ["mappedKeyName"] + (1...9).map { "mappedKeyName.\($0)" }
    var found = mapped.compactMap { userInfo[$0] }
    if found.isEmpty { found = [property.name] }
    keys[declared] = found
    return found
  }

  /// Returns the attribute that identifies objects of an entity: the one set for the relationship or the entity, or
  /// else an attribute `<entity>ID`, or else that of a uniqueness constraint with a single attribute; nil if there is
  /// none.
  static func identifying(_ entity: Entity, for relationship: RelationshipDescription? = nil) -> Property? {
    if let name = relationship?.userInfo["relatedByAttribute"], let property = entity.property(named: name) {
      return property
    }
    var next: Entity? = entity
    while let current = next {
      let convention = current.name.prefix(1).lowercased() + current.name.dropFirst() + "ID"
      let description = current.description
      let unique = description.uniquenessConstraints.first {
        $0.count == 1 && description.uniquenessConditions[$0] == nil
      }?.first
      for name in [description.userInfo["relatedByAttribute"], convention, unique].compactMap({ $0 }) {
        if let property = entity.property(named: name), property.attribute != nil { return property }
      }
      next = current.superentity
    }
    return nil
  }
}

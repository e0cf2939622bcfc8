/// What a model's user info says of importing: which key of the data belongs to a property, and by which attribute
/// objects are told apart.
///
/// `mappedKeyName`, `mappedKeyName.1` to `.9` of an attribute or a relationship are its keys in the data; of several
/// the first that is there counts. `relatedByAttribute` of a relationship or an entity is the attribute that identifies
/// objects of the destination, or of the entity.
enum ImportKeys {
  /// The value of a property in the data; nil where they don't name it.
  static func value(of property: Property, in data: ImportValue) -> ImportValue? {
    let userInfo = property.attribute?.userInfo ?? property.relationship?.userInfo ?? [:]
    let names = [userInfo["mappedKeyName"]] + (1...9).map { userInfo["mappedKeyName.\($0)"] }
    let keys = names.compactMap { $0 }
    return (keys.isEmpty ? [property.name] : keys).lazy.compactMap { data[$0] }.first
  }

  /// The attribute that tells objects of an entity apart: what the relationship that leads to them or the entity says,
  /// else an attribute `<entity>ID`, else that of a uniqueness constraint of one attribute; nil where nothing does.
  static func identifying(_ entity: Entity, for relationship: RelationshipDescription? = nil) -> Property? {
    if let name = relationship?.userInfo["relatedByAttribute"], let property = entity.property(named: name) {
      return property
    }
    var next: Entity? = entity
    while let current = next {
      let convention = current.name.prefix(1).lowercased() + current.name.dropFirst() + "ID"
      let unique = current.description.uniquenessConstraints.first { $0.count == 1 }?.first
      for name in [current.description.userInfo["relatedByAttribute"], convention, unique].compactMap({ $0 }) {
        if let property = entity.property(named: name), property.attribute != nil { return property }
      }
      next = current.superentity
    }
    return nil
  }
}

import Foundation

/// A single import: finds objects by their identifying attributes or creates them, and sets their values from the data.
///
/// The objects that the data contain at any depth are looked up first, with a single request for each attribute that
/// identifies them. Afterward an object is found wherever the data contain it again.
struct ImportPass {
  let context: ManagedObjectContext
  private let known: ImportedObjects
  private let keys = ImportKeys()

  private static let depthLimit = 100

  init(context: ManagedObjectContext) {
    self.context = context
    known = ImportedObjects(in: context)
  }

  /// Returns an object for each element of an array, in order.
  func objects(_ entity: Entity, from list: [ImportValue]) throws -> [ManagedObject] {
    try lookUp(list, of: entity)
    return try objects(entity, from: list, for: nil, depth: 0)
  }

  /// Sets an object's values from the data. A property whose key is missing is left unchanged; null clears it.
  func fill(_ object: ManagedObject, from data: ImportValue) throws {
    try lookUp([data], of: object.entity)
    try fill(object, from: data, 0)
  }

  private func objects(
    _ entity: Entity, from list: [ImportValue], for relationship: RelationshipDescription?, depth: Int
  ) throws -> [ManagedObject] {
    guard depth < Self.depthLimit else {
      throw PersistenceError(
        .limitExceeded, at: .entity(entity.name), "The data is nested more than \(Self.depthLimit) objects deep.")
    }
    guard let key = ImportKeys.identifying(entity, for: relationship), let attribute = key.attribute else {
      return try list.map { try fill(make(entity, for: $0), from: $0, depth) }
    }
    let place = PersistenceError.Place.property(entity.name, key.name)
    let conversion = ImportConversion(attribute: attribute, place: place)
    let identities = try list.map { data -> StoredValue in
      guard let value = identity(data, key) else { return .null }
      return try conversion.stored(value)
    }
    try known.lookUp(identities, by: ImportedObjects.Search(entity: entity, slot: key.slot))
    return try zip(list, identities).map { data, identity in
      if let object = known.object(of: entity, key, identity) { return try fill(object, from: data, depth) }
      let object = try make(entity, for: data)
      if !identity.isNull {
        object.setAttributeValue(identity, at: key.slot)
        known.register(object, by: key, identity)
      }
      return try fill(object, from: data, depth)
    }
  }

  @discardableResult
  private func fill(_ object: ManagedObject, from data: ImportValue, _ depth: Int) throws -> ManagedObject {
    guard case .fields = data else { return object }
    let properties = object.entity.properties
    // Related objects may refer back to this one by any of its attributes.
    for property in properties {
      guard let attribute = property.attribute, !attribute.isDerived,
        let value = keys.value(of: property, in: data)
      else { continue }
      let conversion = ImportConversion(attribute: attribute, place: .property(object.entity.name, property.name))
      let stored =
        attribute.type == .composite
        ? try conversion.stored(value, elements: property.elements, below: [attribute.name])
        : try conversion.stored(value)
      object.setAttributeValue(stored, at: property.slot)
      known.register(object, by: property, stored)
    }
    for property in properties {
      guard let relationship = property.relationship, let value = keys.value(of: property, in: data) else { continue }
      try relate(object, by: property, relationship, to: value, depth: depth)
    }
    return object
  }

  /// Returns the identity of an object: the value of its identifying attribute, or the data itself if it isn't a
  /// dictionary.
  private func identity(_ data: ImportValue, _ key: Property) -> ImportValue? {
    if case .fields = data { keys.value(of: key, in: data) } else { data }
  }

  private func relate(
    _ object: ManagedObject, by property: Property, _ relationship: RelationshipDescription, to value: ImportValue,
    depth: Int
  ) throws {
    let list = Self.elements(of: value, relationship)
    let destination = context.model.destination(of: relationship)
    guard relationship.isToMany else {
      object.setToOne(
        try objects(destination, from: list, for: relationship, depth: depth + 1).first, at: property.slot)
      return
    }
    let members = try object.related(property.name)
    if value.isNull { return members.removeAll() }
    members.insert(contentsOf: try objects(destination, from: list, for: relationship, depth: depth + 1))
  }

  /// Returns the data of a relationship's objects.
  private static func elements(of value: ImportValue, _ relationship: RelationshipDescription) -> [ImportValue] {
    if value.isNull { return [] }
    if relationship.isToMany, case .list(let list) = value { return list }
    return [value]
  }

  /// Creates an object; for an abstract entity, one of the subentity that matches the most keys of the data.
  private func make(_ entity: Entity, for data: ImportValue) throws -> ManagedObject {
    guard entity.isAbstract else { return try context.create(entity.name) }
    let candidates = context.model.hierarchy(of: entity).filter { !$0.isAbstract }
    let best = candidates.max { knownKeys(of: $0, in: data) < knownKeys(of: $1, in: data) }
    guard let most = best.map({ knownKeys(of: $0, in: data) }),
      let chosen = candidates.first(where: { knownKeys(of: $0, in: data) == most })
    else {
      throw PersistenceError(
        .invalidRequest, at: .entity(entity.name), "'\(entity.name)' is abstract and has no subentity to import into.",
        fix: "Add a subentity that isn't abstract.")
    }
    return try context.create(chosen.name)
  }

  private func knownKeys(of entity: Entity, in data: ImportValue) -> Int {
    entity.properties.count { keys.value(of: $0, in: data) != nil }
  }
}

extension ImportPass {
  /// Looks up the objects that the data contain at any depth.
  private func lookUp(_ list: [ImportValue], of entity: Entity) throws {
    var identities: [ImportedObjects.Search: Set<StoredValue>] = Dictionary()
    collectIdentities(in: list, entity, for: nil, depth: 0, &identities)
    for (search, values) in identities { try known.lookUp(values, by: search) }
  }

  /// Values that can't be converted are left out: the import itself reports them, after the objects before them.
  private func collectIdentities(
    in list: [ImportValue], _ entity: Entity, for relationship: RelationshipDescription?, depth: Int,
    _ identities: inout [ImportedObjects.Search: Set<StoredValue>]
  ) {
    guard !list.isEmpty, depth < Self.depthLimit else { return }
    if let key = ImportKeys.identifying(entity, for: relationship), let attribute = key.attribute {
      let conversion = ImportConversion(attribute: attribute, place: .property(entity.name, key.name))
      let found = list.compactMap { data in identity(data, key).flatMap { try? conversion.stored($0) } }
      identities[ImportedObjects.Search(entity: entity, slot: key.slot), default: []].formUnion(found)
    }
    // The objects may be of a subentity, whose relationships the data then contain too.
    let further = context.model.hierarchy(of: entity).dropFirst().flatMap(\.ownProperties)
    for property in entity.properties + further {
      guard let relationship = property.relationship else { continue }
      let related = list.flatMap { data in
        keys.value(of: property, in: data).map { Self.elements(of: $0, relationship) } ?? []
      }
      let destination = context.model.destination(of: relationship)
      collectIdentities(in: related, destination, for: relationship, depth: depth + 1, &identities)
    }
  }
}

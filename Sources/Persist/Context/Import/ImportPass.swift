import Foundation

/// A single import: finds objects by their identifying attributes or creates them, and sets their values from the data.
///
/// The objects of an array are looked up together, with a single request.
struct ImportPass {
  let context: ManagedObjectContext

  private static let depthLimit = 100

  /// Returns an object for each element of an array, in order.
  func objects(
    _ entity: Entity, from list: [ImportValue], for relationship: RelationshipDescription? = nil, depth: Int = 0
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
      guard let value = Self.identity(data, key) else { return .null }
      return try conversion.stored(value)
    }
    var known = try existing(entity, key, identities)
    return try zip(list, identities).map { data, identity in
      if !identity.isNull, let object = known[identity] { return try fill(object, from: data, depth) }
      let object = try make(entity, for: data)
      if !identity.isNull {
        object.setAttributeValue(identity, at: key.slot)
        known[identity] = object
      }
      return try fill(object, from: data, depth)
    }
  }

  /// Sets an object's values from the data. A property whose key is missing is left unchanged; null clears it.
  @discardableResult
  func fill(_ object: ManagedObject, from data: ImportValue, _ depth: Int = 0) throws -> ManagedObject {
    guard case .fields = data else { return object }
    for property in object.entity.properties {
      guard let value = ImportKeys.value(of: property, in: data) else { continue }
      if let attribute = property.attribute, !attribute.isDerived {
        let conversion = ImportConversion(attribute: attribute, place: .property(object.entity.name, property.name))
        let stored =
          attribute.type == .composite
          ? try conversion.stored(value, elements: property.elements, below: [attribute.name])
          : try conversion.stored(value)
        object.setAttributeValue(stored, at: property.slot)
      } else if let relationship = property.relationship {
        try relate(object, property, relationship, to: value, depth)
      }
    }
    return object
  }

  /// Returns the identity of an object: the value of its identifying attribute, or the data itself if it isn't a
  /// dictionary.
  private static func identity(_ data: ImportValue, _ key: Property) -> ImportValue? {
    if case .fields = data { ImportKeys.value(of: key, in: data) } else { data }
  }

  private func existing(
    _ entity: Entity, _ key: Property, _ identities: [StoredValue]
  ) throws -> [StoredValue: ManagedObject] {
    let wanted = Set(identities.filter { !$0.isNull })
    guard !wanted.isEmpty else { return [:] }
    var request = FetchRequest<ManagedObject>(entity.name)
    request.predicate = .compare(.key(key.name), .in, .aggregate(wanted.map(FetchExpression.constant)))
    var found: [StoredValue: ManagedObject] = [:]
    for object in try context.fetch(request) {
      let identity = object.attributeValue(at: key.slot)
      if found[identity] == nil { found[identity] = object }
    }
    return found
  }

  private func relate(
    _ object: ManagedObject, _ property: Property, _ relationship: RelationshipDescription, to value: ImportValue,
    _ depth: Int
  ) throws {
    let destination = context.model.destination(of: relationship)
    guard relationship.isToMany else {
      let list = value.isNull ? [] : [value]
      object.setToOne(
        try objects(destination, from: list, for: relationship, depth: depth + 1).first, at: property.slot)
      return
    }
    let members = try object.related(property.name)
    switch value {
    case .plain(.null): members.removeAll()
    case .list(let list):
      members.insert(contentsOf: try objects(destination, from: list, for: relationship, depth: depth + 1))
    case .plain, .fields:
      members.insert(contentsOf: try objects(destination, from: [value], for: relationship, depth: depth + 1))
    }
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
    entity.properties.count { ImportKeys.value(of: $0, in: data) != nil }
  }
}

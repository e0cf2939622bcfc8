import Persist

/// A row that expressions read by key, without a context.
///
/// Rows that were read together also read the rows at the other ends of their relationships together.
final class RowObject: KeyedObject {
  let id: ManagedObjectID
  let entity: Entity
  private let snapshot: RowSnapshot
  private unowned let company: RowCompany

  fileprivate init(_ id: ManagedObjectID, _ entity: Entity, snapshot: RowSnapshot, in company: RowCompany) {
    self.id = id
    self.entity = entity
    self.snapshot = snapshot
    self.company = company
  }

  var key: Int64 { id.primaryKey ?? 0 }
  var fetchIdentity: StoredValue { .objectID(id) }
  var fetchEntityName: String? { entity.name }
  func hasProperty(named name: String) -> Bool { entity.property(named: name) != nil }

  func fetchValue(forKey key: String) throws -> FetchValue {
    guard let property = entity.property(named: key) else {
      throw PersistenceError(
        .unknownProperty, at: .property(entity.name, key), "'\(entity.name)' has no property '\(key)'.",
        fix: "Its properties are \(entity.properties.map(\.name).sorted().joined(separator: ", ")).")
    }
    switch property.kind {
    case .attribute: return .value(try value(of: property))
    case .relationship(let relationship):
      let end = try company.end(of: self, by: property, relationship).map(FetchValue.object)
      return relationship.isToMany ? .collection(end) : end.first ?? .null
    case .fetchedProperty:
      throw PersistenceError(
        .unknownProperty, at: .property(entity.name, key), "'\(key)' is a fetched property and has no value.",
        fix: "Fetch its objects with a request.")
    }
  }

  fileprivate func value(of property: Property) throws -> StoredValue {
    try company.decoder.value(of: property, snapshot, of: entity) ?? .null
  }
}

/// Rows that were read together, and the rows at the other ends of their relationships.
final class RowCompany {
  private let source: any RowSource
  private let model: ManagedObjectModel
  fileprivate let decoder: RowDecoder
  private(set) var objects: [RowObject] = []
  /// The other ends that were read, by the relationship.
  private var ends: [Relationship: End] = [:]

  private struct Relationship: Hashable {
    let entity: String
    let name: String
  }

  private struct End {
    let company: RowCompany
    /// By the key of the owner.
    let objects: [Int64: [RowObject]]
  }

  /// - Parameter source: The source of the rows at the other ends.
  init(_ batch: RowBatch, of model: ManagedObjectModel, from source: any RowSource) {
    self.source = source
    self.model = model
    decoder = RowDecoder(model, storeIdentifier: source.identifier) { try source.externalData(named: $0) }
    objects.reserveCapacity(batch.count)
    for row in batch {
      guard let snapshot = row.snapshot else { continue }
      let entity = model.entities[row.entityIndex]
      let id = ManagedObjectID(
        entityName: entity.name, storeIdentifier: source.identifier, key: .permanent(row.key))
      objects.append(RowObject(id, entity, snapshot: snapshot, in: self))
    }
  }

  /// The objects at the other end of a relationship of one of the rows; for a to-one relationship one or none.
  fileprivate func end(of object: RowObject, by property: Property, _ relationship: RelationshipDescription) throws
    -> [RowObject]
  {
    let name = Relationship(entity: object.entity.name, name: property.name)
    if let end = ends[name] { return end.objects[object.key] ?? [] }
    let owners = objects.filter { $0.entity === object.entity }
    let end =
      relationship.isToMany
      ? try members(of: owners, by: property, object.entity)
      : try destinations(of: owners, by: property, model.destination(of: relationship))
    ends[name] = end
    return end.objects[object.key] ?? []
  }

  private func members(of owners: [RowObject], by property: Property, _ entity: Entity) throws -> End {
    let rows = try source.relatedRows(by: property, of: entity, owners: owners.map(\.key))
    let company = RowCompany(rows.batch, of: model, from: source)
    return End(
      company: company,
      objects: Dictionary(grouping: zip(rows.owners, company.objects), by: \.0).mapValues { $0.map(\.1) })
  }

  private func destinations(of owners: [RowObject], by property: Property, _ entity: Entity) throws -> End {
    let references = try owners.compactMap { owner -> (owner: Int64, key: Int64)? in
      guard case .objectID(let id) = try owner.value(of: property), let key = id.primaryKey else { return nil }
      return (owner.key, key)
    }
    let batch = try source.rows(RowQuery(entity: entity, keys: Set(references.map(\.key)).sorted()))
    let company = RowCompany(batch, of: model, from: source)
    let byKey = Dictionary(company.objects.map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })
    return End(
      company: company,
      objects: Dictionary(
        references.compactMap { reference in byKey[reference.key].map { (reference.owner, [$0]) } },
        uniquingKeysWith: { first, _ in first }))
  }
}

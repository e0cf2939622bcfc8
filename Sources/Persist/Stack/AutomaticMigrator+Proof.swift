import Foundation

extension AutomaticMigrator {
  /// Returns a migrator that proves each migration in place before committing it.
  ///
  /// While the store is locked, two copies of it are migrated: one in place, the other by copying, which shares no code
  /// that writes. All objects are compared. If a value differs, nothing is committed, and the store remains unchanged.
  /// A migration that has to copy can't be proved this way, and neither can custom code.
  ///
  /// ```swift
  /// let report = try AutomaticMigrator().provingInPlace().migrate(storeAt: url, to: version, registry: registry)
  /// print(report.proof?.values ?? 0)
  /// ```
  ///
  /// - Returns: a migrator with the same settings otherwise; migrating throws
  ///   ``PersistenceError/Code/migrationFailed`` with the first difference.
  /// - Complexity: linear in the size of the store, in time and in disk space: up to four copies of it.
  public func provingInPlace() -> AutomaticMigrator {
    var migrator = self
    migrator.compareWays = { inPlace, copied in
      try MigrationComparison(
        inPlace: StoreContents(readingStoreAt: inPlace, registry: nil),
        copied: StoreContents(readingStoreAt: copied, registry: nil)
      ).proof()
    }
    return migrator
  }
}

/// The comparison of two copies of a store that were migrated in different ways.
struct MigrationComparison {
  let inPlace: StoreContents
  let copied: StoreContents

  /// The number of objects that are compared at once, whose values are in memory.
  private static let groupSize = 100

  /// - Throws: ``PersistenceError/Code/migrationFailed`` for the first difference.
  func proof() throws -> MigrationProof {
    var proof = MigrationProof(objects: 0, values: 0)
    for entity in inPlace.model.entities where !entity.isAbstract {
      let other = try copied.model.entity(named: entity.name)
      let (count, otherCount) = (try inPlace.count(of: entity), try copied.count(of: other))
      guard count == otherCount else {
        throw Self.difference(
          PersistenceError.Place(entity: entity.name), "\(count) objects in place, \(otherCount) by copying")
      }
      let pairs = try Self.pairs(entity, other)
      var group: [(key: Int64, values: [Value])] = []
      try inPlace.forEachObject(of: entity) { object in
        group.append((object.key, try pairs.map { try Self.value(of: $0.0, in: object) }))
        guard group.count == Self.groupSize else { return }
        try compare(group, entity, pairs)
        group.removeAll(keepingCapacity: true)
      }
      try compare(group, entity, pairs)
      proof.objects += count
      proof.values += count * pairs.count
    }
    return proof
  }

  private enum Value: Hashable {
    case content(StoreContents.Content)
    case target(ManagedObjectID?)
    case members([ManagedObjectID])
  }

  /// The compared properties of an entity, in both stores.
  private static func pairs(_ entity: Entity, _ other: Entity) throws -> [(Property, Property)] {
    try entity.properties.compactMap { property in
      if let attribute = property.attribute, attribute.isTransient || attribute.derivation != nil { return nil }
      if let relationship = property.relationship, relationship.isTransient { return nil }
      guard let match = other.properties.first(where: { $0.name == property.name }) else {
        throw difference(PersistenceError.Place(entity: entity.name, property: property.name), "missing by copying")
      }
      return (property, match)
    }
  }

  private func compare(
    _ group: [(key: Int64, values: [Value])], _ entity: Entity, _ pairs: [(Property, Property)]
  ) throws {
    let ids = group.map {
      ManagedObjectID(
        entityName: entity.name, storeIdentifier: copied.store.identifier, key: .permanent($0.key))
    }
    let expected = Dictionary(uniqueKeysWithValues: group.map { ($0.key, $0.values) })
    var found = 0
    try copied.forEachObject(ids) { object in
      found += 1
      for (pair, value) in zip(pairs, expected[object.key] ?? []) {
        guard try Self.value(of: pair.1, in: object) != value else { continue }
        throw Self.difference(
          PersistenceError.Place(entity: entity.name, property: pair.0.name, row: object.key),
          "a value differs by copying")
      }
    }
    guard found == group.count else {
      throw Self.difference(
        PersistenceError.Place(entity: entity.name), "\(group.count - found) objects are missing by copying")
    }
  }

  private static func value(of property: Property, in object: StoreContents.Object) throws -> Value {
    guard let relationship = property.relationship else { return .content(try object.value(of: property)) }
    return relationship.isToMany ? .members(try object.members(of: property)) : .target(object.target(of: property))
  }

  private static func difference(_ place: PersistenceError.Place, _ what: String) -> PersistenceError {
    PersistenceError(
      .migrationFailed, at: place,
      "Migrating in place and migrating by copying have different results: \(what). The store is unchanged.",
      fix: "Look for damage with 'persist check'; if there is none, please report it with both models.")
  }
}

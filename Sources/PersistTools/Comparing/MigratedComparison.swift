package import Persist

/// The comparison of a store with a migrated copy of it: every value that the migration keeps, object by object.
///
/// The names of both versions are matched as the migration matches them. Memory use doesn't grow with the stores.
/// Derived and transient attributes aren't compared.
package struct MigratedComparison {
  /// A property whose values are compared.
  package struct PropertyResult: Sendable {
    package let entity: String
    package let property: String
    package let newEntity: String
    package let newProperty: String
    package fileprivate(set) var equal = 0
    package fileprivate(set) var different = 0
    /// The first differences.
    package fileprivate(set) var examples: [Example] = []
  }

  package struct Example: Sendable {
    package let key: Int64
    package let before: MigratedValue
    package let after: MigratedValue
  }

  package struct Outcome: Sendable {
    /// The number of compared objects.
    package fileprivate(set) var objects = 0
    package fileprivate(set) var properties: [PropertyResult] = []
    /// The numbers of objects that the copy lacks, by old entity.
    package fileprivate(set) var missing: [(entity: String, count: Int)] = []
    /// Whether a mapping model or code of the application computes values, so that differences can be intended.
    package fileprivate(set) var isComputed = false

    /// The number of compared values.
    package var values: Int { properties.reduce(0) { $0 + $1.equal + $1.different } }
    package var isSame: Bool { missing.isEmpty && properties.allSatisfy { $0.different == 0 } }
  }

  private let old: StoreContents
  private let new: StoreContents
  private let correspondence: ModelCorrespondence
  private let isComputed: Bool
  /// The number of objects that are compared at once, whose values are in memory.
  private static let groupSize = 100
  private static let shownExamples = 3

  /// - Parameters:
  ///   - old: The store before the migration.
  ///   - new: The migrated copy.
  ///   - version: The version of the copy.
  /// - Throws: The errors of planning the migration again.
  package init(
    of old: StoreContents, with new: StoreContents, to version: ModelVersion, registry: ModelRegistry
  ) throws {
    (self.old, self.new) = (old, new)
    let source = Optional(registry).version(with: old)
    let path = try MigrationPath(from: source, to: version, resources: MigrationResources(registry: registry))
    isComputed = !path.isInPlace
    let steps = path.hops.map(\.comparison.correspondence)
    correspondence = try steps.dropFirst().reduce(
      steps.first ?? ModelCorrespondence(from: old.model, to: new.model)
    ) { $0.followed(by: $1) }
  }

  /// The name that an entity has in the copy; nil if it was removed.
  package func newName(ofEntity name: String) -> String? { correspondence.newName(ofEntity: name) }

  /// Compares all objects.
  ///
  /// - Parameter report: Called with the number of objects compared so far. An error that it throws ends the work.
  package func run(reporting report: (_ objects: Int) throws -> Void = { _ in }) throws -> Outcome {
    var outcome = Outcome()
    outcome.isComputed = isComputed
    for entity in old.model.entities where !entity.isAbstract {
      guard let name = correspondence.newName(ofEntity: entity.name), let other = new.model.entitiesByName[name]
      else { continue }
      var work = EntityWork(pairs(entity, other))
      var group: [(key: Int64, values: [MigratedValue])] = []
      var missing = 0
      func compareGroup() throws {
        missing += try compare(group, of: entity, with: other, &work)
        outcome.objects += group.count
        group.removeAll(keepingCapacity: true)
        try report(outcome.objects)
      }
      try old.forEachObject(of: entity) { object in
        group.append((object.key, try work.pairs.map { try expected($0, object) }))
        if group.count == Self.groupSize { try compareGroup() }
      }
      try compareGroup()
      if missing > 0 { outcome.missing.append((entity.name, missing)) }
      outcome.properties += work.results
    }
    return outcome
  }

  // MARK: Properties

  private struct Pair {
    let old: Property
    let new: Property
    /// The value of the new attribute where the old one has none.
    let fill: StoredValue?
    /// The paths of the elements that a composite has in both versions; nil for other values. Elements are added and
    /// removed independently.
    let elements: Set<[String]>?
    /// Whether the order of members is the same in both versions.
    let isOrdered: Bool
  }

  private struct EntityWork {
    let pairs: [Pair]
    var results: [PropertyResult]

    init(_ found: [(Pair, PropertyResult)]) {
      pairs = found.map(\.0)
      results = found.map(\.1)
    }
  }

  private func pairs(_ entity: Entity, _ other: Entity) -> [(Pair, PropertyResult)] {
    other.properties.compactMap { property in
      guard let origin = correspondence.origin(of: property.name, in: other.name), let name = origin.source,
        let source = entity.property(named: name), Self.isStored(source), Self.isStored(property),
        (source.attribute == nil) == (property.attribute == nil)
      else { return nil }
      if let before = source.attribute, let after = property.attribute,
        AttributeConversion(from: before.type, to: after.type) == .refused
      {
        return nil
      }
      let isOrdered = source.relationship?.isOrdered == true && property.relationship?.isOrdered == true
      let result = PropertyResult(
        entity: entity.name, property: name, newEntity: other.name, newProperty: property.name)
      let pair = Pair(
        old: source, new: property, fill: origin.fill, elements: Self.sharedElements(source, property),
        isOrdered: isOrdered)
      return (pair, result)
    }
  }

  private static func sharedElements(_ old: Property, _ new: Property) -> Set<[String]>? {
    guard old.attribute?.type == .composite else { return nil }
    let paths = [old, new].map { property in Set(property.elements.map { Array($0.path.dropFirst()) }) }
    return paths[0].intersection(paths[1])
  }

  private static func isStored(_ property: Property) -> Bool {
    if let attribute = property.attribute { return !attribute.isTransient && !attribute.isDerived }
    return property.relationship?.isTransient == false
  }

  // MARK: Values

  /// The value that the copy has to have.
  private func expected(_ pair: Pair, _ object: StoreContents.Object) throws -> MigratedValue {
    guard let relationship = pair.old.relationship else {
      let content = try object.value(of: pair.old).restricted(to: pair.elements)
      if case .value(.null) = content, let fill = pair.fill { return .content(.value(fill)) }
      return .content(content)
    }
    let members = try Self.members(pair.old, relationship, of: object)
    let moved = members.compactMap { member in
      correspondence.newName(ofEntity: member.entity).map { MigratedValue.Member(entity: $0, key: member.key) }
    }
    return .members(pair.isOrdered ? moved : moved.sorted())
  }

  private func actual(_ pair: Pair, _ object: StoreContents.Object) throws -> MigratedValue {
    guard let relationship = pair.new.relationship else {
      return .content(try object.value(of: pair.new).restricted(to: pair.elements))
    }
    let members = try Self.members(pair.new, relationship, of: object)
    return .members(pair.isOrdered ? members : members.sorted())
  }

  private static func members(
    _ property: Property, _ relationship: RelationshipDescription, of object: StoreContents.Object
  ) throws -> [MigratedValue.Member] {
    let ids = try relationship.isToMany ? object.members(of: property) : [object.target(of: property)].compactMap { $0 }
    return ids.map { MigratedValue.Member(entity: $0.entityName, key: $0.primaryKey ?? 0) }
  }

  /// - Returns: The number of objects that the copy lacks.
  private func compare(
    _ group: [(key: Int64, values: [MigratedValue])], of source: Entity, with entity: Entity, _ work: inout EntityWork
  ) throws -> Int {
    let ids = group.map {
      ManagedObjectID(entityName: entity.name, storeIdentifier: new.store.identifier, key: .permanent($0.key))
    }
    let expected = try Dictionary(group, of: source, in: old.store)
    var found = 0
    try new.forEachObject(ids) { object in
      found += 1
      for (index, before) in (expected[object.key] ?? []).enumerated() {
        let after = try actual(work.pairs[index], object)
        guard !before.isKept(in: after) else {
          work.results[index].equal += 1
          continue
        }
        work.results[index].different += 1
        if work.results[index].examples.count < Self.shownExamples {
          work.results[index].examples.append(Example(key: object.key, before: before, after: after))
        }
      }
    }
    return group.count - found
  }
}

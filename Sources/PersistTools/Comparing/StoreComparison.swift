package import Persist

/// The comparison of two stores with the same entities and properties: all objects with their keys and values.
///
/// Memory use doesn't grow with the stores. Derived and transient attributes aren't compared.
package struct StoreComparison {
  /// The first difference that was found.
  package struct Difference {
    package enum Kind {
      case counts(Int, Int)
      case missingProperty
      case missingObjects(Int)
      /// The number of objects that were read, and that of those that the first store counts.
      case unreadObjects(Int, Int)
      /// The two values, in words.
      case value(String, String)
    }

    package let place: PersistenceError.Place
    package let kind: Kind

    /// The difference in words.
    ///
    /// - Parameters:
    ///   - first: The place of the first store, such as "in the store".
    ///   - second: The place of the second one.
    package func words(_ first: String, _ second: String) -> String {
      switch kind {
      case .counts(let count, let other): "\(Measure.count(count, "object")) \(first), \(other) \(second)"
      case .missingProperty: "missing \(second)"
      case .missingObjects(let count): 
        "\(Measure.count(count, "object")) \(count == 1 ? "is" : "are") missing \(second)"
      case .unreadObjects(let read, let count): 
        "\(Measure.count(read, "object")) can be read \(first), which counts \(count)"
      case .value(let value, let other): "the value is \(value) \(first), and \(other) \(second)"
      }
    }
  }

  private let first: StoreContents
  private let second: StoreContents
  /// The number of objects that are compared at once, whose values are in memory.
  private static let groupSize = 100

  package init(_ first: StoreContents, _ second: StoreContents) {
    self.first = first
    self.second = second
  }

  private struct Found: Error {
    let difference: Difference
  }

  /// Compares all objects.
  ///
  /// - Parameters:
  ///   - report: Called with the number of objects compared so far.
  ///   - error: The error to throw for the first difference.
  /// - Returns: The number of objects and of values that are equal.
  package func run(
    reporting report: (_ objects: Int) throws -> Void = { _ in }, orThrow error: (Difference) -> any Error
  ) throws -> (objects: Int, values: Int) {
    do {
      return try run(report)
    } catch let found as Found {
      throw error(found.difference)
    }
  }

  private func run(_ report: (_ objects: Int) throws -> Void) throws -> (objects: Int, values: Int) {
    var (objects, values) = (0, 0)
    for entity in first.model.entities where !entity.isAbstract {
      let other = try second.model.entity(named: entity.name)
      let (count, otherCount) = (try first.count(of: entity), try second.count(of: other))
      guard count == otherCount else {
        throw Self.difference(.counts(count, otherCount), PersistenceError.Place(entity: entity.name))
      }
      let pairs = try Self.pairs(entity, other)
      var group: [(key: Int64, values: [Value])] = []
      var compared = 0
      try first.forEachObject(of: entity) { object in
        group.append((object.key, try pairs.map { try Self.value(of: $0.0, in: object) }))
        guard group.count == Self.groupSize else { return }
        try compare(group, of: entity, properties: pairs)
        compared += group.count
        try report(objects + compared)
        group.removeAll(keepingCapacity: true)
      }
      try compare(group, of: entity, properties: pairs)
      guard compared + group.count == count else {
        throw Self.difference(
          .unreadObjects(compared + group.count, count), PersistenceError.Place(entity: entity.name))
      }
      objects += count
      values += count * pairs.count
      try report(objects)
    }
    return (objects, values)
  }

  private enum Value: Hashable {
    case content(StoreContents.Content)
    case target(ManagedObjectID?)
    case members([ManagedObjectID])

    /// The value in words; of many members, those that another value lacks.
    func words(without other: Value) -> String {
      switch (self, other) {
      case (.content(.value(let value)), _): value.description
      case (.content(.missingFile(let name)), _): "in the missing file '\(name)'"
      case (.target(let id), _): id.map(ValueWords.object) ?? "no object"
      case (.members(let ids), .members(let others)):
        Self.words(ids, without: Set(others))
      case (.members(let ids), _): Self.words(ids, without: [])
      }
    }

    private static func words(_ ids: [ManagedObjectID], without others: Set<ManagedObjectID>) -> String {
      let own = ids.filter { !others.contains($0) }
      if own.isEmpty { return "\(ids.count) members" + (others.isEmpty ? "" : " (others, or in another order)") }
      let names = own.prefix(3).map(ValueWords.object).joined(separator: ", ")
      return "\(ids.count) members with \(names)\(own.count > 3 ? " …" : "")"
    }
  }

  /// The compared properties of an entity, in both stores.
  private static func pairs(_ entity: Entity, _ other: Entity) throws -> [(Property, Property)] {
    try entity.properties.compactMap { property in
      if let attribute = property.attribute, attribute.isTransient || attribute.derivation != nil { return nil }
      if let relationship = property.relationship, relationship.isTransient { return nil }
      guard let match = other.properties.first(where: { $0.name == property.name }) else {
        throw difference(.missingProperty, PersistenceError.Place(entity: entity.name, property: property.name))
      }
      return (property, match)
    }
  }

  private func compare(
    _ group: [(key: Int64, values: [Value])], of entity: Entity, properties pairs: [(Property, Property)]
  ) throws {
    let ids = group.map {
      ManagedObjectID(entityName: entity.name, storeIdentifier: second.store.identifier, key: .permanent($0.key))
    }
    let expected = try Dictionary(group, of: entity, in: first.store)
    var missing = Set(group.map(\.key))
    try second.forEachObject(ids) { object in
      missing.remove(object.key)
      for (pair, value) in zip(pairs, expected[object.key] ?? []) {
        let other = try Self.value(of: pair.1, in: object)
        guard other != value else { continue }
        throw Self.difference(
          .value(value.words(without: other), other.words(without: value)),
          PersistenceError.Place(entity: entity.name, property: pair.0.name, row: object.key))
      }
    }
    if let first = missing.min() {
      throw Self.difference(
        .missingObjects(missing.count), PersistenceError.Place(entity: entity.name, row: first))
    }
  }

  private static func value(of property: Property, in object: StoreContents.Object) throws -> Value {
    guard let relationship = property.relationship else { return .content(try object.value(of: property)) }
    return relationship.isToMany ? .members(try object.members(of: property)) : .target(object.target(of: property))
  }

  private static func difference(_ kind: Difference.Kind, _ place: PersistenceError.Place) -> Found {
    Found(difference: Difference(place: place, kind: kind))
  }
}

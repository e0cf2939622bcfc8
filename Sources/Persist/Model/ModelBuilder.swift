/// A part of a model in code: an entity or a composite type.
@_documentation(visibility: internal)
public protocol ModelPart {
  /// Adds the part to a model under construction.
  func add(to model: inout ModelDescription)
}

/// A part of an entity in code: an attribute, a relationship, a fetched property or an index.
@_documentation(visibility: internal)
public protocol EntityPart {
  /// Adds the part to an entity under construction.
  func add(to entity: inout EntityDescription)
}

extension EntityDescription: ModelPart {
  /// Adds the entity to the model.
  public func add(to model: inout ModelDescription) { model.entities.append(self) }
}

extension CompositeDescription: ModelPart {
  /// Adds the composite type to the model.
  public func add(to model: inout ModelDescription) { model.composites.append(self) }
}

extension AttributeDescription: EntityPart {
  /// Adds the attribute to the entity.
  public func add(to entity: inout EntityDescription) { entity.attributes.append(self) }
}

extension RelationshipDescription: EntityPart {
  /// Adds the relationship to the entity.
  public func add(to entity: inout EntityDescription) { entity.relationships.append(self) }
}

extension FetchedPropertyDescription: EntityPart {
  /// Adds the fetched property to the entity.
  public func add(to entity: inout EntityDescription) { entity.fetchedProperties.append(self) }
}

extension FetchIndexDescription: EntityPart {
  /// Adds the index to the entity.
  public func add(to entity: inout EntityDescription) { entity.indexes.append(self) }
}

/// Collects the parts of a model or an entity from a closure; `if` and `for` are supported.
@resultBuilder
public enum PartsBuilder<Part> {
  public static func buildExpression(_ part: Part) -> [Part] { [part] }
  public static func buildExpression(_ parts: [Part]) -> [Part] { parts }
  public static func buildBlock(_ parts: [Part]...) -> [Part] { parts.flatMap { $0 } }
  public static func buildOptional(_ parts: [Part]?) -> [Part] { parts ?? [] }
  public static func buildEither(first parts: [Part]) -> [Part] { parts }
  public static func buildEither(second parts: [Part]) -> [Part] { parts }
  public static func buildArray(_ parts: [[Part]]) -> [Part] { parts.flatMap { $0 } }
}

extension ManagedObjectModel {
  /// Creates a model from its parts.
  ///
  /// An inverse need only be named on one side.
  ///
  /// ```swift
  /// let model = try ManagedObjectModel(version: "1") {
  ///   EntityDescription("Item") {
  ///     AttributeDescription("name", .string, default: "New Item")
  ///     RelationshipDescription("category", to: "Category", inverse: "items")
  ///   }
  ///   EntityDescription("Category") {
  ///     AttributeDescription("name", .string)
  ///     RelationshipDescription("items", toMany: "Item")
  ///   }
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - version: the author's name for the version; nil for none.
  ///   - parts: returns the entities and the other parts of the model.
  /// - Throws: ``PersistenceError/Code/invalidModel`` with all problems.
  public convenience init(
    version: String? = nil, @PartsBuilder<any ModelPart> _ parts: () throws -> [any ModelPart]
  ) throws {
    var description = ModelDescription(versionIdentifiers: version.map { [$0] } ?? [])
    for part in try parts() { part.add(to: &description) }
    description.joinInverses()
    try self.init(description)
  }
}

extension EntityDescription {
  /// Creates an entity from its parts.
  ///
  /// ```swift
  /// EntityDescription("Item", uniquenessConstraints: [["number"]]) {
  ///   AttributeDescription("number", .int64, isOptional: false)
  ///   FetchIndexDescription("byNumber", on: "number")
  /// }
  /// ```
  public init(
    _ name: String, className: String? = nil, isAbstract: Bool = false, parent: String? = nil,
    renamingIdentifier: String? = nil, versionHashModifier: String? = nil, userInfo: [String: String] = [:],
    uniquenessConstraints: [[String]] = [], uniquenessConditions: [[String]: [UniquenessCondition]] = [:],
    @PartsBuilder<any EntityPart> _ parts: () throws -> [any EntityPart]
  ) rethrows {
    self.init(
      name, className: className, isAbstract: isAbstract, parent: parent, renamingIdentifier: renamingIdentifier,
      versionHashModifier: versionHashModifier, userInfo: userInfo, uniquenessConstraints: uniquenessConstraints)
    self.uniquenessConditions = uniquenessConditions
    for part in try parts() { part.add(to: &self) }
  }
}

extension ModelDescription {
  /// Completes inverses that are named on one side only: sets the inverse of a relationship that names none but is
  /// named by another.
  ///
  /// A relationship that is named by relationships of different names is left unchanged, for the check to report.
  public mutating func joinInverses() {
    struct End: Hashable {
      let entity: String
      let relationship: String
    }
    let parents = Dictionary(entities.map { ($0.name, $0.parent) }, uniquingKeysWith: { first, _ in first })
    var places: [End: (entity: Int, relationship: Int)] = Dictionary()
    for (index, entity) in entities.enumerated() {
      for (place, relationship) in entity.relationships.enumerated() {
        places[End(entity: entity.name, relationship: relationship.name)] = (index, place)
      }
    }
    // The relationship may be declared by an ancestor of the destination.
    func find(_ name: String, in destination: String) -> (entity: Int, relationship: Int)? {
      var seen: Set<String> = []
      var entity: String? = destination
      while let current = entity, seen.insert(current).inserted {
        if let place = places[End(entity: current, relationship: name)] { return place }
        entity = parents[current] ?? nil
      }
      return nil
    }
    var claims: [End: Set<String>] = Dictionary()
    for relationship in entities.flatMap(\.relationships) {
      guard let inverse = relationship.inverse, let place = find(inverse, in: relationship.destination) else {
        continue
      }
      claims[End(entity: entities[place.entity].name, relationship: inverse), default: []].insert(relationship.name)
    }
    for (end, names) in claims {
      guard let name = names.first, names.count == 1, let place = places[end],
        entities[place.entity].relationships[place.relationship].inverse == nil
      else { continue }
      entities[place.entity].relationships[place.relationship].inverse = name
    }
  }
}

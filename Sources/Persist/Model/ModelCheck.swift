/// The rules that a model must keep, and the search for everything that breaks one.
///
/// Names are refused only where they can't work in a store. `description`, `hash` or `entity`, which Core Data
/// doesn't take because of its classes' methods, are good names here: a property is reached by its name alone.
struct ModelCheck {
  /// Larger or deeper models are refused before anything walks them.
  enum Limit {
    static let entities = 10_000
    static let parents = 100
    /// Properties of all entities together, inherited ones and elements of composites counted in each.
    static let properties = 200_000
    static let compositeDepth = 15
    static let compositeElements = 1_000
    /// Further problems of a model aren't looked for.
    static let problems = 200
  }

  let description: ModelDescription
  let entities: [String: EntityDescription]
  let composites: [String: CompositeDescription]
  /// How many attributes each composite type flattens to; nil for one that contains itself or nests too deep.
  let flattenedCounts: [String: Int]
  /// An entity's own properties by name.
  private let ownProperties: [String: [String: Property.Kind]]
  private(set) var problems: [PersistError] = []

  /// Every problem of a description, each with its place and its mend; empty for a good model.
  static func problems(in description: ModelDescription) -> [PersistError] {
    var check = ModelCheck(description)
    check.checkSize()
    guard check.problems.isEmpty else { return check.problems }
    check.checkEntityNames()
    check.checkParents()
    check.checkComposites()
    for entity in description.entities {
      check.checkPropertyNames(of: entity)
      for attribute in entity.attributes { check.check(attribute, of: entity.name) }
      for relationship in entity.relationships { check.check(relationship, of: entity) }
      check.checkIndexes(of: entity)
    }
    check.checkConfigurations()
    check.checkRequests()
    return check.problems
  }

  private init(_ description: ModelDescription) {
    self.description = description
    entities = Dictionary(description.entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    composites = Dictionary(description.composites.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    flattenedCounts = Self.flattenedCounts(of: composites)
    ownProperties = entities.mapValues { entity in
      let kinds =
        entity.attributes.map(Property.Kind.attribute) + entity.relationships.map(Property.Kind.relationship)
        + entity.fetchedProperties.map(Property.Kind.fetchedProperty)
      return Dictionary(kinds.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }
  }

  mutating func report(_ place: PersistError.Place, _ message: String, fix: String) {
    guard problems.count < Limit.problems else { return }
    problems.append(PersistError(.invalidModel, at: place, message, fix: fix))
  }

  // MARK: What an entity has

  /// The entity and its parents, upwards; ends before a parent that doesn't exist or comes a second time.
  func lineage(of name: String) -> [EntityDescription] {
    var result: [EntityDescription] = []
    var seen: Set<String> = []
    var next: String? = name
    while let name = next, let entity = entities[name], seen.insert(name).inserted, seen.count <= Limit.parents + 1 {
      result.append(entity)
      next = entity.parent
    }
    return result
  }

  /// A property of an entity, inherited ones included, and the entity that declares it.
  func property(_ name: String, of entity: String) -> (kind: Property.Kind, declaring: String)? {
    for ancestor in lineage(of: entity) {
      if let kind = ownProperties[ancestor.name]?[name] { return (kind, ancestor.name) }
    }
    return nil
  }

  // MARK: The model as a whole

  private mutating func checkSize() {
    if description.entities.count > Limit.entities {
      report(
        .unknown, "The model has \(description.entities.count) entities; at most \(Limit.entities) are possible.",
        fix: "Divide the model.")
      return
    }
    let slotCounts = entities.mapValues { entity in
      entity.relationships.count + entity.fetchedProperties.count
        + entity.attributes.reduce(0) { $0 + 1 + ($1.compositeName.flatMap { flattenedCounts[$0] } ?? 0) }
    }
    var total = 0
    for entity in description.entities {
      let lineage = lineage(of: entity.name)
      if lineage.count > Limit.parents {
        report(
          .entity(entity.name), "'\(entity.name)' has more than \(Limit.parents) parents above it.",
          fix: "Make the hierarchy flatter.")
        return
      }
      total += lineage.reduce(0) { $0 + (slotCounts[$1.name] ?? 0) }
    }
    if total > Limit.properties {
      report(
        .unknown, "The entities have \(total) properties together, inherited ones and elements included; at "
          + "most \(Limit.properties) are possible.", fix: "Divide the model.")
    }
  }

  private mutating func checkConfigurations() {
    for (name, members) in description.configurations.sorted(by: { $0.key < $1.key }) {
      for member in members where entities[member] == nil {
        report(
          .entity(member), "The configuration '\(name)' names '\(member)', which is no entity of the model.",
          fix: "Remove it from the configuration.")
      }
    }
  }

  private mutating func checkRequests() {
    for (name, request) in description.fetchRequestTemplates.sorted(by: { $0.key < $1.key })
    where entities[request.entity] == nil {
      report(
        .entity(request.entity), "The fetch request '\(name)' asks for '\(request.entity)', which is no entity.",
        fix: "Name an entity of the model.")
    }
    for entity in description.entities {
      for property in entity.fetchedProperties where entities[property.request.entity] == nil {
        report(
          .property(entity.name, property.name),
          "The fetched property asks for '\(property.request.entity)', which is no entity of the model.",
          fix: "Name an entity of the model.")
      }
    }
  }
}

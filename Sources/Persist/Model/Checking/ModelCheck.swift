/// The rules for models, and a search for everything that violates them.
///
/// A violation is an error if the model can't be resolved because of it, such as a parent that doesn't exist. Otherwise
/// it is a flaw: it should be fixed, but rows can be read despite it, and Core Data accepts such models. ``repaired()``
/// returns the description to use then.
///
/// Names are rejected only if they can't work in a store. `description`, `hash` or `entity`, which Core Data rejects
/// because of its classes' methods, are valid here: a property is accessed by its name alone.
struct ModelCheck: ~Copyable {
  /// Limits beyond which a model is rejected before anything traverses it.
  enum Limit {
    static let entities = 10_000
    static let parents = 100
    /// The number of properties of all entities, where inherited ones and elements of composites count in each entity.
    static let properties = 200_000
    static let compositeDepth = 15
    static let compositeElements = 1_000
    /// The number of errors that are reported, and likewise of flaws.
    static let problems = 200
  }

  let description: ModelDescription
  let entities: [String: EntityDescription]
  let composites: [String: CompositeDescription]
  /// The number of attributes that each composite type flattens to; missing for one that contains itself or nests too
  /// deep.
  let flattenedCounts: [String: Int]
  /// Each entity's own properties by name.
  private let ownProperties: [String: [String: Property.Kind]]
  private var problems: [Problem] = []

  struct Problem: Sendable {
    enum Severity: Sendable { case error, flaw }

    let severity: Severity
    let error: PersistenceError
  }

  /// Returns every problem of a description with its place and fix; empty for a valid model.
  static func problems(in description: ModelDescription) -> [PersistenceError] {
    ModelCheck(checking: description).problems.map(\.error)
  }

  /// Creates a check and runs it.
  init(checking description: ModelDescription) {
    self.init(description)
    checkSize()
    guard problems.isEmpty else { return }
    checkEntityNames()
    checkParents()
    checkComposites()
    for entity in description.entities {
      checkPropertyNames(of: entity)
      for attribute in entity.attributes { check(attribute, of: entity.name) }
      for relationship in entity.relationships { check(relationship, of: entity) }
      checkIndexes(of: entity)
    }
    checkConfigurations()
    checkRequests()
  }

  /// The problems that prevent the model from being resolved.
  var errors: [PersistenceError] { problems.filter { $0.severity == .error }.map(\.error) }
  /// The problems that don't prevent the model from being used.
  var flaws: [PersistenceError] { problems.filter { $0.severity == .flaw }.map(\.error) }

  /// Creates a check without running it.
  init(_ description: ModelDescription) {
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

  @inline(never)
  mutating func report(
    _ place: PersistenceError.Place, _ message: String, fix: String, as severity: Problem.Severity = .error
  ) {
    guard problems.count(where: { $0.severity == severity }) < Limit.problems else { return }
    problems.append(Problem(severity: severity, error: PersistenceError(.invalidModel, at: place, message, fix: fix)))
  }

  // MARK: Entities and their properties

  /// Returns the entity and its ancestors, from the bottom up; ends before a parent that is missing or repeated.
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

  // A comparison with nil would compare whole descriptions where the compiler can't tell: 500 bytes each.
  func isEntity(_ name: String) -> Bool { entities.keys.contains(name) }

  func ownProperty(_ name: String, of entity: String) -> Property.Kind? { ownProperties[entity]?[name] }

  /// Returns a property of an entity, own or inherited, with the entity that declares it.
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
        fix: "Split the model.")
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
          fix: "Flatten the hierarchy.")
        return
      }
      total += lineage.reduce(0) { $0 + (slotCounts[$1.name] ?? 0) }
    }
    if total > Limit.properties {
      report(
        .unknown, "The entities have \(total) properties in total, including inherited ones and elements; at "
          + "most \(Limit.properties) are possible.", fix: "Split the model.")
    }
  }

  private mutating func checkConfigurations() {
    for (name, members) in description.configurations.sorted(on: \.key) {
      for member in members where !isEntity(member) {
        report(
          .entity(member), "The configuration '\(name)' names '\(member)', which isn't an entity of the model.",
          fix: "Remove it from the configuration.", as: .flaw)
      }
    }
  }

  private mutating func checkRequests() {
    for (name, request) in description.fetchRequestTemplates.sorted(on: \.key)
    where !isEntity(request.entity) {
      report(
        .entity(request.entity), "The fetch request '\(name)' asks for '\(request.entity)', which isn't an entity.",
        fix: "Name an entity of the model.", as: .flaw)
    }
    for entity in description.entities {
      for property in entity.fetchedProperties where !isEntity(property.request.entity) {
        report(
          .property(entity.name, property.name),
          "The fetched property asks for '\(property.request.entity)', which isn't an entity of the model.",
          fix: "Name an entity of the model.", as: .flaw)
      }
    }
  }
}

/// The rules that a model must keep, and the search for everything that breaks one.
///
/// What breaks a rule is an error where the model can't be resolved without it, as with a parent that doesn't exist.
/// Otherwise it is a flaw: nobody should write a model so, but rows can be read with it, and Core Data has taken such
/// models. ``mended()`` is the description that then holds.
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
    /// Further errors of a model aren't told, nor are further flaws.
    static let problems = 200
  }

  let description: ModelDescription
  let entities: [String: EntityDescription]
  let composites: [String: CompositeDescription]
  /// How many attributes each composite type flattens to; nil for one that contains itself or nests too deep.
  let flattenedCounts: [String: Int]
  /// An entity's own properties by name.
  private let ownProperties: [String: [String: Property.Kind]]
  private var problems: [Problem] = []

  struct Problem: Sendable {
    enum Severity: Sendable { case error, flaw }

    let severity: Severity
    let error: PersistenceError
  }

  /// Every problem of a description, each with its place and its mend; empty for a good model.
  static func problems(in description: ModelDescription) -> [PersistenceError] {
    ModelCheck(checking: description).problems.map(\.error)
  }

  /// A check that has been done.
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

  /// What keeps the model from being resolved.
  var errors: [PersistenceError] { problems.filter { $0.severity == .error }.map(\.error) }
  /// What the model can be used in spite of.
  var flaws: [PersistenceError] { problems.filter { $0.severity == .flaw }.map(\.error) }

  /// A check that is still to be done.
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

  mutating func report(
    _ place: PersistenceError.Place, _ message: String, fix: String, as severity: Problem.Severity = .error
  ) {
    guard problems.count(where: { $0.severity == severity }) < Limit.problems else { return }
    problems.append(Problem(severity: severity, error: PersistenceError(.invalidModel, at: place, message, fix: fix)))
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

  func ownProperty(_ name: String, of entity: String) -> Property.Kind? { ownProperties[entity]?[name] }

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
          fix: "Remove it from the configuration.", as: .flaw)
      }
    }
  }

  private mutating func checkRequests() {
    for (name, request) in description.fetchRequestTemplates.sorted(by: { $0.key < $1.key })
    where entities[request.entity] == nil {
      report(
        .entity(request.entity), "The fetch request '\(name)' asks for '\(request.entity)', which is no entity.",
        fix: "Name an entity of the model.", as: .flaw)
    }
    for entity in description.entities {
      for property in entity.fetchedProperties where entities[property.request.entity] == nil {
        report(
          .property(entity.name, property.name),
          "The fetched property asks for '\(property.request.entity)', which is no entity of the model.",
          fix: "Name an entity of the model.", as: .flaw)
      }
    }
  }
}

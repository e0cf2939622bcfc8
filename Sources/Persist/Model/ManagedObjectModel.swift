package import Foundation

/// A checked model: entities that refer to each other, immutable and safe to share.
///
/// A model is read from a file by a ``ModelRegistry``, extracted from a store, or written in Swift:
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
public final class ManagedObjectModel: Sendable {
  /// The description that the model was created from, without its unusable parts; see ``flaws``.
  public let description: ModelDescription
  /// The model's problems that don't prevent rows from being read, such as an index over a property that doesn't exist.
  ///
  /// Only models created by ``init(withFlaws:)``, read from Core Data's files, or merged from such models have any.
  public let flaws: [PersistenceError]
  /// Every entity in the order of ``Entity/number``: roots in name order, each followed by its subentities depth first.
  public let entities: [Entity]
  /// The entities by name; ``entity(named:)`` throws for an unknown name.
  public let entitiesByName: [String: Entity]
  /// The classes that the model was created from, by entity; empty if there are none. Contexts use them.
  package let classes: [String: AnyClass]
  /// Whether a store keeps some attributes up to date by triggers.
  package let requiresTriggers: Bool
  private let knownDigest = LockProtected<Data?>(nil)

  /// The digest of the complete description; computed on first use, in time proportional to the model.
  package var digest: Data {
    knownDigest.withLock { known in
      let digest = known ?? description.digest
      known = digest
      return digest
    }
  }

  /// Checks a description and resolves it.
  ///
  /// - Parameters:
  ///   - description: the description of the model.
  ///   - classes: the classes of the entities' objects, by class name; contexts look here before they look for
  ///     registered ones.
  /// - Throws: ``PersistenceError/Code/invalidModel`` with all problems in ``PersistenceError/errors``, each with its
  ///   place and fix.
  public convenience init(_ description: ModelDescription, classes: [String: AnyClass] = [:]) throws {
    let description = description.convertingDefaults()
    let problems = ModelCheck.problems(in: description)
    guard problems.isEmpty else { throw Self.error(problems) }
    self.init(resolving: description, flaws: [], classes: classes)
  }

  /// Resolves a description that Core Data accepts, even if it contains mistakes.
  ///
  /// Problems that prevent the model from being resolved are thrown. All others are listed in ``flaws`` and removed
  /// from ``description`` if they can't be honored: an index or a constraint over something without a column, an
  /// inverse that doesn't lead back, a default of the wrong type, a pattern that isn't a regular expression. An inverse
  /// that only one of two relationships names applies to both. An attribute without a type becomes transient.
  ///
  /// - Throws: ``PersistenceError/Code/invalidModel`` with all errors.
  public convenience init(withFlaws description: ModelDescription) throws {
    try self.init(ParsedModel(description))
  }

  /// Resolves a model that was read from one of Core Data's files or archives; parts that couldn't be read are added to
  /// the flaws.
  package convenience init(_ model: ParsedModel, classes: [String: AnyClass] = [:]) throws {
    let description = model.description.convertingDefaults()
    let check = ModelCheck(checking: description)
    guard check.errors.isEmpty else { throw Self.error(check.errors) }
    self.init(
      resolving: check.flaws.isEmpty ? description : check.repaired(), flaws: model.flaws + check.flaws,
      classes: classes)
  }

  private static func error(_ problems: [PersistenceError]) -> PersistenceError {
    PersistenceError.combining(problems, as: .invalidModel, "The model has \(problems.count) problems.")
  }

  private init(resolving description: ModelDescription, flaws: [PersistenceError], classes: [String: AnyClass] = [:]) {
    self.description = description
    self.classes = classes
    self.flaws = flaws
    entities = Self.resolve(description)
    requiresTriggers = entities.contains { $0.requiresTriggers }
    entitiesByName = Dictionary(entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// The author's names for this version of the model; most models have one identifier or none.
  public var versionIdentifiers: [String] { description.versionIdentifiers }

  /// - Throws: ``PersistenceError/Code/unknownEntity`` if the model has no entity with that name.
  public func entity(named name: String) throws -> Entity {
    guard let entity = entitiesByName[name] else {
      throw PersistenceError(
        .unknownEntity, at: .entity(name), "The model has no entity '\(name)'.",
        fix: "Its entities are \(entities.map(\.name).sorted().joined(separator: ", ")).")
    }
    return entity
  }

  /// Returns the entity and all its descendants, the entity first.
  public func hierarchy(of entity: Entity) -> ArraySlice<Entity> {
    entities[entity.index...(entity.index + entity.descendantCount)]
  }

  /// Whether a configuration consists of exactly these entities; a store that Core Data created for it has only them.
  package func hasConfiguration(of names: Set<String>) -> Bool {
    names.count < entities.count && description.configurations.values.contains { Set($0) == names }
  }

  /// Returns the destination entity of a relationship of this model.
  @inline(never)
  public func destination(of relationship: RelationshipDescription) -> Entity {
    guard let entity = entitiesByName[relationship.destination] else {
      preconditionFailure(
        "'\(relationship.name)' leads to '\(relationship.destination)', which isn't an entity of this model.")
    }
    return entity
  }

  /// Returns the inverse of a relationship; nil if the relationship is unidirectional.
  @inline(never)
  public func inverse(of relationship: RelationshipDescription) -> RelationshipDescription? {
    relationship.inverse.flatMap { destination(of: relationship).relationship(named: $0) }
  }

  /// Whether a property of one of the model's entities is a relationship that is its own inverse.
  package func isOwnInverse(_ property: Property) -> Bool {
    guard let relationship = property.relationship, relationship.inverse == property.name else { return false }
    return destination(of: relationship).property(named: property.name)?.declaringEntity == property.declaringEntity
  }

  /// Resolves entities in number order, parents first. The description has been checked: parents exist, without cycles.
  private static func resolve(_ description: ModelDescription) -> [Entity] {
    let sorted = description.entities.sorted(on: \.name)
    // The first dictionary of a process whose keys are of a type, such as optional strings, takes half a million
    // instructions: Swift's runtime then searches all libraries for the type's conformance.
    let children = Dictionary(grouping: sorted.filter { $0.parent != nil }, by: { $0.parent ?? "" })
    let composites = Dictionary(description.composites.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    func descendantCount(_ name: String) -> Int {
      (children[name] ?? []).reduce(0) { $0 + 1 + descendantCount($1.name) }
    }
    var entities: [Entity] = []
    func add(_ entity: EntityDescription, below parent: Entity?) {
      let resolved = Entity(
        entity, superentity: parent, subentityNames: (children[entity.name] ?? []).map(\.name),
        number: entities.count + 1, descendantCount: descendantCount(entity.name),
        isHierarchy: { children[$0] != nil }, composites: composites)
      entities.append(resolved)
      for child in children[entity.name] ?? [] { add(child, below: resolved) }
    }
    for root in sorted where root.parent == nil { add(root, below: nil) }
    return entities
  }
}

extension ManagedObjectModel {
  /// The names of the model's configurations, sorted.
  public var configurations: [String] { description.configurations.keys.sorted() }

  /// Returns the entities of a configuration, in the order of ``entities``; nil if the model has no such configuration.
  ///
  /// - Parameter name: nil for the default configuration, which has every entity.
  public func entities(forConfigurationName name: String?) -> [Entity]? {
    guard let name else { return entities }
    guard let names = description.configurations[name].map(Set.init) else { return nil }
    return entities.filter { names.contains($0.name) }
  }
}

extension ManagedObjectModel: Equatable {
  /// Whether two models have the same entities, configurations and request templates.
  ///
  /// Version identifiers and renaming identifiers count, too: models of the same stored form can be different models.
  ///
  /// - Complexity: linear in the size of the models, once for each; constant for the same object.
  public static func == (left: ManagedObjectModel, right: ManagedObjectModel) -> Bool {
    left === right || left.digest == right.digest
  }
}

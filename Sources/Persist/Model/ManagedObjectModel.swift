import Foundation

/// A checked model: entities that refer to each other, immutable and safe to share.
///
/// A model is read from a file by a ``ModelRegistry``, taken from a store, or written in Swift:
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
  /// What the model was made from, as far as it holds: see ``flaws``.
  public let description: ModelDescription
  /// What is wrong in the model but keeps no row from being read, as an index over a property that doesn't exist.
  ///
  /// Only ``init(withFlaws:)`` and models read from Core Data's files have any.
  public let flaws: [PersistenceError]
  /// Every entity in the order of ``Entity/number``: roots in name order, each followed by its subentities depth first.
  public let entities: [Entity]
  public let entitiesByName: [String: Entity]
  /// The classes that the model was made from, by entity; none for a model that wasn't. Contexts use them.
  let classes: [String: AnyClass]
  private let knownDigest = Guarded<Data?>(nil)

  /// The digest of the whole description; computed when it is first asked for, in time proportional to the model.
  var digest: Data {
    knownDigest.withLock { known in
      let digest = known ?? description.digest
      known = digest
      return digest
    }
  }

  /// Checks a description and resolves it.
  ///
  /// - Parameter classes: the classes that serve the entities, by their names; contexts ask here before they look for
  ///   registered ones.
  /// - Throws: ``PersistenceError/Code/invalidModel`` with every problem at once in ``PersistenceError/errors``, each
  ///   with its place and its mend.
  public convenience init(_ description: ModelDescription, classes: [String: AnyClass] = [:]) throws {
    let description = description.convertingDefaults()
    let problems = ModelCheck.problems(in: description)
    guard problems.isEmpty else { throw Self.error(problems) }
    self.init(resolving: description, flaws: [], classes: classes)
  }

  /// Resolves a description that Core Data has taken, also where something in it is wrong.
  ///
  /// What keeps the model from being resolved is thrown. All else is listed in ``flaws``, and left out of
  /// ``description`` where it can't be followed: an index or a constraint over what has no column, an inverse that
  /// doesn't lead back, a default of the wrong type, a pattern that is no regular expression. An inverse that only one
  /// of two relationships names holds for both. An attribute without a type is transient.
  ///
  /// - Throws: ``PersistenceError/Code/invalidModel`` with every error at once.
  public convenience init(withFlaws description: ModelDescription) throws {
    try self.init(ReadModel(description))
  }

  /// Resolves a model that was read from a file or an archive of Core Data's; what was left out of it is a flaw too.
  convenience init(_ model: ReadModel) throws {
    let description = model.description.convertingDefaults()
    let check = ModelCheck(checking: description)
    guard check.errors.isEmpty else { throw Self.error(check.errors) }
    self.init(resolving: check.flaws.isEmpty ? description : check.mended(), flaws: model.flaws + check.flaws)
  }

  private static func error(_ problems: [PersistenceError]) -> PersistenceError {
    PersistenceError.combining(problems, as: .invalidModel, "The model has \(problems.count) problems.")
  }

  private init(resolving description: ModelDescription, flaws: [PersistenceError], classes: [String: AnyClass] = [:]) {
    self.description = description
    self.classes = classes
    self.flaws = flaws
    entities = Self.resolve(description)
    entitiesByName = Dictionary(entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
  }

  public var versionIdentifiers: [String] { description.versionIdentifiers }

  /// - Throws: ``PersistenceError/Code/unknownEntity`` where the model has none of that name.
  public func entity(named name: String) throws -> Entity {
    guard let entity = entitiesByName[name] else {
      throw PersistenceError(
        .unknownEntity, at: .entity(name), "The model has no entity '\(name)'.",
        fix: "Its entities are \(entities.map(\.name).sorted().joined(separator: ", ")).")
    }
    return entity
  }

  /// The entity and everything below it, the entity first.
  public func hierarchy(of entity: Entity) -> ArraySlice<Entity> {
    entities[(entity.number - 1)...(entity.number - 1 + entity.descendantCount)]
  }

  /// Whether one of the model's configurations has just the entities of these names; a store that Core Data made for it
  /// holds them alone.
  func hasConfiguration(of names: Set<String>) -> Bool {
    names.count < entities.count && description.configurations.values.contains { Set($0) == names }
  }

  /// The entity that a relationship of this model leads to.
  public func destination(of relationship: RelationshipDescription) -> Entity {
    guard let entity = entitiesByName[relationship.destination] else {
      preconditionFailure("'\(relationship.name)' leads to '\(relationship.destination)', which isn't of this model.")
    }
    return entity
  }

  /// The relationship of the destination that leads back, nil where the relationship goes one way only.
  public func inverse(of relationship: RelationshipDescription) -> RelationshipDescription? {
    relationship.inverse.flatMap { destination(of: relationship).relationship(named: $0) }
  }

  /// Makes entities parents first, in number order. The description has been checked: parents exist, without cycles.
  private static func resolve(_ description: ModelDescription) -> [Entity] {
    let children = Dictionary(grouping: description.entities.sorted { $0.name < $1.name }, by: \.parent)
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
    for root in children[nil] ?? [] { add(root, below: nil) }
    return entities
  }
}

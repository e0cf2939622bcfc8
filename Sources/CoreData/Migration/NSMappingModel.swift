public import Foundation
import Persist

/// The treatment of the objects of an entity mapping.
public enum NSEntityMappingType: UInt, Sendable {
  /// Not decided.
  case undefinedEntityMappingType = 0
  /// A policy decides.
  case customEntityMappingType = 1
  /// The destination has a new entity.
  case addEntityMappingType = 2
  /// The destination doesn't have the entity.
  case removeEntityMappingType = 3
  /// Objects stay as they are.
  case copyEntityMappingType = 4
  /// Objects get the values of the property mappings.
  case transformEntityMappingType = 5
}

/// The rule for a property of destination objects.
open class NSPropertyMapping: NSObject {
  /// The name.
  open var name: String?
  /// The expression for the property's value, with the variables `$source`, `$manager`, `$entityMapping` and
  /// `$entityPolicy`; nil leaves the default.
  open var valueExpression: NSExpression?
  /// Data of the application's own.
  open var userInfo: [AnyHashable: Any]?
  private var original: PropertyMapping?

  /// Creates a rule without values.
  public override init() { super.init() }

  convenience init(_ mapping: PropertyMapping) {
    self.init()
    original = mapping
    name = mapping.name
    valueExpression = mapping.valueExpression.map { NSExpression($0) }
    userInfo = mapping.userInfo.compactMapValues { FoundationValue.any($0) }
  }

  func mapping() -> PropertyMapping {
    var mapping = original ?? PropertyMapping(name ?? "", valueExpression: nil)
    mapping.name = name ?? ""
    mapping.valueExpression = valueExpression?.fetchExpression
    mapping.userInfo = (userInfo ?? [:]).storedTexts
    return mapping
  }
}

/// The rule for the objects of an entity.
open class NSEntityMapping: NSObject {
  /// The name.
  open var name: String! = ""
  /// The treatment of the objects.
  open var mappingType = NSEntityMappingType.undefinedEntityMappingType
  /// The name of the source entity; nil for an added one.
  open var sourceEntityName: String?
  /// The hash of the source entity.
  open var sourceEntityVersionHash: Data?
  /// The name of the destination entity; nil for a removed one.
  open var destinationEntityName: String?
  /// The hash of the destination entity.
  open var destinationEntityVersionHash: Data?
  /// The rules for attributes.
  open var attributeMappings: [NSPropertyMapping]?
  /// The rules for relationships.
  open var relationshipMappings: [NSPropertyMapping]?
  /// The expression for the source objects; nil for all of the entity.
  open var sourceExpression: NSExpression?
  /// Data of the application's own.
  open var userInfo: [AnyHashable: Any]?
  /// The name of the class of the migration policy; nil for the standard behavior.
  open var entityMigrationPolicyClassName: String?
  private var original: EntityMapping?

  /// Creates a rule without values.
  public override init() { super.init() }

  convenience init(_ mapping: EntityMapping) {
    self.init()
    original = mapping
    name = mapping.name
    mappingType = NSEntityMappingType(rawValue: UInt(mapping.type.rawValue)) ?? .undefinedEntityMappingType
    sourceEntityName = mapping.sourceEntityName
    sourceEntityVersionHash = mapping.sourceEntityVersionHash
    destinationEntityName = mapping.destinationEntityName
    destinationEntityVersionHash = mapping.destinationEntityVersionHash
    attributeMappings = mapping.attributeMappings.map { NSPropertyMapping($0) }
    relationshipMappings = mapping.relationshipMappings.map { NSPropertyMapping($0) }
    sourceExpression = mapping.sourceExpression.map { NSExpression($0) }
    userInfo = mapping.userInfo.compactMapValues { FoundationValue.any($0) }
    entityMigrationPolicyClassName = mapping.policyName
  }

  func mapping() -> EntityMapping {
    var mapping = original ?? EntityMapping(name, from: sourceEntityName, to: destinationEntityName)
    mapping.name = name
    mapping.type = EntityMapping.MappingType(rawValue: Int(mappingType.rawValue)) ?? mapping.type
    mapping.sourceEntityName = sourceEntityName
    mapping.sourceEntityVersionHash = sourceEntityVersionHash
    mapping.destinationEntityName = destinationEntityName
    mapping.destinationEntityVersionHash = destinationEntityVersionHash
    mapping.attributeMappings = (attributeMappings ?? []).map { $0.mapping() }
    mapping.relationshipMappings = (relationshipMappings ?? []).map { $0.mapping() }
    mapping.sourceExpression = sourceExpression?.fetchExpression
    mapping.policyName = entityMigrationPolicyClassName
    mapping.userInfo = (userInfo ?? [:]).storedTexts
    return mapping
  }
}

extension [AnyHashable: Any] {
  fileprivate var storedTexts: [String: StoredValue] {
    var values: [String: StoredValue] = [:]
    for (key, value) in self { values["\(key.base)"] = PredicateArgument.compared(value) }
    return values
  }
}

/// The rules by which the objects of one model become those of another.
open class NSMappingModel: NSObject {
  /// The rules for entities, in the order in which they are executed.
  open var entityMappings: [NSEntityMapping]! = []
  /// A file in Xcode's format, whose reading needs the models.
  private var file: URL?

  /// Creates a rule without values.
  public override init() { super.init() }

  /// Reads a mapping model. One in Xcode's source format names two versions of a model, which are searched beside it
  /// and among the program's resources; without them, it is read when it is used.
  public init?(contentsOf url: URL?) {
    guard let url, FileManager.default.fileExists(atPath: url.path) else { return nil }
    super.init()
    file = url
    if let mapping = Self.read(url) {
      entityMappings = mapping.entityMappings.map { NSEntityMapping($0) }
      file = nil
    }
    guard url.pathExtension == "cdm" else { return }
    guard let model = try? ManagedObjectModel(ModelDescription()),
      let mapping = try? MappingModel(contentsOf: url, from: model, to: model)
    else { return nil }
    entityMappings = mapping.entityMappings.map { NSEntityMapping($0) }
    file = nil
  }

  /// Reads a mapping model in Xcode's source format with the versions that it names; nil without them.
  private static func read(_ url: URL) -> MappingModel? {
    guard let file = try? MappingModelFile(at: url), let source = file.sourceVersion,
      let destination = file.destinationVersion
    else { return nil }
    let models = ModelFile.models(in: url.deletingLastPathComponent()) + ModelFile.all(in: nil)
    let own = models.filter { $0.deletingPathExtension().lastPathComponent == file.familyName }
    for model in own + models {
      guard let registry = try? ModelRegistry(contentsOf: model),
        let from = registry.versions.first(where: { $0.name == source }),
        let to = registry.versions.first(where: { $0.name == destination })
      else { continue }
      return try? MappingModel(contentsOf: url, from: from.model, to: to.model)
    }
    return nil
  }

  /// Finds the mapping model between two models among the resources of bundles.
  public init?(
    from bundles: [Bundle]?, forSourceModel source: NSManagedObjectModel?,
    destinationModel destination: NSManagedObjectModel?
  ) {
    guard let source, let destination,
      let mapping = Self.find(ModelFile.mappingModels(in: bundles), from: source, to: destination)
    else { return nil }
    super.init()
    entityMappings = mapping.entityMappings.map { NSEntityMapping($0) }
  }

  private init(_ mapping: MappingModel) {
    super.init()
    entityMappings = mapping.entityMappings.map { NSEntityMapping($0) }
  }

  /// Returns the mapping model that follows from two models.
  ///
  /// - Throws: An error with the code ``NSInferredMappingModelError`` if none can be inferred.
  open class func inferredMappingModel(
    forSourceModel source: NSManagedObjectModel, destinationModel destination: NSManagedObjectModel
  ) throws -> NSMappingModel {
    try bridging {
      NSMappingModel(try MappingModel.inferred(from: source.persistModel(), to: destination.persistModel()))
    }
  }

  /// The rules for entities by their names.
  open var entityMappingsByName: [String: NSEntityMapping] {
    Dictionary(entityMappings.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
  }

  func mapping(from source: ManagedObjectModel, to destination: ManagedObjectModel) throws -> MappingModel {
    if let file { return try MappingModel(contentsOf: file, from: source, to: destination) }
    return MappingModel("Mapping", entityMappings: entityMappings.map { $0.mapping() })
  }

  private static func find(
    _ files: [URL], from source: NSManagedObjectModel, to destination: NSManagedObjectModel
  ) -> MappingModel? {
    guard let from = source.version, let to = destination.version else { return nil }
    let registry = files.compactMap { try? MappingModelFile(at: $0) }.reduce(ModelRegistry(versions: [from, to])) {
      $0.adding($1)
    }
    return try? registry.readMappingModels(from: from, to: to).first
  }
}

extension NSManagedObjectModel {
  /// The model as a version with the name of its file.
  fileprivate var version: ModelVersion? {
    guard let model = try? persistModel() else { return nil }
    if let version = registry?.version(of: model) { return version }
    let name = versionName ?? versionIdentifiers.first.map { "\($0.base)" } ?? "the model"
    return ModelVersion(name: name, model: model)
  }
}

extension ModelRegistry {
  /// Returns the version whose stores a model can open.
  func version(of model: ManagedObjectModel) -> ModelVersion? {
    versions.first { $0.model === model } ?? versions.last { $0.model.fingerprints == model.fingerprints }
  }
}

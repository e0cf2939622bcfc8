public import Foundation
import Persist

public enum NSEntityMappingType: UInt, Sendable {
  case undefinedEntityMappingType = 0
  case customEntityMappingType = 1
  case addEntityMappingType = 2
  case removeEntityMappingType = 3
  case copyEntityMappingType = 4
  case transformEntityMappingType = 5
}

open class NSPropertyMapping: NSObject {
  open var name: String?
  open var valueExpression: NSExpression?
  open var userInfo: [AnyHashable: Any]?
  private var original: PropertyMapping?

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

open class NSEntityMapping: NSObject {
  open var name: String! = ""
  open var mappingType = NSEntityMappingType.undefinedEntityMappingType
  open var sourceEntityName: String?
  open var sourceEntityVersionHash: Data?
  open var destinationEntityName: String?
  open var destinationEntityVersionHash: Data?
  open var attributeMappings: [NSPropertyMapping]?
  open var relationshipMappings: [NSPropertyMapping]?
  open var sourceExpression: NSExpression?
  open var userInfo: [AnyHashable: Any]?
  open var entityMigrationPolicyClassName: String?
  private var original: EntityMapping?

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

open class NSMappingModel: NSObject {
  open var entityMappings: [NSEntityMapping]! = []
  /// A file in Xcode's format, whose reading needs the models.
  private var file: URL?

  public override init() { super.init() }

  /// Reads a mapping model; one in Xcode's source format is read when it is used, because that takes the models.
  public init?(contentsOf url: URL?) {
    guard let url, FileManager.default.fileExists(atPath: url.path) else { return nil }
    super.init()
    file = url
    guard url.pathExtension == "cdm" else { return }
    guard let model = try? ManagedObjectModel(ModelDescription()),
      let mapping = try? MappingModel(contentsOf: url, from: model, to: model)
    else { return nil }
    entityMappings = mapping.entityMappings.map { NSEntityMapping($0) }
    file = nil
  }

  /// Finds the mapping model between two models among the resources of bundles.
  public init?(
    from bundles: [Bundle]?, forSourceModel source: NSManagedObjectModel?,
    destinationModel destination: NSManagedObjectModel?
  ) {
    guard let source, let destination,
      let mapping = Self.find(ModelFile.mappingModels(in: bundles), source, destination)
    else { return nil }
    super.init()
    entityMappings = mapping.entityMappings.map { NSEntityMapping($0) }
  }

  private init(_ mapping: MappingModel) {
    super.init()
    entityMappings = mapping.entityMappings.map { NSEntityMapping($0) }
  }

  open class func inferredMappingModel(
    forSourceModel source: NSManagedObjectModel, destinationModel destination: NSManagedObjectModel
  ) throws -> NSMappingModel {
    try bridging {
      NSMappingModel(try MappingModel.inferred(from: source.persistModel(), to: destination.persistModel()))
    }
  }

  open var entityMappingsByName: [String: NSEntityMapping] {
    Dictionary(entityMappings.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
  }

  func mapping(from source: ManagedObjectModel, to destination: ManagedObjectModel) throws -> MappingModel {
    if let file { return try MappingModel(contentsOf: file, from: source, to: destination) }
    return MappingModel("Mapping", entityMappings: entityMappings.map { $0.mapping() })
  }

  private static func find(
    _ files: [URL], _ source: NSManagedObjectModel, _ destination: NSManagedObjectModel
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

public import Foundation

/// The conversion of a store's objects from one model version to another.
///
/// It is built in Swift, read from an `.xcmappingmodel` or a compiled `.cdm`, or inferred and then edited:
///
/// ```swift
/// var mapping = try MappingModel.inferred(from: shop1, to: shop2)
/// try mapping.edit("Item") { item in try item.map("cents", to: "$source.price * 100") }
/// let migrator = AutomaticMigrator(mappingModels: [mapping])
/// ```
///
/// - SeeAlso: ``MigrationManager`` to run one manually.
public struct MappingModel: Sendable, Hashable {
  /// The name of the mapping model, used in messages and plans.
  public var name: String
  /// The entity mappings in the order of execution.
  public var entityMappings: [EntityMapping]
  /// The name of the source version; nil if the entities' hashes identify it.
  public var sourceVersion: String?
  /// The name of the destination version; nil if the entities' hashes identify it.
  public var destinationVersion: String?
  /// The file from which the mapping model was read.
  public var url: URL?

  /// Creates a mapping model from its entity mappings, in the order of execution.
  ///
  /// - Parameters:
  ///   - name: The name of the mapping model.
  ///   - sourceVersion: The name of the source version; nil if the entities' hashes identify it.
  ///   - destinationVersion: The name of the destination version; nil if the entities' hashes identify it.
  ///   - entityMappings: The mappings, at most one of each name.
  ///   - url: The file from which the mapping model was read.
  public init(
    _ name: String, from sourceVersion: String? = nil, to destinationVersion: String? = nil,
    entityMappings: [EntityMapping] = [], url: URL? = nil
  ) {
    self.name = name
    self.sourceVersion = sourceVersion
    self.destinationVersion = destinationVersion
    self.entityMappings = entityMappings
    self.url = url
  }

  /// The entity mappings by name; of several with the same name, the first.
  ///
  /// - SeeAlso: ``edit(_:_:)``, which changes one and refuses a wrong name.
  public var entityMappingsByName: [String: EntityMapping] {
    Dictionary(entityMappings.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// Whether the mapping model is for the hop between two versions: determined by their names, or otherwise by Core
  /// Data's hashes of the mapped entities.
  @inline(never)
  public func isFor(from source: ModelVersion, to destination: ModelVersion) -> Bool {
    if let sourceVersion, let destinationVersion {
      return source.isCalled(sourceVersion) && destination.isCalled(destinationVersion)
    }
    func covers(_ hashes: [(String?, Data?)], _ version: ModelVersion) -> Bool {
      let known = hashes.compactMap { name, hash in name.flatMap { name in hash.map { (name, $0) } } }
      guard !known.isEmpty else { return false }
      return known.allSatisfy { name, hash in
        version.coreDataHashes?[name] == hash || version.model.entitiesByName[name]?.fingerprint.bytes == hash
      }
    }
    return covers(entityMappings.map { ($0.sourceEntityName, $0.sourceEntityVersionHash) }, source)
      && covers(entityMappings.map { ($0.destinationEntityName, $0.destinationEntityVersionHash) }, destination)
  }
}

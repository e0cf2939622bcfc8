public import Foundation

extension ManagedObjectModel {
  /// Whether a store with these metadata has this model, according to Persist's fingerprints or Core Data's hashes of
  /// all entities.
  ///
  /// A model only has Core Data's hashes if a `VersionInfo.plist` lists them;
  /// ``StoreIdentification/identify(storeAt:registry:)`` also examines the store itself.
  ///
  /// - Parameters:
  ///   - metadata: The metadata of the store.
  ///   - coreDataHashes: Core Data's hash of each entity of this model, if known.
  public func isCompatible(withMetadata metadata: StoreMetadata, coreDataHashes: [String: Data]? = nil) -> Bool {
    let stored = metadata.versionHashes
    guard !stored.isEmpty else { return false }
    return stored.hasSameBytes(as: fingerprints.mapValues(\.bytes)) || stored.hasSameBytes(as: coreDataHashes)
  }

  /// Whether a store with these metadata can be used with a configuration of this model: it contains all of the
  /// configuration's entities, and all of its entities are the same in this model.
  ///
  /// ```swift
  /// let metadata = try PersistentStoreCoordinator.metadata(at: url)
  /// guard model.isConfiguration("Cloud", compatibleWithStoreMetadata: metadata) else { return migrate(url) }
  /// ```
  ///
  /// - Parameters:
  ///   - name: The configuration's name; nil for the whole model. An unknown name is compatible with nothing.
  ///   - metadata: The metadata of the store.
  ///   - coreDataHashes: Core Data's hash of each entity of this model, if known.
  public func isConfiguration(
    _ name: String?, compatibleWithStoreMetadata metadata: StoreMetadata, coreDataHashes: [String: Data]? = nil
  ) -> Bool {
    guard let name else { return isCompatible(withMetadata: metadata, coreDataHashes: coreDataHashes) }
    let stored = metadata.versionHashes
    guard let entities = description.configurations[name], !entities.isEmpty else { return false }
    return [fingerprints.mapValues(\.bytes), coreDataHashes ?? Dictionary()].contains { own in
      entities.allSatisfy { own[$0]?.hasSameBytes(as: stored[$0]) == true } && own.contains(stored)
    }
  }
}

extension PersistenceError {
  /// The metadata of a store that was rejected with an error of code ``Code/incompatibleModel``: its identifier, the
  /// hashes of its entities, its version identifiers.
  public var storeMetadata: StoreMetadata? { details?.value as? StoreMetadata }
}

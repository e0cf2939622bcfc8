public import Foundation

extension ManagedObjectModel {
  /// Whether a store with these metadata has this model: by Persist's fingerprints or Core Data's hashes of all
  /// entities.
  ///
  /// Core Data's hashes are known to a model only where a `VersionInfo.plist` names them;
  /// ``StoreIdentification/identify(storeAt:registry:)`` also looks into the store.
  ///
  /// - Parameter coreDataHashes: Core Data's hash of each entity of this model, where they are known.
  public func isCompatible(withMetadata metadata: StoreMetadata, coreDataHashes: [String: Data]? = nil) -> Bool {
    let stored = metadata.versionHashes
    guard !stored.isEmpty else { return false }
    return stored == fingerprints.mapValues(\.bytes) || stored == coreDataHashes
  }

  /// Whether a store with these metadata serves a configuration of this model: it has all of the configuration's
  /// entities as they are here, and no entity that is another one here.
  ///
  /// ```swift
  /// let metadata = try PersistentStoreCoordinator.metadata(at: url)
  /// guard model.isConfiguration("Cloud", compatibleWithStoreMetadata: metadata) else { return migrate(url) }
  /// ```
  ///
  /// - Parameters:
  ///   - name: the configuration's name; nil for the whole model. An unknown name is compatible with nothing.
  ///   - coreDataHashes: Core Data's hash of each entity of this model, where they are known.
  public func isConfiguration(
    _ name: String?, compatibleWithStoreMetadata metadata: StoreMetadata, coreDataHashes: [String: Data]? = nil
  ) -> Bool {
    guard let name else { return isCompatible(withMetadata: metadata, coreDataHashes: coreDataHashes) }
    let stored = metadata.versionHashes
    guard let entities = description.configurations[name], !entities.isEmpty else { return false }
    return [fingerprints.mapValues(\.bytes), coreDataHashes ?? [:]].contains { own in
      entities.allSatisfy { own[$0] != nil && stored[$0] == own[$0] } && stored.allSatisfy { own[$0.key] == $0.value }
    }
  }
}

extension PersistenceError {
  /// What the store says of itself, of an error of code ``Code/incompatibleModel`` with which a store was refused: its
  /// identifier, the hashes of its entities, its version identifiers.
  public var storeMetadata: StoreMetadata? { details?.value as? StoreMetadata }
}

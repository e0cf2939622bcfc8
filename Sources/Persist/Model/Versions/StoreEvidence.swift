package import Foundation

/// The information in a store about the model that it was written with, collected by the reader of the store.
package struct StoreEvidence {
  /// The store file, for errors.
  var url: URL?
  /// The fingerprints that Persist wrote; nil if there are none or Core Data has written to the store since.
  var persistFingerprints: [String: Fingerprint]?
  /// The digest of the model's text that Persist wrote; see ``ModelDescription/digest``.
  var modelDigest: Data?
  /// Core Data's hash of each entity, `NSStoreModelVersionHashes`.
  var coreDataHashes: [String: Data]
  /// `NSStoreModelVersionIdentifiers`.
  var versionIdentifiers: [String]
  /// The model that is embedded in the store.
  package var embeddedModel: ManagedObjectModel?
  /// The reason why an existing embedded model can't be read or doesn't match the store's tables.
  package var embeddedModelError: PersistenceError?
  /// Describes the parts of a model that the store's tables lack, and the parts of the tables that the model doesn't
  /// explain.
  var schemaDifferences: (ManagedObjectModel) -> [String]

  package init(
    url: URL? = nil, persistFingerprints: [String: Fingerprint]? = nil, modelDigest: Data? = nil,
    coreDataHashes: [String: Data] = [:], versionIdentifiers: [String] = [], embeddedModel: ManagedObjectModel? = nil,
    embeddedModelError: PersistenceError? = nil, schemaDifferences: @escaping (ManagedObjectModel) -> [String]
  ) {
    self.url = url
    self.persistFingerprints = persistFingerprints
    self.modelDigest = modelDigest
    self.coreDataHashes = coreDataHashes
    self.versionIdentifiers = versionIdentifiers
    self.embeddedModel = embeddedModel
    self.embeddedModelError = embeddedModelError
    self.schemaDifferences = schemaDifferences
  }
}

/// The way in which a store's model was found. Raw values are the command line's.
#if hasAttribute(nonexhaustive)
  @nonexhaustive(warn)
#endif
public enum ModelOrigin: String, Sendable, Hashable {
  /// A registered version, matched by Core Data's hashes or by the structure of the embedded model.
  case registry
  /// A registered version, matched by Persist's fingerprints.
  case fingerprint
  /// The store's own copy; it matches no registered version.
  case embedded
  /// A registered version, matched only by tables and columns.
  case columns
}

/// The model that a store was written with.
package struct IdentifiedModel: Sendable {
  package let model: ManagedObjectModel
  package let origin: ModelOrigin
  /// The version; nil if the model matches no registered version.
  package let version: ModelVersion?
  /// The family of ``version``; for an unknown version, the most likely family.
  package let family: ModelFamily?
}

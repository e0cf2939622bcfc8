import Foundation

/// What a store tells of the model that it was written with, collected by whoever reads stores.
struct StoreEvidence {
  /// The store's file, for errors.
  var url: URL?
  /// The fingerprints that Persist left there; nil where it left none, or Core Data has written since.
  var persistFingerprints: [String: Fingerprint]?
  /// The digest of the model's text that Persist left there; see ``ModelDescription/digest``.
  var modelDigest: Data?
  /// Core Data's hash of each entity, `NSStoreModelVersionHashes`.
  var coreDataHashes: [String: Data]
  /// `NSStoreModelVersionIdentifiers`.
  var versionIdentifiers: [String]
  /// The model that the store holds itself.
  var embeddedModel: ManagedObjectModel?
  /// Why the embedded model can't be read, or isn't that of the store's tables, where there is one.
  var embeddedModelError: PersistenceError?
  /// What in a model has no place in the store's tables, and what in the tables no part of the model explains, in
  /// words.
  var schemaDifferences: (ManagedObjectModel) -> [String]

  init(
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

/// How the model of a store was found. Raw values are the command line's.
public enum ModelOrigin: String, Sendable, Hashable {
  /// A version that was given, matched by Core Data's hashes or by the structure of the embedded model.
  case registry
  /// A version that was given, matched by Persist's fingerprints.
  case fingerprint
  /// The store's own copy; it is none of the versions that were given.
  case embedded
  /// A version that was given, matched by tables and columns alone.
  case columns
}

/// The model that a store was written with.
struct IdentifiedModel: Sendable {
  let model: ManagedObjectModel
  let origin: ModelOrigin
  /// Nil where it is none of the versions that were given.
  let version: ModelVersion?
  /// The family of ``version``; for an unknown version the one that it most likely belongs to.
  let family: ModelFamily?
}

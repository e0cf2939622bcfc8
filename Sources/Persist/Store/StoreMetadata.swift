public import Foundation

/// The metadata of a store, readable without opening it.
///
/// ```swift
/// let metadata = try PersistentStoreCoordinator.metadata(at: url)
/// print(metadata.identifier, metadata.versionIdentifiers)
/// ```
public struct StoreMetadata: Sendable, Hashable {
  /// The store's UUID, part of every object identifier.
  public var identifier: String
  /// The complete property list of `Z_METADATA.Z_PLIST`, including keys unknown to Persist.
  public var values: [String: PropertyList]

  /// Creates metadata from its parts, unchecked.
  ///
  /// - Parameters:
  ///   - identifier: The store's UUID.
  ///   - values: The complete property list, which should contain the keys of Core Data's metadata.
  public init(identifier: String, values: [String: PropertyList]) {
    self.identifier = identifier
    self.values = values
  }
}

extension StoreMetadata {
  /// The names of the keys that Core Data and Persist use; every other key is the application's.
  package enum Key {
    static let versionHashes = "NSStoreModelVersionHashes"
    static let versionHashesVersion = "NSStoreModelVersionHashesVersion"
    static let versionHashesDigest = "NSStoreModelVersionHashesDigest"
    static let versionChecksum = "NSStoreModelVersionChecksumKey"
    static let versionIdentifiers = "NSStoreModelVersionIdentifiers"
    static let frameworkVersion = "NSPersistenceFrameworkVersion"
    package static let storeType = "NSStoreType"
    static let autoVacuum = "_NSAutoVacuumLevel"
    package static let storeIdentifier = "NSStoreUUID"
    package static let migrationLog = "PersistMigrationLog"
    static let deferredSteps = "PersistDeferredSteps"
    static let formerModels = "PersistFormerModels"
    static let history = "PersistHistory"
    static let life = "PersistLife"
    static let placeNames = "PersistPlaceNames"

    /// The keys that describe the store and its model, which the application can't set.
    package static let own = [
      versionHashes, versionHashesVersion, versionHashesDigest, versionChecksum, versionIdentifiers, frameworkVersion,
      storeType, autoVacuum, storeIdentifier, migrationLog, deferredSteps, formerModels, history,
      life, placeNames,
    ]
  }

  /// `SQLite`, for stores in files.
  public var type: String? { values[Key.storeType]?.stringValue }

  /// The version of the framework that wrote the store last.
  public var frameworkVersion: Int64? { values[Key.frameworkVersion]?.integerValue }

  /// The author's identifiers of the model version, without empty texts, which most models have.
  public var versionIdentifiers: [String] {
    (values[Key.versionIdentifiers]?.arrayValue ?? []).compactMap(\.stringValue).filter { !$0.isEmpty }
  }

  /// The hash of each entity of the model that the store was written with: Core Data's hashes, or Persist's
  /// fingerprints if those weren't known.
  public var versionHashes: [String: Data] {
    (values[Key.versionHashes]?.dictionaryValue ?? Dictionary()).compactMapValues(\.dataValue)
  }

  /// The tables and columns whose names differ from those of the rules.
  package var placeNames: PlaceNames {
    get { PlaceNames(values[Key.placeNames]) ?? PlaceNames() }
    set { values[Key.placeNames] = newValue.isEmpty ? nil : newValue.propertyList }
  }

  /// These metadata with the identifier and the application's keys of others.
  package func replacingApplicationValues(by other: StoreMetadata) -> StoreMetadata {
    var result = other
    for key in Key.own { result.values[key] = values[key] }
    return result
  }

  /// The metadata of a new store.
  ///
  /// - Parameters:
  ///   - versionHashes: A hash for each entity of the model.
  ///   - versionIdentifiers: The author's identifiers of the model version.
  package init(
    newStore identifier: UUID, versionHashes: [String: Data], versionIdentifiers: [String], type: String = "SQLite"
  ) {
    self.init(
      identifier: identifier.uuidString,
      values: [
        Key.storeType: .string(type), Key.frameworkVersion: .integer(Self.newFrameworkVersion),
        Key.autoVacuum: .string("2"),
      ])
    setModel(versionHashes: versionHashes, versionIdentifiers: versionIdentifiers)
  }

  /// Records that the store now has another model, and removes the values that Core Data derived from the old one.
  package mutating func setModel(versionHashes: [String: Data], versionIdentifiers: [String]) {
    values[Key.versionHashes] = .dictionary(versionHashes.mapValues(PropertyList.data))
    values[Key.versionHashesVersion] = .integer(3)
    // In real stores, a model without an identifier has an array with one empty text.
    let identifiers = versionIdentifiers.isEmpty ? [""] : versionIdentifiers
    values[Key.versionIdentifiers] = .array(identifiers.map(PropertyList.string))
    values[Key.versionHashesDigest] = nil
    values[Key.versionChecksum] = nil
  }

  /// The framework version of stores that Persist creates: that of a widely used release whose stores have this layout,
  /// so that readers of Core Data stores, which check it, accept them.
  static let newFrameworkVersion: Int64 = 1327
}
